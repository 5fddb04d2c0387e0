"""HTTP to a server of the agent's: httpx over sockets that are made where the agent runs.

The agent's loopback may be another one than ours: a socket belongs to the network namespace that
it was made in, whoever connects it. httpx leaves no choice of the socket, httpcore under it does.
"""

import asyncio
import contextlib
import os
import select
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import httpcore
import httpx

MakeSocket = Callable[[], socket.socket]


def client(url: str, make: MakeSocket) -> httpx.AsyncClient:
    """Return a client of the server at `url`, which connects sockets that `make` returns.

    It waits as long as it takes: the recording's own limit ends it. Nothing of the environment
    (proxies, certificates) is used. Errors are `httpx.TransportError`.
    """
    return httpx.AsyncClient(
        base_url=url,
        transport=_Transport(make),
        timeout=None,  # noqa: S113 - see above
        trust_env=False,
        headers={"accept-encoding": "identity"},
    )


class _Connection(httpcore.AsyncNetworkStream):
    """A connected socket."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._loop = asyncio.get_running_loop()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002, ASYNC109 - the base's
        with _mapped(httpcore.ReadError):
            return await self._loop.sock_recv(self._socket, max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002, ASYNC109
        with _mapped(httpcore.WriteError):
            await self._loop.sock_sendall(self._socket, buffer)

    async def aclose(self) -> None:
        self._socket.close()

    def get_extra_info(self, info: str) -> Any:
        """Return whether there is something to read: of an idle connection, that it is gone."""
        if info != "is_readable":
            return None
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self, make: MakeSocket) -> None:
        self._make = make

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002, ASYNC109 - the base's
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore.AsyncNetworkStream:
        with _mapped(httpcore.ConnectError):
            made = self._make()
            try:
                made.setblocking(False)  # noqa: FBT003 - the method's own form
                await asyncio.get_running_loop().sock_connect(made, (host, port))
            except BaseException:
                made.close()
                raise
            return _Connection(made)


class _Transport(httpx.AsyncBaseTransport):
    def __init__(self, make: MakeSocket) -> None:
        self._pool = httpcore.AsyncConnectionPool(network_backend=_Backend(make))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        with _as_httpx():
            response = await self._pool.handle_async_request(
                httpcore.Request(
                    method=request.method,
                    url=httpcore.URL(
                        scheme=request.url.raw_scheme,
                        host=request.url.raw_host,
                        port=request.url.port,
                        target=request.url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(response.status, headers=response.headers, stream=_Body(response))

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx():
            async for chunk in self._response.aiter_stream():
                yield chunk

    async def aclose(self) -> None:
        with _as_httpx():
            await self._response.aclose()


@contextlib.contextmanager
def _mapped(error: type[Exception]) -> Iterator[None]:
    try:
        yield
    except OSError as cause:
        # Not `strerror`: asyncio says there what it did.
        raise error(os.strerror(cause.errno) if cause.errno else str(cause)) from cause
    except OverflowError as cause:  # a port that is none
        raise error(str(cause)) from cause


@contextlib.contextmanager
def _as_httpx() -> Iterator[None]:
    try:
        yield
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as cause:
        raise httpx.TransportError(str(cause) or type(cause).__name__) from cause
