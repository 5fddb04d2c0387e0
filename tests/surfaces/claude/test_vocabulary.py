"""The vocabulary against the normalizer, and against the SDK that is installed."""

from importlib import util
from pathlib import Path

import pytest

from harness.canonical import EVENT_CLASSES
from harness.surfaces import surface
from harness.surfaces.claude_sdk.normalizer import Normalizer
from tests.surfaces.claude.samples import SAMPLES
from tests.surfaces.claude.wire import CLAUDE, HEADER, events_of, frames, is_made_up, kinds, types
from tests.surfaces.handled import of_claude

KINDS = surface(CLAUDE).vocabulary.kinds
MAPPED = sorted(kind for kind, entry in KINDS.items() if entry.to)

# EVENTS.md 4.1, first column to second.
ROWS = {
    "assistant": {"item.updated", "item.completed"},
    "stream_event/content_block_delta/text_delta": {"content.delta"},
    "stream_event/content_block_start/tool_use": {"item.started"},
    "stream_event/content_block_start/server_tool_use": {"item.started"},
    "stream_event/content_block_start/mcp_tool_use": {"item.started"},
    "stream_event/content_block_stop": {"item.completed"},
    "result/success": {"turn.completed"},
    "result/error_during_execution": {"runtime.error", "turn.completed"},
    "system/init": {"session.configured"},
    "system/status": {"session.state.changed"},
    "system/compact_boundary": {"thread.state.changed"},
    "system/hook_started": {"hook.started"},
    "system/hook_progress": {"hook.progress"},
    "system/hook_response": {"hook.completed"},
    "tool_progress": {"tool.progress"},
    "tool_use_summary": {"tool.summary"},
    "auth_status": {"auth.status"},
    "system/task_started": {"task.started"},
    "system/task_progress": {"task.progress"},
    "system/task_notification": {"task.completed"},
    "system/files_persisted": {"files.persisted"},
    "user": {"item.started", "item.completed"},
    "user/replay": {"item.started", "item.completed"},
    "rate_limit": {"account.rate-limits.updated"},
    "request can_use_tool": {"request.opened"},
    "client-response can_use_tool": {"request.resolved"},
}


def test_the_normalizer_handles_exactly_the_vocabulary() -> None:
    mapped, passed = of_claude(Normalizer(HEADER))
    assert mapped == set(MAPPED)
    assert passed == {kind for kind, entry in KINDS.items() if entry.ignored}


@pytest.mark.parametrize("kind", sorted(ROWS))
def test_every_row_of_events_md_4(kind: str) -> None:
    assert ROWS[kind] <= set(KINDS[kind].to)


def test_every_type_is_one_of_events_md_and_every_reason_a_sentence() -> None:
    for kind, entry in KINDS.items():
        assert set(entry.to) <= set(EVENT_CLASSES), kind
        assert not entry.ignored or len(entry.ignored.split()) > 3, kind


def test_there_is_a_sample_of_every_mapped_kind() -> None:
    assert set(SAMPLES) == set(MAPPED)


@pytest.mark.parametrize("kind", MAPPED)
def test_a_kind_gives_exactly_what_the_vocabulary_says(kind: str) -> None:
    given: set[str] = set()
    for entries in SAMPLES[kind]:
        assert kinds(entries)[-1] == kind
        cassette = frames(entries)
        before = events_of(cassette[:-1], close=False)
        events = events_of(cassette, close=False)
        caused = events[len(before) :]
        assert types(events[: len(before)]) == types(before)
        assert caused
        given |= {e.type for e in caused if not is_made_up(e)}
    # Whatever names a session first starts its thread.
    given -= {"thread.started"} - set(KINDS[kind].to)
    assert given == set(KINDS[kind].to)


def test_the_vocabulary_is_of_the_cli_that_the_sdk_carries() -> None:
    spec = util.find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        pytest.skip("no claude_agent_sdk here: pip install claude-agent-sdk")
    carried = Path(spec.origin).parent / "_bundled" / "claude.version"
    assert carried.read_text("utf-8").startswith(surface(CLAUDE).vocabulary.version)
