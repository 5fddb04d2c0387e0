"""Faults in what events say of the native frames."""

from collections.abc import Iterable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harness.canonical import EventBase, Raw
from harness.cassette import Frame
from tests.conformance.toy import Normalizer


class Drops(Normalizer):
    """Drops what it takes for noise."""

    def on_note(self, data: dict[str, Any]) -> None:
        pass


class Parses(Normalizer):
    """Hands over the text of a frame instead of the frame."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            if event.type == "content.delta":
                raw = Raw(event.raw.source, frame.data["text"], event.raw.method)
                yield replace(event, raw=raw)
            else:
                yield event


class Adds(Normalizer):
    """Adds a field of its own to the frame's content, and a number for a flag."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            if event.type == "request.resolved":
                payload = {**frame.data, "allow": 1}
                yield replace(event, raw=Raw(event.raw.source, payload, event.raw.method))
            else:
                yield event


class WithoutRaw(Normalizer):
    """Leaves `raw` out of warnings, and says what they are in another event."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            yield event
            if event.type == "runtime.warning":
                yield replace(event, eventId=event.eventId + "-more", raw=UNSET)


class OwnClock(Normalizer):
    """Takes the clock of whoever replays."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        return [replace(e, createdAt="2026-06-01T12:00:00.000Z") for e in super().feed(frame)]


class NoTime(Normalizer):
    """Writes milliseconds where a time is due."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        return [replace(e, createdAt=str(frame.at)) for e in super().feed(frame)]


class ClockGoesBack(Normalizer):
    """Gives a second warning for an earlier frame, with that frame's time."""

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.first: EventBase | None = None

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            self.first = self.first or event
            yield event
            if event.type == "runtime.warning":
                yield replace(
                    event,
                    eventId=event.eventId + "-again",
                    createdAt=self.first.createdAt,
                    raw=self.first.raw,
                )


BROKEN = {
    "accounted": {"drops": Drops},
    "raw": {"parses": Parses, "adds": Adds, "without-raw": WithoutRaw},
    "clock": {"own-clock": OwnClock, "no-time": NoTime},
    "monotonic": {"clock-goes-back": ClockGoesBack},
}
