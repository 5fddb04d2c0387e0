"""Finds the agent's own shell and edit tools in a request, and writes calls of them.

Names and arguments differ (`exec_command{cmd}`, `Bash{command}`, `shell{command: [...]}`,
`apply_patch`, `Write`/`Edit`, `write_file`/`replace`), but each request lists the tools with
their schemas.
"""

import difflib
from collections.abc import Iterable, Iterator
from typing import Any

from harness.model_server.view import Offered
from harness.scenarios import Edit, Run

_SHELLS = (
    "exec_command",
    "bash",
    "shell_command",
    "run_shell_command",
    "local_shell",
    "shell",
    "run_terminal_cmd",
    "run_command",
    "execute_command",
    "terminal",
)
_PATCHES = ("apply_patch",)
_WRITES = ("write", "write_file", "create_file")
_CHANGES = ("edit", "replace", "edit_file", "str_replace", "search_replace")

_COMMAND = ("cmd", "command", "script")
_PATH = ("file_path", "filePath", "path", "absolute_path", "filename")
_CONTENT = ("content", "contents", "file_text", "text")
_OLD = ("old_string", "oldString", "old_str", "old_text", "oldText")
_NEW = ("new_string", "newString", "new_str", "new_text", "newText")
_PATCH = ("input", "patch", "patchText", "patch_text")

_LONG = 600_000


class NoToolError(Exception):
    """The agent offers no tool for a step; the message lists those that it offers."""

    def __init__(self, wanted: str, tools: Iterable[Offered]) -> None:
        names = ", ".join(tool.name for tool in tools) or "none"
        super().__init__(f"the agent offers no {wanted} tool; it offers: {names}")


def shell_tool(tools: tuple[Offered, ...]) -> Offered | None:
    """Return the tool that runs a shell command, or None."""
    for tool in _named(tools, _SHELLS):
        if tool.form == "local_shell" or _key(tool, _COMMAND):
            return tool
    # A name that nobody has listed: a tool that has to have a command.
    return next(
        (t for t in tools if (k := _key(t, _COMMAND)) and k in t.schema.get("required", ())), None
    )


def edit_tool(tools: tuple[Offered, ...]) -> Offered | None:
    """Return some tool that writes files, or None."""
    return next(_named(tools, _PATCHES + _WRITES + _CHANGES), None)


def call(
    step: Run | Edit, tools: tuple[Offered, ...], workspace: str
) -> tuple[Offered, dict[str, Any] | str]:
    """Return the tool for a step and its input. Raises NoToolError."""
    return _run(step, tools, workspace) if isinstance(step, Run) else _edit(step, tools, workspace)


def _run(
    step: Run, tools: tuple[Offered, ...], workspace: str
) -> tuple[Offered, dict[str, Any] | str]:
    tool = shell_tool(tools)
    if tool is None:
        raise NoToolError("shell", tools)
    if tool.form == "local_shell":
        return tool, {"command": ["bash", "-lc", step.command]}
    key = _key(tool, _COMMAND)
    listed = _type(tool.schema["properties"][key]) == "array"
    command = ["bash", "-lc", step.command] if listed else step.command
    return tool, _filled(tool, {key: command}, workspace)


def _edit(
    step: Edit, tools: tuple[Offered, ...], workspace: str
) -> tuple[Offered, dict[str, Any] | str]:
    for tool in _named(tools, _PATCHES):
        if tool.form == "custom":
            return tool, patch(step)
        if key := _key(tool, _PATCH):
            return tool, _filled(tool, {key: patch(step)}, workspace)
    # Tools that take a path say that they want it absolute, or take it so.
    path = f"{workspace.rstrip('/')}/{step.path}"
    if step.before is not None:
        for tool in _named(tools, _CHANGES):
            where, old, new = _key(tool, _PATH), _key(tool, _OLD), _key(tool, _NEW)
            if where and old and new:
                return tool, _filled(tool, {where: path, old: step.old, new: step.new}, workspace)
    for tool in _named(tools, _WRITES):
        where, content = _key(tool, _PATH), _key(tool, _CONTENT)
        if where and content:
            return tool, _filled(tool, {where: path, content: step.after}, workspace)
    raise NoToolError("file edit", tools)


def patch(step: Edit) -> str:
    """Return a step as the text of `apply_patch`, its path relative to the workspace."""
    after = step.after.splitlines()
    if step.before is None:
        lines = [f"*** Add File: {step.path}", *(f"+{line}" for line in after)]
    else:
        lines = [f"*** Update File: {step.path}", "@@"]
        before = step.before.splitlines()
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for kind, i1, i2, j1, j2 in matcher.get_opcodes():
            if kind == "equal":
                lines += [f" {line}" for line in before[i1:i2]]
            else:
                lines += [f"-{line}" for line in before[i1:i2]]
                lines += [f"+{line}" for line in after[j1:j2]]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def _named(tools: tuple[Offered, ...], names: tuple[str, ...]) -> Iterator[Offered]:
    """Yield the tools with one of the names, in the order of the names; `mcp__x__Bash` is one."""
    for name in names:
        for tool in tools:
            if tool.form != "other" and tool.name.rpartition("__")[2].lower() == name:
                yield tool


def _key(tool: Offered, names: tuple[str, ...]) -> str:
    """Return the first of the names that is an argument of the tool, or an empty one."""
    properties = tool.schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    return next((name for name in names if name in known), "")


def _filled(tool: Offered, arguments: dict[str, Any], workspace: str) -> dict[str, Any]:
    """Add the arguments that the tool requires beside those that the step gives."""
    properties = tool.schema.get("properties", {})
    for name in tool.schema.get("required", ()):
        if name not in arguments:
            arguments[name] = _value(name, properties.get(name, {}), workspace)
    return arguments


def _value(name: str, schema: dict[str, Any], workspace: str) -> Any:  # noqa: PLR0911
    """Return a plausible value for an argument that the script says nothing about."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    if any(part in name.lower() for part in ("cwd", "dir", "workdir")):
        return workspace
    match _type(schema):
        case "boolean":
            return False
        case "integer" | "number":
            return _LONG if "time" in name.lower() else schema.get("minimum", 1)
        case "array":
            return []
        case "object":
            return {}
        case "null":
            return None
    return "As the user asked"


def _type(schema: dict[str, Any]) -> str:
    """Return an argument's type; of several, the first that is not null."""
    for option in schema.get("anyOf", [schema]):
        kinds = option.get("type", "string")
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            if kind != "null":
                return str(kind)
    return "null"
