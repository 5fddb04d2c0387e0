"""The complete chat events of one cassette of each of three surfaces, as they are rendered."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.projection.chat_event import Permission
from tests.projection.corpus import events, project

CASSETTES = (
    "codex-app-server/codex-0.163.0/command-approved",
    "claude-sdk/claude-code-2.1.332/command-approved",
    "acp/claude-agent-acp-0.49.0/command-approved",
)


PINNED = Path(__file__).parent / "pinned"


def pinned(cassette: str) -> Path:
    """Where the chat events of a cassette are: what `harness replay --stage chat_event` prints."""
    return PINNED / f"{cassette.partition('/')[0]}.jsonl"


@pytest.mark.parametrize("cassette", CASSETTES)
def test_the_chat_events_are_the_pinned_ones(cassette: str) -> None:
    lines = [msgspec.json.encode(chat).decode() for chat in project(events(cassette))]
    # Read them before pinning others: `harness replay --stage chat_event CASSETTE > FILE`.
    assert lines == pinned(cassette).read_text(encoding="utf-8").splitlines()


def test_a_command_that_is_approved_reads_as_a_story() -> None:
    """The shape of it in words, whatever else an event carries."""
    story: list[Any] = [
        (chat.kind, chat.phase)
        for chat in project(events(CASSETTES[0]))
        if chat.kind in {"text", "tool", "permission", "terminal"}
    ]
    assert story == [
        ("text", "started"),
        ("text", "delta"),
        ("text", "completed"),
        ("tool", "started"),
        ("permission", "started"),
        ("permission", "completed"),
        ("tool", "completed"),
        ("text", "started"),
        ("text", "delta"),
        ("text", "delta"),
        ("text", "completed"),
    ]


def test_what_belongs_to_a_tool_call_carries_its_id() -> None:
    for cassette in CASSETTES:
        chats = project(events(cassette))
        tools = {chat.partId: chat for chat in chats if chat.kind == "tool"}
        (asked,) = (c for c in chats if c.kind == "permission" and c.phase == "started")
        assert asked.parentId in tools, cassette
        assert asked.toolCallId == tools[str(asked.parentId)].toolCallId
        assert isinstance(asked.permission, Permission)
        assert asked.permission.state == "pending"
        (answered,) = (c for c in chats if c.kind == "permission" and c.phase == "completed")
        assert isinstance(answered.permission, Permission)
        assert answered.permission.choices == asked.permission.choices
        assert answered.permission.decision, cassette


def test_no_pinned_file_is_left_over() -> None:
    assert sorted(PINNED.iterdir()) == sorted(pinned(cassette) for cassette in CASSETTES)


def test_a_sub_agent_is_within_its_call_and_its_task_outlives_it() -> None:
    chats = project(events("claude-sdk/claude-code-2.1.332/subagent"))
    (call,) = (c for c in chats if c.kind == "tool" and c.phase == "started")
    (prompt,) = (c for c in chats if c.parentId == call.partId and c.phase == "started")
    assert (prompt.kind, prompt.role) == ("text", "user")
    assert "parentId" not in prompt.synthesized
    (task, *told) = (c for c in chats if c.kind == "task")
    assert task.toolCallId == call.toolCallId
    assert task.parentId != call.partId
    assert [c.phase for c in told] == ["updated", "completed"]


def test_a_todo_list_is_none_of_the_plans() -> None:
    def kinds(cassette: str) -> set[str]:
        return {str(c.kind) for c in project(events(cassette)) if c.kind in {"plan", "todo"}}

    assert kinds("claude-sdk/claude-code-2.1.332/plan") == {"todo"}
    assert kinds("cursor-acp/cursor-2026.08.11/cursor-plan") == {"plan", "todo"}
    assert kinds("cursor-acp/cursor-2026.08.11/cursor-plan-refused") == {"plan"}
