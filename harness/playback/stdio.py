"""The played agent's process: standard input and output, signals, time. All waiting is here."""

import contextlib
import os
import select
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Final, Protocol

from harness.playback.conversation import Conversation
from harness.playback.errors import MismatchError, PlayError
from harness.playback.pace import Pace
from harness.playback.player import Answer, Await, End, Event, Write

LONGEST: Final = 64 << 20
"""Bytes of a client's line: a longer one is no line of any recording."""

_AHEAD: Final = 16 << 20  # bytes of the client's that wait for their turn
_CHUNK: Final = 1 << 16
_ATOMIC: Final = 4096  # a pipe that may be written takes as much without waiting
_BUFFER: Final = 1 << 16
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Waits(Protocol):
    """What the process waits for, so that a test can say what came."""

    def __call__(
        self, reads: list[int], writes: list[int], seconds: float | None, /
    ) -> tuple[list[int], list[int]]:
        """Return the descriptors that can be read and written now; none after the seconds."""


class EndedError(Exception):
    """The process has to end by this signal. The message says what was awaited, where any was."""

    def __init__(self, number: int, awaited: str = "") -> None:
        self.number = number
        name = signal.Signals(number).name
        super().__init__(f"ended by {name}, awaited was {awaited}" if awaited else "")


class Process:
    """Plays a conversation over file descriptors.

    `waits` is `select`'s, `pace` None as fast as the client takes it. `works`: what ends the
    agent is its work, not the end of its input.
    """

    def __init__(
        self,
        conversation: Conversation,
        *,
        works: bool,
        pace: Pace | None = None,
        files: tuple[int, int, int] = (0, 1, 2),
        waits: Waits | None = None,
    ) -> None:
        self._conversation = conversation
        self._works = works
        self._pace = pace
        self._stdin, self._stdout, self._stderr = files
        self._waits = waits or _waits
        self._lines: deque[bytes] = deque()
        self._parts: list[bytes] = []
        self._length = 0
        self._held = 0
        self._foreseen = False
        self._open = True
        self._out: list[bytes] = []
        self._size = 0
        self._seq = 0
        self._signals: deque[int] = deque()
        self._heard = 0
        self._woken = -1

    def run(self) -> int:
        """Play to the end, and return the exit code.

        Raises PlayError, CassetteError, and EndedError for a signal to end by.
        """
        with self._heeding():
            while True:
                step = self._conversation.step()
                match step:
                    case Write(seq, at, channel, line):
                        self._seq = seq
                        self._until(at)
                        self._say(channel, line)
                    case Await(seq, at):
                        self._seq = seq
                        self._flush()
                        self._conversation.take(self._line())
                        if self._pace:
                            self._pace.taken(at)
                        self._foresee()
                    case Answer() | Event():
                        raise PlayError(5, f"frame {step.seq} is HTTP, and this is no server")
                    case End():
                        self._until(step.at)
                        self._flush()
                        return self._end(step)

    def _end(self, end: End) -> int:
        """Wait for what ends the agent, and return its exit code."""
        if end.signal is not None:
            while (number := due(end.signal, self._signals)) is None:
                if self._lines:
                    self._conversation.surplus(self._lines[0])
                self._wait(forever=True)
            raise EndedError(number)
        if self._works:
            # It has no use for its input: what came all the same was not recorded.
            self._wait(0)
            return end.code or 0
        while self._open and not self._lines:
            if self._signals:
                raise EndedError(self._signals[0])
            self._wait(forever=True)
        if self._lines:
            self._conversation.surplus(self._lines[0])
        return end.code or 0

    def _line(self) -> bytes:
        while not self._lines:
            awaited = self._conversation.awaited
            if self._signals:
                raise EndedError(self._signals[0], awaited())
            if not self._open:
                raise MismatchError(
                    self._seq, f"the client has closed the agent's input, awaited was {awaited()}"
                )
            self._wait(forever=True)
        line = self._lines.popleft()
        self._held -= len(line)
        self._foreseen = False
        return line

    def _until(self, at: int) -> None:
        """Let the recorded time pass, where it is to be kept."""
        if self._pace is None or not self._pace.left(at):
            return
        self._flush()
        while seconds := self._pace.left(at):
            self._wait(seconds)

    def _say(self, channel: str, line: bytes) -> None:
        if channel == "stdout":
            self._out.append(line)
            self._size += len(line)
            if self._size >= _BUFFER:
                self._flush()
        else:
            self._flush()
            self._put(self._stderr, line)

    def _flush(self) -> None:
        if self._out:
            data = b"".join(self._out)
            self._out.clear()
            self._size = 0
            self._put(self._stdout, data)

    def _put(self, file: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            if not self._wait(writes=file):
                continue
            try:
                view = view[os.write(file, view[:_ATOMIC]) :]
            except BrokenPipeError:
                raise PlayError(
                    1, f"the client has stopped reading, before frame {self._seq}"
                ) from None

    def _wait(
        self, seconds: float | None = None, *, writes: int | None = None, forever: bool = False
    ) -> bool:
        """Wait for room to write, the client's next bytes, a signal, or the time.

        Returns whether there is room. Raises MismatchError for a line that is wrong though it is
        not yet waited for, EndedError for a signal that ends the agent here.
        """
        if len(self._signals) > self._heard and not forever:
            self._interrupted()
        reads = [self._woken] if self._woken >= 0 else []
        # A client may say much before it reads: so what it says is taken, as far as there is room.
        if self._open and self._held < _AHEAD:
            reads.append(self._stdin)
        readable, writable = self._waits(reads, [] if writes is None else [writes], seconds)
        if self._woken in readable:
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, 64)
        if self._stdin in readable:
            self._read(foresee=not forever)
        return bool(writable)

    def _interrupted(self) -> None:
        """End at once by a signal, but where the recorded agent went on after it."""
        self._heard = len(self._signals)
        awaited = self._conversation.awaited()
        if awaited or not (self._works or self._conversation.killed()):
            raise EndedError(self._signals[0], awaited)

    def _read(self, *, foresee: bool) -> None:
        chunk = os.read(self._stdin, _CHUNK)
        if not chunk:
            self._open = False
            if last := b"".join(self._parts):
                self._lines.append(last)
            self._parts = []
        else:
            self._length += len(chunk)
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                self._lines.append(b"".join([*self._parts, line]))
                self._held += len(self._lines[-1])
                self._parts = []
                self._length = len(rest)
            if rest:
                self._parts.append(rest)
            if self._length > LONGEST:
                raise MismatchError(
                    self._seq,
                    f"the client has sent a line of more than {LONGEST:,} bytes, awaited was "
                    f"{self._conversation.awaited() or 'nothing'}",
                )
        if foresee:
            self._foresee()

    def _foresee(self) -> None:
        """Check the next line once: a wrong client is told at once, not once its line is due."""
        if self._lines and not self._foreseen:
            self._foreseen = True
            self._conversation.foresee(self._lines[0])

    @contextlib.contextmanager
    def _heeding(self) -> Iterator[None]:
        """Collect signals instead of ending by them; a signal ends any wait."""
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        before = {number: signal.signal(number, self._heed) for number in SIGNALS}
        old = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(old)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._woken)
            os.close(wake)
            self._woken = -1

    def _heed(self, number: int, _: FrameType | None) -> None:
        self._signals.append(number)


def due(recorded: str, heard: Sequence[int]) -> int | None:
    """Return the signal to end by, where the agent was ended by the recorded one; None: wait.

    An agent that crashed ends by itself. Another signal than the recorded one ends it as well;
    but what only SIGKILL has ended, SIGTERM did not.
    """
    number = signal.Signals[recorded]
    if number not in {*SIGNALS, signal.SIGKILL, signal.SIGQUIT} or number in heard:
        return number
    stands = {signal.SIGTERM} if number == signal.SIGKILL else set()
    return next((other for other in heard if other not in stands), None)


def _waits(
    reads: list[int], writes: list[int], seconds: float | None
) -> tuple[list[int], list[int]]:
    poll = select.poll()  # `select` itself takes no descriptor above 1023
    for file in reads:
        poll.register(file, select.POLLIN)
    for file in writes:
        poll.register(file, select.POLLOUT)
    # Up to the next millisecond, so that the time is over when the wait is.
    ready = [file for file, _ in poll.poll(None if seconds is None else int(seconds * 1000) + 1)]
    return [f for f in ready if f in reads], [f for f in ready if f in writes]
