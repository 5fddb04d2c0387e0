"""Finds the agent's own tools in a request, and writes calls of them.

Names and arguments differ (`exec_command{cmd}`, `Bash{command}`, `shell{command: [...]}`,
`apply_patch`, `Write`/`Edit`, `write_file`/`replace`), but each request lists the tools with
their schemas.
"""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from harness.model_server.view import Offered
from harness.scenarios import Ask, Edit, Read, Run, Task, Todo, Tool

_SHELLS = (
    "exec_command",
    "bash",
    "shell_command",
    "run_shell_command",
    "local_shell",
    "shell",
    "run_terminal_cmd",
    "run_command",
    "run_commands",
    "execute_command",
    "terminal",
)
_PATCHES = ("apply_patch",)
_WRITES = ("write", "write_file", "create_file")
_CHANGES = ("edit", "replace", "edit_file", "str_replace", "search_replace", "editor")
_CREATING = ("create", "write")
_CHANGING = ("str_replace", "replace", "edit")
_READS = ("read", "read_file", "view", "view_file", "open_file")
_READS_OF_SEVERAL = ("read_files",)
_LISTS = ("update_plan", "todowrite", "todo_write", "write_todos", "update_todos")
_CREATES = ("taskcreate", "task_create")
_UPDATES = ("taskupdate", "task_update")
_TASKS = ("agent", "task", "invoke_agent", "spawn_agent")
_WAITS = ("wait_agent",)
_ASKS = ("askuserquestion", "request_user_input", "question", "ask_user", "ask_question")

_COMMAND = ("cmd", "command", "script")
_COMMANDS = ("commands",)
_PATH = ("file_path", "filePath", "path", "absolute_path", "filename")
_CONTENT = ("content", "contents", "file_text", "text")
_OLD = ("old_string", "oldString", "old_str", "old_text", "oldText")
_NEW = ("new_string", "newString", "new_str", "new_text", "newText")
_PATCH = ("input", "patch", "patchText", "patch_text")
_ENTRIES = ("plan", "todos", "items")
_ENTRY = ("step", "content", "description", "text", "title")
_SUBJECT = ("subject", "title")
_TASK = ("taskId", "task_id", "id")
_WAITED = ("targets",)
_AGENT = re.compile(r'"agent_id": *"([^"]+)"')

_WORDS = {
    "priority": "medium",
    "id": "choice",
    "subagent_type": "general",
    "agent_name": "generalist",
}
"""What a value has to be that its schema says in its description alone."""
_LONG = 600_000
_PATIENCE = 30_000


class NoToolError(Exception):
    """The agent offers no tool for a step; the message lists those that it offers."""

    def __init__(self, wanted: str, tools: Iterable[Offered]) -> None:
        names = ", ".join(tool.name for tool in tools) or "none"
        super().__init__(f"the agent offers no {wanted} tool; it offers: {names}")


def shell_tool(tools: tuple[Offered, ...]) -> Offered | None:
    """Return the tool that runs a shell command, or None."""
    for tool in _named(tools, _SHELLS):
        if tool.form == "local_shell" or _key(tool, _COMMAND + _COMMANDS):
            return tool
    # A name that nobody has listed: a tool that has to have a command, and any command.
    for tool in tools:
        key = _key(tool, _COMMAND)
        if key in tool.schema.get("required", ()) and not _choices(tool, key):
            return tool
    return None


def edit_tool(tools: tuple[Offered, ...]) -> Offered | None:
    """Return some tool that writes files, or None."""
    return next(_named(tools, _PATCHES + _WRITES + _CHANGES), None)


Given: TypeAlias = tuple[Offered, dict[str, Any] | str]
"""A tool and its input."""


def search_tool(step: Tool, tools: tuple[Offered, ...]) -> Offered | None:
    """Return the tool by which a step's own has to be found first, or None.

    Such a step is three calls, each answered before the next is made: `stage`.
    """
    if not isinstance(step, Task) or any(not t.found for t in _named(tools, _TASKS)):
        return None
    return next((tool for tool in tools if tool.form == "search"), None)


def stage(step: Task, at: int, tools: tuple[Offered, ...], workspace: str, told: str) -> Given:
    """Return one of a step's three calls: 0 searches, 1 starts the agent, 2 waits for its end.

    `told` is what came of the call before. Raises NoToolError.
    """
    if at == 0 and (search := search_tool(step, tools)):
        return search, _filled(search, {"query": "spawn agent"}, workspace)
    if at == 1:
        return _task(step, tools, workspace)
    for tool in _named(tools, _WAITS):
        if (key := _key(tool, _WAITED)) and (agent := _AGENT.search(told)):
            return tool, _filled(tool, {key: [agent[1]]}, workspace)
    raise NoToolError("tool that waits for a task's end", tools)


STAGES = 3
"""How many calls a step is whose tool has to be found first."""


def number(step: Tool, tools: tuple[Offered, ...]) -> int:
    """Return how many calls a step is; `calls` raises where it cannot be made at all."""
    if search_tool(step, tools):
        return STAGES
    if isinstance(step, Todo) and next(_named(tools, _LISTS), None) is None:
        changed = zip(step.entries, step.before, strict=False)
        new = len(step.entries) - len(step.before)
        return new + sum(entry != before for entry, before in changed)
    return 1


def calls(step: Tool, tools: tuple[Offered, ...], workspace: str) -> list[Given]:
    """Return the calls that a step is: one, but for a list that is kept entry by entry.

    Raises NoToolError.
    """
    match step:
        case Run():
            return [_run(step, tools, workspace)]
        case Edit():
            return [_edit(step, tools, workspace)]
        case Read():
            return [_read(step, tools, workspace)]
        case Todo():
            return _todo(step, tools, workspace)
        case Ask():
            return [_ask(step, tools, workspace)]
        case Task():
            return [_task(step, tools, workspace)]


def _run(step: Run, tools: tuple[Offered, ...], workspace: str) -> Given:
    tool = shell_tool(tools)
    if tool is None:
        raise NoToolError("shell", tools)
    if tool.form == "local_shell":
        return tool, {"command": ["bash", "-lc", step.command]}
    if key := _key(tool, _COMMANDS):
        return tool, _filled(tool, {key: [step.command]}, workspace)
    key = _key(tool, _COMMAND)
    listed = _type(tool.schema["properties"][key]) == "array"
    given: dict[str, Any] = {key: ["bash", "-lc", step.command] if listed else step.command}
    if _key(tool, ("yield_time_ms",)):
        given["yield_time_ms"] = _PATIENCE  # else Codex 0.134 leaves it running: chance decides
    return tool, _filled(tool, given, workspace)


def _edit(step: Edit, tools: tuple[Offered, ...], workspace: str) -> Given:
    for tool in _named(tools, _PATCHES):
        if tool.form == "custom":
            return tool, patch(step)
        if key := _key(tool, _PATCH):
            return tool, _filled(tool, {key: patch(step)}, workspace)
    # Tools that take a path say that they want it absolute, or take it so.
    path = f"{workspace.rstrip('/')}/{step.path}"
    if step.before is not None:
        # By name, else by form: a name that nobody has listed.
        for tool in (*_named(tools, _CHANGES), *tools):
            where, old, new = _key(tool, _PATH), _key(tool, _OLD), _key(tool, _NEW)
            if where and old and new:
                given = {where: path, old: step.old, new: step.new}
                return tool, _filled(tool, given | _mode(tool, _CHANGING), workspace)
    for tool, content in _writers(tools):
        given = {_key(tool, _PATH): path, content: step.after}
        return tool, _filled(tool, given | _mode(tool, _CREATING), workspace)
    raise NoToolError("file edit", tools)


def _writers(tools: tuple[Offered, ...]) -> Iterator[tuple[Offered, str]]:
    """Yield the tools that write a whole file, each with the name of its text."""
    for tool in _named(tools, _WRITES):
        if _key(tool, _PATH) and (content := _key(tool, _CONTENT)):
            yield tool, content
    for tool in tools:
        content = _key(tool, _CONTENT)
        needed = content in tool.schema.get("required", ()) or _mode(tool, _CREATING)
        if _key(tool, _PATH) and content and needed:
            yield tool, content
    for tool in (*_named(tools, _CHANGES), *tools):
        # One that changes a file, and creates it where there is nothing to be replaced.
        replaces = _key(tool, _OLD) in tool.schema.get("required", ())
        if _key(tool, _PATH) and not replaces and (content := _key(tool, _NEW)):
            yield tool, content


def _mode(tool: Offered, wanted: tuple[str, ...]) -> dict[str, str]:
    """Return the argument by which an editor that does several things is told what to do."""
    chosen = [name for name in wanted if name in _choices(tool, "command")]
    return {"command": chosen[0]} if chosen else {}


def _choices(tool: Offered, name: str) -> list[Any]:
    """Return the values of which an argument has to be one; none where it is free."""
    return list(tool.schema.get("properties", {}).get(name, {}).get("enum", ()))


def _read(step: Read, tools: tuple[Offered, ...], workspace: str) -> Given:
    path = f"{workspace.rstrip('/')}/{step.path}"
    for tool in _named(tools, _READS):
        if where := _key(tool, _PATH):
            return tool, _filled(tool, {where: path}, workspace)
    for tool in _named(tools, _READS_OF_SEVERAL):
        files = _items(tool, "files")
        if files and (where := _key(files, _PATH)):
            return tool, _filled(tool, {"files": [{where: path}]}, workspace)
    # Agents without such a tool read in their shell.
    return _run(Run(f"cat {step.path}"), tools, workspace)


def _todo(step: Todo, tools: tuple[Offered, ...], workspace: str) -> list[Given]:
    for tool in _named(tools, _LISTS):
        if (where := _key(tool, _ENTRIES)) and (item := _items(tool, where)):
            key = _key(item, _ENTRY)
            listed = [
                _filled(item, {key: entry.text, "status": entry.status}, workspace)
                for entry in step.entries
            ]
            return [(tool, _filled(tool, {where: listed}, workspace))]
    creates = next(_named(tools, _CREATES), None)
    updates = next(_named(tools, _UPDATES), None)
    if creates is None or updates is None:
        raise NoToolError("to-do list", tools)
    subject, task = _key(creates, _SUBJECT), _key(updates, _TASK)
    made: list[Given] = []
    for number, entry in enumerate(step.entries, 1):
        if number > len(step.before):
            made.append((creates, _filled(creates, {subject: entry.text}, workspace)))
        elif entry != step.before[number - 1]:
            given = {task: str(number), "status": entry.status}
            made.append((updates, _filled(updates, given, workspace)))
    return made


def _ask(step: Ask, tools: tuple[Offered, ...], workspace: str) -> Given:
    for tool in _named(tools, _ASKS):
        question = _items(tool, "questions")
        option = _items(question, "options") if question else None
        if question and option:
            options = [
                _filled(option, {"label": label, "description": label}, workspace)
                for label in step.options
            ]
            given = {"question": step.question, "header": "Choice", "options": options}
            filled = _filled(question, given, workspace)
            return tool, _filled(tool, {"questions": [filled]}, workspace)
    raise NoToolError("question", tools)


def _task(step: Task, tools: tuple[Offered, ...], workspace: str) -> Given:
    for tool in _named(tools, _TASKS):
        if key := _key(tool, ("prompt", "task", "message")):
            given: dict[str, Any] = {key: step.prompt}
            if tool.name == "Task" and _key(tool, ("subagent_type",)):
                # Claude's, before it was called `Agent`: it names its agents in a text alone.
                given["subagent_type"] = "general-purpose"
            if _key(tool, ("run_in_background",)):
                # Otherwise the agent goes on meanwhile, and what comes first is chance.
                given["run_in_background"] = False
            return tool, _filled(tool, given, workspace)
    raise NoToolError("task", tools)


def _items(tool: Offered, name: str) -> Offered | None:
    """Return the schema of an array argument's items, as a tool's, or None."""
    items = tool.schema.get("properties", {}).get(name, {}).get("items")
    return Offered(name, schema=items) if isinstance(items, dict) else None


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
    if name in _WORDS:
        return _WORDS[name]
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
