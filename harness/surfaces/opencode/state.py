"""A session of opencode as the normalizer knows it: its thread, its turn, its parts."""

from typing import Any

from msgspec import UNSET, UnsetType

from harness.canonical import ProviderRefs
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.surfaces.ledger import Item, Ledger, Turn


class Part:
    """A part of a message: its item, and the text that it has streamed so far."""

    __slots__ = ("call", "item", "known", "replaced", "said")

    def __init__(self, item: Item, call: str = "") -> None:
        self.item = item
        self.call = call
        self.said = ""
        self.known: dict[str, Any] | None = None
        self.replaced: str | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """As what it may be told again while it is open: as what it began as."""
        said = self.item.type in {"user_message", "assistant_message", "reasoning"}
        return ("text", "reasoning") if said else ("tool",)


class Session:
    """One `sessionID`: a thread. Its turn runs from the prompt, or `busy`, to `idle`."""

    def __init__(self, ledger: Ledger, native: str) -> None:
        self.ledger = ledger
        self.native = native
        self.thread = ledger.mint("thr")
        self.refs = ProviderRefs(providerSessionId=native, providerThreadId=native)
        self.announced = False
        self.turn: Turn | None = None
        self.parts: dict[str, Part] = {}
        self.calls: dict[str, Part] = {}
        self.prompt = self.agent = ""
        self.declined: set[str] = set()
        self.asked_abort = False
        self.after_abort = False
        self.evidence = False
        self.error = ""

    @property
    def place(self) -> dict[str, Any]:
        """Where an event of the session stands, as arguments of `Ledger.emit`."""
        turn = self.turn.id if self.turn else UNSET
        return {"thread": self.thread, "turn": turn, "refs": self.refs}

    def announce(self, *, synthesized: bool = True) -> None:
        """Emit `thread.started` once."""
        if self.announced:
            return
        self.announced = True
        payload = pl.ThreadStartedPayload(self.native)
        self.ledger.emit(
            ev.ThreadStarted,
            payload,
            thread=self.thread,
            refs=self.refs,
            synthesized=synthesized,
        )

    def begin(self, *, synthesized: bool = False) -> Turn:
        """Return the open turn, started now where there is none."""
        if self.turn is None:
            self.turn = self.ledger.start_turn(
                self.native, self.thread, self.refs, synthesized=synthesized
            )
            self.asked_abort = self.evidence = False
            self.error = self.prompt = ""
        return self.turn

    def leave(self) -> None:
        """Forget what the process has told: another one tells it anew."""
        for part in self.parts.values():
            self.ledger.complete(part.item, UNSET, synthesized=True)
        self.parts, self.calls = {}, {}

    def end(self, *, missing: bool = False) -> None:
        """End the open turn as what came in it says; without one, nothing."""
        turn, self.turn = self.turn, None
        if turn is None:
            return
        error: str | UnsetType = self.error or UNSET
        if missing:
            payload = pl.TurnCompletedPayload("interrupted", "missing-terminal")
        elif self.asked_abort:
            payload = pl.TurnCompletedPayload("interrupted", "abort")
        elif self.error:
            payload = pl.TurnCompletedPayload("failed", errorMessage=error)
        else:
            payload = pl.TurnCompletedPayload("completed")
        self.after_abort = self.asked_abort or self.error == "MessageAbortedError"
        self.ledger.end_turn(turn, payload, synthesized=missing)
        for part in self.parts.values():
            # A part that was told while no turn was open is in none: it ends here at the latest.
            self.ledger.complete(part.item, UNSET, synthesized=True)
