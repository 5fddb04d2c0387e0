"""Requests to a subject's process and its answers, in order, each checked for what it is."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType

from harness import __version__
from harness.subject.answers import BROKEN
from harness.subject.base import Claims
from harness.subject.coded import within
from harness.subject.faults import FaultError, Limits
from harness.subject.protocol import PROTOCOL, Failed, Fault, Seq, Started
from harness.subject.wire import Process, shown

HELD: Final = 4
"""How many answers of the largest size all answers of one cassette may make."""
_VERSION: Final = msgspec.json.encode(__version__)


class _Answer(Struct):
    """An answer, whose events are read when they are needed."""

    id: Seq
    events: msgspec.Raw | UnsetType = UNSET
    error: Fault | None = None


_ANSWER: Final = msgspec.json.Decoder(_Answer)


class Exchange:
    """One request, and what came of it: the JSON of its events, or an error."""

    __slots__ = ("answer", "careful", "error", "id", "of")

    def __init__(self, id_: int, of: str) -> None:
        self.id = id_
        self.of = of
        self.careful = False
        """Whether the answer was read by JSON's rules."""
        self.answer: Any = None
        self.error: FaultError | None = None

    @property
    def open(self) -> bool:
        """Whether it has not been answered."""
        return self.answer is None and self.error is None

    def settle(self, line: bytes) -> None:
        """Take the answer. Raises FaultError for what is none to this request."""
        # As most write it: nothing has to be read to find the events.
        start = b'{"id":%d,"events":[' % self.id
        if line.startswith(start) and line.endswith(b"]}"):
            self.answer = line[len(start) - 1 : -1]
            return
        self._settle(line)

    def read(self) -> None:
        """Read the answer by JSON's rules, where it was taken by its look. Raises FaultError."""
        self._settle(b'{"id":%d,"events":%b}' % (self.id, self.answer))

    def _settle(self, line: bytes) -> None:
        self.careful = True
        try:
            answer = _ANSWER.decode(line)
        except BROKEN as error:
            raise FaultError(
                "junk", f"no answer to `{self.of}` ({error}): {shown(line)}"
            ) from error
        if answer.id != self.id:
            raise FaultError(
                "wrong-id", f"an answer with id {answer.id}, and {self.id} ({self.of}) was due"
            )
        if answer.error:
            self.error = FaultError("failed", answer.error.message, answer.error.frame or 0)
            return
        if answer.events is UNSET and self.of in {"frames", "close"}:
            raise FaultError("wrong-shape", f"an answer to `{self.of}` without `events`")
        self.answer = UNSET if answer.events is UNSET else bytes(answer.events)


class Reserved(Protocol):
    """Requests that were sent without being exchanges, since their answers are foretold."""

    def exchanges(self) -> list[Exchange]:
        """Make their exchanges, in order; those that `lines` yields are among them."""

    def lines(self) -> Iterator[bytes | Exchange]:
        """Yield the answer that is due to each, or its exchange where none is foretold."""


class Connection:
    """Requests out, answers in, in order. Over with the first fault that is fatal."""

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self.process = Process(command, limits)
        self.fault: FaultError | None = None
        self._last = 0
        self._due: deque[Exchange] = deque()
        self._conversations = 0
        self._held = 0
        self._most = HELD * limits.answer
        self._reserved: Reserved | None = None
        """What was asked after all that is due, and has no exchanges yet."""

    def conversation(self) -> str:
        """Return the name of a new conversation."""
        self._conversations += 1
        return str(self._conversations)

    def request(self, of: str, rest: bytes, *, cut: bool = False) -> Exchange:
        """Send a request, whose fields after `id` are given; with `cut`, in two pieces."""
        self.ask()
        self._last += 1
        data = line_of(of.encode(), self._last, rest)
        exchange = Exchange(self._last, of)
        self._due.append(exchange)
        if cut:
            self.send_cut(data, self._last)
        else:
            self.process.send(data)
        return exchange

    def send_cut(self, data: bytes, id_: int) -> None:
        """Send a request in two pieces.

        The second piece follows once all that was asked before is answered, and so surely after
        the first was read.
        """
        at = within(data)
        self.process.send(data[:at])
        self.process.send(data[at:], id_ - 1)

    def reserve(self, count: int, reserved: Reserved) -> int:
        """Leave so many ids for requests that the caller sends now; return the first."""
        self.ask()
        first = self._last + 1
        self._last += count
        self._reserved = reserved
        return first

    def ask(self) -> None:
        """Make exchanges of what was reserved: from here on it is like all else."""
        reserved, self._reserved = self._reserved, None
        if reserved is not None:
            self._due += reserved.exchanges()

    def answer(self, exchange: Exchange) -> Any:
        """Wait for an answer; return the JSON of its events. Raises FaultError."""
        while exchange.open:
            self._next()
        if exchange.error is not None:
            raise exchange.error
        return exchange.answer

    def read(self, exchange: Exchange, how: Callable[[bytes], Any]) -> Any:
        """Wait for an answer, and read it. Raises FaultError, and ends the process with it."""
        answer = self.answer(exchange)
        try:
            try:
                return how(answer)
            except FaultError:
                if exchange.careful:
                    raise
            exchange.read()
            if exchange.error is None:
                return how(exchange.answer)
        except FaultError as fault:
            raise self._ended(fault) from None
        raise exchange.error

    def start(self) -> Claims:
        """Ask what it claims. Raises FaultError."""
        hello = self.request("start", b',"protocol":%d,"harness":%s' % (PROTOCOL, _VERSION))
        self._due.clear()
        try:
            started = _started(self.process.line(), hello.id)
        except FaultError as fault:
            raise self._ended(fault) from None
        return Claims(
            started.name,
            started.version,
            started.language,
            None if started.surfaces is None else tuple(started.surfaces),
            None if started.levels is None else tuple(started.levels),
        )

    def stop(self) -> str:
        """End it as the protocol has it; return what is wrong with that, or nothing."""
        if self.fault is not None:
            return ""
        try:
            self.answer(self.request("stop", b""))
        except FaultError as fault:
            return f"`stop`: {fault}"
        problem = self.process.stop()
        self.process.end()
        return problem

    def settle(self) -> None:
        """Wait for every answer that is due, and that nothing comes unasked. Raises FaultError."""
        self.ask()
        while self._due:
            self._next()
        self._held = 0
        try:
            if not self.process.idle():
                raise FaultError("unasked", f"nothing was asked: {shown(self.process.line())}")  # noqa: TRY301
            self.process.memory()
        except FaultError as fault:
            raise self._ended(fault) from None

    def came(self) -> bool:
        """Whether the answers to what was reserved are those that are foretold, byte for byte.

        They are waited for one by one, and those that are the same are not read. At the first
        that differs all is as if nothing had been foretold: it and those before it are settled,
        those after it are due. Raises FaultError.
        """
        while self._due:
            self._next()
        reserved, same, line = self._reserved, 0, b""
        if self.fault is not None or reserved is None:
            return False
        # The hot loop of all reruns: an exchange each would be more than half of what they cost.
        next_line, most, held = self.process.line, self._most, self._held
        try:
            for due in reserved.lines():
                line = next_line()
                held += len(line)
                if held > most:
                    raise self._too_much()
                if type(due) is Exchange:
                    due.settle(line)
                elif line != due:
                    break
                same += 1
            else:
                self._reserved, self._held = None, held
                return True
        except FaultError as fault:
            self._repeated(reserved, same)
            raise self._ended(fault) from None
        self._held = held
        self._repeated(reserved, same)
        try:
            self._due.popleft().settle(line)
        except FaultError as fault:
            raise self._ended(fault) from None
        return False

    def _repeated(self, reserved: Reserved, same: int) -> None:
        """Make exchanges of what was reserved, and settle the first ones, as they were due."""
        self.ask()
        for line in islice(reserved.lines(), same):
            exchange = self._due.popleft()
            if type(line) is bytes:
                exchange.settle(line)

    def _next(self) -> None:
        if self.fault is not None:
            raise self.fault
        if not self._due:
            self.ask()
        try:
            line = self.process.line()
            exchange = self._due.popleft()
            self._held += len(line)
            if self._held > self._most:
                raise self._too_much()
            exchange.settle(line)
        except FaultError as fault:
            raise self._ended(fault) from None

    def _too_much(self) -> FaultError:
        return FaultError(
            "too-much",
            f"answers of more than {self._most >> 20} MB for one cassette, which is the limit",
        )

    def _ended(self, fault: FaultError) -> FaultError:
        self.fault = fault
        self._due.clear()
        self._reserved = None
        self.process.end()
        return fault


def line_of(of: bytes, id_: int, rest: bytes) -> bytes:
    """Return a request, whose fields after `id` are given."""
    return b'{"cmd":"%b","id":%d%b}\n' % (of, id_, rest)


class _Version(Struct):
    id: Seq
    protocol: int


def _started(line: bytes, due: int) -> Started:
    """Read the answer to `start`. Raises FaultError."""
    try:
        failed = msgspec.json.decode(line, type=Failed)
    except BROKEN:
        pass
    else:
        raise FaultError("not-started", failed.error.message)
    try:
        # The version first: another one may have another answer.
        version = msgspec.json.decode(line, type=_Version)
        if version.protocol == PROTOCOL:
            started = msgspec.json.decode(line, type=Started)
    except BROKEN as error:
        raise FaultError("junk", f"no answer to `start` ({error}): {shown(line)}") from error
    if version.protocol != PROTOCOL:
        raise FaultError(
            "not-started",
            f"it speaks protocol version {version.protocol}, and this harness version {PROTOCOL}; "
            "use a harness that speaks it, or let the normalizer speak this one",
        )
    if started.id != due:
        raise FaultError("wrong-id", f"an answer with id {started.id}, and {due} (start) was due")
    return started
