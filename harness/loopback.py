"""An HTTP server within a running event loop, on sockets that are there already."""

import asyncio
import socket
from types import TracebackType
from typing import Any, Self

import uvicorn


async def serve(app: Any, sockets: list[socket.socket]) -> uvicorn.Server:
    """Start serving an ASGI application (version 3); `cut_off` ends it."""
    config = uvicorn.Config(
        app,
        interface="asgi3",
        http="h11",
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        # Above every level: a cut connection is on purpose here, and would be logged.
        log_level=100,
        date_header=False,
        server_header=False,
        proxy_headers=False,
    )
    config.load()
    # Not `serve()`: it takes over the process's signal handlers, and looks every 0.1 s whether
    # it is to end.
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=sockets)
    return server


def stop_listening(server: uvicorn.Server) -> None:
    """Take no new connections."""
    for listener in server.servers:
        listener.close()


async def cut_off(server: uvicorn.Server, *, unsent: bool) -> None:
    """End all that goes on; `unsent` says whether what was written is still to be sent."""
    stop_listening(server)
    for connection in list(server.server_state.connections):
        transport = connection.transport
        if transport is not None:
            transport.close() if unsent else transport.abort()
    tasks = list(server.server_state.tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class OnLoopback:
    """An ASGI application on a port of loopback, from `async with` to its end.

    `sockets` are listening sockets, made in another network namespace for example; without them
    it binds a free port of 127.0.0.1. It prints nothing and touches no signal handler.
    """

    def __init__(self, app: Any, sockets: list[socket.socket] | None = None) -> None:
        self.app = app
        """The ASGI application."""
        self._sockets = sockets
        self._server: uvicorn.Server | None = None

    @property
    def port(self) -> int:
        """The port that it listens on. Raises RuntimeError outside `async with`."""
        if self._server is None or not self._sockets:
            raise RuntimeError("the model server is not running: use `async with`")
        return int(self._sockets[0].getsockname()[1])

    async def __aenter__(self) -> Self:
        if self._sockets is None:
            self._sockets = [socket.create_server(("127.0.0.1", 0))]
        self._server = await serve(self.app, self._sockets)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        # Clients still there are cut off: a held stream has no other end.
        await cut_off(server, unsent=False)
        for listener in server.servers:
            await listener.wait_closed()


async def gone(receive: Any) -> None:
    """Return once the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
