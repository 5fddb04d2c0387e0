"""The normalizer behind a command: one process for all cassettes, one conversation for each run.

What a cassette's runs need is sent ahead, so that the subject works while the judge does. The
first run gets large batches; the reruns, which are interleaved, get smaller ones, one of them
begins with a message for each frame, and one message is cut within a character.
"""

import re
import shlex
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, cycle, islice, repeat
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from harness import __version__
from harness.cassette import Frame, Header
from harness.subject.answers import BROKEN, Reader, json_of_each
from harness.subject.base import Claims, Given, SubjectError
from harness.subject.faults import FaultError, Limits
from harness.subject.protocol import PROTOCOL, Failed, Fault, Seq, Started
from harness.subject.wire import Process

BATCH_FRAMES: Final = 64
BATCH_BYTES: Final = 64 << 10
"""What one `frames` message holds at most, but for a single frame that is longer."""
_SIZES: Final = (5, 3, 7, 13)
"""How many frames a message of the reruns holds, in turn."""
_SINGLE: Final = 8
"""How many messages of the shorter rerun hold one frame, before the others."""
HELD: Final = 4
"""How many answers of the largest size all answers of one cassette may make."""
_VERSION: Final = msgspec.json.encode(__version__)
_encode: Final = msgspec.json.Encoder().encode
_NOT_ASCII: Final = re.compile(rb"[\x80-\xff]")


class _Answer(Struct):
    """An answer, whose events are read when they are needed."""

    id: Seq
    events: msgspec.Raw | UnsetType = UNSET
    error: Fault | None = None


_ANSWER: Final = msgspec.json.Decoder(_Answer)


class Exchange:
    """One request, and what came of it: the JSON of its events, or an error."""

    __slots__ = ("answer", "careful", "error", "id", "of", "size")

    def __init__(self, id_: int, of: str) -> None:
        self.id = id_
        self.of = of
        self.size = 0
        self.careful = False
        self.answer: Any = None
        self.error: FaultError | None = None

    def settle(self, line: bytes) -> None:
        """Take the answer. Raises FaultError for what is none to this request."""
        # As most write it: nothing has to be read to find the events.
        start = b'{"id":%d,"events":[' % self.id
        if line.startswith(start) and line.endswith(b"]}"):
            self.answer = line[len(start) - 1 : -1]
            self.size = len(line)
            return
        self._settle(line)

    def again(self) -> bool:
        """Whether it can be read another way, which is done: by JSON's rules, not by its look."""
        if self.careful:
            return False
        self._settle(b'{"id":%d,"events":%b}' % (self.id, self.answer))
        return self.error is None

    def _settle(self, line: bytes) -> None:
        self.careful = True
        try:
            answer = _ANSWER.decode(line)
        except BROKEN as error:
            raise FaultError(
                "junk", f"no answer to `{self.of}` ({error}): {_shown(line)}"
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
        self.size = len(line)


class Connection:
    """Requests out, answers in, in order. Over with the first fault that is fatal."""

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self.process = Process(command, limits)
        self.fault: FaultError | None = None
        self._last = 0
        self._due: deque[Exchange] = deque()
        self._conversations = 0
        self._held = 0

    def conversation(self) -> str:
        """Return the name of a new conversation."""
        self._conversations += 1
        return str(self._conversations)

    def request(self, of: str, rest: bytes, cut: int = 0) -> Exchange:
        """Send a request, whose fields after `id` are given; with `cut`, in two pieces.

        The second piece follows once all that was asked before is answered, and so surely after
        the first was read.
        """
        self._last += 1
        data = b'{"cmd":"%s","id":%d%s}\n' % (of.encode(), self._last, rest)
        exchange = Exchange(self._last, of)
        self._due.append(exchange)
        if cut:
            cut += len(data) - len(rest) - 2
            self.process.send(data[:cut])
            self.process.send(data[cut:], self._last - 1)
        else:
            self.process.send(data)
        return exchange

    def answer(self, exchange: Exchange) -> Any:
        """Wait for an answer; return the JSON of its events. Raises FaultError."""
        while exchange.answer is None and exchange.error is None:
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
                if not exchange.again():
                    raise
                return how(exchange.answer)
        except FaultError as fault:
            raise self._ended(fault) from None

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
            None if started.surfaces is None else frozenset(started.surfaces),
            None if started.levels is None else frozenset(started.levels),
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
        while self._due:
            self._next()
        self._held = 0
        try:
            if not self.process.idle():
                raise FaultError("unasked", f"nothing was asked: {_shown(self.process.line())}")  # noqa: TRY301
            self.process.memory()
        except FaultError as fault:
            raise self._ended(fault) from None

    def _next(self) -> None:
        if self.fault is not None:
            raise self.fault
        try:
            line = self.process.line()
            exchange = self._due.popleft()
            exchange.settle(line)
            self._held += exchange.size
            if self._held > HELD * self.process.limits.answer:
                raise FaultError(  # noqa: TRY301
                    "too-much",
                    f"answers of more than {HELD * self.process.limits.answer >> 20} MB for one "
                    "cassette, which is the limit",
                )
        except FaultError as fault:
            raise self._ended(fault) from None

    def _ended(self, fault: FaultError) -> FaultError:
        self.fault = fault
        self._due.clear()
        self.process.end()
        return fault


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
        raise FaultError("junk", f"no answer to `start` ({error}): {_shown(line)}") from error
    if version.protocol != PROTOCOL:
        raise FaultError(
            "not-started",
            f"it speaks protocol version {version.protocol}, and this harness version {PROTOCOL}; "
            "use a harness that speaks it, or let the normalizer speak this one",
        )
    if started.id != due:
        raise FaultError("wrong-id", f"an answer with id {started.id}, and {due} (start) was due")
    return started


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


def _shown(line: bytes) -> str:
    text = repr(line[:160])[1:]
    return text if len(line) <= len(line[:160]) else f"{text}… ({len(line):,} bytes)"


class Stdio:
    """A subject behind a command, run without a shell. `stop` it, also where something failed."""

    def __init__(self, command: str, limits: Limits | None = None) -> None:
        self.name = command
        self.claims = Claims()
        self._words = shlex.split(command)
        self._limits = limits or Limits()
        self._connection: Connection | None = None
        self._planned: deque[Conversation] = deque()
        self._finalizer: Any = None

    def begin(self) -> None:
        """Start its process, and ask what it claims. Raises SubjectError."""
        try:
            self._connected()
        except FaultError as fault:
            said = self._stderr().strip()
            raise SubjectError(
                f"could not start the normalizer {self.name!r}: {fault}"
                + (f"\nits stderr ends with:\n{said}" if said else "")
            ) from fault

    @property
    def pid(self) -> int:
        """The id of its process, 0 where there is none."""
        return 0 if self._connection is None else self._connection.process.pid

    def open(self, header: Header) -> Conversation:
        """Return the next conversation that was planned, or a new one. Raises FaultError."""
        if self._planned:
            return self._planned.popleft()
        return Conversation(self._connected(), header)

    def open_split(self, header: Header) -> Conversation:
        """As `open`: a message for each frame, each in two pieces."""
        return Conversation(self._connected(), header, fine=True)

    def plan(self, header: Header, frames: Sequence[Frame], rerun: int) -> None:
        """Send all that the runs of a cassette need, to be opened in turn.

        The runs: one of all frames; one of the first `rerun`; and between these one of half as
        many. Raises FaultError where it cannot be started again.
        """
        connection = self._connected()
        coded = [code(frame) for frame in frames]
        whole, again, half = (Conversation(connection, header) for _ in range(3))
        for batch in batches(coded, repeat(BATCH_FRAMES)):
            whole.send(batch)
        whole.send_close()
        # It begins while the rest is made.
        connection.process.flush()
        coded = coded[:rerun]
        upto = len(coded) // 2
        cut = _cut([frame for frame, _, _ in coded[:upto]])
        one = list(batches(coded, cycle(_SIZES)))
        other = list(batches(coded[:upto], chain(repeat(1, _SINGLE), cycle(_SIZES))))
        ahead = max(1, len(one) // 4)
        for batch in one[:ahead]:
            again.send(batch)
        sent, done = ahead, 0
        for number, batch in enumerate(other, 1):
            half.send(batch, cut=done <= cut < done + len(batch))
            done += len(batch)
            # Spread evenly: either begins, goes on and ends in the midst of the other.
            while (sent - ahead) * len(other) < number * (len(one) - ahead):
                again.send(one[sent])
                sent += 1
        half.send_close()
        for batch in one[sent:]:
            again.send(batch)
        again.send_close()
        connection.process.flush()
        whole.said = []
        again.first, again.upto, again.whole = whole, len(coded), len(coded) == len(frames)
        half.first, half.upto = whole, upto
        self._planned = deque((whole, again, half))

    def finish(self) -> tuple[FaultError | None, str]:
        """End a cassette: return what went wrong after its last answer, and what stderr said."""
        self._planned.clear()
        connection, fault = self._connection, None
        if connection is None:
            return None, ""
        if connection.fault is None:
            try:
                connection.settle()
            except FaultError as came:
                fault = came
        said = self._stderr()
        connection.process.tail.clear()
        return fault, said

    def stop(self) -> str:
        """End its process; return what is wrong with how it ends, or nothing."""
        connection, self._connection = self._connection, None
        if connection is None:
            return ""
        try:
            return connection.stop()
        finally:
            connection.process.end()

    def end(self) -> None:
        """Kill its process, if there is one left."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.process.end()

    def _stderr(self) -> str:
        connection = self._connection
        return "" if connection is None else connection.process.tail.decode("utf-8", "replace")

    def _connected(self) -> Connection:
        """Return the connection, a new one after a fault. Raises FaultError."""
        connection = self._connection
        if connection is None or connection.fault is not None:
            try:
                connection = Connection(self._words, self._limits)
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or str(error)
                raise FaultError("not-started", f"{self._words[0]}: {why}") from error
            self._connection = connection
            # Whoever forgets to stop it leaves nothing running.
            self._finalizer = weakref.finalize(self, connection.process.end)
            self.claims = connection.start()
        return connection


def _cut(frames: Sequence[bytes]) -> int:
    """Choose the frame to cut: the last one with a character of several bytes, else the last."""
    for number in range(len(frames) - 1, -1, -1):
        if not frames[number].isascii():
            return number
    return len(frames) - 1
