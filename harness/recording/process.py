"""One process of the agent: pipes, lines as bytes, its own session, a bounded end."""

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, BinaryIO, Literal

from harness.recording.errors import RecordError
from harness.recording.isolation import LAUNCHER, Namespace

_CHUNK = 1 << 16
_POLL = 0.02
_PATIENCE = 3  # times the grace

Came = Literal["stdout", "stderr", "sse", "exit", "overflow"]


class Sink:
    """Where what a process sends goes: `put` waits for room, `left` bytes are let through."""

    def __init__(self, put: Callable[[Came, Any], Awaitable[None]], left: int) -> None:
        self._put = put
        self.left = left
        self.waiting = 0
        self.passed = 0

    def spend(self, count: int) -> bool:
        """Let so many bytes through; return whether there was room for them."""
        self.left -= count
        return self.left >= 0

    async def put(self, channel: Came, what: Any) -> None:
        """Pass on a line (bytes), or the exit (its frame's data)."""
        self.waiting += 1
        try:
            await self._put(channel, what)
        finally:
            self.waiting -= 1
        self.passed += 1


class _Stdin(asyncio.BaseProtocol):
    """Flow control of the pipe to the agent."""

    def __init__(self) -> None:
        self.room = asyncio.Event()
        self.room.set()

    def pause_writing(self) -> None:
        self.room.clear()

    def resume_writing(self) -> None:
        self.room.set()

    def connection_lost(self, _: Exception | None) -> None:
        self.room.set()


class Process:
    """A started agent. The sink gets its lines in order of arrival, and last of all its exit."""

    def __init__(self, process: subprocess.Popen[bytes], sink: Sink) -> None:
        self.pid = process.pid
        self.ended = asyncio.Event()
        self._process = process
        self._sink = sink
        self._protocol = _Stdin()
        self._stdin: asyncio.WriteTransport | None = None
        self._readers: dict[Literal["stdout", "stderr"], asyncio.StreamReader] = {}
        self._transports: list[asyncio.BaseTransport] = []
        self._task: asyncio.Task[None] | None = None

    async def connect(self, grace: float) -> None:
        """Begin to read; `grace` is how long pipes may stay open after the process's end."""
        loop = asyncio.get_running_loop()
        stdin, _ = await loop.connect_write_pipe(lambda: self._protocol, self._process.stdin)
        self._stdin = stdin
        self._transports.append(stdin)
        self._readers["stdout"] = await self.reader(self._process.stdout)
        self._readers["stderr"] = await self.reader(self._process.stderr)
        self._task = asyncio.create_task(self._watch(grace))

    async def reader(self, pipe: Any) -> asyncio.StreamReader:
        """Read a pipe without blocking; it is closed with the process."""
        reader = asyncio.StreamReader(limit=_CHUNK)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        self._transports.append(transport)
        return reader

    async def send(self, line: bytes) -> None:
        """Write a line and its line feed. A process that reads no more takes nothing."""
        if self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(line + b"\n")
            await self._protocol.room.wait()

    def close_stdin(self) -> None:
        """Close the process's stdin once what was sent is written; again is harmless."""
        if self._stdin is not None:
            self._stdin.close()

    def signal(self, name: str) -> None:
        """Send a signal to the whole group; a group that is gone takes nothing."""
        # Until the leader is reaped, its id cannot be another group's.
        if not self.ended.is_set():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.Signals[name])

    async def kill(self) -> None:
        """End the group at once, and wait until its leader is reaped."""
        self.signal("SIGKILL")
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if not self.ended.is_set():
            self._process.wait()
            self.ended.set()
        self._close()

    def _close(self) -> None:
        for transport in self._transports:
            if not transport.is_closing():
                if transport is self._stdin:
                    self._stdin.abort()  # its end has nobody to read what is still buffered
                else:
                    transport.close()

    async def _watch(self, grace: float) -> None:
        pumps = {
            asyncio.create_task(self._pump(channel, reader))
            for channel, reader in self._readers.items()
        }
        try:
            await exited(self._process)
            # What it left in its group ends with it. A process that left the group may hold the
            # pipes open, and write on: what was in them at the end has this long to be read.
            pumps = await self._drain(pumps, grace)
            self.signal("SIGKILL")
            pumps = await self._drain(pumps, grace)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        code = self._process.wait()
        self.ended.set()
        self._close()
        end_of_it = {"code": code} if code >= 0 else {"signal": signal.Signals(-code).name}
        await self._sink.put("exit", end_of_it)

    async def _drain(self, pumps: set[asyncio.Task[None]], grace: float) -> set[asyncio.Task[None]]:
        """Wait until the pipes end, or nothing more comes; return the pumps of those left."""
        for _ in range(_PATIENCE):
            before = self._sink.passed
            if pumps:
                _, pumps = await asyncio.wait(pumps, timeout=grace)
            if not pumps or (self._sink.passed == before and not self._sink.waiting):
                break
        return pumps

    async def _pump(
        self, channel: Literal["stdout", "stderr"], reader: asyncio.StreamReader
    ) -> None:
        """Split on line feeds alone. A last line without one is a line."""
        parts: list[bytes] = []
        while chunk := await reader.read(_CHUNK):
            if not self._sink.spend(len(chunk)):
                return await self._sink.put("overflow", None)
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                parts.append(line)
                await self._sink.put(channel, b"".join(parts))
                parts = []
            parts.append(rest)
        if last := b"".join(parts):
            await self._sink.put(channel, last)
        return None


async def start(  # noqa: PLR0913 - what a process needs
    program: str,
    args: list[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    namespace: Namespace | None,
    sink: Sink,
    grace: float,
) -> Process:
    """Start the program in its own session, in the namespace if there is one.

    Raises RecordError (5) where it cannot be started.
    """
    process, told = popen(program, args, env=env, cwd=cwd, namespace=namespace)
    started = Process(process, sink)
    try:
        if number := await failure(told):
            raise RecordError(5, _why(program, number))  # noqa: TRY301
        await started.connect(grace)
    except BaseException:
        await started.kill()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        raise
    return started


def popen(  # noqa: PLR0913 - what a process needs
    program: str,
    args: list[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    namespace: Namespace | None,
    stdin: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> tuple[subprocess.Popen[bytes], BinaryIO]:
    """Start the program through the launcher; the pipe tells `failure` whether it did start."""
    status, theirs = os.pipe()
    files = namespace.files if namespace else []
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", LAUNCHER, "run", str(theirs),
             ",".join(map(str, files)) or "-", program, *args],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=dict(env),
            cwd=cwd,
            pass_fds=[theirs, *files],
            start_new_session=True,
            bufsize=0,
        )  # fmt: skip
    except BaseException:
        os.close(status)
        raise
    finally:
        os.close(theirs)
    return process, os.fdopen(status, "rb", buffering=0)


async def failure(told: BinaryIO) -> int:
    """Return the errno with which the program could not be started; 0 where it was."""
    reader = asyncio.StreamReader(limit=_CHUNK)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), told
    )
    try:
        return int(await reader.read() or 0)
    finally:
        transport.close()


def _why(program: str, number: int) -> str:
    hint = {
        errno.ENOEXEC: "it is not a program of this machine's kind",
        errno.EACCES: "make it executable",
        errno.ENOENT: "name the program with --agent-path",
    }.get(number, "try it by hand")
    return f"starting the agent {program}: {os.strerror(number)}; {hint}"


async def exited(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end without reaping: the group's id stays taken until its rest is ended."""
    try:
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, or a very old one
        look = os.WEXITED | os.WNOWAIT | os.WNOHANG
        while os.waitid(os.P_PID, process.pid, look) is None:  # noqa: ASYNC110, ASYNC222
            await asyncio.sleep(_POLL)
        return
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(handle, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)
