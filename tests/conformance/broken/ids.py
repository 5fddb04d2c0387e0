"""Faults of ids."""

import itertools
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from harness.cassette import Frame
from tests.conformance.toy import Normalizer


class ProvidersItemId(Normalizer):
    """Takes the provider's item id for its own."""

    def item(self, data: dict[str, Any], payload: Any) -> Any:
        mint = self.ledger.mint
        self.ledger.mint = lambda prefix: data["itemId"] + prefix[:0]  # type: ignore[method-assign]
        try:
            return super().item(data, payload)
        finally:
            self.ledger.mint = mint  # type: ignore[method-assign]


class ProvidersThreadIdWithoutRefs(Normalizer):
    """Takes the provider's thread id, and keeps no refs that would tell."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            if event.type == "thread.started":
                yield replace(event, threadId=frame.data["threadId"], providerRefs=_none())
            else:
                yield event


class Untrimmed(Normalizer):
    """Leaves a line feed on the session's id."""

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.ledger.session = "ses-1\n"


class Repeats(Normalizer):
    """Counts its events anew in each turn."""

    def on_turn(self, data: dict[str, Any]) -> None:
        self.ledger.count = 0
        super().on_turn(data)


class RepeatsPadded(Normalizer):
    """Counts with zeroes, and in a circle."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            number = int(event.eventId.removeprefix("evt-")) % 13
            yield replace(event, eventId=f"e{number:04d}")


class RepeatsOther(Normalizer):
    """Gives ids that are no counters, the same one to every second event."""

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.names = itertools.cycle(["alpha", "beta", "gamma"])

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            yield replace(event, eventId=next(self.names))


def _none() -> Any:
    import msgspec

    return msgspec.UNSET


BROKEN = {
    "ids": {
        "providers-item-id": ProvidersItemId,
        "providers-thread-id-without-refs": ProvidersThreadIdWithoutRefs,
        "untrimmed": Untrimmed,
    },
    "event-ids": {
        "repeats": Repeats,
        "repeats-padded": RepeatsPadded,
        "repeats-other": RepeatsOther,
    },
}
