"""Faults in the lives of turns, items and requests, and in the text that they carry."""
# ruff: noqa: ARG002 - every handler takes the frame's data

from typing import Any

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from tests.conformance.toy import Normalizer


class LeavesItemsOpen(Normalizer):
    """Forgets the command that its turn leaves open."""

    def on_done(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        self.turn.items.clear()
        super().on_done(data)


class StartsTwice(Normalizer):
    """Starts the item again when its text is whole."""

    def on_said(self, data: dict[str, Any]) -> None:
        item = self.items[data["itemId"]]
        self.ledger._item_event(
            ev.ItemStarted, item, pl.ItemLifecyclePayload("assistant_message"), synthesized=False
        )
        super().on_said(data)


class CompletesTwice(Normalizer):
    """Completes a command at its result, and once more."""

    def on_ran(self, data: dict[str, Any]) -> None:
        super().on_ran(data)
        self.items[data["itemId"]].open = True
        super().on_ran(data)


class CompletesElsewhere(Normalizer):
    """Forgets the thread of a command when it completes it."""

    def on_ran(self, data: dict[str, Any]) -> None:
        item = self.items[data["itemId"]]
        item.open = False
        assert self.turn is not None
        self.turn.items.pop(item.native, None)
        self.ledger.emit(
            ev.ItemCompleted,
            pl.ItemLifecyclePayload(item.type, "completed"),
            turn=self.turn.id,
            item=item.id,
        )


class CompletesInNoTurn(Normalizer):
    """Forgets the turn of a command when it completes it."""

    def on_ran(self, data: dict[str, Any]) -> None:
        item = self.items[data["itemId"]]
        item.open = False
        assert self.turn is not None
        self.turn.items.pop(item.native, None)
        self.ledger.emit(
            ev.ItemCompleted,
            pl.ItemLifecyclePayload(item.type, "completed"),
            thread=self.turn.thread,
            item=item.id,
        )


class UpdatesAClosedItem(Normalizer):
    """Updates a command after its end."""

    def on_ran(self, data: dict[str, Any]) -> None:
        super().on_ran(data)
        payload = pl.ItemLifecyclePayload("command_execution")
        self.ledger.update(self.items[data["itemId"]], payload)


class DeltaAfterTheEnd(Normalizer):
    """Sends an empty delta after the whole text."""

    def on_said(self, data: dict[str, Any]) -> None:
        super().on_said(data)
        self.delta(self.items[data["itemId"]], pl.ContentDeltaPayload("assistant_text", ""))


class DeltaWithoutAStart(Normalizer):
    """Streams for an item that it never started."""

    def on_note(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        self.ledger.emit(
            ev.ContentDelta,
            pl.ContentDeltaPayload("unknown", data["text"]),
            turn=self.turn.id,
            item="itm-99",
        )


class TwoTerminals(Normalizer):
    """Aborts a turn that it has completed."""

    def on_done(self, data: dict[str, Any]) -> None:
        super().on_done(data)
        assert self.turn is not None
        self.ledger.emit(ev.TurnAborted, pl.TurnAbortedPayload("done"), turn=self.turn.id)


class TalksAfterTheEnd(Normalizer):
    """Warns in the name of a turn that has ended."""

    def on_done(self, data: dict[str, Any]) -> None:
        super().on_done(data)
        self.ledger.warn("that was all", turn=self.turn)


class NeverEnds(Normalizer):
    """Ends no turn, but closes all that is in it."""

    def on_done(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        for item in list(self.turn.items.values()):
            self.ledger.complete(item, "failed", synthesized=True)
        self.turn.open = False
        self.ledger.warn("done")


class NamesAFutureTurn(Normalizer):
    """Names a turn that has not started."""

    def on_hello(self, data: dict[str, Any]) -> None:
        self.thread = self.ledger.mint("thr")
        self.ledger.emit(
            ev.ThreadStarted, pl.ThreadStartedPayload(), thread=self.thread, turn="trn-1"
        )


class NeverResolves(Normalizer):
    """Takes the answer for no event, and forgets the request."""

    def on_answer(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        self.turn.requests.clear()
        self.requests[data["requestId"]].open = False
        self.ledger.warn("answered", turn=self.turn)


class ResolvesTwice(Normalizer):
    """Resolves a request at the answer, and once more."""

    def on_answer(self, data: dict[str, Any]) -> None:
        super().on_answer(data)
        self.requests[data["requestId"]].open = True
        super().on_answer(data)


class ResolvesAnother(Normalizer):
    """Resolves a request as one of another type."""

    def on_answer(self, data: dict[str, Any]) -> None:
        self.requests[data["requestId"]].type = "file_change_approval"
        super().on_answer(data)


class LosesADelta(Normalizer):
    """Streams only the first part of each text."""

    def on_say(self, data: dict[str, Any]) -> None:
        if data["itemId"] in self.items:
            item = self.items[data["itemId"]]
            self.ledger.update(item, pl.ItemLifecyclePayload("assistant_message", "inProgress"))
        else:
            super().on_say(data)


class DoublesADelta(Normalizer):
    """Streams every delta twice."""

    def delta(self, item: Any, payload: pl.ContentDeltaPayload) -> None:
        super().delta(item, payload)
        super().delta(item, payload)


BROKEN = {
    "items": {
        "leaves-items-open": LeavesItemsOpen,
        "starts-twice": StartsTwice,
        "completes-twice": CompletesTwice,
        "completes-elsewhere": CompletesElsewhere,
        "completes-in-no-turn": CompletesInNoTurn,
        "updates-a-closed-item": UpdatesAClosedItem,
    },
    "deltas": {
        "delta-after-the-end": DeltaAfterTheEnd,
        "delta-without-a-start": DeltaWithoutAStart,
    },
    "turns": {
        "two-terminals": TwoTerminals,
        "talks-after-the-end": TalksAfterTheEnd,
        "never-ends": NeverEnds,
        "names-a-future-turn": NamesAFutureTurn,
    },
    "requests": {
        "never-resolves": NeverResolves,
        "resolves-twice": ResolvesTwice,
        "resolves-another": ResolvesAnother,
    },
    "text": {"loses-a-delta": LosesADelta, "doubles-a-delta": DoublesADelta},
}
