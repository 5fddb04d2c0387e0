"""Subjects that run in this process."""

from collections.abc import Callable, Sequence
from typing import Any

from harness.cassette import Frame, Header
from harness.subject.base import Given, Session
from harness.surfaces import surface


class _InProcessSession:
    """Holds a normalizer; whatever it gives is made a list at once, where it can fail."""

    __slots__ = ("_close", "_feed")

    def __init__(self, normalizer: Any) -> None:
        self._feed: Callable[[Frame], Any] = normalizer.feed
        self._close: Callable[[], Any] = normalizer.close

    def feed(self, frame: Frame) -> Sequence[Given]:
        events = self._feed(frame)
        return events if type(events) is list else _listed(events, "feed")

    def close(self) -> Sequence[Given]:
        return _listed(self._close(), "close")


def _listed(events: Any, method: str) -> list[Given]:
    # Text and objects are iterable too, but never a list of events.
    if events is None or isinstance(events, str | bytes | dict):
        raise TypeError(f"{method}() gives a list of events, not {type(events).__name__}")
    return list(events)


class InProcess:
    """A normalizer of this process: `make(header)` gives an object with `feed` and `close`."""

    def __init__(self, make: Callable[[Header], Any], name: str) -> None:
        self.name = name
        self._make = make

    def open(self, header: Header) -> Session:
        """Make the normalizer for a conversation. Raises whatever it raises."""
        return _InProcessSession(self._make(header))


class Reference:
    """The reference normalizers: for each cassette, the one of its surface."""

    name = "reference"

    def open(self, header: Header) -> Session:
        """Make the reference normalizer. Raises SurfaceError for a surface that is not known."""
        return _InProcessSession(surface(header.surface).normalizer(header))
