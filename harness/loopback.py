"""An HTTP server within a running event loop, on sockets that are there already."""

import asyncio
import socket
from typing import Any

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
