"""The seed's replayable capture stages, as lines of JSON: what `harness replay --stage` prints.

`native_in` is what a normalizer gets; the others are made of the canonical events that it gives.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, Protocol, get_args

import msgspec

from harness.canonical.events import EventBase, encode_event
from harness.cassette import Frame, Header
from harness.projection.legacy import LegacyProjection
from harness.projection.projector import NOT_PROJECTED, ChatProjection
from harness.surfaces import surface

StageName = Literal["native_in", "normalized_out", "chat_event", "legacy_out"]
STAGES: Final[tuple[str, ...]] = get_args(StageName)


class Stage(Protocol):
    """A stage after the normalizer: canonical events in, lines out."""

    def feed(self, event: EventBase) -> Iterable[bytes]:
        """Return the lines that a canonical event gives."""

    def close(self) -> Iterable[bytes]:
        """Return the lines that the end of the events gives."""

    def left(self) -> Iterable[str]:
        """Return, in words, what was not projected: what, how often, and why."""


class NormalizedOut:
    """The canonical events themselves."""

    def feed(self, event: EventBase) -> Iterable[bytes]:
        """Return the event."""
        return [encode_event(event)]

    def close(self) -> Iterable[bytes]:
        """Return nothing."""
        return []

    def left(self) -> Iterable[str]:
        """Return nothing: all of it is there."""
        return []


class _Projected:
    """What a projection gives, encoded."""

    def __init__(self, projection: Any) -> None:
        self.projection = projection
        self._encode = msgspec.json.Encoder().encode

    def feed(self, event: EventBase) -> Iterable[bytes]:
        """Return the projection's events for a canonical one."""
        return map(self._encode, self.projection.feed(event))

    def close(self) -> Iterable[bytes]:
        """Return what the end of the events causes."""
        return map(self._encode, self.projection.close())


class ChatOut(_Projected):
    """The chat events."""

    def __init__(self) -> None:
        super().__init__(ChatProjection())
        self._left: dict[str, int] = {}

    def feed(self, event: EventBase) -> Iterable[bytes]:
        """Return the chat events of a canonical one."""
        if event.type in NOT_PROJECTED:
            self._left[event.type] = self._left.get(event.type, 0) + 1
        return super().feed(event)

    def left(self) -> Iterable[str]:
        """Return the types that have no chat event, with their reasons."""
        return [f"{n} {type_}: {NOT_PROJECTED[type_]}" for type_, n in self._left.items()]


class LegacyOut(_Projected):
    """The events of the older model."""

    def __init__(self) -> None:
        super().__init__(LegacyProjection())

    def left(self) -> Iterable[str]:
        """Return what has no older counterpart, with the reasons."""
        return [f"{each.count} {each.what}: {each.reason}" for each in self.projection.left]


def stage(name: str) -> Stage:
    """Return a stage after the normalizer by its name. Raises KeyError for another."""
    made: dict[str, type[Stage]] = {
        "normalized_out": NormalizedOut,
        "chat_event": ChatOut,
        "legacy_out": LegacyOut,
    }
    return made[name]()


def native_in(header: Header, frames: Iterable[Frame]) -> Iterator[bytes]:
    """Yield the frames as the normalizer gets them, each with its native kind.

    Raises SurfaceError for a surface that is not known.
    """
    kinds = surface(header.surface).kinds()
    encode = msgspec.json.Encoder().encode
    for frame in frames:
        told = {"seq": frame.seq, "at": frame.at, "dir": frame.dir, "channel": frame.channel}
        content = {
            name: value
            for name in ("data", "text", "b64")
            if (value := getattr(frame, name)) is not msgspec.UNSET
        }
        yield encode({**told, "kind": kinds.of(frame), **content})
