"""`thread/*`, `turn/*`, `item/*` and `error`: EVENTS.md 3.1."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import (
    CanonicalItemType,
    ContentStreamKind,
    ThreadState,
    TurnState,
)
from harness.surfaces.codex_app_server.errors import error_class, message_of, required
from harness.surfaces.codex_eventmsg import plan_payload
from harness.surfaces.codex_items import view
from harness.surfaces.codex_state import Conversation, Thread
from harness.surfaces.codex_state import TurnState as State
from harness.surfaces.usage import verify

Params = dict[str, Any]

STREAMS: Final[dict[str, tuple[ContentStreamKind, CanonicalItemType, str, str]]] = {
    "item/agentMessage/delta": ("assistant_text", "assistant_message", "", ""),
    "item/plan/delta": ("plan_text", "plan", "", ""),
    "item/commandExecution/outputDelta": ("command_output", "command_execution", "", ""),
    "item/fileChange/outputDelta": ("file_change_output", "file_change", "", ""),
    "item/reasoning/summaryTextDelta": (
        "reasoning_summary_text",
        "reasoning",
        "",
        "summaryIndex",
    ),
    "item/reasoning/textDelta": ("reasoning_text", "reasoning", "contentIndex", ""),
}
"""Delta method to stream kind, item type, and the fields of its content and summary index."""

_THREAD_STATES: Final[dict[str, ThreadState]] = {
    "active": "active",
    "idle": "idle",
    "systemError": "error",
    # Not in the agent's memory any more; `thread/closed` says the same.
    "notLoaded": "closed",
}
_TURN_STATES: Final[dict[str, TurnState]] = {
    "completed": "completed",
    "interrupted": "interrupted",
    "failed": "failed",
}
_LINKS: Final = ("parentThreadId", "forkedFromId", "agentNickname", "agentRole")


class ThreadHandlers:
    """The notifications that tell of threads, turns and items."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.ledger = conversation.ledger
        self.table: dict[str, Callable[[str, Params], None]] = {
            "thread/started": self._started,
            "thread/status/changed": self._status,
            "thread/archived": self._fixed_state,
            "thread/unarchived": self._fixed_state,
            "thread/closed": self._fixed_state,
            "thread/deleted": self._fixed_state,
            "thread/compacted": self._fixed_state,
            "thread/name/updated": self._name,
            "thread/tokenUsage/updated": self._usage,
            "thread/settings/updated": self._settings,
            **dict.fromkeys(_METADATA, self._metadata),
            "turn/started": self._turn_started,
            "turn/completed": self._turn_completed,
            "turn/diff/updated": self._diff,
            "turn/plan/updated": self._plan,
            "item/started": self._item_started,
            "item/completed": self._item_completed,
            **dict.fromkeys(STREAMS, self._delta),
            "item/reasoning/summaryPartAdded": self._summary_part,
            "item/commandExecution/terminalInteraction": self._terminal,
            "item/fileChange/patchUpdated": self._patch,
            "item/mcpToolCall/progress": self._progress,
            "item/autoApprovalReview/started": self._review,
            "item/autoApprovalReview/completed": self._review,
            "error": self._error,
        }

    # Threads

    def announce(self, native: Params) -> Thread:
        """Emit `thread.started` once for a thread object, with its links to other threads."""
        if not required(native, "id"):
            raise ValueError("a thread without an id")
        thread = self.conversation.thread(native["id"])
        self.conversation.start_session(synthesized=True)
        self.remember(thread, native.get("model"), native.get("reasoningEffort"))
        links = {k: native[k] for k in _LINKS if native.get(k)}
        if thread.announced:
            # What an earlier frame presupposed, or a repetition: the thread as it is now.
            if isinstance(native.get("name"), str):
                links["name"] = native["name"]
            self.conversation.link(thread, links)
        else:
            self.conversation.announce(thread)
            if links:
                self.conversation.link(thread, links)
        return thread

    def _children(self, sender: Thread, data: Any) -> None:
        """Announce the threads of sub-agents, which nothing but the call to them announces."""
        receivers = data.get("receiverThreadIds") if isinstance(data, dict) else None
        for native in receivers if isinstance(receivers, list) else []:
            child = self.conversation.thread(native)
            if not child.announced and child is not sender:
                self.conversation.announce(child, synthesized=True)
                self.conversation.link(child, {"parentThreadId": sender.native}, synthesized=True)

    def remember(self, thread: Thread, model: Any, effort: Any) -> None:
        """Keep what the thread's next turns run with."""
        thread.model = model if isinstance(model, str) else thread.model
        thread.effort = effort if isinstance(effort, str) else thread.effort

    def _thread_event(
        self,
        thread: Thread,
        kind: type[ev.EventBase],
        payload: pl.Payload,
        state: State | None = None,
    ) -> None:
        self.ledger.emit(
            kind,
            payload,
            thread=thread.id,
            turn=state.turn.id if state else UNSET,
            refs=state.turn.refs if state else thread.refs,
        )

    def _started(self, _method: str, params: Params) -> None:
        self.announce(params["thread"])

    def _status(self, _method: str, params: Params) -> None:
        thread = self.conversation.thread(params["threadId"])
        status = params["status"]
        name = status.get("type") if isinstance(status, dict) else status
        state = _THREAD_STATES.get(name) if isinstance(name, str) else None
        if state is None:
            self.conversation.warn(f"thread status {name} is not known", status, thread=thread)
            return
        self._thread_event(
            thread, ev.ThreadStateChanged, pl.ThreadStateChangedPayload(state, status)
        )

    def _fixed_state(self, method: str, params: Params) -> None:
        state, detail = _FIXED[method]
        thread = self.conversation.thread(params["threadId"])
        self._thread_event(
            thread, ev.ThreadStateChanged, pl.ThreadStateChangedPayload(state, detail)
        )

    def _name(self, _method: str, params: Params) -> None:
        thread = self.conversation.thread(params["threadId"])
        payload = pl.ThreadMetadataUpdatedPayload(_text(params.get("threadName")))
        self._thread_event(thread, ev.ThreadMetadataUpdated, payload)

    def _metadata(self, method: str, params: Params) -> None:
        thread = self.conversation.thread(params["threadId"])
        rest = {k: v for k, v in params.items() if k != "threadId"}
        payload = pl.ThreadMetadataUpdatedPayload(UNSET, {_METADATA[method]: rest or True})
        self._thread_event(thread, ev.ThreadMetadataUpdated, payload)

    def _usage(self, _method: str, params: Params) -> None:
        thread = self.conversation.thread(params["threadId"])
        usage = {"scope": "thread", "tokens": verify(params["tokenUsage"])}
        # Of a turn that is over, it is still the thread's.
        state = self.conversation.known(thread, params.get("turnId"))
        payload = pl.ThreadTokenUsageUpdatedPayload(usage)
        self._thread_event(thread, ev.ThreadTokenUsageUpdated, payload, state)

    def _settings(self, _method: str, params: Params) -> None:
        thread = self.conversation.thread(params["threadId"])
        settings = dict(params["threadSettings"])
        self.remember(thread, settings.get("model"), settings.get("effort"))
        self._thread_event(thread, ev.SessionConfigured, pl.SessionConfiguredPayload(settings))

    # Turns

    def _turn_started(self, method: str, params: Params) -> None:
        self.conversation.start_session(synthesized=True)
        thread = self.conversation.thread(params["threadId"])
        native = str(params["turn"]["id"])
        state = thread.open.get(native)
        if state is not None or self.conversation.has_ended(thread, native):
            self.conversation.warn(
                f"{method} came for a turn that had started before", state=state, thread=thread
            )
            return
        root = params["turn"].get("rootTurnId")
        self.conversation.start_turn(thread, native)
        thread.open[native].root = root if isinstance(root, str) else ""

    def _turn_completed(self, method: str, params: Params) -> None:
        thread = self.conversation.thread(params["threadId"])
        turn = params["turn"]
        state = self.conversation.turn(thread, turn["id"])
        if state is None:
            self.conversation.warn(
                f"{method} came for a turn that had ended before", turn, thread=thread
            )
            return
        # A snapshot closes what it has; what it lacks (`itemsView: notLoaded`) it does not undo.
        for item in turn.get("items") or []:
            if isinstance(item, dict) and item.get("id") in state.items:
                self.conversation.complete_item(state, item["id"], view(item, ended=True), method)
        status = turn.get("status")
        ended = _TURN_STATES.get(status) if isinstance(status, str) else None
        if ended is None:
            self.conversation.warn(f"turn status {status} is not known", turn, state=state)
            self.conversation.abort_turn(state, str(status))
            return
        error = turn.get("error")
        message = message_of(error)
        if ended == "failed" and not state.error:
            self._fail(state, message or "the turn failed", error)
        self.conversation.end_turn(
            state,
            pl.TurnCompletedPayload(
                ended,
                errorMessage=(message or state.error or UNSET) if ended == "failed" else UNSET,
            ),
        )

    def _fail(self, state: State, message: str, error: Any) -> None:
        """Emit the turn's one `runtime.error` (DECISIONS.md 9)."""
        state.error = message
        info = error.get("codexErrorInfo") if isinstance(error, dict) else None
        payload = pl.RuntimeErrorPayload(
            message, error_class(info), error if error is not None else UNSET
        )
        self._thread_event(state.thread, ev.RuntimeError, payload, state)

    def _error(self, _method: str, params: Params) -> None:
        """An error that will be retried, or whose flag is missing, ends nothing."""
        error = params.get("error")
        message = message_of(error) or str(params.get("message", "error"))
        thread = self.conversation.thread(params.get("threadId"))
        turn = params.get("turnId")
        named = isinstance(turn, str)
        state = self.conversation.turn(thread, turn) if named else None
        detail = {k: v for k, v in params.items() if k not in {"threadId", "turnId"}}
        # One failure is told once; what comes for a turn that is over is no failure of it.
        told = state.error if state is not None else named
        if params.get("willRetry") is not False or told:
            self.conversation.warn(message, detail, state=state, thread=thread)
            return
        if state is not None:
            state.error = message
        info = error.get("codexErrorInfo") if isinstance(error, dict) else None
        payload = pl.RuntimeErrorPayload(message, error_class(info), detail)
        self._thread_event(thread, ev.RuntimeError, payload, state)

    def _within(self, method: str, params: Params) -> State | None:
        """Return the turn that a notification is of; None, with a warning, where it has ended."""
        self.conversation.start_session(synthesized=True)
        thread = self.conversation.thread(params["threadId"])
        state = self.conversation.turn(thread, params["turnId"])
        if state is None:
            self.conversation.warn(f"{method} came after its turn had ended", thread=thread)
        return state

    def _diff(self, method: str, params: Params) -> None:
        if state := self._within(method, params):
            payload = pl.TurnDiffUpdatedPayload(required(params, "diff"))
            self._thread_event(state.thread, ev.TurnDiffUpdated, payload, state)

    def _plan(self, method: str, params: Params) -> None:
        if state := self._within(method, params):
            payload, odd = plan_payload(params["plan"], params.get("explanation", UNSET))
            self._thread_event(state.thread, ev.TurnPlanUpdated, payload, state)
            if odd:
                self.conversation.warn(odd, params["plan"], state=state)

    # Items

    def _item_started(self, method: str, params: Params) -> None:
        if state := self._within(method, params):
            item = params["item"]
            native = str(item["id"])
            shown = view(item, ended=False)
            live = state.items.get(native)
            if live is not None:
                self.ledger.update(live.item, shown.payload)
            elif native in state.closed:
                self.conversation.warn(
                    f"{method} came for an item that was completed before", item, state=state
                )
            else:
                if shown.odd:
                    self.conversation.warn(shown.odd, item, state=state)
                self.conversation.start_item(state, native, shown.payload)

    def _item_completed(self, method: str, params: Params) -> None:
        if state := self._within(method, params):
            item = params["item"]
            shown = view(item, ended=True)
            if shown.type == "collab_agent_tool_call":
                self._children(state.thread, shown.payload.data)
            self.conversation.complete_item(state, str(item["id"]), shown, method)

    def _delta(self, method: str, params: Params) -> None:
        """The slow way: a delta whose item is not open, or is not what it seems."""
        if state := self._within(method, params):
            stream, type_, content, summary = STREAMS[method]
            delta = required(params, "delta")
            live = self.conversation.item(state, str(params["itemId"]), type_, method)
            if live is not None:
                self.conversation.delta(
                    live,
                    stream,
                    delta,
                    _index(params.get(content)),
                    _index(params.get(summary)),
                )

    def _update(
        self, method: str, params: Params, type_: CanonicalItemType, data: dict[str, Any]
    ) -> None:
        if state := self._within(method, params):
            live = self.conversation.item(state, str(params["itemId"]), type_, method)
            if live is not None:
                payload = pl.ItemLifecyclePayload(
                    live.item.type, "inProgress", live.item.title, UNSET, data
                )
                self.ledger.update(live.item, payload)

    def _summary_part(self, method: str, params: Params) -> None:
        data = {"summaryIndex": params.get("summaryIndex")}
        self._update(method, params, "reasoning", data)

    def _terminal(self, method: str, params: Params) -> None:
        data = {"stdin": params.get("stdin"), "processId": params.get("processId")}
        self._update(method, params, "command_execution", data)

    def _patch(self, method: str, params: Params) -> None:
        shown = view({"type": "fileChange", "changes": params["changes"]}, ended=False)
        data = shown.payload.data
        self._update(method, params, "file_change", data)

    def _progress(self, method: str, params: Params) -> None:
        if state := self._within(method, params):
            native = str(params["itemId"])
            live = state.items.get(native)
            title = live.item.title if live else UNSET
            payload = pl.ToolProgressPayload(native, title, _text(params.get("message")))
            self.ledger.emit(
                ev.ToolProgress,
                payload,
                thread=state.turn.thread,
                turn=state.turn.id,
                item=live.item_id if live else UNSET,
                refs=live.refs if live else state.turn.refs,
            )

    def _review(self, method: str, params: Params) -> None:
        """A review of an approval by the agent itself; its item may not be announced yet."""
        if state := self._within(method, params):
            review = {k: v for k, v in params.items() if k not in {"threadId", "turnId"}}
            live = state.items.get(str(params.get("targetItemId")))
            if live is None:
                self.conversation.warn(
                    f"{method} names an item that is not open", review, state=state
                )
                return
            payload = pl.ItemLifecyclePayload(
                live.item.type, "inProgress", live.item.title, UNSET, {"autoApprovalReview": review}
            )
            self.ledger.update(live.item, payload)


_FIXED: Final[dict[str, tuple[ThreadState, Any]]] = {
    "thread/archived": ("archived", UNSET),
    # No ThreadState says it: DECISIONS.md 2.
    "thread/unarchived": ("active", {"status": "unarchived"}),
    "thread/closed": ("closed", UNSET),
    "thread/deleted": ("closed", {"status": "deleted"}),
    "thread/compacted": ("compacted", UNSET),
}
_METADATA: Final = {
    "thread/attachment/updated": "attachment",
    "thread/environment/connected": "environmentConnected",
    "thread/environment/disconnected": "environmentDisconnected",
    "thread/goal/updated": "goal",
    "thread/goal/cleared": "goalCleared",
    "thread/project/updated": "project",
    "thread/reverted": "reverted",
}


def _text(value: Any) -> str | UnsetType:
    return value if isinstance(value, str) else UNSET


def _index(value: Any) -> int | UnsetType:
    return value if type(value) is int and value >= 0 else UNSET
