"""What is read out of the providers' own values: diffs, choices, tools, modes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from harness.canonical.events import Raw
from harness.projection.chat_event import FileDiff
from harness.projection.facts import (
    choices,
    file_diffs,
    is_todo,
    modes,
    native_calls,
    unified_files,
)

DIFF = """\
diff --git a/old.sql b/old.sql
--- a/old.sql
+++ b/old.sql
@@ -1,2 +1,2 @@ select
--- a comment of SQL
+++ b/not/a/file
 1
@@ -9 +9 @@
-x
+y
diff --git a/gone b/gone
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
"""


def test_a_line_within_a_hunk_is_no_header() -> None:
    assert unified_files(DIFF) == [
        FileDiff("old.sql", hunks=["@@ -1,2 +1,2 @@ select", "@@ -9 +9 @@"]),
        FileDiff("gone", hunks=["@@ -1 +0,0 @@"]),
    ]


@given(st.lists(st.sampled_from([*DIFF.splitlines(), "@@ -1,99999999999 +², @@", "@@ ", ""])))
def test_any_lines_give_files_with_names(lines: list[str]) -> None:
    assert all(file.path for file in unified_files("\n".join(lines)))


@pytest.mark.parametrize(
    ("data", "files"),
    [
        (
            {"changes": [{"path": "a", "kind": "update", "diff": "@@ -1 +1 @@\n-x\n+y\n"}]},
            [FileDiff("a", "update", UNSET, ["@@ -1 +1 @@"], "@@ -1 +1 @@\n-x\n+y\n")],
        ),
        (
            {
                "changes": [{"path": "a", "kind": "add", "movePath": "b"}],
                "content": [{"type": "diff", "path": "a", "oldText": None, "newText": "y"}],
            },
            [FileDiff("a", "add", "b", UNSET, UNSET, None, "y")],
        ),
        ({"changes": [{"path": 1}, "a", None]}, []),
        ({"changes": {"a": {}}}, []),
    ],
)
def test_the_files_of_an_item(data: Any, files: list[FileDiff]) -> None:
    assert file_diffs(data) == files


def test_choices_calls_and_modes_by_each_provider_s_name_of_them() -> None:
    assert choices({"options": [{"optionId": "a"}]}) == [{"optionId": "a"}]
    assert choices({"availableDecisions": ["accept"]}) == ["accept"]
    assert choices({"options": []}) is UNSET
    assert choices("options") is UNSET
    assert list(native_calls({"itemId": "i", "toolCall": {"toolCallId": "t"}})) == ["i", "t"]
    assert list(native_calls({"tool": {"callID": "c", "messageID": "m"}})) == ["c"]
    assert modes({"permissionMode": "plan", "modes": None, "cwd": "/w"}) == {
        "permissionMode": "plan"
    }


def test_a_list_is_a_todo_list_where_frame_or_tool_says_so() -> None:
    assert is_todo(Raw("opencode.event", {"type": "todo.updated"}), "")
    assert is_todo(Raw("codex.sdk.thread-event", {"item": {"type": "todo_list"}}), "")
    assert is_todo(Raw("cursor.acp.notification", {}, "cursor/update_todos"), "")
    assert is_todo(UNSET, "TodoWrite")
    assert not is_todo(Raw("acp.notification", {"type": ["todo"]}, "session/update"), "Bash")
    assert not is_todo(UNSET, "")
