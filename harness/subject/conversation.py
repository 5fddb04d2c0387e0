"""One conversation with a subject's process: frames out, in batches, and their events in."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from typing import Final, Literal

import msgspec

from harness.cassette import Frame, Header
from harness.subject.answers import BROKEN, Reader, json_of_each
from harness.subject.base import Given
from harness.subject.coded import BATCH_FRAMES, Coded, Content
from harness.subject.connection import Connection, Exchange
from harness.subject.faults import FaultError
from harness.subject.foretold import Foretold

_encode: Final = msgspec.json.Encoder().encode

Way = Literal["batches", "singly", "cut"]
"""How the frames of a conversation are sent: many in a message, one, or one in two pieces."""


class Conversation:
    """One conversation: a `Session`, whose frames may be sent ahead."""

    def __init__(self, connection: Connection, header: Header, way: Way = "batches") -> None:
        self._connection = connection
        self._way = way
        self.coded_name = connection.conversation().encode()
        self._begun: Exchange | None = connection.request(
            "open", b',"conversation":"%b","header":%b' % (self.coded_name, _encode(header))
        )
        self._sent: deque[tuple[Exchange, list[Content]]] = deque()
        self._ready: deque[list[Given]] = deque()
        self._close: Exchange | None = None
        self._reader = Reader()
        self._told: Foretold | None = None
        self._foretold: Foretold | None = None
        self._upto = 0
        self._whole = False

    def tell(self, foretold: Foretold) -> None:
        """Let reruns know what this run is given, as it is read."""
        self._told = foretold

    def repeat(self, foretold: Foretold, upto: int, *, whole: bool) -> None:
        """Expect what is foretold of the first `upto` frames, and of the end if it is the whole."""
        self._foretold, self._upto, self._whole = foretold, upto, whole

    def send(self, coded: Coded, start: int, end: int) -> None:
        """Send the frames from `start` up to `end`, counted from 0."""
        exchange = self._connection.request(
            "frames", coded.request(self.coded_name, start, end), cut=self._way == "cut"
        )
        self._sent.append((exchange, coded.contents[start:end]))

    def asked(self, exchange: Exchange, contents: list[Content]) -> None:
        """Take note of a request that is on its way; one that holds no frames is for the end."""
        if contents:
            self._sent.append((exchange, contents))
        else:
            self._close = exchange

    def send_close(self) -> Exchange:
        """Send the end of the frames."""
        if self._close is None:
            rest = b',"conversation":"%b"' % self.coded_name
            self._close = self._connection.request("close", rest)
        return self._close

    def repeats(self) -> bool:
        """Whether its answers are, byte for byte, those of the run that it is to repeat.

        They are then the same events, and need not be read. What the end of a shorter run gives
        is another thing, and not looked at. Waits for them all; what is wrong with them is found
        when they are read.
        """
        if self._foretold is None:
            return False
        if self._is_as(self._foretold):
            return True
        self._asked_for()
        return False

    def _is_as(self, foretold: Foretold) -> bool:
        if len(foretold.said) < self._upto:
            return False
        if foretold.came():
            return True
        connection, done = self._connection, 0
        try:
            self.opened()
            # Only the other rerun differs, or they are written in another form.
            for exchange, frames in self._sent:
                answer: bytes = connection.answer(exchange)
                due = foretold.said[done : done + len(frames)]
                done += len(frames)
                if answer != b"[%b]" % b",".join(due) and json_of_each(answer) != due:
                    return False
            if self._close is not None and self._whole:
                return bool(connection.answer(self._close) == foretold.last)
        except (FaultError, *BROKEN):
            return False
        return True

    def ahead(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """Yield the frames; each batch is sent before the one before it is yielded."""
        source = iter(frames)
        self._asked_for()
        if self._sent or self._ready:
            # A plan has sent them.
            yield from source
            return
        before: list[Frame] = []
        most = BATCH_FRAMES if self._way == "batches" else 1
        # Of what is cut, the first piece is read with the message before it.
        while batch := list(islice(source, 1 if self._way == "cut" else BATCH_FRAMES)):
            coded = Coded(batch)
            for start, end in coded.batches(repeat(most)):
                self.send(coded, start, end)
            self._connection.process.flush()
            yield from before
            before = batch
        yield from before

    def feed(self, frame: Frame) -> list[Given]:
        """Return the events of a frame, the next one that was sent. Raises FaultError."""
        ready = self._ready
        if not ready:
            self._asked_for()
            if not self._sent:
                self.send(Coded([frame]), 0, 1)
            self._more()
        return ready.popleft()

    def close(self) -> list[Given]:
        """Return the events of the end. Raises FaultError."""
        self._asked_for()
        self.opened()
        close = self.send_close()
        events: list[Given] = self._connection.read(close, self._reader.last)
        if self._told is not None:
            self._told.last = close.answer
        return events

    def _asked_for(self) -> None:
        """Have its requests at hand, where they were sent with the other rerun's."""
        if self._foretold is not None:
            self._connection.ask()

    def opened(self) -> None:
        """Wait for the answer to its beginning. Raises FaultError."""
        if self._begun is not None:
            self._connection.answer(self._begun)
            self._begun = None

    def _more(self) -> None:
        self.opened()
        exchange, frames = self._sent.popleft()
        read = self._reader.frames
        self._ready += self._connection.read(exchange, lambda answer: read(answer, frames))
        if self._told is not None:
            self._told.said += json_of_each(exchange.answer)
