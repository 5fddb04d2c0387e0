"""The reference normalizer: the agent's messages as canonical events.

It sees one frame at a time, and never waits for a later one. `LineNormalizer` knows what is of no
message: processes, exits, lines that are none. `Ledger` mints ids and closes what a turn leaves.
"""

from collections.abc import Callable
from typing import Any, Final

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.cassette import Frame, Header
from harness.surfaces.ledger import Item, Ledger, Turn
from harness.surfaces.lines import LineNormalizer

Message = dict[str, Any]

# `raw.source` of an event. A wire has one of its own in time: `AddedRawSource` of
# harness/canonical/names.py, and DECISIONS.md 5.
SOURCE: Final = "process.stdout"
_MISSING: Final = pl.TurnCompletedPayload("interrupted", "missing-terminal")


class Normalizer(LineNormalizer):
    """See `harness.surfaces.base.Normalizer`."""

    def __init__(self, header: Header) -> None:
        super().__init__(Ledger(header))
        self._table: dict[str, Callable[[Message], None]] = {
            "ready": self._ready,
            "turn.started": self._turn_started,
            "text": self._text,
            "turn.completed": self._turn_completed,
            "turn.failed": self._turn_failed,
        }
        self._started = False
        self._thread = ""
        self._turn: Turn | None = None
        self._said: Item | None = None
        self._turns = 0

    def message(self, frame: Frame, message: Message) -> None:
        """See `LineNormalizer`."""
        kind = message.get("type")
        self.ledger.cause(frame, SOURCE)
        handler = self._table.get(kind) if isinstance(kind, str) else None
        if handler is None or not isinstance(kind, str):
            self.warn(f"{kind} is not known")
        else:
            self.guard(handler, message, kind)

    def client(self, frame: Frame, message: Message) -> None:
        """See `LineNormalizer`."""
        self.ledger.cause(frame, SOURCE)
        if message.get("type") != "prompt":
            self.warn("the client sent what is no prompt")

    def new_process(self, frame: Frame) -> None:
        """See `LineNormalizer`."""

    def warn(self, message: str) -> None:
        """See `LineNormalizer`."""
        self.ledger.warn(message, turn=self._turn)

    def begin(self) -> bool:
        """See `LineNormalizer`."""
        before = self._started
        if not before:
            self._started = True
            self.ledger.emit(ev.SessionStarted, pl.SessionStartedPayload(), synthesized=True)
        return before

    def ended(self, payload: pl.SessionExitedPayload) -> None:
        """See `LineNormalizer`."""
        self.ledger.emit(ev.SessionExited, payload)
        self._started, self._thread = False, ""

    def close_all(self) -> None:
        """See `LineNormalizer`."""
        self._end(_MISSING, synthesized=True)

    def wire(self, frame: Frame) -> Any:  # noqa: ARG002 - one source is the wire's
        """See `LineNormalizer`."""
        return SOURCE

    # Messages

    def _ready(self, message: Message) -> None:
        session = message["session"]
        if not isinstance(session, str) or not session:
            raise TypeError("session is no text")
        if self._started:
            self.warn("ready came twice")
            return
        self._started, self._thread = True, self.ledger.mint("thr")
        self.ledger.emit(ev.SessionStarted, pl.SessionStartedPayload())
        self.ledger.emit(ev.ThreadStarted, pl.ThreadStartedPayload(session), thread=self._thread)

    def _turn_started(self, _message: Message) -> None:
        self._end(_MISSING, synthesized=True)
        self._open(synthesized=False)

    def _open(self, *, synthesized: bool) -> Turn:
        """Open a turn, and before it whatever it needs to be in."""
        self.begin()
        if not self._thread:
            self._thread = self.ledger.mint("thr")
            self.ledger.emit(
                ev.ThreadStarted, pl.ThreadStartedPayload(), thread=self._thread, synthesized=True
            )
        self._turns += 1
        self._turn = self.ledger.start_turn(str(self._turns), self._thread, synthesized=synthesized)
        return self._turn

    def _text(self, message: Message) -> None:
        words = message["text"]
        if not isinstance(words, str):
            raise TypeError("text is no text")
        turn = self._turn or self._open(synthesized=True)
        if self._said is None:
            payload = pl.ItemLifecyclePayload("assistant_message", "inProgress")
            self._said = self.ledger.start_item(turn, "said", payload)
        self._delta(turn, self._said, words)

    def _delta(self, turn: Turn, item: Item, words: str) -> None:
        self.ledger.emit(
            ev.ContentDelta,
            pl.ContentDeltaPayload("assistant_text", words),
            thread=turn.thread,
            turn=turn.id,
            item=item.id,
        )

    def _turn_completed(self, message: Message) -> None:
        usage = message["usage"]
        if not isinstance(usage, dict):
            raise TypeError("usage is no object")
        if self._turn is None:
            self._open(synthesized=True)
        if self._said is not None:
            self.ledger.complete(self._said, "completed")
        # What a number counts is said beside it: DECISIONS.md 10.
        scoped = {"scope": "turn", "tokens": usage}
        self._end(pl.TurnCompletedPayload("completed", usage=scoped))

    def _turn_failed(self, message: Message) -> None:
        words = str(message["message"])
        turn = self._turn or self._open(synthesized=True)
        self.ledger.emit(
            ev.RuntimeError,
            pl.RuntimeErrorPayload(words, "provider_error"),
            thread=turn.thread,
            turn=turn.id,
        )
        self._end(pl.TurnCompletedPayload("failed", errorMessage=words))

    def _end(self, payload: pl.TurnCompletedPayload, *, synthesized: bool = False) -> None:
        if self._turn is not None:
            self.ledger.end_turn(self._turn, payload, synthesized=synthesized)
            self._turn = self._said = None
