"""One conversation with a subject's process: frames out, in batches, and their events in."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any, Final

import msgspec
from msgspec import UNSET

from harness.cassette import Frame, Header
from harness.subject.answers import BROKEN, Reader, json_of_each
from harness.subject.base import Given
from harness.subject.connection import Connection, Exchange
from harness.subject.faults import FaultError
from harness.subject.foretold import Foretold

BATCH_FRAMES: Final = 64
BATCH_BYTES: Final = 64 << 10
"""What one `frames` message holds at most, but for a single frame that is longer."""
Content = tuple[Any, bytes]
"""The content of a frame, and this as JSON."""
_encode: Final = msgspec.json.Encoder().encode
_NOT_ASCII: Final = re.compile(rb"[\x80-\xff]")


class Conversation:
    """One conversation: a `Session`, whose frames may be sent ahead."""

    def __init__(self, connection: Connection, header: Header, *, fine: bool = False) -> None:
        self._connection = connection
        self._fine = fine
        self._coded_name = connection.conversation().encode()
        self._begun: Exchange | None = connection.request(
            "open", b',"conversation":"%b","header":%b' % (self._coded_name, _encode(header))
        )
        self._sent: deque[tuple[Exchange, list[Content]]] = deque()
        self._ready: deque[list[Given]] = deque()
        self._close: Exchange | None = None
        self._reader = Reader()
        self.foretold: Foretold | None = None
        """What the first run tells and the others are to repeat, where there are others."""
        self.tells = False
        self.upto = 0
        self.whole = False

    def send(self, coded: "Coded", start: int, end: int, *, cut: bool = False) -> Exchange:
        """Send the frames from `start` up to `end`, counted from 0; with `cut`, in two pieces."""
        rest = b',"conversation":"%b","frames":[%b]' % (
            self._coded_name,
            b",".join(coded.frames[start:end]),
        )
        at = 0
        if cut:
            found = _NOT_ASCII.search(rest)
            # Within a character, where there is one of several bytes.
            at = found.start() + 1 if found else len(rest) // 2
        exchange = self._connection.request("frames", rest, at)
        self._sent.append((exchange, coded.contents[start:end]))
        return exchange

    def send_close(self) -> Exchange:
        """Send the end of the frames."""
        if self._close is None:
            rest = b',"conversation":"%b"' % self._coded_name
            self._close = self._connection.request("close", rest)
        return self._close

    def repeats(self) -> bool:
        """Whether its answers are, byte for byte, those of the run that it is to repeat.

        They are then the same events, and need not be read. Waits for them all; what is wrong
        with them is found when they are read.
        """
        foretold = self.foretold
        if foretold is None or len(foretold.said) < self.upto:
            return False
        if foretold.came():
            return True
        # As others write it, or not at all.
        connection, done = self._connection, 0
        try:
            self._opened()
            for exchange, frames in self._sent:
                answer: bytes = connection.answer(exchange)
                due = foretold.said[done : done + len(frames)]
                done += len(frames)
                if answer != b"[%b]" % b",".join(due) and json_of_each(answer) != due:
                    return False
            if self._close is not None and self.whole:
                return bool(connection.answer(self._close) == foretold.last)
        except (FaultError, *BROKEN):
            return False
        return True

    def ahead(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """Yield the frames; each batch is sent before the one before it is yielded."""
        source = iter(frames)
        if self._sent or self._ready:
            # A plan has sent them.
            yield from source
            return
        before: list[Frame] = []
        # Of what is cut, the first piece is read with the message before it.
        while batch := list(islice(source, 1 if self._fine else BATCH_FRAMES)):
            coded = Coded(batch)
            for start, end in coded.batches(repeat(BATCH_FRAMES)):
                self.send(coded, start, end, cut=self._fine)
            self._connection.process.flush()
            yield from before
            before = batch
        yield from before

    def feed(self, frame: Frame) -> list[Given]:
        """Return the events of a frame, the next one that was sent. Raises FaultError."""
        ready = self._ready
        if not ready:
            if not self._sent:
                self.send(Coded([frame]), 0, 1)
            self._more()
        return ready.popleft()

    def close(self) -> list[Given]:
        """Return the events of the end. Raises FaultError."""
        self._opened()
        close = self.send_close()
        events: list[Given] = self._connection.read(close, self._reader.last)
        if self.foretold is not None and self.tells:
            self.foretold.last = close.answer
        return events

    def _opened(self) -> None:
        if self._begun is not None:
            self._connection.answer(self._begun)
            self._begun = None

    def _more(self) -> None:
        self._opened()
        exchange, frames = self._sent.popleft()
        read = self._reader.frames
        self._ready += self._connection.read(exchange, lambda answer: read(answer, frames))
        if self.foretold is not None and self.tells:
            self.foretold.said += json_of_each(exchange.answer)


class Coded:
    """Frames as JSON, each encoded once, and their contents with these as JSON."""

    __slots__ = ("contents", "frames")

    def __init__(self, frames: Sequence[Frame]) -> None:
        self.frames = [_encode(frame) for frame in frames]
        self.contents = list(map(_content, frames, self.frames))

    def cut(self, upto: int) -> int:
        """Choose the frame to cut: the last with a character of several bytes, else the last."""
        for number in range(upto - 1, -1, -1):
            if not self.frames[number].isascii():
                return number
        return upto - 1

    def batches(self, sizes: Iterator[int], upto: int | None = None) -> Iterator[tuple[int, int]]:
        """Part the frames, or the first `upto`: yield where each batch starts and ends.

        Batches have such sizes at most, and about `BATCH_BYTES`.
        """
        frames = self.frames if upto is None else self.frames[:upto]
        if sum(map(len, frames)) <= BATCH_BYTES:
            start = 0
            while start < len(frames):
                end = min(start + next(sizes), len(frames))
                yield start, end
                start = end
            return
        start = size = 0
        most = next(sizes)
        for end, frame in enumerate(frames):
            if end > start and (end - start == most or size + len(frame) > BATCH_BYTES):
                yield start, end
                start, size, most = end, 0, next(sizes)
            size += len(frame)
        if frames:
            yield start, len(frames)


def _content(frame: Frame, coded: bytes) -> Content:
    content, name = frame.data, b'"data":'
    if content is UNSET:
        content, name = frame.content, b'"b64":' if frame.text is UNSET else b'"text":'
    # What stands before it has no such name in it, so that the first is its own.
    return content, coded[coded.index(name) + len(name) : -1]
