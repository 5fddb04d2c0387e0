"""A small client of both model APIs, as an agent would be one."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from harness.model_server import ModelServer
from harness.scenarios import Scenario, load_scenario

CODEX_TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "name": "exec_command",
        "parameters": {
            "type": "object",
            "properties": {"cmd": {"type": "string"}, "login": {"type": "boolean"}},
            "required": ["cmd"],
        },
    },
    {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
    {"type": "web_search"},
]

CLAUDE_TOOLS: list[dict[str, Any]] = [
    {
        "name": "Bash",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string"}, "timeout": {"type": "number"}},
            "required": ["command"],
        },
    },
    {
        "name": "Edit",
        "input_schema": {
            "type": "object",
            "properties": {
                "file_path": {"type": "string"},
                "old_string": {"type": "string"},
                "new_string": {"type": "string"},
            },
            "required": ["file_path", "old_string", "new_string"],
        },
    },
    {
        "name": "Write",
        "input_schema": {
            "type": "object",
            "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["file_path", "content"],
        },
    },
]


class Agent:
    """An agent that keeps its conversation, and speaks one API or the other."""

    def __init__(self, client: httpx.AsyncClient, api: str) -> None:
        self.client = client
        self.api = api
        self.items: list[dict[str, Any]] = []
        self.tools = CODEX_TOOLS if api == "openai" else CLAUDE_TOOLS
        self.path = "/v1/responses" if api == "openai" else "/v1/messages"

    def body(self, *, stream: bool = True, **more: Any) -> dict[str, Any]:
        key = "input" if self.api == "openai" else "messages"
        return {"model": "m", "stream": stream, key: self.items, "tools": self.tools, **more}

    def says(self, text: str) -> None:
        """Add a text of the user."""
        kind = "input_text" if self.api == "openai" else "text"
        self.items.append({"role": "user", "content": [{"type": kind, "text": text}]})

    async def ask(self, **more: Any) -> httpx.Response:
        """Send the conversation, and read the answer to its end."""
        return await self.client.post(self.path, json=self.body(**more))

    async def turn(self, prompt: str) -> list[dict[str, Any]]:
        """Run a turn to its end: each tool call has the result `done`. Return its calls."""
        self.says(prompt)
        calls: list[dict[str, Any]] = []
        while True:
            response = await self.ask()
            assert response.status_code == 200, response.text
            new = self.take(events(response.content))
            calls += new
            if not new:
                return calls

    def take(self, sent: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Add an answer, and results, to the conversation. Return its tool calls."""
        if self.api == "openai":
            output = sent[-1]["response"]["output"]
            self.items += output
            calls = [item for item in output if "call_id" in item]
            self.items += [
                {"type": f"{c['type']}_output", "call_id": c["call_id"], "output": "done"}
                for c in calls
            ]
            return calls
        blocks = message(sent)["content"]
        self.items.append({"role": "assistant", "content": blocks})
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if calls:
            results = [
                {"type": "tool_result", "tool_use_id": c["id"], "content": "done"} for c in calls
            ]
            self.items.append({"role": "user", "content": results})
        return calls


def events(content: bytes) -> list[dict[str, Any]]:
    """Read server-sent events, and check that each is named by its type."""
    found = []
    for block in content.decode().split("\n\n")[:-1]:
        name, data = block.split("\n")
        value = json.loads(data.removeprefix("data: "))
        assert name == f"event: {value['type']}"
        found.append(value)
    return found


def message(sent: list[dict[str, Any]]) -> dict[str, Any]:
    """Put the message of a Messages stream together from its deltas."""
    whole: dict[str, Any] = dict(sent[0]["message"])
    blocks: list[dict[str, Any]] = []
    partial = ""
    for event in sent[1:]:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(blocks)
                blocks.append(dict(event["content_block"]))
                partial = ""
            case "content_block_delta":
                delta = dict(event["delta"])
                kind = delta.pop("type")
                if kind == "input_json_delta":
                    partial += delta["partial_json"]
                else:
                    ((key, piece),) = delta.items()
                    blocks[-1][key] += piece
            case "content_block_stop" if partial:
                blocks[-1]["input"] = json.loads(partial)
            case "message_delta":
                whole |= event["delta"] | {"usage": event["usage"]}
    return {**whole, "content": blocks}


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
