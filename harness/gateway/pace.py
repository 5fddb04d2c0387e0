"""When each event of a streamed answer came: kept event by event, and kept to when it is played."""

import re
from typing import Final, TypeAlias

Timed: TypeAlias = tuple[int, int]
"""Milliseconds since the request was sent, and how many bytes are complete then."""

_EVENT: Final = re.compile(r"(\d{1,9}):(\d{1,9})")
_ENDINGS: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


class Pace:
    """Cuts what comes in into server-sent events, as they come; time goes up, bytes add up."""

    def __init__(self) -> None:
        self.events: list[Timed] = []
        self._tail = b""
        self._open = 0
        self._at = 0

    def chunk(self, data: bytes, at: int) -> None:
        """Take a piece of the body that came at a time."""
        self._at = max(self._at, at)
        # Three bytes may have begun the ending that these bytes end.
        seen = self._tail + data
        start = len(self._tail)
        done = 0
        for end in _ends(seen):
            if end > start:
                self.events.append((self._at, self._open + end - start - done))
                self._open = 0
                done = end - start
        self._open += len(data) - done
        self._tail = seen[-3:]

    def close(self) -> list[Timed]:
        """Return the events; what no event's end has closed is one of its own."""
        if self._open:
            self.events.append((self._at, self._open))
            self._open = 0
        return self.events


def _ends(data: bytes) -> list[int]:
    """Return where in the bytes an event ends, in order."""
    found: list[int] = []
    at = 0
    while True:
        hits = [(place, mark) for mark in _ENDINGS if (place := data.find(mark, at)) >= 0]
        if not hits:
            return found
        place, mark = min(hits)
        at = place + len(mark)
        found.append(at)


def written(events: list[Timed]) -> str:
    """Return events as a file has them: `12:66 15:80`, milliseconds and bytes of each."""
    return " ".join(f"{ms}:{size}" for ms, size in events)


def cut(body: bytes, events: str) -> list[tuple[int, bytes]]:
    """Return an answer's pieces with their times. Raises ValueError where they do not add up."""
    pieces = []
    at = before = 0
    for word in events.split():
        match = _EVENT.fullmatch(word)
        if match is None:
            raise ValueError(f"{word!r} is no event's time and size")
        ms, size = int(match[1]), int(match[2])
        if size <= 0 or ms < before:
            raise ValueError("the times of its events are not in order")
        pieces.append((ms, body[at : at + size]))
        at, before = at + size, ms
    if at != len(body):
        raise ValueError(f"its events have {at} bytes, and its body has {len(body)}")
    return pieces
