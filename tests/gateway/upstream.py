"""A provider on another port: the scripted model, over real HTTP, in a thread of its own."""

import asyncio
import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.model_server import ModelServer
from harness.scenarios import scenario

KEY = "upstream-key-of-the-developer-7731"
VARIABLE = "THE_DEVELOPERS_KEY"


def folder(id_: str) -> Path:
    """Return where the agent of a live recording works, which the scripted model has to know."""
    name = f"harness-{hashlib.sha256(id_.encode()).hexdigest()[:12]}"
    return Path(os.path.realpath("/tmp"), name)


@contextmanager
def provider(story: str, id_: str) -> Iterator[ModelServer]:
    """Serve a scenario's model until the `with` block ends."""
    server = ModelServer(scenario(story), str(folder(id_) / "workspace"))
    started = threading.Event()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with server:
            started.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(10)
        yield server
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()
