"""A server of the agent's as one recording sees it: exchanges, and streams of events."""

import asyncio
import base64
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx
import msgspec
from msgspec import Struct

from harness.cassette import classify
from harness.cassette.format import Direction
from harness.recording.errors import RecordError
from harness.recording.http import MakeSocket, client
from harness.recording.sse import Block, SseParser
from harness.surfaces.base import Answer

_encode = msgspec.json.Encoder().encode
_OK = 200


class Pending(Struct, frozen=True):
    """A request that was sent: its number, what it asks, and the response to come."""

    number: int
    what: str
    response: asyncio.Task[tuple[httpx.Response, bytes]]


class BrokenOffError(Exception):
    """No answer came to a request; the message says to which, and why."""


class Server:
    """Talks to the server at a URL; sockets come from `make`, the requests' numbers from `numbers`.

    `record` puts an exchange's content on disk, before it is sent or acted upon. `put` takes the
    blocks of a stream, and None for its end, however it comes. `spend` is told how many bytes
    came, and says whether there was room for them; `overflow` is called where a stream had none.
    """

    def __init__(  # noqa: PLR0913 - what it hands on, by name
        self,
        url: str,
        make: MakeSocket,
        *,
        numbers: Iterator[int],
        record: Callable[[Direction, Any], object],
        put: Callable[[Block | None], Awaitable[None]],
        overflow: Callable[[], Awaitable[None]],
        spend: Callable[[int], bool],
    ) -> None:
        self._client = client(url, make)
        self._record = record
        self._put = put
        self._overflow = overflow
        self._spend = spend
        self._numbers = numbers
        self._listening: set[asyncio.Task[None]] = set()
        self._asking: set[asyncio.Task[tuple[httpx.Response, bytes]]] = set()

    def begin(self, method: str, path: str, body: Any = None, *, stream: bool = False) -> Pending:
        """See `ServerWire.begin`; a stream's response comes before its body."""
        number = next(self._numbers)
        self._record("out", {"request": number, "method": method, "path": path, "body": body})
        content = None if body is None else _encode(body)
        headers = {} if content is None else {"content-type": "application/json"}
        request = self._client.build_request(method, path, content=content, headers=headers)
        task = asyncio.create_task(self._fetch(request, stream=stream))
        self._asking.add(task)
        return Pending(number, f"{method} {path}", task)

    async def answer(self, pending: Pending) -> Answer:
        """See `ServerWire.answer`. Raises BrokenOffError."""
        response, content = await self._response(pending)
        return self._answered(pending, response.status_code, content)

    async def listen(self, path: str) -> None:
        """See `ServerWire.listen`. Raises BrokenOffError."""
        pending = self.begin("GET", path, stream=True)
        response, _ = await self._response(pending)
        kind = response.headers.get("content-type", "")
        if response.status_code != _OK or not kind.startswith("text/event-stream"):
            content = await self._content(response)
            answer = self._answered(pending, response.status_code, content)
            raise RecordError(
                5, f"GET {path}: no stream of events but HTTP {answer.status}, {kind or 'no type'}"
            )
        self._answered(pending, response.status_code, b"")
        self._listening.add(asyncio.create_task(self._hear(response)))

    async def heard(self, patience: float) -> None:
        """Return once every stream has been read to its end, or after so many seconds."""
        if self._listening:
            await asyncio.wait(self._listening, timeout=patience)

    async def close(self) -> None:
        """Close all connections."""
        tasks = [*self._listening, *self._asking]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._client.aclose()

    async def _fetch(self, request: httpx.Request, *, stream: bool) -> tuple[httpx.Response, bytes]:
        response = await self._client.send(request, stream=True)
        return response, b"" if stream else await self._content(response)

    async def _content(self, response: httpx.Response) -> bytes:
        """Return the body, as far as there is room for it."""
        chunks: list[bytes] = []
        async for chunk in response.aiter_raw():
            if not self._spend(len(chunk)):
                break
            chunks.append(chunk)
        await response.aclose()
        return b"".join(chunks)

    async def _response(self, pending: Pending) -> tuple[httpx.Response, bytes]:
        try:
            return await pending.response
        except httpx.TransportError as error:
            raise BrokenOffError(f"no answer to {pending.what}: {error}") from error
        finally:
            self._asking.discard(pending.response)

    def _answered(self, pending: Pending, status: int, content: bytes) -> Answer:
        name, body = _body(content)
        self._record("in", {"request": pending.number, "status": status, name: body})
        return Answer(status, body)

    async def _hear(self, response: httpx.Response) -> None:
        parser = SseParser()
        with contextlib.suppress(httpx.TransportError):
            async for chunk in response.aiter_raw():
                if not self._spend(len(chunk)):
                    return await self._overflow()
                for block in parser.feed(chunk):
                    await self._put(block)
        for block in parser.close():
            await self._put(block)
        await self._put(None)
        return None


def _body(content: bytes) -> tuple[str, Any]:
    """Return under which name the body of an answer stands in its frame, and its value."""
    if not content:
        return "body", None
    field, value = classify(content.strip())
    if field == "data":
        return "body", value
    try:
        return "text", content.decode()
    except UnicodeDecodeError:
        return "b64", base64.b64encode(content).decode()
