"""What shows a row, and how it came: each rule on events of its own, and on one of the corpus."""

from pathlib import Path
from typing import Any

import pytest

from harness.canonical import EventBase, Raw
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.matrix.coverage import scan
from harness.matrix.rows import begins, made_up, shown
from harness.project import find_project
from harness.projection import ChatProjection

CASSETTES = find_project(Path(__file__)).cassettes
IDS: dict[str, Any] = {
    "eventId": "e",
    "provider": "codex",
    "sessionId": "s",
    "createdAt": "2026-01-01T00:00:00Z",
    "threadId": "t",
    "turnId": "u",
    "raw": Raw("codex.sdk.thread-event", {}),
}


def item(type_: str, data: Any = None, status: str = "completed") -> EventBase:
    payload: Any = pl.ItemLifecyclePayload(type_, status, data={} if data is None else data)  # type: ignore[arg-type] # any
    return ev.ItemCompleted(**IDS, itemId="i", payload=payload)


def request(type_: str) -> EventBase:
    payload = pl.RequestOpenedPayload(type_)  # type: ignore[arg-type] # any
    return ev.RequestOpened(**IDS, requestId="r", payload=payload)


def delta(stream: str) -> EventBase:
    payload = pl.ContentDeltaPayload(stream, "x")  # type: ignore[arg-type] # any
    return ev.ContentDelta(**IDS, itemId="i", payload=payload)


def rows(event: EventBase) -> set[str]:
    return {row for chat in ChatProjection().feed(event) for row in shown(event, chat)}


REFERENCE = {"content": [{"type": "terminal", "terminalId": "1"}]}


def change(**more: Any) -> dict[str, Any]:
    return {"changes": [{"path": "a", "kind": "update", **more}]}


@pytest.mark.parametrize(
    ("event", "shows", "not_shown"),
    [
        (item("assistant_message", {"text": "hi"}), "text", "thinking"),
        (item("reasoning", {"text": "hm"}), "thinking", "text"),
        (item("command_execution"), "tool", "diff"),
        (item("file_change", change(diff="@@ -1 +1 @@\n-a\n+b\n")), "diff", "terminal"),
        (item("collab_agent_tool_call"), "task", "diff"),
        (item("command_execution", REFERENCE), "terminal", "diff"),
        (delta("command_output"), "terminal", "text"),
        (request("command_execution_approval"), "permission", "question"),
        (
            ev.UserInputRequested(**IDS, requestId="r", payload=pl.UserInputRequestedPayload([])),
            "question",
            "permission",
        ),
        (
            ev.TurnPlanUpdated(**IDS, payload=pl.TurnPlanUpdatedPayload([])),
            "plan",
            "todo",
        ),
        (
            ev.TurnPlanUpdated(
                **IDS | {"raw": Raw("opencode.event", {"type": "todo.updated"})},
                payload=pl.TurnPlanUpdatedPayload([]),
            ),
            "todo",
            "plan",
        ),
        (
            ev.ThreadTokenUsageUpdated(**IDS, payload=pl.ThreadTokenUsageUpdatedPayload({"in": 1})),
            "usage",
            "status",
        ),
        (
            ev.SessionConfigured(**IDS, payload=pl.SessionConfiguredPayload({"modes": {"a": 1}})),
            "mode",
            "status",
        ),
        (ev.TurnStarted(**IDS, payload=pl.TurnStartedPayload()), "status", "text"),
    ],
)
def test_each_kind_is_shown_by_what_is_of_it(event: EventBase, shows: str, not_shown: str) -> None:
    found = rows(event)
    assert shows in found
    assert not_shown not in found


@pytest.mark.parametrize(
    ("event", "row"),
    [
        (item("user_message", {"text": "hi"}), "text"),
        (item("file_change", change()), "diff"),
        (item("mcp_tool_call"), "task"),
        (request("unknown"), "permission"),
        (ev.SessionConfigured(**IDS, payload=pl.SessionConfiguredPayload({"model": "m"})), "mode"),
        (ev.RuntimeWarning(**IDS, payload=pl.RuntimeWarningPayload("w")), "status"),
    ],
)
def test_what_is_only_like_it_does_not_show_a_kind(event: EventBase, row: str) -> None:
    assert row not in rows(event)


def test_a_terminal_is_a_stream_or_a_reference_and_else_made_up() -> None:
    assert not made_up("terminal", delta("command_output"))
    assert not made_up("terminal", item("command_execution", REFERENCE))
    assert made_up("terminal", item("command_execution"))
    assert not made_up("tool", item("command_execution"))


def test_what_says_that_the_agent_has_begun() -> None:
    assert begins(ev.TurnStarted(**IDS, payload=pl.TurnStartedPayload()))
    for state, begun in (("running", True), ("ready", False)):
        payload = pl.SessionStateChangedPayload(state)  # type: ignore[arg-type] # any
        assert begins(ev.SessionStateChanged(**IDS, payload=payload)) == begun


@pytest.mark.parametrize(
    ("cassette", "row", "native"),
    [
        ("codex-app-server/codex-0.163.0/file-edit", "diff", True),
        ("codex-exec/codex-0.163.0/file-edit", "diff", None),
        ("codex-app-server/codex-0.163.0/slow-output", "terminal", True),
        ("codex-exec/codex-0.163.0/command", "terminal", False),
        ("codex-app-server/codex-0.163.0/text", "status", True),
        ("acp/gemini-cli-0.61.0/text", "status", False),
        ("codex-app-server/codex-0.163.0/text", "turnId and runId", True),
        ("claude-sdk/claude-code-2.1.332/text", "turnId and runId", False),
        ("opencode/opencode-1.18.33/subagent", "Task child session fields", False),
        ("opencode/opencode-1.18.33/text", "Task child session fields", None),
    ],
)
def test_how_a_row_came_in_a_conversation(cassette: str, row: str, native: bool | None) -> None:
    evidence = scan(CASSETTES / f"{cassette}.jsonl").evidence(row)
    assert (evidence.native if evidence else None) == native


def test_the_frame_of_a_sighting_is_the_first_native_one() -> None:
    coverage = scan(CASSETTES / "acp/gemini-cli-0.61.0/command-approved.jsonl")
    evidence = coverage.evidence("permission")
    assert evidence is not None
    assert (evidence.kind, evidence.count) == ("request session/request_permission", 1)
    text = coverage.evidence("text")
    assert text is not None
    assert text.kind == "session/update agent_message_chunk"
    assert text.count > text.made > 0
