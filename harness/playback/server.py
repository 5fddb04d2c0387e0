"""The played agent as a server: its exchanges and its event stream, on a port of loopback."""

import asyncio
import contextlib
import os
import re
import socket
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

import uvicorn
from msgspec import Struct

from harness.loopback import cut_off, serve, stop_listening
from harness.playback.conversation import Conversation
from harness.playback.errors import MismatchError, PlayError
from harness.playback.exchange import request_of
from harness.playback.pace import Pace
from harness.playback.player import Answer, Await, End, Event, Step, Write
from harness.playback.stdio import LONGEST, SIGNALS, EndedError, due
from harness.surfaces.registry import Playback

_CONFLICT: Final = 409
_LINGER: Final = 2.0

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class _Asked(Struct):
    """A request that has come, and what it is told: messages of ASGI, and None at the end."""

    path: str
    line: bytes
    told: asyncio.Queue[Message | None]
    foreseen: bool = False


class Server:
    """Plays a conversation on a listening socket; `run` returns the exit code.

    `playback` says which line tells the port, and which paths are streams of events. What is
    written to stdout and stderr is the process's own.
    """

    def __init__(
        self,
        conversation: Conversation,
        listener: socket.socket,
        playback: Playback,
        pace: Pace | None = None,
    ) -> None:
        self._conversation = conversation
        self._listener = listener
        self._listening = re.compile(playback.listening) if playback.listening else None
        self._streams = playback.streams
        self._pace = pace
        self._waiting: deque[_Asked] = deque()
        self._open: dict[int, _Asked] = {}
        self._stream: _Asked | None = None
        self._news = asyncio.Event()
        self._signals: list[int] = []
        self._busy: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        """Play to the end. Raises PlayError, CassetteError, EndedError."""
        server = await serve(self._app, [self._listener])
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._heed, number)
        try:
            return await self._play()
        finally:
            await self._close(server)
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    async def _play(self) -> int:
        while True:
            step = self._conversation.step()
            await self._until(step)
            match step:
                case Write(channel=channel, line=line):
                    _put(1 if channel == "stdout" else 2, self._with_port(line))
                case Await():
                    await self._take()
                case Answer():
                    self._answer(step)
                case Event(block=block):
                    if self._stream is None:
                        raise PlayError(
                            5, f"frame {step.seq} is an event, and no stream of events was opened"
                        )
                    self._stream.told.put_nowait(_part(block))
                case End():
                    return await self._end(step)
            if self._signals:
                self._interrupted()

    async def _take(self) -> None:
        while not self._waiting:
            if self._signals:
                raise EndedError(self._signals[0], self._conversation.awaited())
            await self._new()
        asked = self._waiting.popleft()
        try:
            taken = self._conversation.take(asked.line)
        except MismatchError as error:
            self._refuse(asked, error)
            raise
        self._open[taken.request] = asked
        if self._pace:
            self._pace.taken(taken.at)

    def _answer(self, step: Answer) -> None:
        asked = self._open.pop(step.request, None)
        if asked is None:
            return  # an answer to a request that was not recorded: nobody waits for it
        stream = step.status == 200 and asked.path.partition("?")[0] in self._streams  # noqa: PLR2004
        kind = b"text/event-stream" if stream else b"application/json"
        if step.text:
            kind = b"text/plain; charset=utf-8"
        headers = [(b"content-type", kind), (b"cache-control", b"no-cache")]
        if not step.body and not stream:
            headers = [(b"content-length", b"0")] if step.status != 204 else []  # noqa: PLR2004
        start = {"type": "http.response.start", "status": step.status, "headers": headers}
        asked.told.put_nowait(start)
        if stream:
            self._stream = asked
        else:
            asked.told.put_nowait(_part(step.body))
            asked.told.put_nowait(None)

    async def _end(self, end: End) -> int:
        """Wait for the signal that ended it, or end as it did by itself."""
        if end.signal is None:
            return end.code or 0
        while (number := due(end.signal, self._signals)) is None:
            await self._new()
        raise EndedError(number)

    async def _new(self) -> None:
        """Wait for a request or a signal. Raises MismatchError for what nobody waits for."""
        self._news.clear()
        await self._news.wait()
        if self._waiting and not self._conversation.awaited():
            self._foresee()

    async def _until(self, step: Step) -> None:
        # A signal or a wrong client ends the wait; a right one waits for its turn.
        while self._pace is not None and (left := self._pace.left(step.at)):
            pause = asyncio.ensure_future(asyncio.sleep(left))
            news = asyncio.ensure_future(self._news.wait())
            self._news.clear()
            await asyncio.wait({pause, news}, return_when=asyncio.FIRST_COMPLETED)
            for task in (pause, news):
                task.cancel()
            if self._signals:
                self._interrupted()
        # Requests are read while this plays on: between two steps there is the time for it.
        await asyncio.sleep(0)
        if self._waiting and not isinstance(step, Await):
            self._foresee()

    def _foresee(self) -> None:
        asked = self._waiting[0]
        if asked.foreseen:
            return
        asked.foreseen = True
        try:
            self._conversation.foresee(asked.line)
        except MismatchError as error:
            self._refuse(asked, error)
            raise

    def _interrupted(self) -> None:
        awaited = self._conversation.awaited()
        if awaited or not self._conversation.killed():
            raise EndedError(self._signals[0], awaited)

    def _refuse(self, asked: _Asked, error: MismatchError) -> None:
        """Tell the client too, which may not read this process's stderr."""
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        start = {"type": "http.response.start", "status": _CONFLICT, "headers": headers}
        asked.told.put_nowait(start)
        asked.told.put_nowait(_part(f"harness play: {error}\n".encode()))
        asked.told.put_nowait(None)

    def _with_port(self, line: bytes) -> bytes:
        """Put the real port into the line with which the agent said its own."""
        found = self._listening.search(line.decode(errors="replace")) if self._listening else None
        if found is None:
            return line
        text, port = line.decode(errors="replace"), self._listener.getsockname()[1]
        self._listening = None
        return f"{text[: found.start(1)]}{port}{text[found.end(1) :]}".encode()

    def _heed(self, number: int) -> None:
        self._signals.append(number)
        self._news.set()

    async def _app(self, scope: Message, receive: Receive, send: Send) -> None:
        """The ASGI application: every request waits its turn."""
        task = asyncio.current_task()
        if task is not None:
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)
        body, length = [], 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return
            body.append(message.get("body", b""))
            length += len(body[-1])
            if length > LONGEST or not message.get("more_body"):
                break
        query = scope["query_string"].decode("latin-1")
        path = scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")
        told: asyncio.Queue[Message | None] = asyncio.Queue()
        content = b"".join(body) if length <= LONGEST else b"(too long)"
        asked = _Asked(path, request_of(scope["method"], path, content), told)
        self._waiting.append(asked)
        self._news.set()
        while (message_ := await told.get()) is not None:
            await send(message_)
        await send({"type": "http.response.body", "body": b""})

    async def _close(self, server: uvicorn.Server) -> None:
        """Let what was said be read, then cut off whoever is left."""
        if self._stream is not None:
            self._stream.told.put_nowait(None)
        for asked in (*self._open.values(), *self._waiting):
            asked.told.put_nowait(None)
        done = {asked for asked in self._busy if not asked.done()}
        stop_listening(server)
        if done:
            await asyncio.wait(done, timeout=_LINGER)
        await cut_off(server, unsent=True)


def listen(port: int) -> socket.socket:
    """Return a socket that listens on a port of 127.0.0.1; 0 is any. Raises PlayError (5)."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        number = error.errno if isinstance(error, OSError) else None
        why = os.strerror(number) if number else str(error)
        raise PlayError(5, f"listening on 127.0.0.1:{port}: {why}; choose another --port") from None


def _part(body: bytes) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": True}


def _put(file: int, line: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # nobody reads what a server logs
        os.write(file, line)
