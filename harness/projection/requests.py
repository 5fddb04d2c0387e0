"""Requests to the user or the client: permissions, questions, and the few that are neither."""

from typing import Any, Final

from msgspec import UNSET

from harness.canonical.events import EventBase
from harness.canonical.names import CanonicalRequestType
from harness.projection.chat_event import ChatKind, Permission, Question
from harness.projection.facts import choices, native_calls, tool_name
from harness.projection.items import Items
from harness.projection.parts import Part
from harness.projection.places import plain

KIND_OF_REQUEST: Final[dict[CanonicalRequestType, ChatKind]] = {
    "command_execution_approval": "permission",
    "file_change_approval": "permission",
    "apply_patch_approval": "permission",
    "exec_command_approval": "permission",
    "tool_user_input": "question",
    "dynamic_tool_call": "tool",
    "auth_tokens_refresh": "status",
    "unknown": "permission",
}
"""A request of an unknown type waits for an answer like the others: a permission."""


class Requests(Items):
    """The parts of requests. A question that is told twice, as request and as input, is one."""

    @staticmethod
    def _request_key(event: EventBase) -> tuple[str, ...]:
        if event.requestId is not UNSET:
            return ("request", event.sessionId, event.requestId)
        turn = "" if event.turnId is UNSET else event.turnId
        return ("nameless request", event.sessionId, turn)

    def _ask(
        self, event: EventBase, kind: ChatKind, args: Any, *, made: bool, **fields: Any
    ) -> Part:
        place = self.place(event)
        refs = event.providerRefs
        if refs is not UNSET and refs.providerRequestId is not UNSET:
            place.made.discard("partId")
        above = self.holder(event)
        tool = self._tool_of(event, args)
        if tool is not None:
            place.call = tool.place.call
            place.step = tool.place.step
            place.linked = True
            if tool.place.step is not UNSET:
                place.made.add("stepId")
            if tool.open:
                above = tool
        return self.board.start(self._request_key(event), kind, above, place, made=made, **fields)

    def _tool_of(self, event: EventBase, args: Any) -> Part | None:
        """Return the part of the tool call that a request is about, where it names one."""
        if event.itemId is not UNSET:
            part = self.board.open.get(self._item_key(event, ""))
            if part is not None and part.kind == "tool":
                return part
        refs = event.providerRefs
        natives = list(native_calls(args))
        if refs is not UNSET and refs.providerItemId is not UNSET:
            natives.insert(0, refs.providerItemId)
        return next((self.calls[native] for native in natives if native in self.calls), None)

    def _request_opened(self, event: EventBase) -> None:
        payload = event.payload
        kind = KIND_OF_REQUEST[payload.requestType]
        fields = self._asked(event, kind)
        part = self.board.open.get(self._request_key(event))
        if part is None:
            part = self._ask(event, kind, payload.args, made=False, **fields)
        else:
            self.board.emit(part, "updated", **self._asked(event, part.kind))
        part.said = fields.get("permission")
        part.waiting.add("request")

    @staticmethod
    def _asked(event: EventBase, kind: ChatKind) -> dict[str, Any]:
        payload = event.payload
        fields: dict[str, Any] = {"title": payload.detail, "data": payload.args}
        if kind == "permission":
            fields["permission"] = Permission(
                payload.requestType, "pending", tool_name(payload.args), choices(payload.args)
            )
        elif kind == "question":
            asked = payload.args.get("questions") if isinstance(payload.args, dict) else None
            fields["question"] = Question("pending", UNSET if asked is None else asked)
        return fields

    def _request_resolved(self, event: EventBase) -> None:
        payload = event.payload
        key = self._request_key(event)
        kind = KIND_OF_REQUEST[payload.requestType]
        part = self.board.open.get(key) or self._ask(event, kind, UNSET, made=True)
        fields: dict[str, Any] = {"data": plain(event)}
        if part.kind == "permission":
            asked = part.said if isinstance(part.said, Permission) else None
            fields = {
                "permission": Permission(
                    payload.requestType,
                    "resolved",
                    UNSET if asked is None else asked.tool,
                    UNSET if asked is None else asked.choices,
                    payload.decision,
                    payload.resolution,
                )
            }
        self._resolve(part, "request", fields)

    def _input_requested(self, event: EventBase) -> None:
        question = Question("pending", event.payload.questions)
        part = self.board.open.get(self._request_key(event))
        if part is None:
            part = self._ask(event, "question", UNSET, made=False, question=question)
        else:
            self.board.emit(part, "updated", question=question)
        part.waiting.add("input")

    def _input_resolved(self, event: EventBase) -> None:
        key = self._request_key(event)
        part = self.board.open.get(key) or self._ask(event, "question", UNSET, made=True)
        answered = Question("answered", answers=event.payload.answers)
        self._resolve(part, "input", {"question": answered})

    def _resolve(self, part: Part, what: str, fields: dict[str, Any]) -> None:
        part.waiting.discard(what)
        if part.waiting:
            self.board.emit(part, "updated", **fields)
        else:
            self.board.end(part, **fields)
