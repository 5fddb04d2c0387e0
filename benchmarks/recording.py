"""What recording a scenario costs, against the bare agent and the same model server.

The bare agent is driven by the same client over plain pipes: nothing is classified, scrubbed,
written, checked for leaks or isolated. Prints the medians of a few runs and the bound of each:
`python benchmarks/recording.py [RUNS]`. Exit code 1 where a bound is passed.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from harness.cassette import Frame, classify  # noqa: E402 - needs the path
from harness.model_server import ModelServer  # noqa: E402
from harness.recording import record  # noqa: E402
from harness.recording.agents import find_agent  # noqa: E402
from harness.recording.home import KEY, Home  # noqa: E402
from harness.scenarios import scenario  # noqa: E402
from harness.surfaces import surface  # noqa: E402
from harness.surfaces.base import CloseStdin, Done, Driver, Send, Setup, Signal, Start  # noqa: E402

RUNS = 3
SURFACES = ("codex-exec", "codex-app-server", "claude-sdk")
SCENARIOS = ("text", "multi-turn", "long-output")
FACTOR = 1.5
SECONDS = 0.3


class BareWire:
    """`Wire` over plain pipes: lines in, lines out."""

    def __init__(self, setup: Setup, environment: Mapping[str, str]) -> None:
        self.awaiting = ""
        self._setup = setup
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None
        self._seq = 0

    async def start(self, args: list[str]) -> None:
        self._process = await asyncio.create_subprocess_exec(
            self._setup.program,
            *args,
            env=self._environment,
            cwd=self._setup.workspace,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            limit=1 << 26,
        )

    async def send(self, line: bytes) -> None:
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(line + b"\n")
        await self._process.stdin.drain()

    async def close_stdin(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()

    def signal(self, name: str) -> None:
        raise NotImplementedError(name)

    def unhandled(self, what: str) -> None:
        raise NotImplementedError(what)

    async def frames(self) -> AsyncIterator[Frame]:
        process = None
        while process is not self._process:
            process = self._process
            assert process
            assert process.stdout
            while line := await process.stdout.readline():
                field, value = classify(line.rstrip(b"\n"))
                yield self._frame("stdout", {field: value})
            await process.wait()
            yield self._frame("exit", {"data": {"code": process.returncode}})

    async def settle(self) -> None:
        await self.close_stdin()
        if self._process:
            await self._process.wait()

    def _frame(self, channel: Any, content: dict[str, Any]) -> Frame:
        self._seq += 1
        return Frame(self._seq, 0, "in", channel, **content)


async def drive(wire: BareWire, driver: Driver) -> None:
    if await act(wire, driver.begin()):
        return
    async for frame in wire.frames():
        if await act(wire, driver.on_frame(frame)):
            return


async def act(wire: BareWire, actions: Any) -> bool:
    for action in actions:
        match action:
            case Start(args):
                await wire.start(args)
            case Send(data):
                await wire.send(msgspec.json.encode(data))
            case CloseStdin():
                await wire.close_stdin()
            case Done():
                return True
            case Signal(name):
                wire.signal(name)
    return False


async def bare(surface_name: str, scenario_id: str) -> float:
    """Return the seconds that the agent itself needs for the scenario."""
    room, story = surface(surface_name), scenario(scenario_id)
    with Home(story.files, "benchmark") as home:
        async with ModelServer(story, workspace=str(home.workspace)) as server:
            program = find_agent(room).path
            setup = Setup(story, str(home.workspace), str(home.home), server.port, program, KEY)
            wire = BareWire(setup, home.environment(room.recorder.prepare(setup)))
            begun = time.perf_counter()
            if hasattr(room.recorder, "make_driver"):
                await drive(wire, room.recorder.make_driver(setup))
            else:
                await room.recorder.converse(setup, wire)
            await wire.settle()
            return time.perf_counter() - begun


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    over = 0
    for surface_name in SURFACES:
        for scenario_id in SCENARIOS:
            alone, recorded = [], []
            for _ in range(runs):
                alone.append(asyncio.run(bare(surface_name, scenario_id)))
                with tempfile.TemporaryDirectory() as folder:
                    recorded.append(record(surface_name, scenario_id, Path(folder)).seconds)
            one, other = statistics.median(alone), statistics.median(recorded)
            bound = FACTOR * one + SECONDS
            over += other > bound
            verdict = "OVER" if other > bound else "ok"
            print(
                f"{surface_name:<17} {scenario_id:<12} bare {one:.2f} s, recorded {other:.2f} s "
                f"({other / one:.2f} x), at most {bound:.2f} s: {verdict}",
                flush=True,
            )
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
