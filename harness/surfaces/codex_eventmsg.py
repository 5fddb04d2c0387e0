"""Codex's `EventMsg`: the core's own events, which older wires carry as they are.

`codex exec --json` before 0.44 wrote `{id, msg}` lines; `codex app-server` sent
`codex/event/*` notifications beside its own ones until 2026. EVENTS.md 3.3.
"""

import base64
import codecs
from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalItemType, CanonicalRequestType
from harness.surfaces.codex_items import view
from harness.surfaces.codex_state import Conversation, Live, Thread, TurnState

Msg = dict[str, Any]

RENAMED: Final = {"turn_started": "task_started", "turn_complete": "task_complete"}
"""Types that have two names."""

IGNORED: Final = frozenset(
    {
        "item_started",
        "item_completed",
        "raw_response_item",
        "get_history_entry_response",
        "mcp_list_tools_response",
        "list_custom_prompts_response",
        "list_skills_response",
        "skills_update_available",
    }
)
"""Types that tell what other events tell, or answer a question of the client's interface."""

_PLAN_STATUS: Final = {
    "pending": "pending",
    "in_progress": "inProgress",
    "inProgress": "inProgress",
    "completed": "completed",
}


def kind_of(msg: Msg) -> str:
    """Return the type of an EventMsg under its first name; a plan's end under its own."""
    type_ = msg.get("type")
    if not isinstance(type_, str):
        return ""
    if type_ == "item_completed":
        item = msg.get("item")
        if isinstance(item, dict) and item.get("type") == "Plan":
            return "item_completed/Plan"
    return RENAMED.get(type_, type_)


def plan_payload(plan: Any, explanation: Any) -> tuple[pl.TurnPlanUpdatedPayload, str]:
    """Return a plan, and what of it is not known: a step of unknown status is left `pending`."""
    steps: list[pl.PlanStep] = []
    odd = ""
    for entry in plan if isinstance(plan, list) else []:
        step = entry if isinstance(entry, dict) else {"step": str(entry)}
        said = step.get("status", "pending")
        status = _PLAN_STATUS.get(said) if isinstance(said, str) else None
        if status is None:
            odd = f"plan status {said} is not known"
        steps.append(pl.PlanStep(str(step.get("step", "")), status or "pending"))  # type: ignore[arg-type]
    words = explanation if isinstance(explanation, str) or explanation is None else UNSET
    return pl.TurnPlanUpdatedPayload(steps, words), odd


class EventMsgs:
    """Handles the EventMsgs of one conversation.

    `asks`: whether a question for approval is told here alone, and not by a request beside it.
    """

    def __init__(self, conversation: Conversation, *, asks: bool) -> None:
        self.conversation = conversation
        self.ledger = conversation.ledger
        self.asks = asks
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}
        self._parts = 0
        self._message: dict[str, str] = {}
        self._reasoning: dict[str, str] = {}
        self.table: dict[str, Callable[[Thread, str, Msg], None]] = {
            "task_started": self._task_started,
            "task_complete": self._task_complete,
            "turn_aborted": self._turn_aborted,
            "error": self._error,
            "stream_error": self._warning,
            "warning": self._warning,
            "guardian_warning": self._warning,
            "background_event": self._warning,
            "deprecation_notice": self._deprecation,
            "session_configured": self._session_configured,
            "shutdown_complete": self._shutdown,
            "thread_name_updated": self._name,
            "thread_rolled_back": self._rolled_back,
            "context_compacted": self._compacted,
            "model_reroute": self._reroute,
            "token_count": self._token_count,
            "user_message": self._user_message,
            "agent_message": self._agent_message,
            "agent_message_delta": self._message_delta,
            "agent_message_content_delta": self._message_delta,
            "agent_reasoning": self._reasoning_end,
            "agent_reasoning_delta": self._reasoning_delta,
            "agent_reasoning_raw_content": self._reasoning_end,
            "agent_reasoning_raw_content_delta": self._raw_delta,
            "agent_reasoning_section_break": self._section,
            "reasoning_content_delta": self._reasoning_delta,
            "reasoning_raw_content_delta": self._raw_delta,
            "exec_command_begin": self._exec_begin,
            "exec_command_output_delta": self._exec_output,
            "exec_command_end": self._exec_end,
            "terminal_interaction": self._terminal,
            "patch_apply_begin": self._patch_begin,
            "patch_apply_end": self._patch_end,
            "mcp_tool_call_begin": self._mcp_begin,
            "mcp_tool_call_end": self._mcp_end,
            "mcp_startup_update": self._mcp_status,
            "mcp_startup_complete": self._mcp_status,
            "web_search_begin": self._search_begin,
            "web_search_end": self._search_end,
            "view_image_tool_call": self._image,
            "dynamic_tool_call_request": self._dynamic_begin,
            "dynamic_tool_call_response": self._dynamic_end,
            "entered_review_mode": self._review,
            "exited_review_mode": self._review,
            "plan_update": self._plan_update,
            "plan_delta": self._plan_delta,
            "item_completed/Plan": self._plan_end,
            "turn_diff": self._diff,
            **{f"collab_{what}_begin": self._collab_begin for what in _COLLAB},
            **{f"collab_{what}_end": self._collab_end for what in _COLLAB},
        }
        if asks:
            self.table |= {
                "exec_approval_request": self._exec_approval,
                "apply_patch_approval_request": self._patch_approval,
                "request_user_input": self._user_input,
                "request_permissions": self._unknown_request,
                "elicitation_request": self._unknown_request,
            }

    def handle(self, thread: Thread, turn: Any, msg: Msg) -> bool:
        """Handle one EventMsg; False where its type is not known."""
        handler = self.table.get(kind_of(msg))
        if handler is None:
            return False
        own = msg.get("turn_id")
        handler(thread, own if isinstance(own, str) else turn if isinstance(turn, str) else "", msg)
        return True

    def _state(self, thread: Thread, turn: str) -> TurnState | None:
        state = thread.open.get(turn) or thread.only()
        return state or self.conversation.turn(thread, turn)

    def _within(self, thread: Thread, turn: str, msg: Msg) -> TurnState | None:
        """Return the turn that the event is of; None, with a warning, where it has ended."""
        state = self._state(thread, turn)
        if state is None:
            self.conversation.warn(f"{kind_of(msg)} came after its turn had ended", thread=thread)
        return state

    # Session, thread, turn

    def _session_configured(self, thread: Thread, _turn: str, msg: Msg) -> None:
        self.conversation.start_session()
        native = msg.get("session_id")
        if isinstance(native, str) and not thread.native:
            thread = self.conversation.thread(native)
        self.announce(thread)
        config = {k: v for k, v in msg.items() if k not in {"type", "initial_messages"}}
        self.ledger.emit(
            ev.SessionConfigured,
            pl.SessionConfiguredPayload(config),
            thread=thread.id,
            refs=thread.refs,
        )

    def announce(self, thread: Thread) -> None:
        """Emit `thread.started` once."""
        if not thread.announced:
            thread.announced = True
            self.ledger.emit(
                ev.ThreadStarted,
                pl.ThreadStartedPayload(thread.native or UNSET),
                thread=thread.id,
                refs=thread.refs,
            )

    def _shutdown(self, thread: Thread, _turn: str, _msg: Msg) -> None:
        payload = pl.SessionStateChangedPayload("stopped", "shutdown_complete")
        self.ledger.emit(ev.SessionStateChanged, payload, thread=thread.id, refs=thread.refs)

    def _name(self, thread: Thread, _turn: str, msg: Msg) -> None:
        name = msg.get("thread_name")
        payload = pl.ThreadMetadataUpdatedPayload(name if isinstance(name, str) else UNSET)
        self.ledger.emit(ev.ThreadMetadataUpdated, payload, thread=thread.id, refs=thread.refs)

    def _rolled_back(self, thread: Thread, _turn: str, msg: Msg) -> None:
        payload = pl.ThreadMetadataUpdatedPayload(UNSET, {"rolledBackTurns": msg.get("num_turns")})
        self.ledger.emit(ev.ThreadMetadataUpdated, payload, thread=thread.id, refs=thread.refs)

    def _compacted(self, thread: Thread, _turn: str, msg: Msg) -> None:
        payload = pl.ThreadStateChangedPayload("compacted", _without_type(msg) or UNSET)
        self.ledger.emit(ev.ThreadStateChanged, payload, thread=thread.id, refs=thread.refs)

    def _task_started(self, thread: Thread, turn: str, _msg: Msg) -> None:
        self.conversation.start_session(synthesized=True)
        if turn in thread.open or self.conversation.has_ended(thread, turn):
            self.conversation.warn("a turn that had started already started again", thread=thread)
            return
        self.conversation.start_turn(thread, turn)

    def _task_complete(self, thread: Thread, turn: str, msg: Msg) -> None:
        state = self._within(thread, turn, msg)
        if state is not None:
            self._clear(state)
            failed = bool(state.error)
            self.conversation.end_turn(
                state,
                pl.TurnCompletedPayload(
                    "failed" if failed else "completed", errorMessage=state.error or UNSET
                ),
            )

    def _turn_aborted(self, thread: Thread, turn: str, msg: Msg) -> None:
        state = self._within(thread, turn, msg)
        if state is not None:
            self._clear(state)
            self.conversation.abort_turn(state, str(msg.get("reason", "aborted")))

    def _clear(self, state: TurnState) -> None:
        for opened in (self._message, self._reasoning):
            opened.pop(state.turn.id, None)
        for native in state.items:
            self._decoders.pop(native, None)

    def _diff(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            payload = pl.TurnDiffUpdatedPayload(str(msg.get("unified_diff", "")))
            self._emit(state, ev.TurnDiffUpdated, payload)

    def _plan_update(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            payload, odd = plan_payload(msg.get("plan"), msg.get("explanation"))
            self._emit(state, ev.TurnPlanUpdated, payload)
            if odd:
                self.conversation.warn(odd, state=state)

    def _emit(self, state: TurnState, kind: type[ev.EventBase], payload: pl.Payload) -> None:
        turn = state.turn
        self.ledger.emit(kind, payload, thread=turn.thread, turn=turn.id, refs=turn.refs)

    def _token_count(self, thread: Thread, _turn: str, msg: Msg) -> None:
        info, limits = msg.get("info"), msg.get("rate_limits")
        if isinstance(info, dict):
            payload = pl.ThreadTokenUsageUpdatedPayload({"scope": "thread", "tokens": info})
            self.ledger.emit(
                ev.ThreadTokenUsageUpdated, payload, thread=thread.id, refs=thread.refs
            )
        if isinstance(limits, dict):
            self.ledger.emit(
                ev.AccountRateLimitsUpdated, pl.AccountRateLimitsUpdatedPayload(limits)
            )
        if not isinstance(info, dict) and not isinstance(limits, dict):
            self.conversation.warn("token_count without info: the usage is not known", thread=thread)

    def _reroute(self, thread: Thread, turn: str, msg: Msg) -> None:
        state = self._state(thread, turn)
        payload = pl.ModelReroutedPayload(
            str(msg.get("from_model", "")), str(msg.get("to_model", "")), str(msg.get("reason", ""))
        )
        self.ledger.emit(
            ev.ModelRerouted,
            payload,
            thread=thread.id,
            turn=state.turn.id if state else UNSET,
            refs=state.turn.refs if state else thread.refs,
        )

    # Warnings and errors

    def _error(self, thread: Thread, turn: str, msg: Msg) -> None:
        message = str(msg.get("message", "error"))
        state = thread.open.get(turn) or thread.only()
        if state is not None and state.error:
            self.conversation.warn(message, _without_type(msg), state=state)
            return
        if state is not None:
            state.error = message
        self.ledger.emit(
            ev.RuntimeError,
            pl.RuntimeErrorPayload(message, "unknown", _without_type(msg)),
            thread=thread.id,
            turn=state.turn.id if state else UNSET,
            refs=state.turn.refs if state else thread.refs,
        )

    def _warning(self, thread: Thread, turn: str, msg: Msg) -> None:
        state = thread.open.get(turn) or thread.only()
        self.conversation.warn(
            str(msg.get("message", kind_of(msg))), _without_type(msg), state=state, thread=thread
        )

    def _deprecation(self, _thread: Thread, _turn: str, msg: Msg) -> None:
        details = msg.get("details")
        self.ledger.emit(
            ev.DeprecationNotice,
            pl.DeprecationNoticePayload(
                str(msg.get("summary", "")), details if isinstance(details, str) else UNSET
            ),
        )

    def _mcp_status(self, _thread: Thread, _turn: str, msg: Msg) -> None:
        self.ledger.emit(ev.McpStatusUpdated, pl.McpStatusUpdatedPayload(_without_type(msg)))

    # Messages and reasoning: the core gives them no id, or one on its deltas alone.

    def _open_text(
        self, state: TurnState, opened: dict[str, str], type_: CanonicalItemType, msg: Msg
    ) -> Live:
        native = opened.get(state.turn.id, "")
        live = state.items.get(native) if native else None
        own = msg.get("item_id")
        if live is not None and (not isinstance(own, str) or own == native):
            return live
        if isinstance(own, str) and own.strip() and own not in state.closed:
            native = own
        else:
            self._parts += 1
            native, own = f"{type_} {self._parts}", None
        opened[state.turn.id] = native
        return state.items.get(native) or self.conversation.start_item(
            state,
            native,
            pl.ItemLifecyclePayload(type_, "inProgress"),
            synthesized=True,
            own=own is not None,
        )

    def _message_delta(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            live = self._open_text(state, self._message, "assistant_message", msg)
            self.conversation.delta(live, "assistant_text", str(msg.get("delta", "")))

    def _agent_message(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            live = self._open_text(state, self._message, "assistant_message", {})
            self._message.pop(state.turn.id, None)
            item = {"type": "agentMessage", **_without_type(msg), "text": msg.get("message")}
            item.pop("message", None)
            self._complete(state, live.item.native, item, msg)

    def _user_message(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            self._parts += 1
            native = f"user_message {self._parts}"
            item = {"type": "userMessage", **_without_type(msg), "text": msg.get("message")}
            item.pop("message", None)
            shown = view(item, ended=False).payload
            self.conversation.start_item(state, native, shown, synthesized=True, own=False)
            self._complete(state, native, item, msg)

    def _reasoning_delta(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            live = self._open_text(state, self._reasoning, "reasoning", msg)
            self.conversation.delta(
                live,
                "reasoning_summary_text",
                str(msg.get("delta", "")),
                summary=_index(msg.get("summary_index")),
            )

    def _raw_delta(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            live = self._open_text(state, self._reasoning, "reasoning", msg)
            self.conversation.delta(
                live,
                "reasoning_text",
                str(msg.get("delta", "")),
                content=_index(msg.get("content_index")),
            )

    def _section(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            live = self._open_text(state, self._reasoning, "reasoning", msg)
            payload = pl.ItemLifecyclePayload("reasoning", "inProgress", data=_without_type(msg))
            self.ledger.update(live.item, payload)

    def _reasoning_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        """`agent_reasoning` is one summary section; the item goes on until something else comes."""
        if state := self._within(thread, turn, msg):
            live = self._open_text(state, self._reasoning, "reasoning", {})
            self._reasoning.pop(state.turn.id, None)
            item = {"type": "reasoning", "text": msg.get("text")}
            if kind_of(msg) == "agent_reasoning" and live.streams:
                item = {"type": "reasoning", "summary": [msg.get("text")]}
            self._complete(state, live.item.native, item, msg)

    # Tools

    def _begin(self, thread: Thread, turn: str, msg: Msg, item: dict[str, Any]) -> None:
        if state := self._within(thread, turn, msg):
            native = str(msg.get("call_id", msg.get("callId", "")))
            shown = view(item, ended=False)
            live = state.items.get(native)
            if live is not None:
                self.ledger.update(live.item, shown.payload)
            elif native in state.closed:
                self.conversation.warn(f"{kind_of(msg)} came after its end", state=state)
            else:
                self.conversation.start_item(state, native, shown.payload)

    def _end(self, thread: Thread, turn: str, msg: Msg, item: dict[str, Any]) -> None:
        if state := self._within(thread, turn, msg):
            self._complete(state, str(msg.get("call_id", msg.get("callId", ""))), item, msg)

    def _complete(self, state: TurnState, native: str, item: dict[str, Any], msg: Msg) -> None:
        self.conversation.complete_item(state, native, view(item, ended=True), kind_of(msg))

    def _exec_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, {**_call(msg), "type": "command_execution"})

    def _exec_output(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            native = str(msg.get("call_id", ""))
            live = self.conversation.item(state, native, "command_execution", kind_of(msg))
            if live is not None:
                self.conversation.delta(live, "command_output", self._chunk(native, msg))

    def _chunk(self, native: str, msg: Msg) -> str:
        """Output as bytes: base64 now, an array of numbers in old releases, text in none."""
        chunk = msg.get("chunk")
        try:
            raw = bytes(chunk) if isinstance(chunk, list) else base64.b64decode(str(chunk))
        except (ValueError, TypeError):
            return str(chunk)
        # A character may be split over two chunks of one stream.
        key = f"{native} {msg.get('stream', '')}"
        decoder = self._decoders.get(key)
        if decoder is None:
            decoder = self._decoders[key] = codecs.getincrementaldecoder("utf-8")("replace")
        return decoder.decode(raw)

    def _exec_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        native = str(msg.get("call_id", ""))
        for key in [k for k in self._decoders if k.startswith(f"{native} ")]:
            del self._decoders[key]
        item = {**_call(msg), "type": "command_execution"}
        if "aggregated_output" not in item:
            output = [item.get(k) for k in ("stdout", "stderr")]
            item["aggregated_output"] = "".join(o for o in output if isinstance(o, str))
        self._end(thread, turn, msg, item)

    def _terminal(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            native = str(msg.get("call_id", ""))
            live = self.conversation.item(state, native, "command_execution", kind_of(msg))
            if live is not None:
                payload = pl.ItemLifecyclePayload(
                    "command_execution", "inProgress", live.item.title, data=_without_type(msg)
                )
                self.ledger.update(live.item, payload)

    def _patch_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, _patch(msg))

    def _patch_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        item = _patch(msg)
        if "status" not in item and msg.get("success") is False:
            item["status"] = "failed"
        self._end(thread, turn, msg, item)

    def _mcp_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, _mcp(msg))

    def _mcp_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        item = _mcp(msg)
        result = msg.get("result")
        if isinstance(result, dict) and "Err" in result:
            item |= {"status": "failed", "error": {"message": str(result["Err"])}, "result": None}
        elif isinstance(result, dict) and "Ok" in result:
            item["result"] = result["Ok"]
            if isinstance(result["Ok"], dict) and result["Ok"].get("is_error") is True:
                item["status"] = "failed"
        self._end(thread, turn, msg, item)

    def _search_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, {**_call(msg), "type": "web_search"})

    def _search_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._end(thread, turn, msg, {**_call(msg), "type": "web_search"})

    def _image(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._end(thread, turn, msg, {**_call(msg), "type": "image_view"})

    def _dynamic_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, {**_call(msg), "type": "dynamic_tool_call"})

    def _dynamic_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._end(thread, turn, msg, {**_call(msg), "type": "dynamic_tool_call"})

    def _collab_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, _collab(msg))

    def _collab_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._end(thread, turn, msg, _collab(msg))

    def _review(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            self._parts += 1
            kind = kind_of(msg)
            type_ = "enteredReviewMode" if kind == "entered_review_mode" else "exitedReviewMode"
            item = {**_without_type(msg), "type": type_}
            native = f"{type_} {self._parts}"
            shown = view(item, ended=False).payload
            self.conversation.start_item(state, native, shown, synthesized=True, own=False)
            self._complete(state, native, item, msg)

    def _plan_delta(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            live = self.conversation.item(state, str(msg.get("item_id", "")), "plan", kind_of(msg))
            if live is not None:
                self.conversation.delta(live, "plan_text", str(msg.get("delta", "")))

    def _plan_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            item = msg["item"]
            self._complete(state, str(item.get("id", "")), {**item, "type": "plan"}, msg)

    # Questions

    def _ask(
        self, thread: Thread, turn: str, msg: Msg, type_: CanonicalRequestType, detail: Any
    ) -> None:
        if state := self._within(thread, turn, msg):
            native = str(msg.get("call_id", msg.get("id", "")))
            live = state.items.get(native)
            self.ledger.open_request(
                state.turn,
                native,
                pl.RequestOpenedPayload(
                    type_, detail if isinstance(detail, str) else UNSET, _without_type(msg)
                ),
                state.turn.refs,
                live.item if live else None,
            )
            if type_ == "tool_user_input":
                self._emit(
                    state,
                    ev.UserInputRequested,
                    pl.UserInputRequestedPayload(msg.get("questions")),
                )

    def _exec_approval(self, thread: Thread, turn: str, msg: Msg) -> None:
        command = msg.get("command")
        words = " ".join(map(str, command)) if isinstance(command, list) else command
        self._ask(thread, turn, msg, "exec_command_approval", words)

    def _patch_approval(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._ask(thread, turn, msg, "apply_patch_approval", msg.get("reason"))

    def _user_input(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._ask(thread, turn, msg, "tool_user_input", UNSET)

    def _unknown_request(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._ask(thread, turn, msg, "unknown", kind_of(msg))


_COLLAB: Final = ("agent_spawn", "agent_interaction", "waiting", "close", "resume")


def _without_type(msg: Msg) -> dict[str, Any]:
    return {k: v for k, v in msg.items() if k != "type"}


def _call(msg: Msg) -> dict[str, Any]:
    apart = {"type", "call_id", "callId", "turn_id", "turnId"}
    return {k: v for k, v in msg.items() if k not in apart}


def _patch(msg: Msg) -> dict[str, Any]:
    """`changes` is an object by path here, each value `{add|delete|update: {...}}`."""
    item = {**_call(msg), "type": "file_change"}
    changes = item.get("changes")
    if isinstance(changes, dict):
        item["changes"] = [_file(path, change) for path, change in changes.items()]
    return item


def _file(path: str, change: Any) -> dict[str, Any]:
    if not isinstance(change, dict):
        return {"path": path}
    if isinstance(change.get("type"), str):
        return {"path": path, "kind": change["type"], **{k: v for k, v in change.items() if k != "type"}}
    kind = next(iter(change), "")
    inner = change.get(kind)
    return {"path": path, "kind": kind, **(inner if isinstance(inner, dict) else {})}


def _mcp(msg: Msg) -> dict[str, Any]:
    item = {**_call(msg), "type": "mcp_tool_call"}
    invocation = item.pop("invocation", None)
    return {**item, **invocation} if isinstance(invocation, dict) else item


def _collab(msg: Msg) -> dict[str, Any]:
    tool = kind_of(msg).removeprefix("collab_").removesuffix("_begin").removesuffix("_end")
    item = {**_call(msg), "type": "collab_tool_call", "tool": tool}
    for old, new in (("receiver_thread_id", "receiverThreadId"), ("new_thread_id", "newThreadId")):
        if old in item:
            item[new] = item.pop(old)
    # The status is the sub-agent's, not the call's.
    if "status" in item:
        item["agentStatus"] = item.pop("status")
    return item


def _index(value: Any) -> int | UnsetType:
    return value if isinstance(value, int) and value >= 0 else UNSET
