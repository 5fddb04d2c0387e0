"""Finds and ends the processes of a recording that left the agent's process group."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

from harness.recording.isolation import Namespace

MARKER = "HARNESS_RECORDING"
"""The environment variable that each process of a recording inherits, with the recording's id."""

_ROUNDS = 100
_PAUSE = 0.02


def strays(mark: str, namespace: Namespace | None) -> list[int]:
    """Return the recording's processes, this one and the namespace's holder apart.

    By the mark in their environment, wherever they went, or by the namespace that they are in.
    """
    own = {os.getpid(), namespace.holder if namespace else 0}
    entry = f"{MARKER}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile, or is another user's
            pid = int(folder.name)
            if pid not in own and (
                entry in (folder / "environ").read_bytes().split(b"\0")
                or (namespace and (folder / "ns/net").stat().st_ino == namespace.inode)
            ):
                found.append(pid)
    return found


async def end_strays(mark: str, namespace: Namespace | None) -> int:
    """Kill them until none is found; return how many there were."""
    killed: set[int] = set()
    for _ in range(_ROUNDS):
        found = strays(mark, namespace)
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed.update(found)
        await asyncio.sleep(_PAUSE)
    return len(killed)
