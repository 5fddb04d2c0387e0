"""A subject's process and its three pipes: bytes out, lines in, the tail of its stderr.

One thread does it all. The pipes never block: whoever waits for a line writes what is due and
reads what has come meanwhile, so that neither side waits for the other's full pipe. Lines are
read only while one is waited for, so that no more than one answer is held unread.
"""

import errno
import fcntl
import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from harness.subject.faults import TAIL, FaultError, Limits

_READ: Final = 1 << 16
"""Bytes that are read at once: more would be got from the system anew each time."""
_PIPE: Final = 1 << 20
"""Bytes that a pipe should hold, where the system lets it be chosen: 64 KB else."""
_NOTHING: Final = memoryview(b"")
_SLICE: Final = 0.25
"""Seconds after which a process that is waited for is looked at."""
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_GRACE: Final = 1.0
"""Seconds that a process has to end, once it has closed its output."""


class Process:
    """A program in a session of its own, so that it ends with all that it has started.

    `received` counts the lines that have come. Raises OSError where it cannot be started.
    """

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self.limits = limits
        self.received = 0
        self.tail = bytearray()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        process = self._process
        assert process.stdin is not None  # noqa: S101 - PIPE
        assert process.stdout is not None  # noqa: S101 - PIPE
        assert process.stderr is not None  # noqa: S101 - PIPE
        self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()
        self._stderr = process.stderr.fileno()
        self._poll = select.poll()
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        for descriptor in (self._stdin, self._stdout):
            with suppress(OSError, AttributeError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE)
        for descriptor in (self._stdout, self._stderr):
            self._poll.register(descriptor, select.POLLIN)
        # Whether it is still read is told without being asked.
        self._poll.register(self._stdin, 0)
        self._statm = -1
        with suppress(OSError):
            self._statm = os.open(f"/proc/{process.pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
        # Where memory runs out, the kernel takes the subject first.
        with suppress(OSError):
            Path(f"/proc/{process.pid}/oom_score_adj").write_text("1000")
        self._out: deque[tuple[int, bytes]] = deque()
        self._part = _NOTHING
        self._writing = False
        self._lines: deque[bytes] = deque()
        self._parts: list[bytes] = []
        self._size = 0
        self._left: bytes | None = None
        """The first line that came, or was begun, after the answer to `stop`."""
        self._closed = False
        self._silent = False
        self._unread = False
        self._looked = time.monotonic()

    @property
    def pid(self) -> int:
        """The id of its process, and of its session."""
        return self._process.pid

    def send(self, data: bytes, after: int = 0) -> None:
        """Write, as soon as there is room, and once `after` lines have come."""
        self._out.append((after, data))

    def flush(self) -> None:
        """Write what there is room for; wait for nothing."""
        self._write()

    def line(self) -> bytes:
        """Return the next line, without its line feed. Raises FaultError."""
        if not self._lines:
            self._wait()
        elif self._part or (self._out and self._out[0][0] <= self.received):
            self._write()
        return self._lines.popleft()

    def idle(self) -> bool:
        """Whether nothing has come that nobody has read."""
        if not self._lines:
            self._turn(0)
        return not (self._lines or self._parts)

    def memory(self) -> None:
        """Raise FaultError where it holds too much: its leader now, its group every second."""
        if not self.limits.memory:
            return
        held = self._resident()
        if (now := time.monotonic()) - self._looked >= 1:
            self._looked = now
            held = max(held, _held(self._process.pid))
        if held > self.limits.memory:
            raise FaultError(
                "memory",
                f"it holds {held >> 20:,} MB, and {self.limits.memory >> 20:,} MB is the limit "
                "(--memory-limit)",
            )

    def _wait(self) -> None:
        limit = self.limits.seconds
        now = time.monotonic()
        deadline = now + limit
        look = now + _SLICE
        while not self._lines:
            if self._size > self.limits.answer:
                raise FaultError(
                    "too-much",
                    f"an answer of more than {self.limits.answer >> 20} MB, which is the limit",
                )
            if self._closed:
                raise self._over()
            now = time.monotonic()
            if now >= deadline:
                if self._unread:
                    raise FaultError("closed", "it closed its stdin before it was told to stop")
                raise FaultError("hung", f"no answer within {limit:g} s (--time-limit)")
            if now >= look:
                look = now + _SLICE
                self.memory()
                if self._unread:
                    deadline = min(deadline, now + _GRACE)
                if self._exit() is not None:
                    # What it started may hold its output open; nothing answers any more.
                    self._turn(0)
                    self._closed = not self._lines
                    continue
            self._turn(min(look, deadline) - now)

    def _turn(self, seconds: float) -> None:
        """Write and read what is possible; wait for something to be at most so long."""
        self._write()
        for descriptor, came in self._poll.poll(max(0, int(seconds * 1000))):
            if descriptor == self._stdin and came & (select.POLLERR | select.POLLHUP):
                self._shut()
            elif descriptor == self._stdout:
                self._read()
            elif descriptor == self._stderr:
                self._hear()

    def _write(self) -> None:
        out = self._out
        received = self.received
        while self._part or (out and out[0][0] <= received):
            if not self._part:
                # All that may be written is written at once: calls cost more than bytes.
                pieces = []
                size = 0
                while out and out[0][0] <= received and size < _PIPE:
                    pieces.append(out.popleft()[1])
                    size += len(pieces[-1])
                self._part = memoryview(b"".join(pieces) if len(pieces) > 1 else pieces[0])
            try:
                self._part = self._part[os.write(self._stdin, self._part) :]
            except BlockingIOError:
                break
            except OSError:
                self._shut()
                return
        due = bool(self._part)
        if due != self._writing and not self._unread:
            self._writing = due
            self._poll.register(self._stdin, select.POLLOUT if due else 0)

    def _shut(self) -> None:
        """It reads no more. What it has read it may still answer."""
        self._out.clear()
        self._part = _NOTHING
        if not self._unread:
            self._unread = True
            self._poll.unregister(self._stdin)

    def _read(self) -> bool:
        """Read what there is; return whether there was anything."""
        try:
            data = os.read(self._stdout, _READ)
        except BlockingIOError:
            return False
        if not data:
            self._closed = True
            self._poll.unregister(self._stdout)
            return False
        self._parts.append(data)
        self._size += len(data)
        if b"\n" in data:
            *lines, rest = b"".join(self._parts).split(b"\n")
            self._lines += lines
            self.received += len(lines)
            self._parts = [rest] if rest else []
            self._size = len(rest)
        return True

    def _hear(self) -> None:
        try:
            data = os.read(self._stderr, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._silent = True
            self._poll.unregister(self._stderr)
            return
        self.tail += data
        del self.tail[:-TAIL]

    def _exit(self) -> str | None:
        """How it has ended, in words; None where it has not."""
        # WNOWAIT: its id stays its own, so that no other group can be killed for it.
        end = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        if end is None:
            return None
        if end.si_code == os.CLD_EXITED:
            return f"exit code {end.si_status}"
        return signal.Signals(end.si_status).name

    def _over(self) -> FaultError:
        """What there is to say of a process that says nothing more."""
        until = time.monotonic() + _GRACE
        while (how := self._exit()) is None and time.monotonic() < until:
            self._listen(0.01)
        if how is None:
            return FaultError("closed", "it closed its stdout before it was told to stop")
        what = "a line was begun and not ended" if self._parts else "an answer was due"
        if how == "exit code 0":
            return FaultError("ended", f"it ended (exit code 0), and {what}")
        return FaultError("crashed", f"it ended with {how}, and {what}")

    def _resident(self) -> int:
        """How many bytes of memory it holds itself; 0 where the system does not say."""
        if self._statm < 0:
            return 0
        try:
            return int(os.pread(self._statm, 100, 0).split()[1]) * _PAGE
        except (OSError, IndexError):
            return 0

    def _listen(self, seconds: float) -> None:
        """Read its stderr alone."""
        if self._silent:
            time.sleep(seconds)
            return
        poll = select.poll()
        poll.register(self._stderr, select.POLLIN)
        if poll.poll(int(seconds * 1000)):
            self._hear()

    def stop(self) -> str:
        """Close its stdin, and wait for its end; return what is wrong with that, if anything."""
        deadline = time.monotonic() + min(self.limits.seconds, 5.0)
        assert self._process.stdin is not None  # noqa: S101 - PIPE
        self._unasked()
        self._out.clear()
        self._part = _NOTHING
        self._shut()
        self._process.stdin.close()
        while (how := self._exit()) is None:
            if time.monotonic() > deadline:
                return "it answered `stop`, and did not end"
            if not self._closed:
                self._turn(0.01)
                self._unasked()
            else:
                self._listen(0.01)
        for _ in range(64):
            # What it has left behind; a child of its may hold its output open, and say more.
            if self._closed or not self._read():
                break
            self._unasked()
        if how != "exit code 0":
            return f"it answered `stop`, and ended with {how}"
        return f"nothing was asked: {shown(self._left)}" if self._left is not None else ""

    def _unasked(self) -> None:
        """Keep the first line that nobody waits for, and let go of the others."""
        if self._left is None and (self._lines or self._parts):
            self._left = self._lines[0] if self._lines else b"".join(self._parts)
        self._lines.clear()
        self._parts.clear()
        self._size = 0

    def end(self) -> None:
        """Kill what is left of its group, keep what it said last, and reap it."""
        process = self._process
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._last_words()
        if self._statm >= 0:
            os.close(self._statm)
            self._statm = -1
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()

    def _last_words(self) -> None:
        for _ in range(64):
            try:
                data = os.read(self._stderr, 1 << 16)
            except OSError as error:
                if error.errno != errno.EAGAIN:
                    raise
                return
            if not data:
                return
            self.tail += data
            del self.tail[:-TAIL]


def shown(line: bytes) -> str:
    """Return a line as a fault shows it: as Python has it, and short."""
    text = repr(line[:160])[1:]
    return text if len(line) <= len(line[:160]) else f"{text}… ({len(line):,} bytes)"


def _held(group: int) -> int:
    """Return how many bytes of memory the processes of a session hold; 0 where none can say."""
    held = 0
    for folder in os.scandir("/proc") if Path("/proc/self/stat").exists() else ():
        if not folder.name.isdigit():
            continue
        try:
            # After the name, which may have anything in it: state, parent, group, session, ...
            fields = Path(folder.path, "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == group:
            held += int(fields[21]) * _PAGE
    return held
