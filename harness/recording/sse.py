"""Server-sent events as the standard reads them, from bytes split anywhere; sans-io."""

from typing import Final

from msgspec import Struct

_CR: Final = 13


class Block(Struct, frozen=True):
    """What a stream holds in order: an event, its `data` lines joined; a comment; or a rest.

    `incomplete` is an event that the stream's end has cut off: it is kept, never dispatched, and
    its `text` is what came of it.
    """

    kind: str
    text: str


class SseParser:
    """Feed it bytes; it returns each block once it is whole. Lines end in CRLF, LF or CR."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []
        self._lines: list[str] = []
        self._skip_feed = False
        self._first = True

    def feed(self, chunk: bytes) -> list[Block]:
        """Return the blocks that these bytes complete."""
        found: list[Block] = []
        start = 0
        for at, byte in enumerate(chunk):
            if byte not in b"\r\n":
                self._skip_feed = False
                continue
            if byte != _CR and self._skip_feed:
                # The feed of a CRLF whose return has ended the line already.
                self._skip_feed = False
                start = at + 1
                continue
            self._line(self._rest + chunk[start:at], found)
            self._rest = b""
            self._skip_feed = byte == _CR
            start = at + 1
        self._rest += chunk[start:]
        return found

    def close(self) -> list[Block]:
        """Return what is left at the stream's end, as `incomplete`."""
        if self._rest:
            self._lines.append(self._rest.decode("utf-8", "replace"))
        text = "\n".join(self._lines)
        self._rest, self._lines, self._data = b"", [], []
        return [Block("incomplete", text)] if text else []

    def _line(self, raw: bytes, found: list[Block]) -> None:
        line = raw.decode("utf-8", "replace")
        if self._first:
            line = line.removeprefix("\ufeff")
            self._first = False
        if not line:
            if self._data:
                found.append(Block("event", "\n".join(self._data)))
            elif self._lines:
                # Fields without data dispatch nothing; they are kept as they came.
                found.append(Block("comment", "\n".join(self._lines)))
            self._data, self._lines = [], []
        elif line.startswith(":"):
            found.append(Block("comment", line))
        else:
            self._lines.append(line)
            name, _, value = line.partition(":")
            if name == "data":
                self._data.append(value.removeprefix(" "))
