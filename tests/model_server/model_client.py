"""A small client of the model APIs, as an agent would be one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from harness.model_server import ModelServer
from harness.scenarios import Scenario, load_scenario
from tests.model_server.wires import WIRES


class Agent:
    """An agent that keeps its conversation, and speaks one of the APIs."""

    def __init__(self, client: httpx.AsyncClient, api: str) -> None:
        self.client = client
        self.api = api
        self.wire = WIRES[api]
        self.items: list[dict[str, Any]] = []
        self.tools = self.wire.tools

    def body(self, *, stream: bool = True, **more: Any) -> dict[str, Any]:
        return self.wire.body(self.items, self.tools, stream=stream) | more

    def path(self, *, stream: bool = True, **_: Any) -> str:
        return self.wire.path if stream else self.wire.unstreamed

    def says(self, text: str) -> None:
        """Add a text of the user."""
        self.items.append(self.wire.user(text))

    async def ask(self, **more: Any) -> httpx.Response:
        """Send the conversation, and read the answer to its end."""
        return await self.client.post(self.path(**more), json=self.body(**more))

    async def turn(self, prompt: str) -> list[dict[str, Any]]:
        """Run a turn to its end: each tool call has the result `done`. Return its calls."""
        self.says(prompt)
        calls: list[dict[str, Any]] = []
        while True:
            response = await self.ask()
            assert response.status_code == 200, response.text
            new = self.take(response)
            calls += new
            if not new:
                return calls

    def take(self, response: httpx.Response) -> list[dict[str, Any]]:
        """Add an answer, and results, to the conversation. Return its tool calls."""
        return self.wire.take(self.wire.read(response.content), self.items)

    def text(self, response: httpx.Response) -> str:
        """Return what an answer says."""
        return self.wire.text(self.wire.read(response.content))


def made_of(folder: Path, turns: str) -> Scenario:
    """Make a scenario from the text of its turns."""
    path = folder / "made.yaml"
    path.write_text(f"title: t\nshows: [text]\nturns:\n{turns}", "utf-8")
    return load_scenario(path)


@asynccontextmanager
async def playing(
    scenario: Scenario, api: str = "openai"
) -> AsyncIterator[tuple[ModelServer, Agent]]:
    """Run a server for a scenario on a real socket, and a client of it."""
    async with (
        ModelServer(scenario, "/workspace") as server,
        httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{server.port}", trust_env=False, timeout=20
        ) as client,
    ):
        yield server, Agent(client, api)
