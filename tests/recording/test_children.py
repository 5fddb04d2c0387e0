"""Programs that the client runs: where, with what output, and how they end."""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from harness.recording.children import Child, spawn
from harness.recording.isolation import Namespace, why_not

T = TypeVar("T")
PATH = os.environ["PATH"]


def group(leader: int) -> list[str]:
    """Return the state of each process of a group that is not a zombie, once it is at rest."""
    states: list[str] = []
    for _ in range(500):
        states = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                state, _, pgrp = stat.read_text().rpartition(") ")[2].split()[:3]
                if int(pgrp) == leader and state != "Z":
                    states.append(state)
        if not states:
            break
        time.sleep(0.01)
    return states


def run(
    folder: Path,
    line: str,
    use: Callable[[Child], Awaitable[T]],
    *,
    limit: int = 1000,
    namespace: Namespace | None = None,
) -> T:
    """Start a shell line, use it, end it; nothing of it is left."""

    async def all_of_it() -> T:
        child = await spawn(
            ["bash", "-c", line],
            env={"PATH": PATH, "FOLDER": str(folder)},
            cwd=str(folder),
            namespace=namespace,
            limit=limit,
            grace=0.2,
        )
        try:
            return await asyncio.wait_for(use(child), 10)
        finally:
            await child.end()
            assert not group(child.pid)

    return asyncio.run(all_of_it())


async def ended(child: Child) -> tuple[dict[str, object], bytes, bool]:
    status = await child.wait()
    return dict(status), *child.output


def test_both_streams_and_the_exit_code(tmp_path: Path) -> None:
    line = "echo out; echo err >&2; pwd; exit 3"
    status, output, truncated = run(tmp_path, line, ended)
    assert (status, truncated) == ({"code": 3}, False)
    assert output.decode() == f"out\nerr\n{tmp_path}\n"


def test_of_too_much_output_the_end_stays(tmp_path: Path) -> None:
    status, output, truncated = run(tmp_path, "printf 'abcdefgh'", ended, limit=3)
    assert (status, output, truncated) == ({"code": 0}, b"fgh", True)


def test_exactly_the_limit_is_whole(tmp_path: Path) -> None:
    assert run(tmp_path, "printf abc", ended, limit=3)[1:] == (b"abc", False)


def test_a_kill_ends_its_whole_group(tmp_path: Path) -> None:
    async def use(child: Child) -> dict[str, object]:
        while child.output[0] != b"up\n":  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)
        assert child.status is None
        child.kill()
        return dict(await child.wait())

    assert run(tmp_path, "sleep 60 & echo up; wait", use) == {"signal": "SIGKILL"}


def test_its_end_does_not_wait_for_what_holds_its_output(tmp_path: Path) -> None:
    assert run(tmp_path, "sleep 60 & echo left", ended)[:2] == ({"code": 0}, b"left\n")


def test_what_is_no_program_cannot_start(tmp_path: Path) -> None:
    def start(program: str) -> None:
        asyncio.run(
            spawn(
                [program],
                env={"PATH": PATH},
                cwd=str(tmp_path),
                namespace=None,
                limit=10,
                grace=0.1,
            )
        )

    with pytest.raises(FileNotFoundError):
        start("no-such-program")
    (tmp_path / "text").write_text("not a program\n")
    (tmp_path / "text").chmod(0o755)
    with pytest.raises(OSError, match="Exec format error"):
        start(str(tmp_path / "text"))


@pytest.mark.skipif(why_not() is not None, reason="no network namespaces here")
def test_it_runs_in_the_agents_namespace(tmp_path: Path) -> None:
    with Namespace() as namespace:
        inode = run(tmp_path, "stat -Lc %i /proc/self/ns/net", ended, namespace=namespace)[1]
        assert int(inode) == namespace.inode
        namespace.server.close()
