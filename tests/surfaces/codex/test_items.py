"""Thread items as canonical items: types, statuses, titles, and the text that is compared."""

from typing import Any

import pytest
from msgspec import UNSET

from harness.canonical.names import ITEM_TYPES
from harness.surfaces.codex_items import TYPES, view
from tests.surfaces.codex.wire import (
    APP,
    EXEC,
    normalize,
    note,
    of,
    one,
    turn_completed,
    turn_started,
    warnings,
)

CASES: list[tuple[dict[str, Any], str, str, Any, Any]] = [
    ({"type": "agentMessage", "text": "x"}, "assistant_message", "completed", UNSET, UNSET),
    ({"type": "plan", "text": "x"}, "plan", "completed", UNSET, UNSET),
    ({"type": "webSearch", "query": "q"}, "web_search", "completed", "q", UNSET),
    ({"type": "imageView", "path": "/p.png"}, "image_view", "completed", "/p.png", UNSET),
    ({"type": "enteredReviewMode", "review": "r"}, "review_entered", "completed", "r", UNSET),
    ({"type": "exitedReviewMode", "review": "r"}, "review_exited", "completed", "r", UNSET),
    ({"type": "contextCompaction"}, "context_compaction", "completed", UNSET, UNSET),
    (
        {"type": "commandExecution", "command": "ls", "status": "completed", "exitCode": 0},
        "command_execution",
        "completed",
        "ls",
        UNSET,
    ),
    (
        {"type": "commandExecution", "command": "ls", "status": "completed", "exitCode": 3},
        "command_execution",
        "failed",
        "ls",
        "exit code 3",
    ),
    (
        {"type": "commandExecution", "command": "ls", "status": "declined", "exitCode": None},
        "command_execution",
        "declined",
        "ls",
        UNSET,
    ),
    (
        {"type": "mcpToolCall", "server": "s", "tool": "t", "status": "failed",
         "error": {"message": "no"}},
        "mcp_tool_call",
        "failed",
        "s/t",
        "no",
    ),
    (
        {"type": "dynamicToolCall", "tool": "t", "status": "completed", "success": False},
        "dynamic_tool_call",
        "failed",
        "t",
        UNSET,
    ),
    (
        {"type": "collabAgentToolCall", "tool": "wait", "status": "interrupted",
         "receiverThreadIds": ["b"]},
        "collab_agent_tool_call",
        "failed",
        "wait",
        UNSET,
    ),
    (
        {"type": "subAgentActivity", "kind": "started", "agentThreadId": "b", "agentPath": "/x"},
        "collab_agent_tool_call",
        "completed",
        "started",
        "/x",
    ),
    ({"type": "sleep", "durationMs": 5}, "unknown", "completed", "sleep", "native item type sleep"),
]  # fmt: skip


@pytest.mark.parametrize(("item", "type_", "status", "title", "detail"), CASES)
def test_an_item_at_its_end(
    item: dict[str, Any], type_: str, status: str, title: Any, detail: Any
) -> None:
    payload = view({"id": "i", **item}, ended=True).payload
    assert (payload.itemType, payload.status, payload.title, payload.detail) == (
        type_,
        status,
        title,
        detail,
    )


def test_every_native_type_has_a_canonical_one_and_the_other_way_round() -> None:
    assert set(TYPES.values()) == set(ITEM_TYPES)


def test_an_unknown_type_is_kept_whole_with_a_warning() -> None:
    events = normalize(
        APP, [turn_started(), note("item/completed", item={"type": "dream", "id": "d", "of": 1})]
    )
    done = one(events, "item.completed").payload
    assert (done.itemType, done.title, done.data) == ("unknown", "dream", {"of": 1})
    assert warnings(events) == ["item type dream is not known"]


def test_an_unknown_status_is_never_made_a_known_one() -> None:
    item = {"type": "fileChange", "id": "f", "changes": [], "status": "vanished"}
    events = normalize(APP, [turn_started(), note("item/completed", item=item)])
    done = one(events, "item.completed").payload
    assert (done.status, done.data["status"]) == (UNSET, "vanished")
    assert warnings(events) == ["item status vanished is not known"]


def test_an_item_that_ends_in_progress_has_no_known_outcome() -> None:
    payload = view({"type": "fileChange", "id": "f", "status": "inProgress"}, ended=True).payload
    assert (payload.status, payload.data) == (UNSET, {"status": "inProgress"})


def test_file_changes_have_one_form() -> None:
    app = [
        {"path": "a", "kind": {"type": "add"}, "diff": "+x"},
        {"path": "b", "kind": {"type": "update", "move_path": "c"}, "diff": ""},
    ]
    shown = view({"type": "fileChange", "id": "f", "changes": app}, ended=True).payload
    assert shown.data["changes"] == [
        {"path": "a", "kind": "add", "diff": "+x"},
        {"path": "b", "kind": "update", "diff": "", "movePath": "c"},
    ]
    assert shown.title == "add a, update b"
    plain = [{"path": "a", "kind": "add"}]
    shown = view({"type": "file_change", "id": "f", "changes": plain}, ended=True).payload
    assert (shown.data["changes"], shown.title) == (plain, "add a")


def test_both_wires_name_the_parts_of_a_command_alike() -> None:
    app = {"type": "commandExecution", "command": "ls", "aggregatedOutput": "a\n", "exitCode": 1}
    exec_ = {"type": "command_execution", "command": "ls", "aggregated_output": "a\n",
             "exit_code": 1}  # fmt: skip
    payloads = [view({"id": "i", **item}, ended=True).payload for item in (app, exec_)]
    assert payloads[0] == payloads[1]
    assert payloads[0].data == {"command": "ls", "output": "a\n", "exitCode": 1}


def test_reasoning_is_joined_and_keeps_its_parts() -> None:
    item = {"type": "reasoning", "id": "r", "summary": ["a", "b"], "content": ["raw"]}
    lines = [
        turn_started(),
        note("item/started", item={**item, "summary": [], "content": []}),
        note("item/reasoning/summaryTextDelta", itemId="r", delta="a", summaryIndex=0),
        note("item/reasoning/summaryPartAdded", itemId="r", summaryIndex=1),
        note("item/reasoning/summaryTextDelta", itemId="r", delta="b", summaryIndex=1),
        note("item/reasoning/textDelta", itemId="r", delta="raw", contentIndex=0),
        note("item/completed", item=item),
    ]
    events = normalize(APP, lines)
    assert one(events, "item.completed").payload.data == {
        "text": "raw",
        "summary": "ab",
        "summaryParts": ["a", "b"],
    }
    deltas = [e.payload for e in of(events, "content.delta")]
    assert [(d.streamKind, d.summaryIndex, d.contentIndex) for d in deltas] == [
        ("reasoning_summary_text", 0, UNSET),
        ("reasoning_summary_text", 1, UNSET),
        ("reasoning_text", UNSET, 0),
    ]
    assert one(events, "item.updated").payload.data == {"summaryIndex": 1}
    assert warnings(events) == []


def test_output_that_was_lost_before_it_was_listened_for() -> None:
    # Codex 0.163.0 does this with most commands that go on for a while.
    command = {"type": "commandExecution", "id": "c", "command": "ticks"}
    lines = [
        turn_started(),
        note("item/started", item=command),
        note("item/commandExecution/outputDelta", itemId="c", delta="tick 2\n"),
        note("item/completed", item={**command, "aggregatedOutput": "tick 1\ntick 2\n"}),
        turn_completed(),
    ]
    events = normalize(APP, lines)
    data = one(events, "item.completed").payload.data
    assert data == {"command": "ticks", "finalOutput": "tick 1\ntick 2\n"}
    (said,) = warnings(events)
    assert said.endswith("7 characters of command_output in 1 deltas, 14 at the end")


def test_a_users_message_has_its_text() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "localImage", "path": "/p"}]
    item = {"type": "userMessage", "id": "u", "content": content}
    done = one(
        normalize(APP, [turn_started(), note("item/completed", item=item)]), "item.completed"
    )
    assert done.payload.data == {"content": content, "text": "a"}


def test_a_todo_list_of_exec_is_a_plan() -> None:
    item = {"id": "item_0", "type": "todo_list", "items": [{"text": "a", "completed": True}]}
    events = normalize(EXEC, [{"type": "turn.started"}, {"type": "item.started", "item": item}])
    assert one(events, "item.started").payload.title == "1 of 1 steps done"
    (step,) = one(events, "turn.plan.updated").payload.plan
    assert (step.step, step.status) == ("a", "completed")
