"""Writes Cursor's cassettes from public documents and reports: no agent ran.

`python -m harness.surfaces.cursor_acp.construct INTO` writes `INTO/cursor-acp/...`. Shapes are
those of EVENTS.md 5, of Cursor's page on ACP, and of the reports that each header names.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from harness.cassette import FORMAT_VERSION, Agent, CassetteWriter, Header
from harness.surfaces.acp.names import Message

AGENT: Final = Agent("cursor", "2026.08.11")
RECORDED: Final = "2026-01-01T00:00:00Z"
PAGE: Final = "cursor.com/docs/cli/acp"
SEED: Final = "harness/canonical/EVENTS.md section 5"
PLANS: Final = ("getpaseo/paseo#3645", "xenodium/agent-shell#704", "xintaofei/codeg PR#785")
EDITS: Final = ("tutti-os/tutti PR#1101", "Mng-dev-ai/agentrove PR#509")

_SESSION: Final = "00000000-0000-4000-8000-000000000001"
_OPTIONS: Final = [
    {"optionId": "allow-once", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "allow-always", "name": "Allow always", "kind": "allow_always"},
    {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
]

Line = tuple[str, Message]


def agent(**fields: Any) -> Line:
    """Return a line of the agent's."""
    return "in", {"jsonrpc": "2.0", **fields}


def client(**fields: Any) -> Line:
    """Return a line of the client's."""
    return "out", {"jsonrpc": "2.0", **fields}


def update(what: str, /, **fields: Any) -> Line:
    """Return a `session/update`."""
    params = {"sessionId": _SESSION, "update": {"sessionUpdate": what, **fields}}
    return agent(method="session/update", params=params)


def words(*chunks: str, kind: str = "agent_message_chunk") -> list[Line]:
    """Return a message in chunks."""
    return [update(kind, content={"type": "text", "text": chunk}) for chunk in chunks]


def opening() -> list[Line]:
    """Return what comes before the first prompt."""
    capabilities = {"loadSession": True, "promptCapabilities": {"image": True}}
    modes = [{"id": name, "name": name.title()} for name in ("agent", "plan", "ask")]
    hello = {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": {"name": "harness"}}
    login = {"id": "cursor_login", "name": "Cursor Login"}
    return [
        client(id=0, method="initialize", params=hello),
        agent(
            id=0,
            result={
                "protocolVersion": 1,
                "agentCapabilities": capabilities,
                "authMethods": [login],
            },
        ),
        client(id=1, method="authenticate", params={"methodId": "cursor_login"}),
        agent(id=1, result={}),
        client(id=2, method="session/new", params={"cwd": "/workspace", "mcpServers": []}),
        agent(
            id=2,
            result={
                "sessionId": _SESSION,
                "modes": {"currentModeId": "agent", "availableModes": modes},
            },
        ),
    ]


def turn(id_: int, prompt: str, lines: Iterable[Line], stop: str = "end_turn") -> list[Line]:
    """Return a turn: its prompt, what comes in it, its answer."""
    asked = {"sessionId": _SESSION, "prompt": [{"type": "text", "text": prompt}]}
    return [
        client(id=id_, method="session/prompt", params=asked),
        *lines,
        agent(id=id_, result={"stopReason": stop}),
    ]


def shell(command: str, **fields: Any) -> Line:
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


def asked(option: str) -> list[Line]:
    """Return a permission question and its answer."""
    params = {"sessionId": _SESSION, "toolCall": {"toolCallId": "tool_1"}, "options": _OPTIONS}
    outcome = {"outcome": "selected", "optionId": option}
    return [
        agent(id=0, method="session/request_permission", params=params),
        client(id=0, result={"outcome": outcome}),
    ]


def done(status: str, **fields: Any) -> Line:
    """Return the end of a tool call."""
    return update("tool_call_update", toolCallId="tool_1", status=status, **fields)


def stories() -> dict[str, tuple[tuple[str, ...], list[Line]]]:
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
    picked = [{"questionId": "q1", "selectedOptionIds": ["a"]}]
    patch = {"toolCallId": "tool_todo", "todos": [{"id": "1", "status": "completed"}]}
    cancel = client(method="session/cancel", params={"sessionId": _SESSION})
    ran = {"exitCode": 0, "stdout": "", "stderr": ""}
    diff = {"type": "diff", "path": "/workspace/new.txt", "oldText": None, "newText": "new\n"}
    edit = update("tool_call", toolCallId="tool_1", title="Edit", kind="edit", status="in_progress")
    commands = [{"name": "review", "description": "Review the changes"}]
    return {
        "text": (
            (PAGE, SEED),
            turn(
                3,
                "Say hello.",
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
                3,
                "Create the file made.txt with touch.",
                [
                    shell("touch made.txt"),
                    *asked("allow-once"),
                    done("in_progress"),
                    done("completed", rawOutput=ran),
                    *words("The file", " is there."),
                ],
            ),
        ),
        "command-declined": (
            (PAGE, SEED, *EDITS),
            turn(
                3,
                "Create the file refused.txt with touch.",
                [
                    shell("touch refused.txt"),
                    *asked("reject-once"),
                    done("failed"),
                    *words("I did not create it."),
                ],
            ),
        ),
        "file-edit": (
            (SEED, *EDITS),
            turn(
                3,
                "Create new.txt.",
                [edit, done("completed", content=[diff]), *words("Written.")],
            ),
        ),
        "interrupt-text": (
            (PAGE, SEED),
            turn(3, "Tell a long story.", [*words("Once upon", " a time"), cancel], "cancelled"),
        ),
        "cursor-plan": (
            (PAGE, *PLANS),
            turn(
                3,
                "Plan it.",
                [
                    agent(id="plan-1", method="cursor/create_plan", params=plan),
                    client(id="plan-1", result={"outcome": {"outcome": "accepted"}}),
                    agent(method="cursor/update_todos", params={**patch, "merge": True}),
                    *words("Planned."),
                ],
            ),
        ),
        "cursor-plan-refused": (
            PLANS,
            turn(
                3,
                "Plan it.",
                [
                    agent(id="plan-1", method="cursor/create_plan", params=plan),
                    client(id="plan-1", error={"code": -32601, "message": "Method not found"}),
                ],
            ),
        ),
        "cursor-question": (
            (PAGE, "getpaseo/paseo#3645"),
            turn(
                3,
                "Ask me.",
                [
                    agent(
                        id=4,
                        method="cursor/ask_question",
                        params={"toolCallId": "tool_ask", "questions": [question]},
                    ),
                    client(id=4, result={"outcome": {"outcome": "answered", "answers": picked}}),
                    *words("You chose A."),
                ],
            ),
        ),
    }


def construct(into: Path) -> list[Path]:
    """Write every cassette under `into`, and return their paths. Raises CassetteError."""
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
            protocol="Cursor ACP, version 1",
            command=["agent", "acp"],
            sources=list(sources),
        )
        path = into / f"{header.id}.jsonl"
        with CassetteWriter(path, header) as writer:
            writer.frame(0, "out", "start", "data", {"command": ["agent", "acp"]})
            for at, (way, message) in enumerate(opening() + lines, 1):
                if way == "in":
                    writer.frame(at, "in", "stdout", "data", message)
                else:
                    writer.frame(at, "out", "stdin", "data", message)
            writer.frame(len(opening() + lines) + 1, "in", "exit", "data", {"code": 0})
            writer.finish(complete=True, exit_code=0)
        paths.append(path)
    return paths


if __name__ == "__main__":
    for written in construct(Path(sys.argv[1])):
        print(written)
