"""Codex's `EventMsg`: the core's own events, which older wires carry as they are.

`codex exec --json` before 0.44 wrote `{id, msg}` lines; `codex app-server` sent
`codex/event/*` notifications beside its own ones until 2026. EVENTS.md 3.3.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalItemType, CanonicalRequestType
from harness.surfaces.codex_eventmsg_base import (
    Handlers,
    Msg,
    index,
    kind_of,
    plan_payload,
    without_type,
)
from harness.surfaces.codex_eventmsg_tools import ToolEvents
from harness.surfaces.codex_items import view
from harness.surfaces.codex_state import Conversation, Live, Thread, TurnState
from harness.surfaces.usage import flaw

__all__ = ["IGNORED", "EventMsgs", "kind_of", "plan_payload"]

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


class EventMsgs(Handlers):
    """Handles the EventMsgs of one conversation.

    `asks`: whether a question for approval is told here alone, and not by a request beside it.
    """

    def __init__(self, conversation: Conversation, *, asks: bool) -> None:
        super().__init__(conversation)
        self._tools = ToolEvents(conversation)
        self._parts = 0
        self._message: dict[str, str] = {}
        self._reasoning: dict[str, str] = {}
        self.table: dict[str, Callable[[Thread, str, Msg], None]] = {
            **self._tools.table,
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
            "mcp_startup_update": self._mcp_status,
            "mcp_startup_complete": self._mcp_status,
            "plan_update": self._plan_update,
            "plan_delta": self._plan_delta,
            "item_completed/Plan": self._plan_end,
            "turn_diff": self._diff,
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

    # Session, thread, turn

    def _session_configured(self, thread: Thread, _turn: str, msg: Msg) -> None:
        self.conversation.start_session()
        native = msg.get("session_id")
        if isinstance(native, str) and not thread.native:
            thread = self.conversation.thread(native)
        self.conversation.announce(thread)
        config = {k: v for k, v in msg.items() if k not in {"type", "initial_messages"}}
        self.ledger.emit(
            ev.SessionConfigured,
            pl.SessionConfiguredPayload(config),
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
        payload = pl.ThreadStateChangedPayload("compacted", without_type(msg) or UNSET)
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
        self._tools.clear(state)

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

    def _token_count(self, thread: Thread, _turn: str, msg: Msg) -> None:
        info, limits = msg.get("info"), msg.get("rate_limits")
        if isinstance(info, dict) and (said := flaw(info)):
            self.conversation.warn(said, info, thread=thread)
        elif isinstance(info, dict):
            payload = pl.ThreadTokenUsageUpdatedPayload({"scope": "thread", "tokens": info})
            self.ledger.emit(
                ev.ThreadTokenUsageUpdated, payload, thread=thread.id, refs=thread.refs
            )
        if isinstance(limits, dict):
            self.ledger.emit(
                ev.AccountRateLimitsUpdated, pl.AccountRateLimitsUpdatedPayload(limits)
            )
        if not isinstance(info, dict) and not isinstance(limits, dict):
            self.conversation.warn(
                "token_count without info: the usage is not known", thread=thread
            )

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
            self.conversation.warn(message, without_type(msg), state=state)
            return
        if state is not None:
            state.error = message
        self.ledger.emit(
            ev.RuntimeError,
            pl.RuntimeErrorPayload(message, "unknown", without_type(msg)),
            thread=thread.id,
            turn=state.turn.id if state else UNSET,
            refs=state.turn.refs if state else thread.refs,
        )

    def _warning(self, thread: Thread, turn: str, msg: Msg) -> None:
        state = thread.open.get(turn) or thread.only()
        self.conversation.warn(
            str(msg.get("message", kind_of(msg))), without_type(msg), state=state, thread=thread
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
        self.ledger.emit(ev.McpStatusUpdated, pl.McpStatusUpdatedPayload(without_type(msg)))

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
            item = {"type": "agentMessage", **without_type(msg), "text": msg.get("message")}
            item.pop("message", None)
            self._complete(state, live.item.native, item, msg)

    def _user_message(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            self._parts += 1
            native = f"user_message {self._parts}"
            item = {"type": "userMessage", **without_type(msg), "text": msg.get("message")}
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
                summary=index(msg.get("summary_index")),
            )

    def _raw_delta(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            live = self._open_text(state, self._reasoning, "reasoning", msg)
            self.conversation.delta(
                live,
                "reasoning_text",
                str(msg.get("delta", "")),
                content=index(msg.get("content_index")),
            )

    def _section(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            live = self._open_text(state, self._reasoning, "reasoning", msg)
            payload = pl.ItemLifecyclePayload("reasoning", "inProgress", data=without_type(msg))
            self.ledger.update(live.item, payload)

    def _reasoning_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        """`agent_reasoning` is one summary section; the item goes on until something else comes."""
        if state := self._within(thread, turn, msg):
            live = self._open_text(state, self._reasoning, "reasoning", {})
            self._reasoning.pop(state.turn.id, None)
            item = {"type": "reasoning", "text": msg.get("text")}
            if kind_of(msg) == "agent_reasoning" and live.parts:
                item = {"type": "reasoning", "summary": [msg.get("text")]}
            self._complete(state, live.item.native, item, msg)

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
            if any(request.native == native for request in state.turn.requests.values()):
                self.conversation.warn(f"{kind_of(msg)} is asked again", state=state)
                return
            self.ledger.open_request(
                state.turn,
                native,
                pl.RequestOpenedPayload(
                    type_, detail if isinstance(detail, str) else UNSET, without_type(msg)
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
