"""The wire of one recording: what passes is scrubbed and on disk before anyone acts on it."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from harness.cassette import CassetteWriter, Frame, classify, restore
from harness.cassette.format import Channel, Direction
from harness.cassette.scrub import Scrubber
from harness.cassette.show import printable
from harness.recording import process as processes
from harness.recording.errors import RecordError
from harness.recording.isolation import Namespace
from harness.surfaces.base import (
    Action,
    CloseStdin,
    Done,
    Driver,
    Failed,
    OnceHeld,
    OnceSilent,
    Send,
    SendText,
    Signal,
    Start,
    Unhandled,
)

_encode = msgspec.json.Encoder().encode


class Limits(Struct, frozen=True):
    """Bounds of one recording: seconds, bytes and frames from the agent.

    `quiet` is the silence after which a conversation that is done is over, `chatter` how long
    that silence is waited for, `grace` what the agent has to end by itself at each step.
    """

    seconds: float = 60.0
    bytes: int = 32 << 20
    frames: int = 100_000
    quiet: float = 0.1
    chatter: float = 5.0
    grace: float = 2.0


class Session:
    """Implements `harness.surfaces.base.Wire` for a program, a cassette and its scrubber.

    Lines wait unrecorded until they are taken from `frames`: so a driver's answer follows in
    the cassette what it answers, however fast the agent goes on.
    """

    def __init__(  # noqa: PLR0913 - what a session needs
        self,
        program: str,
        name: str,
        *,
        env: Mapping[str, str],
        cwd: str,
        writer: CassetteWriter,
        scrubber: Scrubber,
        limits: Limits,
        namespace: Namespace | None = None,
        held: asyncio.Event | None = None,
        on_frame: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.program = program
        self.name = name
        self.awaiting = "the agent's first line"
        self.limits = limits
        self.asked: list[str] = []
        self.end: dict[str, Any] = {}
        self.held = held or asyncio.Event()
        self.later: list[Send | Signal] = []
        self.is_to_be_held = False
        self.last: deque[str] = deque(maxlen=5)
        self._env = env
        self._cwd = cwd
        self._writer = writer
        self._scrubber = scrubber
        self._namespace = namespace
        self._on_frame = on_frame
        self._begun = time.monotonic()
        self._at = 0
        self._queue: asyncio.Queue[tuple[processes.Came, Any, int]] = asyncio.Queue(256)
        self._sink = processes.Sink(self._put, limits.bytes)
        self._process: processes.Process | None = None
        self._exits_due = 0

    async def start(self, args: list[str]) -> None:
        """See `Wire.start`. Raises RecordError (5) where the program does not start."""
        if self._process is not None and not self._process.ended.is_set():
            raise RecordError(5, "the driver started a second process beside a running one")
        command = {"command": [self.name, *args]}
        self._record(self._now(), "out", "start", "data", command)
        self._process = await processes.start(
            self.program,
            args,
            env=self._env,
            cwd=self._cwd,
            namespace=self._namespace,
            sink=self._sink,
            grace=self.limits.grace,
        )
        self._exits_due += 1

    async def send(self, line: bytes) -> None:
        """See `Wire.send`."""
        self._record(self._now(), "out", "stdin", *classify(line))
        if self._process is not None:
            await self._process.send(line)

    async def close_stdin(self) -> None:
        """See `Wire.close_stdin`."""
        if self._process is not None:
            self._process.close_stdin()

    def signal(self, name: Literal["SIGINT", "SIGTERM"]) -> None:
        """See `Wire.signal`."""
        if self._process is not None:
            self._process.signal(name)

    def unhandled(self, what: str) -> None:
        """See `Wire.unhandled`."""
        self.asked.append(what)

    async def frames(self) -> AsyncIterator[Frame]:
        """See `Wire.frames`. Raises RecordError where a limit is passed."""
        while self.goes_on:
            yield await self._next()

    @property
    def goes_on(self) -> bool:
        """Whether there is, or will be, another frame."""
        return bool(self._exits_due) or not self._queue.empty()

    async def next(self) -> Frame | None:
        """Return the next frame; where there is something `later`, None once it is time for it."""
        if not self.later:
            return await self._next()
        if self.is_to_be_held and (frame := await self._unless_held()) is not None:
            return frame
        try:
            async with asyncio.timeout(self.limits.quiet):
                item = await self._queue.get()
        except TimeoutError:
            return None
        return self._take(*item)

    async def _unless_held(self) -> Frame | None:
        """Return the next frame, or None once the model server holds its stream open."""
        coming = asyncio.ensure_future(self._queue.get())
        holding = asyncio.ensure_future(self.held.wait())
        try:
            await asyncio.wait({coming, holding}, return_when=asyncio.FIRST_COMPLETED)
            return None if self.held.is_set() and not coming.done() else self._take(*await coming)
        finally:
            holding.cancel()
            coming.cancel()

    def due(self) -> list[Send | Signal]:
        """Return what was for later, now that it is time for it."""
        due, self.later = self.later, []
        self.is_to_be_held = False
        return due

    async def settle(self) -> None:
        """See `Wire.settle`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.chatter):
                while self._exits_due:
                    async with asyncio.timeout(self.limits.quiet):
                        item = await self._queue.get()
                    self._take(*item)
        await self.close_stdin()
        for name in ("", "SIGTERM", "SIGKILL"):
            if name and self._process is not None:
                self._process.signal(name)
            with contextlib.suppress(TimeoutError):
                # SIGKILL ends it; its exit comes once its pipes are read, which is bounded too.
                async with asyncio.timeout(None if name == "SIGKILL" else self.limits.grace):
                    while self._exits_due:
                        await self._next()
            if not self._exits_due:
                return

    @property
    def recorded(self) -> int:
        """The number of frames so far."""
        return self._writer.frames

    def said(self) -> str:
        """Return, for an error, the last lines that were not of the protocol."""
        return (
            "".join(["\n  it said last:", *(f"\n  | {line}" for line in self.last)])
            if self.last
            else ""
        )

    async def kill(self) -> None:
        """End the process and its group at once, whatever state all is in."""
        if self._process is not None:
            await self._process.kill()

    async def _put(self, channel: processes.Came, what: Any) -> None:
        await self._queue.put((channel, what, self._now()))

    async def _next(self) -> Frame:
        return self._take(*await self._queue.get())

    def _take(self, channel: processes.Came, what: Any, at: int) -> Frame:
        """Record what came and return it as the agent sent it."""
        if channel == "overflow" or self._writer.frames >= self.limits.frames:
            raise RecordError(
                5,
                f"the agent sent more than {self.limits.bytes:,} bytes or {self.limits.frames:,} "
                f"lines; awaited: {self.awaiting}; see what it says with the agent's own command",
            )
        if channel == "exit":
            self._exits_due -= 1
            self.end = what
            return self._record(at, "in", channel, "data", what)
        field, value = classify(what)
        if field != "data" or channel == "stderr":
            self.last.append(printable(what[:300].decode(errors="replace")))
        return self._record(at, "in", channel, field, value)

    def _record(
        self, at: int, direction: Direction, channel: Channel, field: str, value: Any
    ) -> Frame:
        self._at = max(self._at, at)
        frame = self._writer.frame(
            self._at, direction, channel, *self._scrubber.content(field, value)
        )
        self._on_frame(self._writer.frames)
        return Frame(frame.seq, frame.at, direction, channel, **{field: value})

    def _now(self) -> int:
        return int((time.monotonic() - self._begun) * 1000)


async def drive(wire: Session, driver: Driver, first: Iterable[Action]) -> None:
    """Run a driver over the wire until it is done. `first` is what its `begin` returned.

    Raises RecordError (5) where the agent ends before, (1) where the driver gives up.
    """
    if await _perform(wire, first):
        return
    wire.awaiting = driver.awaiting
    while wire.goes_on:
        frame = await wire.next()
        done = await _perform(wire, wire.due() if frame is None else driver.on_frame(frame))
        wire.awaiting = driver.awaiting
        if done:
            return
    how = ", ".join(f"{key} {value}" for key, value in wire.end.items())
    raise RecordError(
        5, f"the agent ended ({how}) too early; awaited: {wire.awaiting}{wire.said()}"
    )


async def _perform(wire: Session, actions: Iterable[Action]) -> bool:  # noqa: C901 - one case an action
    """Carry out actions in order; True once one of them is `Done`."""
    for action in actions:
        match action:
            case Send(data):
                await wire.send(_encode(data))
            case SendText(text):
                await wire.send(restore("text", text))
            case OnceSilent(data):
                wire.later.append(Send(data))
            case OnceHeld(then):
                wire.later.append(then)
                wire.is_to_be_held = True
            case CloseStdin():
                await wire.close_stdin()
            case Signal(name):
                wire.signal(name)
            case Start(args):
                await wire.start(args)
            case Unhandled(what):
                wire.unhandled(what)
            case Failed(what):
                raise RecordError(1, f"the conversation cannot go on: {what}")
            case Done():
                return True
    return False
