"""The normalizer behind a command: one process for all cassettes, one conversation for each run.

What a cassette's runs need is sent ahead, so that the subject works while the judge does. The
first run gets large batches; of the reruns, which are interleaved, one gets smaller ones and one
a message for each frame, two of them cut in the middle.
"""

import re
import shlex
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import force_setattr

from harness import __version__
from harness.canonical import Event
from harness.cassette import Frame, Header
from harness.subject.base import Claims, Given, SubjectError
from harness.subject.faults import FaultError, Limits
from harness.subject.protocol import PROTOCOL, Failed, Fault, Started
from harness.subject.wire import Process

BATCH_FRAMES: Final = 64
BATCH_BYTES: Final = 64 << 10
"""What one `frames` message holds at most, but for a single frame that is longer."""
SMALL_BATCH: Final = 7
HELD: Final = 4
"""How many answers of the largest size all answers of one cassette may make."""
BACK: Final = 256
"""How many frames an event's `raw` may point back."""

_VERSION: Final = msgspec.json.encode(__version__)
_SEAM: Final = b"\n"
_encode: Final = msgspec.json.Encoder().encode
_NOT_ASCII: Final = re.compile(rb"[\x80-\xff]")
_BROKEN: Final = (msgspec.MsgspecError, UnicodeError, RecursionError)


class _Answer(Struct):
    """An answer, whose events are read when they are needed."""

    id: int
    events: msgspec.Raw | UnsetType = UNSET
    error: Fault | UnsetType = UNSET


_ANSWER: Final = msgspec.json.Decoder(_Answer)
_EVENTS: Final = msgspec.json.Decoder(list[list[Event]])
_LAST: Final = msgspec.json.Decoder(list[Event])
_RAW: Final = msgspec.json.Decoder(list[msgspec.Raw])
_RAWS: Final = msgspec.json.Decoder(list[list[msgspec.Raw]])


class Exchange:
    """One request, and what came of it: the JSON of its events, or an error."""

    __slots__ = ("answer", "error", "id", "of", "size")

    def __init__(self, id_: int, of: str) -> None:
        self.id = id_
        self.of = of
        self.size = 0
        self.answer: Any = None
        self.error: FaultError | None = None

    def settle(self, line: bytes) -> None:
        """Take the answer. Raises FaultError for what is none to this request."""
        try:
            answer = _ANSWER.decode(line)
        except _BROKEN as error:
            raise FaultError(
                "junk", f"no answer to `{self.of}` ({error}): {_shown(line)}"
            ) from error
        if answer.id != self.id:
            raise FaultError(
                "wrong-id", f"an answer with id {answer.id}, and {self.id} ({self.of}) was due"
            )
        if answer.error is not UNSET:
            self.error = FaultError("failed", answer.error.message, answer.error.frame or 0)
            return
        if answer.events is UNSET and self.of in {"frames", "close"}:
            raise FaultError("wrong-shape", f"an answer to `{self.of}` without `events`")
        self.answer = answer.events
        self.size = len(line)


def _read(decoder: Any, loose: Any, events: msgspec.Raw, of: str) -> Any:
    """Read events; those that are none stay JSON, to be judged one by one. Raises FaultError."""
    try:
        return decoder.decode(events)
    except _BROKEN:
        try:
            return loose.decode(events)
        except _BROKEN as error:
            raise FaultError("wrong-shape", f"`events` in the answer to `{of}`: {error}") from error


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

    def over(self, fault: FaultError) -> FaultError:
        """End the process for a fault that its answers have; return the fault."""
        return self._ended(fault)

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
        self._recent: dict[bytes, Any] = {}
        self._keys: deque[bytes] = deque()
        self.said: list[msgspec.Raw] | None = None
        """The JSON of each frame's events, where it is to be repeated."""
        self.last: msgspec.Raw | None = None
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
        try:
            self._opened()
            said: list[msgspec.Raw] = []
            for exchange, _ in self._sent:
                said += _RAW.decode(self._connection.answer(exchange))
            if self.whole and not self._ends_as(first):
                return False
        except (FaultError, *_BROKEN):
            return False
        return len(said) == upto and _SEAM.join(said) == _SEAM.join(first.said[:upto])

    def _ends_as(self, first: "Conversation") -> bool:
        assert self._close is not None  # noqa: S101 - a plan has sent it
        own = self._connection.answer(self._close)
        return first.last is not None and bytes(own) == bytes(first.last)

    def ahead(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """Yield the frames; each batch is sent before the one before it is yielded."""
        source = iter(frames)
        if self._sent or self._ready:
            # A plan has sent them.
            yield from source
            return
        if self._fine:
            for frame in source:
                self.send([code(frame)], cut=True)
                yield frame
            return
        before: list[Frame] = []
        while batch := list(islice(source, BATCH_FRAMES)):
            for each in batches([code(frame) for frame in batch], BATCH_FRAMES):
                self.send(each)
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
        self.last = answer = self._connection.answer(self._close)
        try:
            events = _read(_LAST, _RAW, answer, "close")
        except FaultError as fault:
            raise self._connection.over(fault) from None
        self._adopt(events)
        return _given(events)

    def _opened(self) -> None:
        if self._begun is not None:
            self._connection.answer(self._begun)
            self._begun = None

    def _more(self) -> None:
        self._opened()
        exchange, frames = self._sent.popleft()
        answer = self._connection.answer(exchange)
        try:
            events_of = _read(_EVENTS, _RAWS, answer, "frames")
            if len(events_of) != len(frames):
                raise FaultError(  # noqa: TRY301
                    "wrong-shape", f"{len(events_of)} lists of events for {len(frames)} frames"
                )
        except FaultError as fault:
            raise self._connection.over(fault) from None
        if self.said is not None:
            self.said += _RAW.decode(answer)
        recent, keys = self._recent, self._keys
        for (content, key), events in zip(frames, events_of, strict=True):
            # The last frame with that content, as the judge has it.
            recent[key] = content
            keys.append(key)
            if events:
                self._adopt(events)
            if len(keys) > BACK:
                old = keys.popleft()
                if old not in keys:
                    del recent[old]
            self._ready.append(_given(events))

    def _adopt(self, events: list[Any]) -> None:
        """Let each event's `raw` hold the frame's own content, where it is that, byte for byte.

        The judge looks for the very object first. Anything else it compares value by value.
        """
        recent = self._recent
        for event in events:
            # JSON is what is no event, or among some that are none.
            raw = getattr(event, "raw", UNSET)
            if raw is not UNSET:
                content = recent.get(_encode(raw.payload), recent)
                if content is not recent:
                    force_setattr(raw, "payload", content)


def _given(events: list[Any]) -> list[Any]:
    """Return events as a subject may give them: JSON as bytes."""
    if events and type(events[0]) is msgspec.Raw:
        return [bytes(event) for event in events]
    return events


class _Version(Struct):
    id: int
    protocol: int


def _started(line: bytes, due: int) -> Started:
    """Read the answer to `start`. Raises FaultError."""
    try:
        failed = msgspec.json.decode(line, type=Failed)
    except _BROKEN:
        pass
    else:
        raise FaultError("not-started", failed.error.message)
    try:
        # The version first: another one may have another answer.
        version = msgspec.json.decode(line, type=_Version)
        if version.protocol == PROTOCOL:
            started = msgspec.json.decode(line, type=Started)
    except _BROKEN as error:
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
    content = frame.data
    if content is UNSET:
        content = frame.content
    return _encode(frame), content, _encode(content)


def batches(coded: Sequence[Any], most: int) -> Iterator[list[Any]]:
    """Part coded frames into batches of at most so many, and about `BATCH_BYTES`."""
    batch: list[Any] = []
    size = 0
    for each in coded:
        if batch and (len(batch) == most or size + len(each[0]) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
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
        for batch in batches(coded, BATCH_FRAMES):
            whole.send(batch)
        whole.send_close()
        connection.process.flush()
        coded = coded[:rerun]
        upto = len(coded) // 2
        cuts = _cuts([frame for frame, _, _ in coded[:upto]])
        head = len(coded) // 4
        done = 0
        for start in range(0, upto, SMALL_BATCH):
            for batch in batches(coded[done : head + start], SMALL_BATCH):
                again.send(batch)
            done = max(done, head + start)
            for number in range(start, min(start + SMALL_BATCH, upto)):
                half.send(coded[number : number + 1], cut=number in cuts)
        half.send_close()
        for batch in batches(coded[done:], SMALL_BATCH):
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


def _cuts(frames: Sequence[bytes]) -> set[int]:
    """Choose two messages to cut: the first with a character of several bytes, and the last."""
    if not frames:
        return set()
    found = next((n for n, frame in enumerate(frames) if _NOT_ASCII.search(frame)), 0)
    return {found, len(frames) - 1}
