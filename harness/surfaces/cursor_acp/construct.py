"""Writes Cursor's cassettes from public documents and reports: no agent ran.

`python -m harness.surfaces.cursor_acp.construct INTO` writes `INTO/cursor-acp/...`. Shapes are
those of EVENTS.md 5, of Cursor's page on ACP, and of the reports that each header names.

The agent's lines are written down here; what the client says to them is the recorder's own doing.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from harness.cassette import FORMAT_VERSION, Agent, CassetteWriter, Channel, Frame, Header
from harness.scenarios import Scenario, scenario
from harness.scenarios.model import Turn
from harness.surfaces import surface
from harness.surfaces.acp.names import Message
from harness.surfaces.acp.recorder import AcpDriver
from harness.surfaces.base import Action, Failed, OnceSilent, Send, Setup
from harness.surfaces.cursor_acp.recorder import CAPABILITIES, PROTOCOL, CursorDriver, make_driver

AGENT: Final = Agent("cursor", "2026.08.11")
RECORDED: Final = "2026-01-01T00:00:00Z"
PAGE: Final = "cursor.com/docs/cli/acp"
SEED: Final = "harness/canonical/EVENTS.md section 5"
PLANS: Final = ("getpaseo/paseo#3645", "xenodium/agent-shell#704", "xintaofei/codeg PR#785")
EDITS: Final = ("tutti-os/tutti PR#1101", "Mng-dev-ai/agentrove PR#509")

_OWN: Final = {
    "cursor-plan": "Plan it.",
    "cursor-plan-refused": "Plan it.",
    "cursor-question": "Ask me.",
}
"""The prompts of what no scenario of the project's tells."""

_SESSION: Final = "00000000-0000-4000-8000-000000000001"
_OPTIONS: Final = [
    {"optionId": "allow-once", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "allow-always", "name": "Allow always", "kind": "allow_always"},
    {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
]

Way = Literal["in", "out"]


class Unaware(CursorDriver):
    """A client that knows nothing of `cursor/*`, as most clients of ACP do not."""

    def on_request(self, method: str, id_: Any, params: Message) -> Iterator[Action]:
        """Answer a request of the agent's as ACP has it."""
        yield from AcpDriver.on_request(self, method, id_, params)


def agent(**fields: Any) -> Message:
    """Return a line of the agent's."""
    return {"jsonrpc": "2.0", **fields}


def update(what: str, /, **fields: Any) -> Message:
    """Return a `session/update`."""
    params = {"sessionId": _SESSION, "update": {"sessionUpdate": what, **fields}}
    return agent(method="session/update", params=params)


def words(*chunks: str, kind: str = "agent_message_chunk") -> list[Message]:
    """Return a message in chunks."""
    return [update(kind, content={"type": "text", "text": chunk}) for chunk in chunks]


def opening() -> list[Message]:
    """Return what the agent says before the first prompt."""
    capabilities = {"loadSession": True, "promptCapabilities": {"image": True}}
    modes = [{"id": name, "name": name.title()} for name in ("agent", "plan", "ask")]
    login = {"id": "cursor_login", "name": "Cursor Login"}
    hello = {"protocolVersion": 1, "agentCapabilities": capabilities, "authMethods": [login]}
    session = {
        "sessionId": _SESSION,
        "modes": {"currentModeId": "agent", "availableModes": modes},
    }
    return [agent(id=0, result=hello), agent(id=1, result={}), agent(id=2, result=session)]


def turn(lines: Iterable[Message], stop: str = "end_turn") -> list[Message]:
    """Return a turn: what comes in it, and the answer to its prompt."""
    return [*lines, agent(id=3, result={"stopReason": stop})]


def shell(command: str, **fields: Any) -> Message:
    """Return the announcement of a shell call; its question does not repeat the input."""
    return update(
        "tool_call",
        toolCallId="tool_1",
        title="Terminal",
        kind="execute",
        status="pending",
        rawInput={"command": command},
        **fields,
    )


def asked() -> Message:
    """Return a question for permission."""
    params = {"sessionId": _SESSION, "toolCall": {"toolCallId": "tool_1"}, "options": _OPTIONS}
    return agent(id=0, method="session/request_permission", params=params)


def done(status: str, **fields: Any) -> Message:
    """Return the end of a tool call."""
    return update("tool_call_update", toolCallId="tool_1", status=status, **fields)


def stories() -> dict[str, tuple[tuple[str, ...], list[Message]]]:
    """Return for each scenario its sources and its lines after the opening."""
    todos = [
        {"id": "1", "content": "Read the file", "status": "pending"},
        {"id": "2", "content": "Change it", "status": "pending"},
    ]
    plan = {
        "toolCallId": "tool_plan",
        "name": "Demo",
        "overview": "Two steps",
        "plan": "# Plan\n\n1. Read the file\n2. Change it\n",
        "todos": todos,
        "isProject": False,
        "phases": [],
    }
    question = {
        "id": "q1",
        "prompt": "Which?",
        "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}],
        "allowMultiple": False,
    }
    patch = {"toolCallId": "tool_todo", "todos": [{"id": "1", "status": "completed"}]}
    ran = {"exitCode": 0, "stdout": "", "stderr": ""}
    diff = {
        "type": "diff",
        "path": "/workspace/greeting.txt",
        "oldText": None,
        "newText": "Good evening.\n",
    }
    edit = update("tool_call", toolCallId="tool_1", title="Edit", kind="edit", status="in_progress")
    commands = [{"name": "review", "description": "Review the changes"}]
    return {
        "text": (
            (PAGE, SEED),
            turn(
                [
                    update("available_commands_update", availableCommands=commands),
                    *words("Greet", " them.", kind="agent_thought_chunk"),
                    *words("Hello", ", there."),
                ],
            ),
        ),
        "command-approved": (
            (PAGE, SEED, *EDITS),
            turn(
                [
                    shell("touch made.txt"),
                    asked(),
                    done("in_progress"),
                    done("completed", rawOutput=ran),
                    *words("The file", " is there."),
                ],
            ),
        ),
        "command-declined": (
            (PAGE, SEED, *EDITS),
            turn(
                [
                    shell("touch refused.txt"),
                    asked(),
                    done("failed"),
                    *words("I did not create it."),
                ],
            ),
        ),
        "file-edit": (
            (SEED, *EDITS),
            turn(
                [edit, done("completed", content=[diff]), *words("Written.")],
            ),
        ),
        "interrupt-text": (
            (PAGE, SEED),
            turn([*words("Once upon", " a time")], "cancelled"),
        ),
        "cursor-plan": (
            (PAGE, *PLANS),
            turn(
                [
                    agent(id="plan-1", method="cursor/create_plan", params=plan),
                    agent(method="cursor/update_todos", params={**patch, "merge": True}),
                    *words("Planned."),
                ],
            ),
        ),
        "cursor-plan-refused": (
            PLANS,
            turn(
                [
                    agent(id="plan-1", method="cursor/create_plan", params=plan),
                ],
            ),
        ),
        "cursor-question": (
            (PAGE, "getpaseo/paseo#3645"),
            turn(
                [
                    agent(
                        id=4,
                        method="cursor/ask_question",
                        params={"toolCallId": "tool_ask", "questions": [question]},
                    ),
                    *words("You chose A."),
                ],
            ),
        ),
    }


def story(name: str) -> Scenario:
    """Return the scenario that a cassette tells: one of the project's, or Cursor's own."""
    if name not in _OWN:
        return scenario(name)
    return Scenario(name, name, ("text",), (Turn(_OWN[name], ()),))


def converse(driver: CursorDriver, lines: Iterable[Message]) -> Iterator[tuple[Way, Message]]:
    """Yield what both sides say, in order: after each line of the agent's, the client's."""
    yield from _sent(driver.begin())
    for number, line in enumerate(lines, 1):
        yield "in", line
        yield from _sent(driver.on_frame(Frame(number, number, "in", "stdout", data=line)))


def construct(into: Path) -> list[Path]:
    """Write every cassette under `into`, and return their paths. Raises CassetteError."""
    source = surface("cursor-acp").manifest.agents[0]
    command = ["agent", *source.prepare.args]
    paths = []
    for name, (sources, lines) in stories().items():
        header = Header(
            cassette=FORMAT_VERSION,
            surface="cursor-acp",
            provider="cursor",
            agent=AGENT,
            scenario=name,
            provenance="constructed",
            recorded=RECORDED,
            protocol=PROTOCOL,
            command=command,
            capabilities=dict(CAPABILITIES),
            sources=list(sources),
        )
        setup = Setup(
            story(name), "/workspace", "/home/agent", 8080, "agent", "", source.name,
            source.prepare.args, source.prepare.options,
        )  # fmt: skip
        driver = Unaware(setup) if name == "cursor-plan-refused" else make_driver(setup)
        path = into / f"{header.id}.jsonl"
        with CassetteWriter(path, header) as writer:
            writer.frame(0, "out", "start", "data", {"command": command})
            for way, message in converse(driver, opening() + lines):
                channel: Channel = "stdout" if way == "in" else "stdin"
                writer.frame(writer.frames, way, channel, "data", message)
            writer.frame(writer.frames, "in", "exit", "data", {"code": 0})
            writer.finish(complete=True, exit_code=0)
        paths.append(path)
    return paths


def _sent(actions: Iterable[Action]) -> Iterator[tuple[Way, Message]]:
    for action in actions:
        match action:
            case Send(data) | OnceSilent(data):
                yield "out", data
            case Failed(what):
                raise RuntimeError(f"the client does not go on: {what}")


if __name__ == "__main__":
    for written in construct(Path(sys.argv[1])):
        print(written)
