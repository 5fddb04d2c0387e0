"""A cassette's reruns, sent ahead, whose answers are those of its first run.

Most normalizers repeat themselves. So an answer to a rerun is compared as the line that it is,
and neither a request nor an answer is a thing of its own until one differs. A subject sees
nothing of it, and one that writes its answers in another form is read like the first run.
"""

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any, Final, NamedTuple, Protocol

from harness.subject.coded import Coded, Content
from harness.subject.connection import Connection, Exchange, line_of
from harness.subject.faults import FaultError

_SIZES: Final = (5, 3, 7, 13)
"""How many frames a message of the shorter rerun holds, in turn."""
_CLOSE: Final = -1


class Run(Protocol):
    """A conversation, as far as it matters here."""

    coded_name: bytes

    def opened(self) -> None:
        """Wait for the answer to its beginning. Raises FaultError."""

    def asked(self, exchange: Exchange, contents: list[Content], /) -> None:
        """Take note of a request that is on its way; one without contents is for the end."""


class Step(NamedTuple):
    """One request: the frames of a run from `start` up to `end`, or its end.

    `cut` is set where it goes in two pieces, `own` where the answer is not that of the first run.
    """

    run: Run
    start: int = _CLOSE
    end: int = _CLOSE
    cut: bool = False
    own: bool = False


class Foretold:
    """The reruns of a cassette, in the order of their requests, and what the first run said.

    It is what the connection calls `Reserved`.
    """

    def __init__(self, connection: Connection, coded: Coded) -> None:
        self.said: list[Any] = []
        """The JSON of the first run's events: a list for each frame."""
        self.last: bytes = b"[]"
        """The JSON of the events of its end."""
        self._connection = connection
        self._coded = coded
        self._runs: tuple[Run, ...] = ()
        self._steps: Sequence[Step] = ()
        self._first = 0
        self._own: dict[int, Exchange] = {}
        self._came: bool | None = None

    def send(self, again: Run, half: Run, fed: int, *, whole: bool) -> None:
        """Send the requests, as `in_turns` has them."""
        self._runs = again, half
        self._steps = steps = in_turns(again, half, self._coded, fed, whole=whole)
        process, request = self._connection.process, self._coded.request
        self._first = id_ = self._connection.reserve(len(steps), self)
        pieces: list[bytes] = []
        for run, start, end, cut, own in steps:
            name = run.coded_name
            if start != _CLOSE:
                line = line_of(b"frames", id_, request(name, start, end))
            else:
                line = line_of(b"close", id_, b',"conversation":"%b"' % name)
                if own:
                    self._own[id_] = exchange = Exchange(id_, "close")
                    run.asked(exchange, [])
            if cut:
                process.send(b"".join(pieces))
                pieces.clear()
                self._connection.send_cut(line, id_)
            else:
                pieces.append(line)
            id_ += 1
        process.send(b"".join(pieces))

    def came(self) -> bool:
        """Whether all was repeated. Waits for it; at the first that differs, no longer."""
        if self._came is None:
            try:
                for run in self._runs:
                    run.opened()
                self._came = self._connection.came()
            except FaultError:
                # Told where it is read.
                self._connection.ask()
                self._came = False
        return self._came

    def lines(self) -> Iterator[bytes | Exchange]:
        """Yield the answer that is due to each request, or its exchange where it is its own."""
        said, own = self.said, self._own
        for id_, (_, start, end, _, _) in enumerate(self._steps, self._first):
            if start != _CLOSE:
                events = said[start] if end - start == 1 else b",".join(said[start:end])
                yield b'{"id":%d,"events":[%b]}' % (id_, events)
            elif id_ in own:
                yield own[id_]
            else:
                yield b'{"id":%d,"events":%b}' % (id_, self.last)

    def exchanges(self) -> list[Exchange]:
        """Make the requests things of their own, each known to its run."""
        contents, made = self._coded.contents, []
        for id_, (run, start, end, _, _) in enumerate(self._steps, self._first):
            exchange = self._own.get(id_)
            if exchange is None:
                exchange = Exchange(id_, "frames" if start != _CLOSE else "close")
                run.asked(exchange, contents[start:end] if start != _CLOSE else [])
            made.append(exchange)
        return made


def in_turns(again: Run, half: Run, coded: Coded, fed: int, *, whole: bool) -> list[Step]:
    """Arrange two reruns: `again` of the first `fed` frames (the `whole`), `half` of half of them.

    Either begins, goes on and ends in the midst of the other. Each frame is once alone in its
    message, so that whoever looks ahead in a message says something else there; one message of
    the shorter run, of several frames, is cut.
    """
    steps: list[Step] = []
    sent = 0

    def singly(upto: int) -> None:
        nonlocal sent
        steps.extend(Step(again, at, at + 1) for at in range(sent, upto))
        sent = upto

    ahead = max(min(1, fed), fed // 4)
    singly(ahead)
    batches = list(coded.batches(cycle(_SIZES), fed // 2))
    cut = coded.cut(fed // 2)
    for number, (start, end) in enumerate(batches, 1):
        steps.append(Step(half, start, end, cut=start <= cut < end))
        singly(ahead + number * (fed - ahead - 1) // len(batches))
    # The end of half is not that of the whole.
    steps.append(Step(half, own=True))
    singly(fed)
    steps.append(Step(again, own=not whole))
    return steps
