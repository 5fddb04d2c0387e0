"""What Claude's tools are in the canonical model: item types, request types, what is shown.

EVENTS.md 4.1 and 4.2; the names in `data` are DECISIONS.md 11's.
"""

import re
from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical.names import CanonicalItemType, CanonicalRequestType

_ITEMS: Final[dict[str, CanonicalItemType]] = {
    "Bash": "command_execution",
    "PowerShell": "command_execution",
    "bash": "command_execution",
    "Write": "file_change",
    "Edit": "file_change",
    "MultiEdit": "file_change",
    "NotebookEdit": "file_change",
    "Task": "collab_agent_tool_call",
    "Agent": "collab_agent_tool_call",
    "WebSearch": "web_search",
    "web_search": "web_search",
}
_REQUESTS: Final[dict[str, CanonicalRequestType]] = {
    "command_execution": "command_execution_approval",
    "file_change": "file_change_approval",
}
QUESTION: Final = "AskUserQuestion"
PLAN: Final = "TodoWrite"

_EXIT = re.compile(r"Exit code (-?\d+)(?:\n|$)")
_STEPS: Final = {"pending": "pending", "in_progress": "inProgress", "completed": "completed"}


def item_type(name: str, block: str = "tool_use") -> CanonicalItemType:
    """Return the item type of a tool; `block` is the type of the content block that calls it."""
    if block == "mcp_tool_use" or name.startswith("mcp__"):
        return "mcp_tool_call"
    return _ITEMS.get(name, "dynamic_tool_call")


def request_type(name: str) -> CanonicalRequestType:
    """Return the type of a question for permission to use a tool."""
    if name == QUESTION:
        return "tool_user_input"
    return _REQUESTS.get(item_type(name), "unknown")


def title(name: str, tool_input: Any) -> str:
    """Return what a call does, in a line: its command, its file, or the tool's name."""
    if isinstance(tool_input, dict):
        for key in ("command", "file_path", "notebook_path", "query"):
            value = tool_input.get(key)
            if isinstance(value, str) and value and item_type(name) != "dynamic_tool_call":
                return value
    return name


def call_data(name: str, tool_input: Any) -> dict[str, Any]:
    """Return an item's `data` for a call: the tool, its input, and DECISIONS.md 11's names."""
    data: dict[str, Any] = {"tool": name}
    if name.startswith("mcp__") and name.count("__") > 1:
        _, data["server"], data["tool"] = name.split("__", 2)
    if tool_input is UNSET:
        return data
    data["input"] = tool_input
    if not isinstance(tool_input, dict):
        return data
    type_ = item_type(name)
    if type_ == "command_execution" and isinstance(tool_input.get("command"), str):
        data["command"] = tool_input["command"]
    elif type_ == "file_change":
        path = tool_input.get("file_path", tool_input.get("notebook_path"))
        if isinstance(path, str):
            # A Write says only in its result whether the file was there before.
            kind = {} if name == "Write" else {"kind": "update"}
            data["changes"] = [{"path": path, **kind}]
    return data


def add_result(data: dict[str, Any], content: Any, told: Any) -> None:
    """Add a tool's result to its item's `data`.

    `content` is the block's: a text, or a list of blocks, whose texts are joined. `told` is the
    message's `tool_use_result`: the tool's own object.
    """
    if isinstance(content, str):
        data["output"] = content
    elif isinstance(content, list):
        texts = [b["text"] for b in content if isinstance(b, dict) and _is_text(b)]
        data["output"] = "".join(texts)
        if len(texts) != len(content):
            data["content"] = content
        elif len(texts) > 1:
            data["textParts"] = texts
    elif content is not None:
        data["content"] = content
    if "command" in data:
        found = _EXIT.match(str(data.get("output", "")))
        if found:
            data["exitCode"] = int(found[1])
    if isinstance(told, dict) and "changes" in data:
        _add_change(data["changes"][0], told)


def _add_change(change: dict[str, Any], told: dict[str, Any]) -> None:
    """Add to a change what the tool says of it: whether the file is new, and the difference."""
    if told.get("type") in {"create", "update"}:
        change["kind"] = "add" if told["type"] == "create" else "update"
    if diff := _diff(told.get("structuredPatch")):
        change["diff"] = diff


def exit_detail(data: dict[str, Any]) -> str | UnsetType:
    """Return how a command went, where its result says so."""
    return f"exit code {data['exitCode']}" if "exitCode" in data else UNSET


def plan_steps(tool_input: Any) -> list[tuple[str, Any]] | None:
    """Return the steps of a TodoWrite, each with its status, or None for another shape."""
    todos = tool_input.get("todos") if isinstance(tool_input, dict) else None
    if not isinstance(todos, list):
        return None
    steps = []
    for todo in todos:
        status = _STEPS.get(str(todo.get("status"))) if isinstance(todo, dict) else None
        if status is None or not isinstance(todo.get("content"), str):
            return None
        steps.append((todo["content"], status))
    return steps


def _is_text(block: dict[str, Any]) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)


def _diff(hunks: Any) -> str:
    """Return the hunks of a `structuredPatch` as a unified diff without its heading."""
    lines: list[str] = []
    try:
        for hunk in hunks or ():
            old, new = (f"{hunk[f'{s}Start']},{hunk[f'{s}Lines']}" for s in ("old", "new"))
            lines += [f"@@ -{old} +{new} @@", *map(str, hunk["lines"])]
    except (KeyError, TypeError):
        return ""
    return "".join(f"{line}\n" for line in lines)
