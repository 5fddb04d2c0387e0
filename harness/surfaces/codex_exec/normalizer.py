"""The reference normalizer of `codex exec --json`: the thread events and items of Codex's SDK.

A process is a session; its stream names no turn, so a turn is what is between `turn.started`
and its end. Only the end of a turn tells whether an `error` was one (DECISIONS.md 9).
"""

import re
from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.cassette import Frame, Header
from harness.surfaces.codex_eventmsg import IGNORED as IGNORED_EVENTS
from harness.surfaces.codex_eventmsg import EventMsgs, kind_of
from harness.surfaces.codex_exec.names import ITEM_EVENTS, PREFIX, generation
from harness.surfaces.codex_items import view
from harness.surfaces.codex_state import MISSING, Conversation, TurnState
from harness.surfaces.ledger import Ledger
from harness.surfaces.lines import LineNormalizer
from harness.surfaces.usage import flaw

Message = dict[str, Any]

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Normalizer(LineNormalizer):
    """See `harness.surfaces.base.Normalizer`."""

    def __init__(self, header: Header) -> None:
        ledger = Ledger(header)
        super().__init__(ledger)
        self.conversation = conversation = Conversation(ledger)
        self.events = EventMsgs(conversation, asks=True)
        self.table: dict[str, Callable[[Message], None]] = {
            "thread.started": self._thread_started,
            "session.created": self._thread_started,
            "turn.started": self._turn_started,
            "turn.completed": self._turn_completed,
            "turn.failed": self._turn_failed,
            "error": self._error,
            **dict.fromkeys(ITEM_EVENTS, self._item),
        }
        self._thread = conversation.thread("")
        self._turn: TurnState | None = None
        self._turns = 0
        self._ended = False
        self._asked = ""
        self._sessions = 0
        self._older = 3

    def client(self, frame: Frame, message: Message) -> None:  # noqa: ARG002 - nothing is read
        """See `LineNormalizer`."""
        self.ledger.cause(frame, "process.stdout")
        self.warn("the client wrote to an agent that reads nothing")

    def message(self, frame: Frame, message: Message) -> None:
        """See `LineNormalizer`."""
        wire = generation(message)
        if wire == 0:
            self.ledger.cause(frame, "process.stdout")
            self.conversation.warn("the agent sent a line of an unknown generation", message)
            return
        if wire == 1:
            kind = kind_of(message["msg"]) if isinstance(message.get("msg"), dict) else ""
            self.ledger.cause(frame, "codex.eventmsg", UNSET, kind or UNSET)
        else:
            self.ledger.cause(frame, "codex.sdk.thread-event", UNSET, message["type"])
        if wire != self._older:
            self._older = wire
            self.conversation.warn(f"wire generation {wire} of codex exec --json")
        try:
            if wire == 1:
                self._event(message)
            elif (handler := self.table.get(message["type"])) is not None:
                handler(message)
            else:
                self.conversation.warn(f"{message['type']} is not known", state=self._open)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self.conversation.warn(
                f"{message.get('type', 'a line')} has not the shape that it should: {error!r}",
                state=self._open,
            )

    # Processes

    def new_process(self, frame: Frame) -> None:
        """See `LineNormalizer`: what it is told to resume is on its command line."""
        command = frame.data.get("command") if isinstance(frame.data, dict) else None
        words = [str(w) for w in command] if isinstance(command, list) else []
        self._asked = ""
        if "resume" in words:
            after = words[words.index("resume") + 1 :]
            self._asked = next((w for w in after if _UUID.fullmatch(w)), "")

    def _begin(self, payload: pl.SessionStartedPayload, *, synthesized: bool) -> None:
        """Each process is a session of its own; a thread may go on in the next one."""
        if not self.conversation.started:
            self._sessions += 1
            self.ledger.session = f"ses-{self._sessions}"
            self.conversation.start_session(payload, synthesized=synthesized)

    def warn(self, message: str) -> None:
        """See `LineNormalizer`."""
        self.conversation.warn(message)

    def begin(self) -> bool:
        """See `LineNormalizer`."""
        started = self.conversation.started
        self._begin(pl.SessionStartedPayload(), synthesized=True)
        return started

    def ended(self, payload: pl.SessionExitedPayload) -> None:
        """See `LineNormalizer`."""
        self.ledger.emit(ev.SessionExited, payload)
        self.conversation.started = False
        self._thread = self.conversation.thread("")
        self._turn = None
        self._ended = False

    def close_all(self) -> None:
        """See `LineNormalizer`."""
        self.conversation.end_all()

    def wire(self, frame: Frame) -> Any:  # noqa: ARG002 - one source is the wire's
        """See `LineNormalizer`."""
        return "codex.sdk.thread-event"

    # Threads and turns

    def _thread_started(self, message: Message) -> None:
        native = message.get("thread_id", message.get("session_id"))
        if not isinstance(native, str) or not native:
            raise TypeError("thread_id is no text")
        resume = {"providerThreadId": self._asked} if self._asked else UNSET
        self._begin(pl.SessionStartedPayload(UNSET, resume), synthesized=False)
        self._thread = self.conversation.thread(native)
        # Each process says it anew.
        self._thread.announced = False
        self.conversation.announce(self._thread)
        if self._asked and self._asked != native:
            self.conversation.warn(
                "another thread was started than the one to be resumed",
                {"asked": self._asked, "started": native},
                thread=self._thread,
            )

    def _turn_started(self, _message: Message) -> None:
        self._begin(pl.SessionStartedPayload(), synthesized=True)
        if self._open is not None:
            # It names no turn, so nothing more can come for the one before.
            self.conversation.end_turn(
                self._open,
                MISSING,
                synthesized=True,
            )
        self._open_turn(synthesized=False)

    @property
    def _open(self) -> TurnState | None:
        """The turn, where it is open."""
        return self._turn if self._turn is not None and self._turn.turn.open else None

    def _open_turn(self, *, synthesized: bool) -> TurnState:
        self._turns += 1
        self._ended = False
        # White space marks an id that is not the provider's.
        self._turn = self.conversation.start_turn(
            self._thread, " " * self._turns, synthesized=synthesized
        )
        return self._turn

    def _within(self, what: str) -> TurnState | None:
        """Return the open turn; None, with a warning, where it has ended."""
        if self._turn is not None:
            if self._turn.turn.open:
                return self._turn
            # An event of generation 1 has ended it.
            self._turn, self._ended = None, True
        if self._ended:
            self.conversation.warn(f"{what} came after its turn had ended", thread=self._thread)
            return None
        self._begin(pl.SessionStartedPayload(), synthesized=True)
        return self._open_turn(synthesized=True)

    def _end(self, payload: pl.TurnCompletedPayload, state: TurnState) -> None:
        self._turn = None
        self._ended = True
        self.conversation.end_turn(state, payload)

    def _turn_completed(self, message: Message) -> None:
        if state := self._within("turn.completed"):
            usage = message.get("usage")
            # The running total of the thread, over all its processes: DECISIONS.md 10 and 12.
            scoped: Any = UNSET
            if usage is not None:
                if said := flaw(usage):
                    self.conversation.warn(said, usage, state=state)
                else:
                    scoped = {"scope": "thread", "tokens": usage}
            self._end(pl.TurnCompletedPayload("completed", UNSET, scoped), state)

    def _turn_failed(self, message: Message) -> None:
        if state := self._within("turn.failed"):
            error = message.get("error")
            said = error.get("message") if isinstance(error, dict) else error
            words = said if isinstance(said, str) and said else "the turn failed"
            self.ledger.emit(
                ev.RuntimeError,
                pl.RuntimeErrorPayload(words, "unknown", UNSET if error is None else error),
                thread=state.turn.thread,
                turn=state.turn.id,
                refs=state.turn.refs,
            )
            self._end(pl.TurnCompletedPayload("failed", errorMessage=words), state)

    def _error(self, message: Message) -> None:
        """`exec` drops the flag that says whether it will retry: only the turn's end tells."""
        words = message.get("message")
        self.conversation.warn(
            words if isinstance(words, str) else "error",
            {k: v for k, v in message.items() if k not in {"type", "message"}} or UNSET,
            state=self._open,
            thread=self._thread,
        )

    # Items

    def _item(self, message: Message) -> None:
        what, item = message["type"], message["item"]
        type_ = item.get("type") or item.get("item_type")
        if type_ == "error":
            # A warning of the agent's; the turn may not have started, and goes on anyway.
            words = item.get("message")
            self.conversation.warn(
                words if isinstance(words, str) else "error",
                state=self._open,
                thread=self._thread,
            )
            return
        state = self._within(what)
        if state is None:
            return
        native = str(item["id"])
        if native in state.closed:
            self.conversation.warn(
                f"{what} came for an item that was completed before", item, state=state
            )
            return
        if what == "item.completed":
            self.conversation.complete_item(state, native, view(item, ended=True), what)
        else:
            self._show(state, native, item, what)
        if type_ == "todo_list":
            self._plan(state, item)

    def _show(self, state: TurnState, native: str, item: Message, what: str) -> None:
        """An item that is not over: it starts, or goes on."""
        shown = view(item, ended=False)
        if shown.odd:
            self.conversation.warn(shown.odd, item, state=state)
        live = state.items.get(native)
        if live is None:
            live = self.conversation.start_item(
                state, native, shown.payload, synthesized=what == "item.updated"
            )
            if what == "item.started":
                return
        self.ledger.update(live.item, shown.payload)

    def _plan(self, state: TurnState, item: Message) -> None:
        """Each snapshot replaces the plan; a step is done or not, `exec` knows nothing between."""
        steps = [
            pl.PlanStep(
                str(s.get("text", "")), "completed" if s.get("completed") is True else "pending"
            )
            for s in item.get("items") or []
        ]
        turn = state.turn
        self.ledger.emit(
            ev.TurnPlanUpdated,
            pl.TurnPlanUpdatedPayload(steps),
            thread=turn.thread,
            turn=turn.id,
            refs=turn.refs,
        )

    # Generation 1

    def _event(self, message: Message) -> None:
        msg = message.get("msg")
        if not isinstance(msg, dict):
            self._heading(message)
            return
        kind = kind_of(msg)
        if kind in IGNORED_EVENTS:
            return
        if kind == "session_configured" and isinstance(msg.get("session_id"), str):
            self._begin(pl.SessionStartedPayload(), synthesized=False)
            self._thread = self.conversation.thread(msg["session_id"])
        elif kind == "task_started":
            self._begin(pl.SessionStartedPayload(), synthesized=True)
        if not self.events.handle(self._thread, message.get("id"), msg):
            self.conversation.warn(f"{PREFIX}{kind} is not known")

    def _heading(self, message: Message) -> None:
        """The configuration, before anything else; the prompt is the client's own."""
        if "prompt" not in message:
            self._begin(pl.SessionStartedPayload(), synthesized=True)
            self.ledger.emit(ev.SessionConfigured, pl.SessionConfiguredPayload(message))
