"""The control channel: questions for permission, their answers, interrupts. EVENTS.md 4.2.

Both sides ask with `control_request` and answer with `control_response`, each with ids of its own.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from harness.canonical import ProviderRefs
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.surfaces.claude_sdk.names import Message, answer_of, subtype_of
from harness.surfaces.claude_sdk.state import State, native_id
from harness.surfaces.claude_sdk.tools import QUESTION, request_type
from harness.surfaces.ledger import Request
from harness.surfaces.spans import Spans

_ARGS: Final = {
    "permission_suggestions": "suggestions",
    "blocked_path": "blockedPath",
    "decision_reason": "decisionReason",
    "decision_reason_type": "decisionReasonType",
    "title": "title",
    "display_name": "displayName",
    "description": "description",
    "tool_use_id": "toolUseId",
    "agent_id": "agentId",
}
_REMEMBERED: Final = 1024
_CONFIG: Final = {
    "set_model": ("model", "model"),
    "set_permission_mode": ("mode", "permissionMode"),
    "set_max_thinking_tokens": ("max_thinking_tokens", "maxThinkingTokens"),
}
"""A client's request that changes the session, the field that it sets, and that field's name."""


class Control:
    """Handles control requests and responses in both directions.

    `asked` has the agent's requests by id, open or lately answered: subtype, the canonical
    request if there is one, and the request itself. `sent` has the client's.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self._hooks = Spans()
        self.asked: dict[str, tuple[str, Request | None, Message]] = {}
        self.sent: dict[str, tuple[str, Message]] = {}
        self.requests: dict[str, Callable[[str, Message], Request | None]] = {
            "can_use_tool": self._permission,
            "hook_callback": self._hook,
            "elicitation": self._elicitation,
            "request_user_dialog": self._dialog,
            "oauth_token_refresh": self._tokens,
            "host_auth_token_refresh": self._tokens,
        }
        self.responses: dict[str, Callable[[Any], None]] = {
            "initialize": self._initialized,
            "mcp_status": self._mcp_status,
            **dict.fromkeys(_CONFIG, self._nothing),
        }

    def new_process(self) -> None:
        """Forget the requests of a process that is gone."""
        self.asked.clear()
        self.sent.clear()

    # The agent asks

    def request(self, message: Message) -> None:
        """A `control_request` of the agent's."""
        id_ = str(message["request_id"])
        subtype = subtype_of(message)
        body = message["request"]
        old = self.asked.pop(id_, None)
        if old is not None and old[1] is not None and old[1].open:
            self.state.ledger.resolve(old[1], "cancelled", synthesized=True)
            self.state.warn("the id of a request that is open is used for another")
        handler = self.requests.get(subtype)
        if handler is None:
            self.state.warn(f"the control request {subtype} is not known")
            request: Request | None = self._open(id_, pl.RequestOpenedPayload("unknown", args=body))
        else:
            request = handler(id_, body)
        _remember(self.asked, id_, (subtype, request, body))

    def ignored(self, message: Message) -> None:
        """A request that is the transport of something told elsewhere."""
        _remember(
            self.asked, str(message["request_id"]), (subtype_of(message), None, message["request"])
        )

    def cancel(self, message: Message) -> None:
        """A `control_cancel_request`: the agent takes its request back."""
        entry = self.asked.get(str(message["request_id"]))
        if entry is None or entry[1] is None or not entry[1].open:
            self.state.warn("a request that is not open is taken back")
            return
        self.state.ledger.resolve(entry[1], "cancelled")

    def _open(self, id_: str, payload: pl.RequestOpenedPayload, tool: Any = None) -> Request:
        state = self.state
        turn = state.need_turn()
        session = state.session or UNSET
        refs = ProviderRefs(
            providerSessionId=session,
            providerThreadId=session,
            providerItemId=native_id(tool),
            providerRequestId=native_id(id_),
        )
        call = state.tools.get(tool) if isinstance(tool, str) else None
        return state.ledger.open_request(turn, id_, payload, refs, call.item if call else None)

    def _permission(self, id_: str, body: Message) -> Request:
        name = body["tool_name"]
        args = {"toolName": name, "input": body.get("input")}
        for native, ours in _ARGS.items():
            if body.get(native) is not None:
                args[ours] = body[native]
        detail = next(
            (
                body[key]
                for key in ("decision_reason", "title", "description")
                if isinstance(body.get(key), str)
            ),
            UNSET,
        )
        payload = pl.RequestOpenedPayload(request_type(name), detail, args)
        request = self._open(id_, payload, body.get("tool_use_id"))
        if name == QUESTION and isinstance(body.get("input"), dict):
            self._ask(request, body["input"].get("questions"))
        return request

    def _elicitation(self, id_: str, body: Message) -> Request:
        said = body.get("message")
        payload = pl.RequestOpenedPayload(
            "tool_user_input", said if isinstance(said, str) else UNSET, body
        )
        request = self._open(id_, payload)
        self._ask(request, body)
        return request

    def _dialog(self, id_: str, body: Message) -> Request:
        return self._open(id_, pl.RequestOpenedPayload("unknown", args=body))

    def _tokens(self, id_: str, body: Message) -> Request:
        return self._open(id_, pl.RequestOpenedPayload("auth_tokens_refresh", args=body))

    def _hook(self, id_: str, body: Message) -> None:
        event = body.get("input", {}).get("hook_event_name", "")
        if not self._hooks.begin(id_):
            self.state.warn("a hook began again")
            return
        self.state.emit(
            ev.HookStarted, pl.HookStartedPayload(id_, str(body.get("callback_id", "")), str(event))
        )

    def _ask(self, request: Request, questions: Any) -> None:
        self._of(request, ev.UserInputRequested, pl.UserInputRequestedPayload(questions))

    def _of(self, request: Request, kind: Any, payload: pl.Payload) -> None:
        turn = request.turn
        self.state.ledger.emit(
            kind,
            payload,
            thread=turn.thread if turn else UNSET,
            turn=turn.id if turn else UNSET,
            request=request.id,
            refs=request.refs,
        )

    # The client answers

    def reply(self, message: Message) -> None:
        """A `control_response` of the client's."""
        id_, failed, rest = answer_of(message)
        entry = self.asked.get(id_)
        if entry is None:
            self.state.warn("the client answers a request that was not seen")
            return
        subtype, request, body = entry
        if subtype == "hook_callback":
            if self._hooks.tell(id_, end=True) == "over":
                self.state.warn("a hook that is over ended again")
                return
            outcome: Any = "error" if failed else "success"
            output = rest if isinstance(rest, str) else UNSET
            self.state.emit(ev.HookCompleted, pl.HookCompletedPayload(id_, outcome, output))
        elif request is None:
            if failed:
                self.state.warn(f"the client refused the control request {subtype}: {rest}")
        elif not request.open:
            self.state.warn("the client answers a request that is resolved already")
        else:
            self._resolve(request, body, failed=failed, rest=rest)

    def _resolve(self, request: Request, body: Message, *, failed: bool, rest: Any) -> None:
        decision: Any = "error" if failed else UNSET
        if isinstance(rest, dict) and not failed:
            decision = next(
                (rest[k] for k in ("behavior", "action") if isinstance(rest.get(k), str)), UNSET
            )
            tool = body.get("tool_use_id")
            if decision == "deny":
                if isinstance(tool, str):
                    self.state.denied.add(tool)
                if rest.get("interrupt") is True:
                    self.state.interrupted = True
        if request.type == "tool_user_input" and decision in {"allow", "accept"}:
            self._of(request, ev.UserInputResolved, pl.UserInputResolvedPayload(_answers(rest)))
        secret = request.type == "auth_tokens_refresh"
        self.state.ledger.resolve(request, decision, UNSET if secret or rest is None else rest)

    # The client asks

    def client_request(self, message: Message) -> None:
        """A `control_request` of the client's; an interrupt is on record from here."""
        subtype = subtype_of(message)
        body = message.get("request")
        _remember(
            self.sent,
            str(message.get("request_id", "")),
            (subtype, body if isinstance(body, dict) else {}),
        )
        if subtype == "interrupt":
            self.state.interrupted = self.state.turn is not None

    def response(self, message: Message) -> None:
        """A `control_response` of the agent's."""
        id_, failed, rest = answer_of(message)
        subtype, body = self.sent.pop(id_, ("unknown", {}))
        self.state.start_session(synthesized=subtype != "initialize" or failed)
        if failed:
            if subtype == "interrupt":
                self.state.interrupted = False
            self.state.warn(f"the agent refused {subtype}: {rest}")
        elif subtype == "unknown":
            self.state.warn("the agent answers a request that was not seen")
        elif subtype in _CONFIG:
            field, name = _CONFIG[subtype]
            self.state.emit(
                ev.SessionConfigured, pl.SessionConfiguredPayload({name: body.get(field)})
            )
        elif subtype in self.responses:
            self.responses[subtype](rest)

    def _initialized(self, rest: Any) -> None:
        config = rest if isinstance(rest, dict) else {}
        self.state.emit(ev.SessionConfigured, pl.SessionConfiguredPayload(config))

    def _mcp_status(self, rest: Any) -> None:
        self.state.emit(ev.McpStatusUpdated, pl.McpStatusUpdatedPayload(rest))

    def _nothing(self, rest: Any) -> None:
        """What such an answer says is what was asked for: see `_CONFIG`."""


def _answers(rest: Any) -> Any:
    """Return the answers in the client's answer to a question."""
    updated = rest.get("updatedInput")
    if isinstance(updated, dict):
        return updated.get("answers", updated)
    return rest.get("content")


def _remember(table: dict[str, Any], id_: str, entry: Any) -> None:
    table[id_] = entry
    if len(table) > _REMEMBERED:
        del table[next(iter(table))]
