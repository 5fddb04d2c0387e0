"""What people met with ACP agents, by value: each report's events."""

from typing import Any

from msgspec import UNSET

from tests.surfaces.acp.wire import normalize, said, sent
from tests.surfaces.codex.wire import is_made_up, of, one, reported, types, warnings


def items(events: list[Any], what: str) -> list[Any]:
    return of(events, f"item.{what}")


def test_a_tool_that_is_announced_twice_is_one_item() -> None:
    events = normalize(reported("ACP-01"))
    first = one(events, "item.started").payload
    assert (first.itemType, first.title) == ("command_execution", "Terminal")
    last = one(events, "item.completed").payload
    assert (last.status, last.title, last.data["command"]) == ("completed", "`ls`", "ls")
    assert last.data["rawInput"] == {"command": "ls"}
    assert one(events, "item.updated").payload.title == "`ls`"


def test_a_tool_that_nobody_announced() -> None:
    events = normalize(reported("ACP-02"))
    started, todo = items(events, "started")
    assert (started.payload.itemType, started.payload.title) == ("dynamic_tool_call", "lookup")
    assert is_made_up(started)
    assert todo.payload.itemType == "unknown"
    assert [e.payload.status for e in items(events, "completed")] == ["completed", "failed"]
    assert one(events, "request.opened").itemId == started.itemId
    assert one(events, "request.resolved").payload.decision == "proceed_once"
    assert warnings(events) == ["tool call tc_todo was not announced"]


def test_a_cancel_on_record_is_a_cancel_whatever_the_agent_says() -> None:
    events = normalize(reported("ACP-03"))
    end = one(events, "turn.completed").payload
    assert (end.state, end.stopReason, end.usage) == ("cancelled", "end_turn", UNSET)
    tool = one(events, "item.completed")
    assert (tool.payload.status, is_made_up(tool)) == ("failed", True)
    assert warnings(events) == ["the usage is all zero: it is not known"]


def test_without_the_cancel_the_same_answer_is_an_end() -> None:
    entries = [e for e in reported("ACP-03") if b"session/cancel" not in e[2]]
    assert one(normalize(entries), "turn.completed").payload.state == "completed"


def test_what_comes_late_for_a_tool() -> None:
    events = normalize(reported("ACP-05"))
    assert one(events, "turn.completed").payload.state == "completed"
    ended = items(events, "completed")
    assert [(e.payload.status, is_made_up(e)) for e in ended] == [(UNSET, True), (UNSET, True)]
    assert warnings(events) == ["tool call tc2 is over: tool_call_update comes late"] * 2
    assert all(e.turnId is UNSET for e in of(events, "runtime.warning"))


def test_updates_before_the_answer_that_names_their_session() -> None:
    events = normalize(reported("ACP-06"))
    assert types(events) == [
        "session.started",
        "thread.started",
        "session.configured",
        "session.state.changed",
    ]
    configured = one(events, "session.configured")
    assert configured.payload.config["availableCommands"][0]["name"] == "x"
    assert configured.threadId == one(events, "thread.started").threadId
    assert configured.providerRefs.providerSessionId == "s1"


def test_updates_that_nobody_knows_and_numbers_that_are_none() -> None:
    events = normalize(reported("ACP-07"))
    bad, unknown = warnings(events)
    assert "'11383'" in bad
    assert unknown == "session/update tool_call_content_chunk is not known"
    usage = one(events, "thread.token-usage.updated").payload.usage
    assert usage == {"scope": "thread", "tokens": {"used": 300000, "size": 262144}}
    info = one(events, "thread.metadata.updated").payload
    assert info.metadata == {"updatedAt": "2026-01-01T00:00:00Z"}
    echo = one(events, "item.completed").payload
    assert (echo.itemType, echo.data["text"]) == ("user_message", "echo of live prompt")
    assert not of(events, "content.delta")


def test_history_is_not_new_output() -> None:
    events = normalize(reported("ACP-08"))
    assert not [t for t in types(events) if t.startswith("turn.")]
    ended = items(events, "completed")
    assert [e.payload.data.get("text") for e in ended] == ["q1", "a1", None, "q2", "a2"]
    assert all(e.payload.data["replay"] is True for e in ended)
    assert ended[2].payload.data["command"] == "ls"
    assert one(events, "session.state.changed").payload.state == "ready"


def test_a_choice_is_no_approval() -> None:
    events = normalize(reported("ACP-09"))
    asked = of(events, "request.opened")
    assert [e.payload.requestType for e in asked] == ["unknown", "unknown"]
    assert [o["optionId"] for o in asked[0].payload.args["options"]] == [
        "0",
        "1",
        "approve_for_session",
    ]
    assert [e.payload.decision for e in of(events, "request.resolved")] == ["1", "cancelled"]


def test_an_id_used_again_in_a_later_turn_is_another_tool() -> None:
    events = normalize(reported("ACP-10"))
    first, second = items(events, "completed")
    assert first.itemId != second.itemId
    assert first.turnId != second.turnId
    assert [e.payload.status for e in (first, second)] == ["completed", "failed"]
    assert [e.payload.itemType for e in (first, second)] == ["dynamic_tool_call", "file_change"]


def test_an_update_is_a_patch() -> None:
    events = normalize(reported("ACP-11"))
    last = next(e for e in items(events, "completed") if e.payload.itemType == "file_change")
    assert (last.payload.title, last.payload.data["kind"]) == ("Edit a", "edit")
    assert last.payload.data["rawInput"] == {"path": "/w/a"}
    assert one(events, "content.delta").payload.delta == ""


def test_log_lines_among_the_messages() -> None:
    events = normalize(
        [
            ("out", "stdin", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}),
            ("out", "stdin", {"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {}}),
            *reported("ACP-12"),
        ]
    )
    assert types(events) == [
        "runtime.warning",
        "session.configured",
        "runtime.warning",
        "session.started",
        "thread.started",
        "session.state.changed",
    ]
    assert one(events, "session.configured").payload.config["protocolVersion"] == 1


def test_a_prompt_without_an_id_is_warned_about() -> None:
    events = normalize([sent("session/prompt"), said("hi")])
    assert warnings(events) == ["the client's prompt has no id: nothing can answer it"]
    assert "turn.started" not in types(events)
