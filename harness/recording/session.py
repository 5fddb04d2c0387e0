"""The wire of one recording: what passes is scrubbed and on disk before anyone acts on it."""

import asyncio
import contextlib
import itertools
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from harness.cassette import CassetteWriter, Frame, classify, restore
from harness.cassette.format import Channel, Direction
from harness.cassette.scrub import Scrubber
from harness.cassette.show import printable
from harness.recording import process as processes
from harness.recording.deciding import Decider
from harness.recording.errors import RecordError
from harness.recording.hands import Hands
from harness.recording.isolation import Namespace
from harness.surfaces.base import (
    Action,
    Answer,
    CloseStdin,
    Do,
    Done,
    Driver,
    End,
    Failed,
    OnceHeld,
    OnceSilent,
    Send,
    SendText,
    Signal,
    Start,
    Unhandled,
)

if TYPE_CHECKING:
    from harness.recording.server import Pending, Server

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode


Item: TypeAlias = tuple[processes.Came | Literal["work", "interrupt"], Any, int]
"""What came, what follows from work that is done, or that a person interrupts; and when."""


async def _nothing() -> bool:
    return False


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
    """Implements `harness.surfaces.base.ServerWire` for a program, a cassette and its scrubber.

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
        decider: Decider | None = None,
    ) -> None:
        self.interrupting: Callable[[], Awaitable[bool]] = _nothing
        self._ended: Callable[[], bool] | None = None
        self._decider = decider
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
        self._queue: asyncio.Queue[Item] = asyncio.Queue(256)
        self._server: Server | None = None
        self._numbers = itertools.count(1)
        self._sink = processes.Sink(self._put, limits.bytes)
        self._process: processes.Process | None = None
        self._exits_due = 0
        self.hands = Hands(env, namespace, limits.grace, self._done)

    async def start(self, args: list[str]) -> None:
        """See `Wire.start`. Raises RecordError (5) where the program does not start."""
        if self._process is not None and not self._process.ended.is_set():
            raise RecordError(5, "the driver started a second process beside a running one")
        if self._server is not None:
            await self._server.close()
            self._server = None
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

    async def interrupt(self, ended: Callable[[], bool]) -> None:
        """Interrupt the agent's turn, once what came before is dealt with, unless it has `ended`.

        A turn that the agent has not told of yet is interrupted once it has. `Decider.interrupted`
        is called when it is done.
        """
        await self._queue.put(("interrupt", ended, self._now()))

    async def frames(self) -> AsyncIterator[Frame]:
        """See `Wire.frames`. Raises RecordError where a limit is passed."""
        while self.goes_on:
            came = await self._heard(await self._got())
            if isinstance(came, Frame):
                yield came

    @property
    def goes_on(self) -> bool:
        """Whether there is, or will be, another frame."""
        return bool(self._exits_due) or not self._queue.empty()

    async def next(self) -> Frame | list[Action] | None:
        """Return the next frame, or what follows from work that is done.

        Where there is something `later`, None once it is time for it.
        """
        if not self.later:
            return await self._next()
        return await (self._calm() if self.is_to_be_held else self._coming(self.limits.quiet))

    async def coming(self, patience: float) -> Frame | None:
        """See `ServerWire.coming`."""
        came = await self._coming(patience)
        return came if isinstance(came, Frame) else None

    async def _coming(self, patience: float) -> Frame | list[Action] | None:
        try:
            item = await self._got(patience)
        except TimeoutError:
            return None
        return await self._heard(item)

    async def calm(self) -> Frame | None:
        """See `ServerWire.calm`."""
        came = await self._calm()
        return came if isinstance(came, Frame) else None

    async def _calm(self) -> Frame | list[Action] | None:
        coming = asyncio.ensure_future(self._got())
        holding = asyncio.ensure_future(self.held.wait())
        try:
            await asyncio.wait({coming, holding}, return_when=asyncio.FIRST_COMPLETED)
            if coming.done():
                return await self._heard(await coming)
        finally:
            holding.cancel()
            coming.cancel()
        return await self._coming(self.limits.quiet)

    def connect(self, url: str) -> None:
        """See `ServerWire.connect`."""
        from harness.recording.server import Server  # noqa: PLC0415 - start-up: httpx takes long

        self._server = Server(
            url,
            self._namespace.tcp if self._namespace else socket.socket,
            numbers=self._numbers,
            record=lambda way, value: self._record(self._now(), way, "http", "data", value),
            put=lambda block: self._put("sse", block),
            overflow=lambda: self._put("overflow", None),
            spend=self._sink.spend,
        )

    async def request(self, method: str, path: str, body: Any = None) -> Answer:
        """See `ServerWire.request`."""
        return await self.answer(self.begin(method, path, body))

    def begin(self, method: str, path: str, body: Any = None) -> "Pending":
        """See `ServerWire.begin`."""
        return self._to_server().begin(method, path, body)

    async def answer(self, pending: "Pending") -> Answer:
        """See `ServerWire.answer`."""
        answer = await self._unbroken(self._to_server().answer(pending))
        if self._sink.left < 0:
            self._overflow()
        return answer

    async def listen(self, path: str) -> None:
        """See `ServerWire.listen`."""
        await self._unbroken(self._to_server().listen(path))

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
                    came = self._take(*item)
                    if isinstance(came, list):
                        await _perform(self, came)
        await self.close_stdin()
        # A server does not end with its stdin: no use in waiting for that.
        for name in ("", "SIGTERM", "SIGKILL")[self._server is not None :]:
            if name and self._process is not None:
                self._process.signal(name)
            with contextlib.suppress(TimeoutError):
                # SIGKILL ends it; its exit comes once its pipes are read, which is bounded too.
                async with asyncio.timeout(None if name == "SIGKILL" else self.limits.grace):
                    while self._exits_due:
                        await self._next()
            if not self._exits_due:
                break
        await self.hands.end()

    @property
    def recorded(self) -> int:
        """The number of frames so far."""
        return self._writer.frames

    def said(self) -> str:
        """See `ServerWire.said`."""
        return (
            "".join(["\n  it said last:", *(f"\n  | {line}" for line in self.last)])
            if self.last
            else ""
        )

    async def kill(self) -> None:
        """End the process and its group at once, whatever state all is in."""
        if self._process is not None:
            await self._process.kill()
        await self.hands.end()

        if self._server is not None:
            await self._server.close()

    def _to_server(self) -> "Server":
        if self._server is None:
            raise RecordError(5, f"the agent has no server yet; awaited: {self.awaiting}")
        return self._server

    async def _unbroken(self, talk: Awaitable[T]) -> T:
        from harness.recording.server import BrokenOffError  # noqa: PLC0415 - as in `connect`

        try:
            return await talk
        except BrokenOffError as error:
            return await self._broken(str(error))

    async def _broken(self, what: str) -> NoReturn:
        """Record what the agent still says, and raise: there is nothing more to talk to."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.grace):
                while self._exits_due:
                    await self._next()
        how = "" if self._exits_due else f"; the agent ended ({_ended(self.end)})"
        raise RecordError(5, f"{what}{how}; awaited: {self.awaiting}{self.said()}")

    async def _done(self, actions: list[Action]) -> None:
        await self._queue.put(("work", actions, self._now()))

    async def _put(self, channel: processes.Came, what: Any) -> None:
        if channel == "exit" and self._server is not None:
            # What the process sent over its sockets came before its end.
            await self._server.heard(self.limits.grace)
        await self._queue.put((channel, what, self._now()))

    async def _next(self) -> Frame | list[Action] | None:
        return await self._decided(self._take(*await self._got()))

    async def _got(self, patience: float | None = None) -> Item:
        """Return what comes next, interrupting the turn where a person wants that before.

        Raises TimeoutError after so many seconds in which nothing comes.
        """
        while True:
            if self._ended is not None:
                await self._interrupt(self._ended)
            async with asyncio.timeout(patience):
                item = await self._queue.get()
            if item[0] != "interrupt":
                return item
            self._ended = item[1]

    async def _interrupt(self, ended: Callable[[], bool]) -> None:
        if ended():
            self._ended = None
        elif await self.interrupting():
            self._ended = None
            if self._decider is not None:
                self._decider.interrupted()

    async def _decided(self, came: T) -> T:
        """Let what the client answers to this be decided before anyone acts on it."""
        if isinstance(came, Frame) and self._decider is not None:
            await self._decider.decide()
        return came

    async def _heard(self, item: Item) -> Frame | list[Action]:
        """Take what came, for a client that still listens: its stream is not to end."""
        came = self._take(*item)
        if came is None:
            return await self._broken("the agent's stream of events ended")
        return await self._decided(came)

    def _overflow(self) -> NoReturn:
        raise RecordError(
            5,
            f"the agent sent more than {self.limits.bytes:,} bytes or {self.limits.frames:,} "
            f"lines; awaited: {self.awaiting}; see what it says with the agent's own command",
        )

    def _take(
        self, channel: processes.Came | Literal["work", "interrupt"], what: Any, at: int
    ) -> Frame | list[Action] | None:
        """Record what came and return it as the agent sent it; None for a stream's end.

        Of work that is done, return what follows from it.
        """
        if channel == "interrupt":
            # Nothing goes on any more that could be interrupted.
            return []
        if channel == "work":
            # An agent that is gone waits for no answer.
            return what if self._exits_due else []
        if channel == "overflow" or self._writer.frames >= self.limits.frames:
            self._overflow()
        if channel == "sse":
            if what is None:
                return None
            field, value = "text", what.text
            if what.kind == "event":
                field, value = classify(what.text.encode())
            return self._record(at, "in", channel, field, value)
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
        real = Frame(frame.seq, frame.at, direction, channel, **{field: value})
        if self._decider is not None:
            self._decider.saw(real)
        return real

    def _now(self) -> int:
        return int((time.monotonic() - self._begun) * 1000)


def _ended(end: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in end.items())


async def drive(wire: Session, driver: Driver, first: Iterable[Action]) -> None:
    """Run a driver over the wire until it is done. `first` is what its `begin` returned.

    Raises RecordError (5) where the agent ends before, (1) where the driver gives up.
    """

    async def interrupt() -> bool:
        actions = list(driver.interrupt())
        await _perform(wire, actions)
        return bool(actions)

    wire.interrupting = interrupt
    if await _perform(wire, first):
        return
    wire.awaiting = driver.awaiting
    while wire.goes_on:
        came = await wire.next()
        if came is None:
            came = list(wire.due())
        done = await _perform(wire, driver.on_frame(came) if isinstance(came, Frame) else came)
        wire.awaiting = driver.awaiting
        if done:
            return
    raise RecordError(
        5, f"the agent ended ({_ended(wire.end)}) too early; awaited: {wire.awaiting}{wire.said()}"
    )


async def _perform(wire: Session, actions: Iterable[Action]) -> bool:  # noqa: C901, PLR0912 - one case an action
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
            case End():
                await wire.settle()
            case Do(work, beside):
                if beside:
                    wire.hands.beside(work(wire.hands))
                else:
                    await _perform(wire, await work(wire.hands))
            case Unhandled(what):
                wire.unhandled(what)
            case Failed(what):
                raise RecordError(1, f"the conversation cannot go on: {what}")
            case Done():
                return True
    return False
