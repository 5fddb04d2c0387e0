"""Each agent's own tools are found, and called with arguments that fit them."""

from typing import Any

import pytest

from harness.model_server import tools
from harness.model_server.view import Offered
from harness.scenarios import Edit, Run

RUN = Run("echo hi")
CREATE = Edit("a/b.txt", "", "one\ntwo\n", None, "one\ntwo\n")
CHANGE = Edit("a/b.txt", "two", "2", "one\ntwo\n", "one\n2\n")
STRING = {"type": "string"}
PATCH = "*** Begin Patch\n*** Add File: a/b.txt\n+one\n+two\n*** End Patch"


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
    assert tools.call(RUN, (other, offered), "/w") == (offered, {key: "echo hi"})


def test_a_shell_tool_that_takes_a_list() -> None:
    offered = tool("shell", ["command"], command={"type": ["array", "null"]})
    assert tools.call(RUN, (offered,), "/w")[1] == {"command": ["bash", "-lc", "echo hi"]}


def test_the_apis_own_shell() -> None:
    offered = Offered("local_shell", "local_shell")
    assert tools.call(RUN, (offered,), "/w")[1] == {"command": ["bash", "-lc", "echo hi"]}


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
    assert tools.call(RUN, (offered,), "/w")[1] == {
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
    assert tools.call(CREATE, (WRITE, offered), "/w") == (offered, PATCH)


def test_a_patch_as_an_argument() -> None:
    offered = tool("apply_patch", ["input"], input=STRING)
    assert tools.call(CREATE, (offered,), "/w")[1] == {"input": PATCH}


def test_claudes_write_and_edit() -> None:
    assert tools.call(CREATE, (EDIT, WRITE), "/w/") == (
        WRITE,
        {"file_path": "/w/a/b.txt", "content": "one\ntwo\n"},
    )
    assert tools.call(CHANGE, (WRITE, EDIT), "/w") == (
        EDIT,
        {"file_path": "/w/a/b.txt", "old_string": "two", "new_string": "2"},
    )


def test_geminis_replace_and_opencodes_edit() -> None:
    given = tools.call(CHANGE, (REPLACE,), "/w")[1]
    assert given == {
        "file_path": "/w/a/b.txt",
        "old_string": "two",
        "new_string": "2",
        "instruction": "As the user asked",
    }
    offered = tool("edit", ["filePath"], filePath=STRING, oldString=STRING, newString=STRING)
    assert tools.call(CHANGE, (offered,), "/w")[1] == {
        "filePath": "/w/a/b.txt",
        "oldString": "two",
        "newString": "2",
    }


def test_a_change_where_files_can_only_be_written_whole() -> None:
    offered = tool("write_file", ["path", "content"], path=STRING, content=STRING)
    assert tools.call(CHANGE, (offered,), "/w")[1] == {"path": "/w/a/b.txt", "content": "one\n2\n"}


@pytest.mark.parametrize(("step", "wanted"), [(RUN, "shell"), (CREATE, "file edit")])
def test_no_tool_lists_those_there_are(step: Run | Edit, wanted: str) -> None:
    offered = (Offered("web_search", "other"), tool("look", []))
    with pytest.raises(tools.NoToolError) as caught:
        tools.call(step, offered, "/w")
    assert str(caught.value) == f"the agent offers no {wanted} tool; it offers: web_search, look"
