"""Faults that only a second run shows, and waiting for the end."""
# ruff: noqa: ARG002 - every handler takes the frame's data

import itertools
from collections.abc import Iterable
from typing import Any, ClassVar

from msgspec.structs import replace

from harness.cassette import Frame
from harness.surfaces.ledger import Item, Turn
from tests.conformance.toy import Normalizer

_COUNTER = itertools.count()


class WaitsForTheEnd(Normalizer):
    """Keeps everything until the frames have ended."""

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.kept: list[Any] = []

    def feed(self, frame: Frame) -> Iterable[Any]:
        self.kept += super().feed(frame)
        return []

    def close(self) -> Iterable[Any]:
        return [*self.kept, *super().close()]


class Remembers(Normalizer):
    """Knows the whole text of an item from an earlier run, and starts it with that."""

    seen: ClassVar[dict[str, str]] = {}

    def feed(self, frame: Frame) -> Iterable[Any]:
        data = frame.data
        if data["kind"] == "said":
            self.seen[data["itemId"]] = data["text"]
        for event in super().feed(frame):
            if event.type == "item.started" and data["itemId"] in self.seen:
                title = self.seen[data["itemId"]]
                yield replace(event, payload=replace(event.payload, title=title))
            else:
                yield event


class CountsForEver(Normalizer):
    """Lets a counter of the process into its output."""

    def on_note(self, data: dict[str, Any]) -> None:
        self.ledger.warn(f"warning {next(_COUNTER)}", turn=self.turn)


class LosesAnEvent(Normalizer):
    """Gives a warning only in every second run."""

    runs = itertools.count()

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.late = next(self.runs) % 2 == 1

    def feed(self, frame: Frame) -> Iterable[Any]:
        events = super().feed(frame)
        return list(events)[:0] if self.late and frame.data["kind"] == "note" else events


class HoldsBackOne(Normalizer):
    """Keeps each text until the frame after it: the last one, half-way, comes with the end."""

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.held: list[Any] = []

    def feed(self, frame: Frame) -> Iterable[Any]:
        held, self.held = self.held, list(super().feed(frame))
        if frame.seq != 8:
            held, self.held = held + self.held, []
        return held

    def close(self) -> Iterable[Any]:
        return [*self.held, *super().close()]


class CannotEndInATurn(Normalizer):
    """Knows of no end but the one after a turn."""

    def close(self) -> Iterable[Any]:
        assert self.turn is not None
        assert not self.turn.open
        return []


class OpensOnce(Normalizer):
    """Locks something for good."""

    locked: ClassVar[list[bool]] = []

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        if self.locked:
            raise BlockingIOError("locked")
        self.locked.append(True)


class SharesItems(Normalizer):
    """Keeps its items where every conversation of the process finds them, till the next begins."""

    shared: ClassVar[dict[str, Item]] = {}

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.shared.clear()
        self.items = self.shared


class OneTurnForAll(Normalizer):
    """Has one turn for the whole process."""

    turns: ClassVar[list[Turn | None]] = [None]

    def __init__(self, header: Any) -> None:
        self.turns[0] = None
        super().__init__(header)

    @property
    def turn(self) -> Turn | None:
        return self.turns[0]

    @turn.setter
    def turn(self, turn: Turn | None) -> None:
        self.turns[0] = turn


BROKEN = {
    "apart": {"shares-items": SharesItems, "one-turn-for-all": OneTurnForAll},
    "prefix": {
        "waits-for-the-end": WaitsForTheEnd,
        "remembers": Remembers,
        "holds-back-one": HoldsBackOne,
    },
    "deterministic": {
        "counts-for-ever": CountsForEver,
        "loses-an-event": LosesAnEvent,
    },
    "subject": {"cannot-end-in-a-turn": CannotEndInATurn, "opens-once": OpensOnce},
}
ALSO = {
    # What an earlier run has left makes the whole second run another one, too.
    "remembers": {"deterministic"},
}
