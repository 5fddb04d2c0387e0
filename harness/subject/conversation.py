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

BATCH_FRAMES: Final = 64
BATCH_BYTES: Final = 64 << 10
"""What one `frames` message holds at most, but for a single frame that is longer."""
_encode: Final = msgspec.json.Encoder().encode
_NOT_ASCII: Final = re.compile(rb"[\x80-\xff]")


class Conversation:
    """One conversation: a `Session`, whose frames may be sent ahead."""

    def __init__(self, connection: Connection, header: Header, *, fine: bool = False) -> None:
        self._connection = connection
        self._fine = fine
        self._name = connection.conversation()
        self._begun: Exchange | None = connection.request(
            "open", b',"conversation":"%s","header":%s' % (self._name.encode(), _encode(header))
        )
        self._sent: deque[tuple[Exchange, list[tuple[Any, bytes]]]] = deque()
        self._ready: deque[list[Given]] = deque()
        self._close: Exchange | None = None
        self._reader = Reader()
        self.said: list[Any] | None = None
        """The JSON of each frame's events, where it is to be repeated."""
        self.last: Any = None
        self.first: Conversation | None = None
        self.upto = 0
        self.whole = False

    def send(self, coded: Sequence[tuple[bytes, Any, bytes]], *, cut: bool = False) -> None:
        """Send frames, each as its JSON, its content, and its content's JSON."""
        body = b",".join([frame for frame, _, _ in coded])
        rest = b',"conversation":"%s","frames":[%s]' % (self._name.encode(), body)
        at = 0
        if cut:
            found = _NOT_ASCII.search(rest)
            # Within a character, where there is one of several bytes.
            at = found.start() + 1 if found else len(rest) // 2
        exchange = self._connection.request("frames", rest, at)
        self._sent.append((exchange, [(content, key) for _, content, key in coded]))

    def send_close(self) -> None:
        """Send the end of the frames."""
        if self._close is None:
            rest = b',"conversation":"%s"' % self._name.encode()
            self._close = self._connection.request("close", rest)

    def repeats(self) -> bool:
        """Whether its answers are, byte for byte, those of the run that it is to repeat.

        They are then the same events, and need not be read. Waits for them all; what is wrong
        with them is found when they are read.
        """
        first, upto = self.first, self.upto
        if first is None or first.said is None or len(first.said) < upto:
            return False
        connection, done = self._connection, 0
        try:
            self._opened()
            for exchange, frames in self._sent:
                answer: bytes = connection.answer(exchange)
                due = first.said[done : done + len(frames)]
                done += len(frames)
                if answer != b"[%b]" % b",".join(due) and json_of_each(answer) != due:
                    return False
            if self._close is not None and self.whole:
                return bool(connection.answer(self._close) == first.last)
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
            for each in batches([code(frame) for frame in batch], repeat(BATCH_FRAMES)):
                self.send(each, cut=self._fine)
            self._connection.process.flush()
            yield from before
            before = batch
        yield from before

    def feed(self, frame: Frame) -> list[Given]:
        """Return the events of a frame, the next one that was sent. Raises FaultError."""
        ready = self._ready
        if not ready:
            if not self._sent:
                self.send([code(frame)])
            self._more()
        return ready.popleft()

    def close(self) -> list[Given]:
        """Return the events of the end. Raises FaultError."""
        self._opened()
        self.send_close()
        assert self._close is not None  # noqa: S101 - sent just now
        close = self._close
        events: list[Given] = self._connection.read(close, self._reader.last)
        self.last = close.answer
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
        if self.said is not None:
            self.said += json_of_each(exchange.answer)


def code(frame: Frame) -> tuple[bytes, Any, bytes]:
    """Return a frame's JSON, its content, and its content's JSON."""
    content, field = frame.data, b"data"
    if content is UNSET:
        content, field = frame.content, b"b64" if frame.text is UNSET else b"text"
    key = _encode(content)
    # Encoded once: the content is most of a frame, and the rest is plain.
    return (
        b'{"seq":%d,"at":%d,"dir":"%b","channel":"%b","%b":%b}'
        % (frame.seq, frame.at, frame.dir.encode(), frame.channel.encode(), field, key),
        content,
        key,
    )


def batches(coded: Sequence[Any], sizes: Iterator[int]) -> Iterator[list[Any]]:
    """Part coded frames into batches of such sizes at most, and of about `BATCH_BYTES`."""
    if sum(len(each[0]) for each in coded) <= BATCH_BYTES:
        start = 0
        while start < len(coded):
            end = start + next(sizes)
            yield list(coded[start:end])
            start = end
        return
    batch: list[Any] = []
    size, most = 0, next(sizes)
    for each in coded:
        if batch and (len(batch) == most or size + len(each[0]) > BATCH_BYTES):
            yield batch
            batch, size, most = [], 0, next(sizes)
        batch.append(each)
        size += len(each[0])
    if batch:
        yield batch
