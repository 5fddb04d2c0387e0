"""Short-lived copies of this process, a few at a time: what they find comes back by a pipe."""

import contextlib
import os
import resource
import selectors
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

MEMORY: Final = 2 << 30
"""Bytes of address space that a child may take more than it has at its start."""

Job = Callable[[], Any]
"""What a child does; what it returns must be JSON."""


class Ended(Struct, frozen=True):
    """How a child ended: with a value, or by a signal, or otherwise (`problem`)."""

    value: Any = None
    signal: int = 0
    problem: str = ""


class _Child(Struct):
    key: Any
    pid: int
    pipe: int
    until: float
    got: bytearray


def each(jobs: Iterable[tuple[Any, Job]], workers: int, wall: float) -> Iterator[tuple[Any, Ended]]:
    """Run jobs in children, `workers` at a time; yield each key with how its child ended.

    A child that has not ended after `wall` seconds is killed. None is left when this one stops.
    """
    waiting = iter(jobs)
    selector = selectors.DefaultSelector()
    running: dict[int, _Child] = {}
    try:
        more = True
        while more or running:
            while more and len(running) < workers:
                following = next(waiting, None)
                if following is None:
                    more = False
                    break
                child = _fork(*following, wall)
                running[child.pipe] = child
                selector.register(child.pipe, selectors.EVENT_READ)
            if not running:
                break
            for key, _ in selector.select(timeout=1.0):
                child = running[key.fd]
                chunk = os.read(child.pipe, 1 << 16)
                child.got += chunk
                if not chunk:
                    selector.unregister(child.pipe)
                    del running[child.pipe]
                    yield child.key, _reap(child)
            now = time.monotonic()
            for child in running.values():
                if now > child.until:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(child.pid, signal.SIGKILL)
    finally:
        for child in running.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)
            _reap(child)
        selector.close()


def cpu_limit(seconds: float) -> None:
    """End this process by SIGPROF once it has used so much processor time, from now on."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _fork(key: Any, job: Job, wall: float) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(key, pid, reading, time.monotonic() + wall, bytearray())
    code = 1
    try:
        os.close(reading)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _limit_memory()
        out = msgspec.json.encode(job())
        signal.setitimer(signal.ITIMER_PROF, 0)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(out)
        code = 0
    except BaseException:  # noqa: BLE001 - this is the end of the child, whatever it was
        with contextlib.suppress(BaseException):
            os.write(2, traceback.format_exc(limit=-8).encode())
    finally:
        os._exit(code)


def _limit_memory() -> None:
    with contextlib.suppress(OSError, ValueError):
        from pathlib import Path  # noqa: PLC0415 - beside its one use

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _reap(child: _Child) -> Ended:
    os.close(child.pipe)
    _, status = os.waitpid(child.pid, 0)
    if os.WIFSIGNALED(status):
        return Ended(signal=os.WTERMSIG(status))
    try:
        return Ended(msgspec.json.decode(bytes(child.got)))
    except msgspec.DecodeError:
        return Ended(problem=f"exit code {os.waitstatus_to_exitcode(status)}")
