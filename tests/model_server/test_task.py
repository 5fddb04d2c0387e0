"""An agent that the model gives a task to: its requests are answered as the task says."""

import asyncio
from pathlib import Path
from typing import Any

from tests.model_server.model_client import Agent, made_of, playing

STRING = {"type": "string"}
SUBAGENT = {
    "name": "Agent",
    "input_schema": {
        "type": "object",
        "properties": {"prompt": STRING, "description": STRING},
        "required": ["prompt"],
    },
}
TURNS = """\
- prompt: Have the doors counted.
  model:
  - task: {prompt: Count all doors., say: [Seven, " doors."]}
  - say: There are seven.
"""


def test_the_task_is_given_answered_and_reported(tmp_path: Path) -> None:
    async def run() -> Any:
        async with playing(made_of(tmp_path, TURNS), "anthropic") as (server, agent):
            agent.tools = [*agent.tools, SUBAGENT]
            agent.says("Have the doors counted.")
            (call,) = agent.take(await agent.ask())
            alone = server.unused()
            other = Agent(agent.client, agent.api)
            other.says(call["input"]["prompt"])
            answer = other.text(await other.ask())
            last = agent.text(await agent.ask())
            return call["name"], alone, answer, last, server.unused(), server.problems

    name, alone, answer, last, unused, problems = asyncio.run(run())
    assert (name, answer, last) == ("Agent", "Seven doors.", "There are seven.")
    assert alone == [
        "made.yaml:6: turn 1, task: Count all doors. (no agent came with it)",
        "made.yaml:7: turn 1, say: There are seven.",
    ]
    assert (unused, problems) == ([], [])
