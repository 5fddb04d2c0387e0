"""Items and their streams: text, thinking, tools, plans, and what stands beside a tool.

A tool's output is a `terminal` part, the files that it changes are a `diff` part, the child that
it starts is a `task` part: each within the tool's own part, opened when there is something to say.
"""

from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType

from harness.canonical.events import EventBase
from harness.canonical.names import CanonicalItemType, ContentStreamKind
from harness.projection.chat_event import ChatKind, Diff, Task
from harness.projection.facts import caller, file_diffs, is_todo, unified_files
from harness.projection.parts import Part, Place
from harness.projection.places import Places, plain

KIND_OF_ITEM: Final[dict[CanonicalItemType, ChatKind]] = {
    "user_message": "text",
    "assistant_message": "text",
    "reasoning": "thinking",
    "plan": "plan",
    "command_execution": "tool",
    "file_change": "tool",
    "mcp_tool_call": "tool",
    "dynamic_tool_call": "tool",
    "collab_agent_tool_call": "tool",
    "web_search": "tool",
    "image_view": "tool",
    "review_entered": "status",
    "review_exited": "status",
    "context_compaction": "status",
    "error": "status",
    "unknown": "status",
}
KIND_OF_STREAM: Final[dict[ContentStreamKind, ChatKind]] = {
    "assistant_text": "text",
    "reasoning_text": "thinking",
    "reasoning_summary_text": "thinking",
    "plan_text": "plan",
    "command_output": "terminal",
}
"""The streams of a kind of their own; the others belong to the part of their item."""


class _Whole(NamedTuple):
    """A whole text in `data` and the stream that it is the whole of (DECISIONS.md 11).

    `final` is its name where it contradicts the stream, `pieces` where it stands in parts.
    """

    name: str
    final: str
    pieces: str
    stream: ContentStreamKind


_TEXTS: Final[dict[ChatKind, tuple[_Whole, ...]]] = {
    "text": (_Whole("text", "finalText", "textParts", "assistant_text"),),
    "thinking": (
        _Whole("text", "finalText", "textParts", "reasoning_text"),
        _Whole("summary", "finalSummary", "summaryParts", "reasoning_summary_text"),
    ),
    "plan": (_Whole("text", "finalText", "textParts", "plan_text"),),
}
_PROMPT: Final = (_Whole("text", "finalText", "textParts", "unknown"),)
"""Of a user's message: EVENTS.md 1.5 has no stream of it."""
_OUTPUT: Final = (_Whole("output", "finalOutput", "", "command_output"),)
"""Of a command: what another tool returns is a result, not a terminal's output."""
_FAILED: Final = frozenset({"failed", "declined"})


class Items(Places):
    """The parts of items."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, Part] = {}
        """The tool parts by the provider's id of the call, the latest where it is used again."""
        self._messages: dict[tuple[str, str, str], str] = {}
        self._told_by = ("", "")
        """When an item was last told of, and its name where it is a tool."""

    @staticmethod
    def _item_key(event: EventBase, what: str) -> tuple[str, ...]:
        if event.itemId is not UNSET:
            return ("item", event.sessionId, event.itemId)
        turn = "" if event.turnId is UNSET else event.turnId
        return ("nameless item", event.sessionId, turn, what)

    def _item_started(self, event: EventBase) -> None:
        self._item(event, "started")

    def _item_updated(self, event: EventBase) -> None:
        self._item(event, "updated")

    def _item_completed(self, event: EventBase) -> None:
        self._item(event, "completed")

    def _item(self, event: EventBase, phase: str) -> None:
        payload = event.payload
        data = payload.data if isinstance(payload.data, dict) else {}
        part = self.board.open.get(self._item_key(event, payload.itemType))
        kind = KIND_OF_ITEM[payload.itemType] if part is None else part.kind
        texts = _texts_of(payload.itemType, kind)
        fields = {
            "itemType": payload.itemType,
            "status": payload.status,
            "title": payload.title,
            "detail": payload.detail,
            "data": _rest(payload.data, texts),
        }
        fresh = part is None
        if part is None:
            first = fields if phase == "started" else {"itemType": payload.itemType}
            made = phase != "started"
            part = self._open_item(event, payload.itemType, data, made=made, fields=first)
        self._told_by = (event.createdAt, _name(payload, data) if part.kind == "tool" else "")
        if not (fresh and phase == "started") and phase != "completed":
            # Told whether or not anything is new: each canonical event shows.
            self.board.emit(part, "updated", **fields)
        self._texts(part, data, texts, final=phase == "completed")
        self._beside(event, part, data)
        if phase == "completed":
            self._ended_item(event, part)
            self.board.end(part, failed=payload.status in _FAILED, **fields)

    def _open_item(
        self,
        event: EventBase,
        type_: CanonicalItemType,
        data: dict[str, Any],
        *,
        made: bool,
        fields: dict[str, Any],
    ) -> Part:
        kind = KIND_OF_ITEM[type_]
        place = self.place(event)
        refs = event.providerRefs
        native = UNSET if refs is UNSET else refs.providerItemId
        if native is not UNSET:
            place.made.discard("partId")
        place.restored = data.get("replay") is True
        above = self.holder(event)
        call = self.calls.get(caller(data, event.raw))
        if call is not None and call.open:
            above = call
            place.linked = True
        if type_ != "user_message" and kind != "status" and event.turnId is not UNSET:
            step = self.step(event)
            place.step = step.id
            place.made.add("stepId")
            if kind == "tool" and event.itemId is not UNSET:
                step.running.add(event.itemId)
        if kind in {"text", "thinking"}:
            self._message(place, native, data)
        elif kind == "tool" and event.itemId is not UNSET:
            place.call = event.itemId
            if native is UNSET:
                place.made.add("toolCallId")
        role: Any = UNSET
        if kind == "text":
            role = "user" if type_ == "user_message" else "assistant"
        key = self._item_key(event, type_)
        part = self.board.start(key, kind, above, place, role=role, made=made, **fields)
        if kind == "tool" and native is not UNSET:
            self.calls[native] = part
        return part

    def _message(self, place: Place, native: str | UnsetType, data: dict[str, Any]) -> None:
        """Give a part its message: the native one where there is one, else one of its own."""
        named = data.get("messageId")
        if isinstance(named, str) and named:
            native = named
        if native is UNSET:
            place.made.add("messageId")
            place.message = self.board.mint("msg")
            return
        key = (place.session, "" if place.thread is UNSET else place.thread, native)
        known = self._messages.get(key)
        if known is None:
            known = self._messages[key] = self.board.mint("msg")
        place.message = known

    def _ended_item(self, event: EventBase, part: Part) -> None:
        if part.kind == "tool" and event.itemId is not UNSET and event.turnId is not UNSET:
            step = self.steps.get(event.turnId)
            if step is not None and event.itemId in step.running:
                step.running.discard(event.itemId)
                step.ran = True

    def _texts(
        self, part: Part, data: dict[str, Any], texts: tuple[_Whole, ...], *, final: bool
    ) -> None:
        for whole in texts:
            text = data.get(whole.final, data.get(whole.name))
            if not isinstance(text, str):
                continue
            kind = KIND_OF_STREAM.get(whole.stream, part.kind)
            if kind != part.kind and not text and kind not in part.subs:
                continue
            target = part if kind == part.kind else self._sub(part, kind, made=True)
            erases = final or data.get("replaces") is True
            self.board.whole(target, whole.stream, text, data.get(whole.pieces), final=erases)

    def _sub(self, part: Part, kind: ChatKind, *, made: bool, **fields: Any) -> Part:
        """Return the part of another kind that stands within an item's part."""
        sub = part.subs.get(kind)
        if sub is None or not sub.open:
            place = part.place.copy()
            place.linked = False
            place.made.add("partId")
            key = (*part.key, part.id, kind)
            sub = part.subs[kind] = self.board.start(key, kind, part, place, made=made, **fields)
        return sub

    def _beside(self, event: EventBase, part: Part, data: dict[str, Any]) -> None:
        """Tell what else an item shows: the files that it changes, the child that it starts."""
        type_ = event.payload.itemType
        if type_ == "file_change":
            files = file_diffs(data)
            if files:
                diff = Diff("call", "file_change", files)
                self._said(part, "diff", diff, diff=diff)
        elif type_ == "collab_agent_tool_call":
            natives = data.get("receiverThreadIds")
            listed = [n for n in natives if isinstance(n, str)] if isinstance(natives, list) else []
            if listed:
                # A call that names no child has a task of its own where the agent tells of one.
                task = Task(
                    description=event.payload.title,
                    status=event.payload.status,
                    childProviderIds=listed,
                )
                self._said(part, "task", task, task=task)

    def _said(self, part: Part, kind: ChatKind, what: Any, **fields: Any) -> None:
        sub = part.subs.get(kind)
        if sub is None or not sub.open:
            self._sub(part, kind, made=True, **fields).said = what
        elif sub.said != what:
            sub.said = what
            self.board.emit(sub, "updated", **fields)

    def _content(self, event: EventBase) -> None:
        payload = event.payload
        stream = payload.streamKind
        kind = KIND_OF_STREAM.get(stream)
        part = self.board.open.get(self._item_key(event, stream))
        if part is None:
            part = self._open_stream(event, kind)
        target = part
        if kind is not None and kind != part.kind:
            target = self._sub(part, kind, made=True)
        index = payload.summaryIndex if payload.contentIndex is UNSET else payload.contentIndex
        self.board.delta(target, stream, payload.delta, index)

    def _open_stream(self, event: EventBase, kind: ChatKind | None) -> Part:
        """Open the part of a delta that nothing announced."""
        place = self.place(event)
        if kind in {"text", "thinking"}:
            native = UNSET if event.providerRefs is UNSET else event.providerRefs.providerItemId
            self._message(place, native, {})
        key = self._item_key(event, event.payload.streamKind)
        role: Any = "assistant" if kind == "text" else UNSET
        holder = self.holder(event)
        return self.board.start(key, kind or "status", holder, place, role=role, made=True)

    def _plan(self, event: EventBase) -> None:
        # A tool that writes a list is told of at the same moment, just before the list.
        when, tool = self._told_by
        todo = is_todo(event.raw, tool if when == event.createdAt else "")
        kind: ChatKind = "todo" if todo else "plan"
        self._subject(event, kind, kind, self.holder(event), data=plain(event))

    def _turn_diff(self, event: EventBase) -> None:
        text = event.payload.unifiedDiff
        diff = Diff("turn", "turn.diff.updated", unified_files(text), text)
        self._subject(event, "diff", "diff", self.holder(event), diff=diff)

    def _tool_progress(self, event: EventBase) -> None:
        payload = event.payload
        part = None
        if event.itemId is not UNSET:
            part = self.board.open.get(self._item_key(event, ""))
        if part is None and payload.toolUseId is not UNSET:
            part = self.calls.get(payload.toolUseId)
        if part is not None and part.open and part.kind == "tool":
            self.board.emit(part, "updated", data=plain(event))
        else:
            self._single(event, "tool", self.holder(event), data=plain(event))


def _name(payload: Any, data: dict[str, Any]) -> str:
    """Return a tool's name, else what its item is called."""
    tool = data.get("tool")
    if isinstance(tool, str):
        return tool
    return payload.title if isinstance(payload.title, str) else ""


def _texts_of(type_: CanonicalItemType, kind: ChatKind) -> tuple[_Whole, ...]:
    if type_ == "user_message":
        return _PROMPT
    return _OUTPUT if type_ == "command_execution" else _TEXTS.get(kind, ())


def _rest(data: Any, texts: tuple[_Whole, ...]) -> Any:
    """Return an item's data without the texts that blocks carry."""
    if not isinstance(data, dict):
        return data
    moved = set()
    for whole in texts:
        names = {name for name in (whole.final, whole.name) if isinstance(data.get(name), str)}
        moved |= names and {*names, whole.pieces}
    left = {key: value for key, value in data.items() if key not in moved}
    return left or UNSET
