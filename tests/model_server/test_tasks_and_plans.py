"""Tasks for an agent of the model's own, and plans, in the form that the agent asks for."""

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


PLAN = """\
- prompt: Plan the next day.
  model:
  - propose: [First breakfast, ", then work."]
"""


def test_a_plan_has_the_form_that_the_agent_asks_for(tmp_path: Path) -> None:
    async def run(instructions: str) -> Any:
        async with playing(made_of(tmp_path, PLAN)) as (server, agent):
            agent.says("Plan the next day.")
            answer = agent.text(await agent.ask(instructions=instructions))
            return answer, server.unused(), server.problems

    assert asyncio.run(run("Be brief.")) == ("First breakfast, then work.", [], [])
    asked = "Put the plan between <proposed_plan> and </proposed_plan>."
    assert asyncio.run(run(asked)) == (
        "<proposed_plan>\nFirst breakfast, then work.\n</proposed_plan>",
        [],
        [],
    )
