"""Programs that the client runs for its agent: its terminals.

Each runs where the agent does (namespace, environment), in a session of its own, and is killed
with its whole group. It is reaped only at its end: until then its id cannot be another group's.
"""

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from typing import Any

from harness.recording.isolation import Namespace
from harness.recording.process import exited, failure, popen


class _Output(asyncio.Protocol):
    """Keeps the last bytes that came."""

    def __init__(self, limit: int) -> None:
        self.kept = bytearray()
        self.truncated = False
        self.closed = asyncio.Event()
        self._limit = limit

    def data_received(self, data: bytes) -> None:
        self.kept += data
        if (over := len(self.kept) - self._limit) > 0:
            self.truncated = True
            del self.kept[:over]

    def connection_lost(self, _: Exception | None) -> None:
        self.closed.set()


class Child:
    """Implements `harness.surfaces.base.Child` for a program that was started."""

    def __init__(self, process: subprocess.Popen[bytes], output: _Output) -> None:
        self.pid = process.pid
        self.status: Mapping[str, Any] | None = None
        self._process = process
        self._output = output
        self._over = asyncio.Event()
        self._transport: asyncio.BaseTransport | None = None
        self._watching: asyncio.Task[None] | None = None

    async def connect(self, grace: float) -> None:
        """Begin to read; `grace` is how long its output may stay open after its end."""
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: self._output, self._process.stdout
        )
        self._watching = asyncio.create_task(self._watch(grace))

    @property
    def output(self) -> tuple[bytes, bool]:
        """See `Child.output`."""
        return bytes(self._output.kept), self._output.truncated

    async def wait(self) -> Mapping[str, Any]:
        """See `Child.wait`."""
        await self._over.wait()
        assert self.status is not None  # noqa: S101 - set before the event
        return self.status

    def kill(self) -> None:
        """See `Child.kill`. The group may live on after its leader: it is ended too."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Kill what is left of its group, and reap it."""
        self.kill()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        self._process.wait()
        if self._transport is not None:
            self._transport.close()
        elif self._process.stdout is not None:
            self._process.stdout.close()

    async def _watch(self, grace: float) -> None:
        await exited(self._process)
        # What it started may hold its output open, and write on.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._output.closed.wait()
        # WNOWAIT: its id stays its own, so that `kill` cannot meet another group.
        end = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - it has ended
        if end is not None and end.si_code == os.CLD_EXITED:
            self.status = {"code": end.si_status}
        else:
            self.status = {"signal": signal.Signals(end.si_status).name if end else "SIGKILL"}
        self._over.set()


async def spawn(  # noqa: PLR0913 - what a process needs
    command: list[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    namespace: Namespace | None,
    limit: int,
    grace: float,
) -> Child:
    """Start a program, found on the PATH of `env`. Raises OSError where it cannot be started."""
    program = shutil.which(command[0], path=env.get("PATH"))
    if program is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
    process, told = popen(
        os.path.join(cwd, program),  # noqa: PTH118 - a relative one is the new process's
        command[1:],
        env=env,
        cwd=cwd,
        namespace=namespace,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    child = Child(process, _Output(limit))
    try:
        if number := await failure(told):
            raise OSError(number, os.strerror(number), command[0])  # noqa: TRY301
        await child.connect(grace)
    except BaseException:
        await child.end()
        raise
    return child
