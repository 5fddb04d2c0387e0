"""Subjects that run in this process."""

from collections.abc import Callable, Iterable
from typing import Any

from harness.cassette import Frame, Header
from harness.subject.base import Given, Session
from harness.surfaces import surface


class _InProcessSession:
    """A normalizer's own methods: a call more for each frame would be felt."""

    __slots__ = ("close", "feed")

    def __init__(self, normalizer: Any) -> None:
        self.feed: Callable[[Frame], Iterable[Given]] = normalizer.feed
        self.close: Callable[[], Iterable[Given]] = normalizer.close


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
