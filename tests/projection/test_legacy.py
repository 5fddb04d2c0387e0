"""The older events: EVENTS.md 2.1 and 2.2 read backwards, and what has no counterpart."""

from collections import Counter
from typing import get_args

import pytest

from harness.canonical import EVENT_CLASSES
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.projection.legacy import LegacyProjection, LegacyType
from tests.projection.corpus import IDS, events


def test_the_types_are_those_of_the_two_tables(request: pytest.FixtureRequest) -> None:
    text = (request.config.rootpath / "harness/canonical/EVENTS.md").read_text(encoding="utf-8")
    tables = text.split("### 2.1")[1].split("### 2.3")[0]
    rows = {line.split("`")[1] for line in tables.splitlines() if line.startswith("| `")}
    assert rows == set(get_args(LegacyType))


@pytest.mark.parametrize("cassette", IDS)
def test_every_event_is_projected_or_accounted_for(cassette: str) -> None:
    projection = LegacyProjection()
    canonical = events(cassette)
    given = [older for event in canonical for older in projection.feed(event)]
    assert projection.close() == []
    assert len(given) + sum(left.count for left in projection.left) == len(canonical)
    assert all(left.reason for left in projection.left)
    order = [event.eventId for event in canonical]
    places = [order.index(older.eventId) for older in given]
    assert places == sorted(set(places))


def test_a_command_that_is_approved() -> None:
    projection = LegacyProjection()
    canonical = events("codex-app-server/codex-0.163.0/command-approved")
    given = [older for event in canonical for older in projection.feed(event)]
    title = "/bin/bash -lc 'touch made.txt'"
    command = {"itemType": "command_execution", "title": title}
    asked = {"requestType": "command_execution_approval"}
    assert [(older.type, older.payload) for older in given][1:] == [
        ("thread.started", {}),
        ("turn.started", {}),
        ("tool.started", {**command, "status": "inProgress"}),
        ("approval.requested", {**asked, "detail": title}),
        ("approval.resolved", {**asked, "decision": "accept"}),
        ("tool.completed", {**command, "status": "completed"}),
        ("message.delta", {"delta": "The file"}),
        ("message.delta", {"delta": " is there."}),
        ("message.completed", {"text": "The file is there."}),
        ("turn.completed", {"state": "completed"}),
        ("session.exited", {}),
    ]
    assert {left.what: left.count for left in projection.left} == {
        "config.warning": 1,
        "session.configured": 1,
        "thread.state.changed": 4,
        "item.started (user_message)": 1,
        "item.completed (user_message)": 1,
        "thread.token-usage.updated": 2,
        "account.rate-limits.updated": 2,
        "item.started (assistant_message)": 1,
    }


def test_what_v2_adds_is_taken_off() -> None:
    projection = LegacyProjection()
    turn = pl.TurnCompletedPayload("failed", "x", {"tokens": 1}, {}, 0.5, "broken")
    error = pl.RuntimeErrorPayload("broken", "provider_error", {"code": 1})
    exited = pl.SessionExitedPayload("gone", exitKind="error", recoverable=True)
    given = [
        *projection.feed(ev.TurnCompleted("e1", "acp", "s", "t", turn)),
        *projection.feed(ev.RuntimeError("e2", "acp", "s", "t", error)),
        *projection.feed(ev.SessionExited("e3", "acp", "s", "t", exited)),
    ]
    assert [older.payload for older in given] == [
        {"state": "failed", "errorMessage": "broken"},
        {"message": "broken"},
        {},
    ]


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (
            ev.ContentDelta("e", "acp", "s", "t", pl.ContentDeltaPayload("reasoning_text", "x")),
            "content.delta (reasoning_text)",
        ),
        (
            ev.ItemCompleted("e", "acp", "s", "t", pl.ItemLifecyclePayload("reasoning")),
            "item.completed (reasoning)",
        ),
        (
            ev.RequestOpened("e", "acp", "s", "t", pl.RequestOpenedPayload("tool_user_input")),
            "request.opened (tool_user_input)",
        ),
        (
            ev.TurnAborted("e", "acp", "s", "t", pl.TurnAbortedPayload("x")),
            "turn.aborted",
        ),
    ],
)
def test_what_has_no_counterpart_is_counted(event: ev.EventBase, what: str) -> None:
    projection = LegacyProjection()
    assert projection.feed(event) == []
    assert Counter({left.what: left.count for left in projection.left}) == {what: 1}


def test_every_type_has_an_answer() -> None:
    """Nothing falls between the tables: the older types come from these and no others."""
    kept = {"session.started", "session.exited", "thread.started", "turn.started", "turn.completed",
            "runtime.error", "content.delta", "item.started", "item.completed",
            "request.opened", "request.resolved"}  # fmt: skip
    assert kept < set(EVENT_CLASSES)
