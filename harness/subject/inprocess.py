"""Subjects that run in this process."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from harness.cassette import Frame, Header
from harness.subject.base import Claims, Given, Session
from harness.surfaces import surface


class _InProcessSession:
    """A normalizer's own methods: a call more for each frame would be felt."""

    __slots__ = ("close", "feed")

    def __init__(self, normalizer: Any) -> None:
        self.feed: Callable[[Frame], Iterable[Given]] = normalizer.feed
        self.close: Callable[[], Iterable[Given]] = normalizer.close


class InProcess:
    """A normalizer of this process: `make(header)` gives an object with `feed` and `close`.

    `make` may say with attributes what it claims: `version`, `surfaces`, `levels`.
    """

    def __init__(self, make: Callable[[Header], Any], name: str) -> None:
        self.name = name
        self.make = make
        self.claims = Claims(
            name,
            str(getattr(make, "version", "")),
            "python",
            _names(make, "surfaces"),
            _names(make, "levels"),
        )

    def open(self, header: Header) -> Session:
        """Make the normalizer for a conversation. Raises whatever it raises."""
        return _InProcessSession(self.make(header))


def _names(make: Any, name: str) -> tuple[str, ...] | None:
    value = getattr(make, name, None)
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(sorted(map(str, value)))
    return None


class Reference:
    """The reference normalizers: for each cassette, the one of its surface."""

    name = "reference"
    trusted = True
    claims = Claims("reference", "", "python")

    def open(self, header: Header) -> Session:
        """Make the reference normalizer. Raises SurfaceError for a surface that is not known."""
        return _InProcessSession(reference(header))


def reference(header: Header) -> Any:
    """Make the reference normalizer of a cassette's surface: `harness.subject:reference`."""
    return surface(header.surface).normalizer(header)


def standard_open() -> None:
    """Open descriptors 0 to 2 again where a subject has closed them.

    Else the next file that is opened is one of them, and closed by whoever closes it once more.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest that is free, so this one.
            os.open(os.devnull, os.O_RDWR)


@contextmanager
def exits_held() -> Iterator[None]:
    """Have `os._exit` raise SystemExit: a normalizer that ends the process ends no run as a pass.

    So it is for this thread of this process. A child that it has forked ends as ever.
    """
    real, process, thread = os._exit, os.getpid(), threading.get_ident()

    def held(status: int) -> Any:
        if (os.getpid(), threading.get_ident()) != (process, thread):
            real(status)
        raise SystemExit(f"os._exit({status}) would end the harness too")

    os._exit = held
    try:
        yield
    finally:
        os._exit = real
