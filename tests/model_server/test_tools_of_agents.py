"""Each agent's own tools are found, and called with arguments that fit them."""

from typing import Any

import pytest

from harness.model_server import tools
from harness.model_server.view import Offered
from harness.scenarios import Ask, Edit, Entry, Read, Run, Task, Todo, Tool

RUN = Run("echo hi")
CREATE = Edit("a/b.txt", "", "one\ntwo\n", None, "one\ntwo\n")
CHANGE = Edit("a/b.txt", "two", "2", "one\ntwo\n", "one\n2\n")
STRING = {"type": "string"}
PATCH = "*** Begin Patch\n*** Add File: a/b.txt\n+one\n+two\n*** End Patch"


def call(step: Tool, offered: tuple[Offered, ...], workspace: str) -> tools.Given:
    (given,) = tools.calls(step, offered, workspace)
    assert tools.number(step, offered) == 1
    return given


def tool(name: str, required: list[str], **properties: Any) -> Offered:
    return Offered(name, "function", {"properties": properties, "required": required})


SHELLS = {
    "codex": (tool("exec_command", ["cmd"], cmd=STRING, login={"type": "boolean"}), "cmd"),
    "claude": (tool("Bash", ["command"], command=STRING), "command"),
    "opencode": (tool("bash", ["command"], command=STRING), "command"),
    "gemini": (tool("run_shell_command", ["command"], command=STRING), "command"),
    "namespaced": (tool("mcp__acp__Bash", ["command"], command=STRING), "command"),
    "unheard of": (tool("perform", ["script"], script=STRING), "script"),
}


@pytest.mark.parametrize("name", SHELLS)
def test_shell_tools(name: str) -> None:
    offered, key = SHELLS[name]
    other = tool("write_stdin", ["session_id"], session_id={"type": "number"})
    assert call(RUN, (other, offered), "/w") == (offered, {key: "echo hi"})


def test_a_shell_tool_that_takes_a_list() -> None:
    offered = tool("shell", ["command"], command={"type": ["array", "null"]})
    assert call(RUN, (offered,), "/w")[1] == {"command": ["bash", "-lc", "echo hi"]}


def test_a_shell_that_leaves_what_takes_long_running_is_told_to_wait() -> None:
    offered = tool("exec_command", ["cmd"], cmd=STRING, yield_time_ms={"type": "number"})
    assert call(RUN, (offered,), "/w")[1] == {"cmd": "echo hi", "yield_time_ms": 30_000}


def test_a_shell_tool_that_takes_several_commands() -> None:
    offered = tool("run_commands", ["commands"], commands={"type": "array"})
    assert call(RUN, (offered,), "/w") == (offered, {"commands": ["echo hi"]})


def test_the_apis_own_shell() -> None:
    offered = Offered("local_shell", "local_shell")
    assert call(RUN, (offered,), "/w")[1] == {"command": ["bash", "-lc", "echo hi"]}


def test_a_command_that_is_not_required_makes_no_shell() -> None:
    assert tools.shell_tool((tool("help", [], command=STRING),)) is None


def test_required_arguments_that_the_script_does_not_name() -> None:
    offered = tool(
        "bash",
        [
            "command",
            "description",
            "workdir",
            "timeout",
            "background",
            "mode",
            "env",
            "a",
            "n",
            "d",
        ],
        command=STRING,
        description=STRING,
        workdir=STRING,
        timeout={"type": "integer"},
        background={"type": "boolean"},
        mode={"type": "string", "enum": ["fast", "slow"]},
        env={"type": "object"},
        a={"anyOf": [{"type": "null"}, {"type": "array"}]},
        n={"type": "integer", "minimum": 7},
        d={"type": "string", "default": "given"},
        unneeded=STRING,
    )
    assert call(RUN, (offered,), "/w")[1] == {
        "command": "echo hi",
        "description": "As the user asked",
        "workdir": "/w",
        "timeout": 600_000,
        "background": False,
        "mode": "fast",
        "env": {},
        "a": [],
        "n": 7,
        "d": "given",
    }


WRITE = tool("Write", ["file_path", "content"], file_path=STRING, content=STRING)
EDIT = tool(
    "Edit",
    ["file_path", "old_string", "new_string"],
    file_path=STRING,
    old_string=STRING,
    new_string=STRING,
)
REPLACE = tool(
    "replace",
    ["file_path", "instruction", "old_string", "new_string"],
    file_path=STRING,
    instruction=STRING,
    old_string=STRING,
    new_string=STRING,
)


def test_a_free_form_patch() -> None:
    offered = Offered("apply_patch", "custom")
    assert call(CREATE, (WRITE, offered), "/w") == (offered, PATCH)


def test_a_patch_as_an_argument() -> None:
    offered = tool("apply_patch", ["input"], input=STRING)
    assert call(CREATE, (offered,), "/w")[1] == {"input": PATCH}


def test_claudes_write_and_edit() -> None:
    assert call(CREATE, (EDIT, WRITE), "/w/") == (
        WRITE,
        {"file_path": "/w/a/b.txt", "content": "one\ntwo\n"},
    )
    assert call(CHANGE, (WRITE, EDIT), "/w") == (
        EDIT,
        {"file_path": "/w/a/b.txt", "old_string": "two", "new_string": "2"},
    )


def test_geminis_replace_and_opencodes_edit() -> None:
    given = call(CHANGE, (REPLACE,), "/w")[1]
    assert given == {
        "file_path": "/w/a/b.txt",
        "old_string": "two",
        "new_string": "2",
        "instruction": "As the user asked",
    }
    offered = tool("edit", ["filePath"], filePath=STRING, oldString=STRING, newString=STRING)
    assert call(CHANGE, (offered,), "/w")[1] == {
        "filePath": "/w/a/b.txt",
        "oldString": "two",
        "newString": "2",
    }


def test_a_change_where_files_can_only_be_written_whole() -> None:
    offered = tool("write_file", ["path", "content"], path=STRING, content=STRING)
    assert call(CHANGE, (offered,), "/w")[1] == {"path": "/w/a/b.txt", "content": "one\n2\n"}


def test_one_editor_that_creates_and_changes() -> None:
    offered = tool("editor", ["path", "new_text"], path=STRING, old_text=STRING, new_text=STRING)
    created = {"path": "/w/a/b.txt", "new_text": "one\ntwo\n"}
    assert call(CREATE, (offered,), "/w") == (offered, created)
    changed = {"path": "/w/a/b.txt", "old_text": "two", "new_text": "2"}
    assert call(CHANGE, (offered,), "/w") == (offered, changed)


def test_tools_whose_names_nobody_has_listed() -> None:
    texts = dict.fromkeys(("path", "file_text", "old_str", "new_str"), STRING)
    does = {"type": "string", "enum": ["view", "create", "str_replace"]}
    offered = tool("text_helper", ["command", "path"], command=does, **texts)
    created = {"path": "/w/a/b.txt", "file_text": "one\ntwo\n", "command": "create"}
    assert call(CREATE, (offered,), "/w") == (offered, created)
    changed = {"path": "/w/a/b.txt", "old_str": "two", "new_str": "2", "command": "str_replace"}
    assert call(CHANGE, (offered,), "/w") == (offered, changed)
    assert tools.shell_tool((offered,)) is None
    plain = tool("put", ["path", "content"], path=STRING, content=STRING)
    assert call(CREATE, (offered, plain), "/w")[0] == offered
    assert call(CREATE, (plain,), "/w")[1] == {"path": "/w/a/b.txt", "content": "one\ntwo\n"}


@pytest.mark.parametrize(("step", "wanted"), [(RUN, "shell"), (CREATE, "file edit")])
def test_no_tool_lists_those_there_are(step: Run | Edit, wanted: str) -> None:
    offered = (Offered("web_search", "other"), tool("look", []))
    with pytest.raises(tools.NoToolError) as caught:
        call(step, offered, "/w")
    assert str(caught.value) == f"the agent offers no {wanted} tool; it offers: web_search, look"


ENTRIES = (Entry("First", "completed"), Entry("Second", "in_progress"))
STATUS = {"type": "string", "enum": ["pending", "in_progress", "completed"]}


def listing(name: str, key: str, text: str, **more: Any) -> Offered:
    properties = {text: STRING, "status": STATUS, **more}
    items = {"type": "object", "properties": properties, "required": list(properties)}
    return tool(name, [key], **{key: {"type": "array", "items": items}})


@pytest.mark.parametrize(
    ("offered", "key", "entries"),
    [
        (
            listing("update_plan", "plan", "step"),
            "plan",
            [
                {"step": "First", "status": "completed"},
                {"step": "Second", "status": "in_progress"},
            ],
        ),
        (
            listing("todowrite", "todos", "content", priority=STRING),
            "todos",
            [
                {"content": "First", "status": "completed", "priority": "medium"},
                {"content": "Second", "status": "in_progress", "priority": "medium"},
            ],
        ),
        (
            listing("write_todos", "todos", "description"),
            "todos",
            [
                {"description": "First", "status": "completed"},
                {"description": "Second", "status": "in_progress"},
            ],
        ),
    ],
)
def test_a_list_is_written_whole(offered: Offered, key: str, entries: list[Any]) -> None:
    assert call(Todo(ENTRIES), (offered,), "/w") == (offered, {key: entries})


def test_a_list_that_is_kept_entry_by_entry_gets_a_call_for_each_change() -> None:
    create = tool("TaskCreate", ["subject", "description"], subject=STRING, description=STRING)
    update = tool("TaskUpdate", ["taskId"], taskId=STRING, status=STATUS)
    first = Todo(tuple(Entry(entry.text, "pending") for entry in ENTRIES))
    assert tools.calls(first, (create, update), "/w") == [
        (create, {"subject": "First", "description": "As the user asked"}),
        (create, {"subject": "Second", "description": "As the user asked"}),
    ]
    assert tools.number(first, (create, update)) == 2
    second = Todo((ENTRIES[0], first.entries[1], Entry("Third", "pending")), first.entries)
    assert tools.calls(second, (create, update), "/w") == [
        (update, {"taskId": "1", "status": "completed"}),
        (create, {"subject": "Third", "description": "As the user asked"}),
    ]
    assert tools.number(second, (create, update)) == 2


def test_a_question_has_its_options_and_what_the_tool_requires() -> None:
    option = {
        "type": "object",
        "properties": {"label": STRING, "description": STRING},
        "required": ["label", "description"],
    }
    question = {
        "type": "object",
        "properties": {
            "id": STRING,
            "question": STRING,
            "header": STRING,
            "options": {"type": "array", "items": option},
            "multiSelect": {"type": "boolean", "default": False},
        },
        "required": ["id", "question", "header", "options", "multiSelect"],
    }
    offered = tool("AskUserQuestion", ["questions"], questions={"type": "array", "items": question})
    assert call(Ask("Which?", ("Red", "Blue")), (offered,), "/w")[1] == {
        "questions": [
            {
                "question": "Which?",
                "header": "Choice",
                "options": [
                    {"label": "Red", "description": "Red"},
                    {"label": "Blue", "description": "Blue"},
                ],
                "id": "choice",
                "multiSelect": False,
            }
        ]
    }


def test_a_file_is_read_with_its_tool_or_in_the_shell() -> None:
    reads = tool("read_file", ["file_path"], file_path=STRING, offset={"type": "integer"})
    assert call(Read("a.txt"), (reads,), "/w/") == (reads, {"file_path": "/w/a.txt"})
    files = {"type": "array", "items": {"properties": {"path": STRING}, "required": ["path"]}}
    several = tool("read_files", ["files"], files=files)
    assert call(Read("a.txt"), (several,), "/w")[1] == {"files": [{"path": "/w/a.txt"}]}
    shell = SHELLS["claude"][0]
    assert call(Read("a.txt"), (shell,), "/w") == (shell, {"command": "cat a.txt"})


def test_a_task_is_given_to_an_agent_that_is_waited_for() -> None:
    claude = tool(
        "Agent",
        ["description", "prompt"],
        prompt=STRING,
        description=STRING,
        run_in_background={"type": "boolean"},
    )
    task = Task("Count.", ("One.",))
    assert call(task, (claude,), "/w")[1] == {
        "prompt": "Count.",
        "run_in_background": False,
        "description": "As the user asked",
    }
    opencode = tool("task", ["prompt", "subagent_type"], prompt=STRING, subagent_type=STRING)
    assert call(task, (opencode,), "/w")[1] == {"prompt": "Count.", "subagent_type": "general"}


@pytest.mark.parametrize(
    "step", [Todo(ENTRIES), Ask("Which?", ("Red", "Blue")), Task("Count.", ("One.",))]
)
def test_without_a_tool_for_it_a_step_cannot_be_called(step: Tool) -> None:
    with pytest.raises(tools.NoToolError, match="it offers: Bash"):
        tools.calls(step, (SHELLS["claude"][0],), "/w")


def test_a_task_is_given_by_the_names_of_its_tool() -> None:
    spawn = tool("spawn_agent", ["systemPrompt", "task"], systemPrompt=STRING, task=STRING)
    assert call(Task("Count.", ()), (spawn,), "/w")[1] == {
        "task": "Count.",
        "systemPrompt": "As the user asked",
    }
    older = tool("Task", ["prompt", "subagent_type"], prompt=STRING, subagent_type=STRING)
    given = call(Task("Count.", ()), (older,), "/w")[1]
    assert given == {"prompt": "Count.", "subagent_type": "general-purpose"}
