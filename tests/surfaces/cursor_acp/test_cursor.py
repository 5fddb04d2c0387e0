"""Cursor's own methods by value, its client, and its constructed cassettes."""

from pathlib import Path
from typing import Any

from msgspec import UNSET

from harness.canonical import EventBase
from harness.cassette import Frame, open_cassette
from harness.scenarios import scenario
from harness.surfaces import surface
from harness.surfaces.base import Send, Setup
from harness.surfaces.cursor_acp.construct import PAGE, construct
from harness.surfaces.cursor_acp.recorder import make_driver
from tests.surfaces.acp.wire import normalize, prompt, told, violations
from tests.surfaces.codex.wire import of, one, reported, warnings

CURSOR = "cursor-acp"


def events_of(entries: Any) -> list[EventBase]:
    return normalize(entries, CURSOR)


def test_plans_questions_and_todos() -> None:
    events = events_of(reported("CUA-01"))
    first, patched = of(events, "turn.plan.updated")
    assert first.payload.explanation == "# Plan"
    assert [(s.step, s.status) for s in first.payload.plan] == [("a", "pending")]
    assert [(s.step, s.status) for s in patched.payload.plan] == [("a", "completed")]
    plan, question = of(events, "request.opened")
    assert (plan.payload.requestType, question.payload.requestType) == (
        "unknown",
        "tool_user_input",
    )
    refused, answered = of(events, "request.resolved")
    assert (refused.payload.decision, refused.payload.resolution["error"]["code"]) == (
        UNSET,
        -32601,
    )
    assert answered.payload.decision == "answered"
    assert one(events, "user-input.requested").payload.questions[0]["id"] == "q1"
    answers = one(events, "user-input.resolved").payload.answers
    assert answers["answers"] == [{"questionId": "q1", "selectedOptionIds": ["a"]}]
    assert warnings(events) == ["cursor/brand_new is not known"]


def test_a_question_without_the_input_of_its_tool() -> None:
    events = events_of(reported("CUA-03"))
    asked = one(events, "request.opened")
    assert (asked.payload.requestType, asked.payload.detail) == (
        "command_execution_approval",
        "ls",
    )
    assert asked.payload.args["toolCall"]["rawInput"] == {"command": "ls"}
    assert asked.providerRefs.providerRequestId == "0"
    ended = one(events, "item.completed").payload
    assert ended.data["content"] == [
        {"type": "diff", "path": "/w/a", "oldText": None, "newText": "x"}
    ]
    assert asked.raw.source == "cursor.acp.request"


def test_a_cancel_that_the_agent_does_not_know() -> None:
    cancel = {"jsonrpc": "2.0", "id": 6, "method": "session/cancel", "params": {"sessionId": "s1"}}
    error = {"jsonrpc": "2.0", "id": 6, "error": {"code": -32601, "message": "Method not found"}}
    events = events_of([prompt(), told("plan", entries=[]), ("out", "stdin", cancel), error])
    assert warnings(events) == ["session/cancel: Method not found"]


def test_the_client_answers_what_waits() -> None:
    story = scenario("text")
    driver = make_driver(Setup(story, "/w", "/h", 1, "/some", "k", "cursor", ("acp",)))

    def hears(method: str, params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": "x", "method": method, "params": params}
        (action,) = driver.on_frame(Frame(1, 0, "in", "stdout", data=message))
        assert isinstance(action, Send)
        return action.data["result"]

    assert hears("cursor/create_plan", {}) == {"outcome": {"outcome": "accepted"}}
    question = {"id": "q", "options": [{"id": "a"}, {"id": "b"}]}
    assert hears("cursor/ask_question", {"questions": [question]})["outcome"]["answers"] == [
        {"questionId": "q", "selectedOptionIds": ["a"]}
    ]
    assert hears("cursor/task", {}) == {}


def test_the_constructed_cassettes_obey_the_laws(tmp_path: Path) -> None:
    (tmp_path / "cassettes").mkdir()
    paths = construct(tmp_path / "cassettes")
    assert len(paths) == 8
    again = [path.read_bytes() for path in construct(tmp_path / "again")]
    assert again == [path.read_bytes() for path in paths]
    assert PAGE.encode() in again[0]
    for path in paths:
        with open_cassette(path) as cassette:
            assert violations(list(cassette), CURSOR) == []
    assert surface(CURSOR).manifest.provider == "cursor"


def test_a_merge_keeps_what_it_does_not_name() -> None:
    todos = [{"id": n, "content": n, "status": "pending"} for n in "ab"]

    def update(todos: Any, *, merge: bool) -> dict[str, Any]:
        params = {"todos": todos, "merge": merge}
        return {"jsonrpc": "2.0", "method": "cursor/update_todos", "params": params}

    events = events_of(
        [
            update(todos, merge=False),
            update([{"id": "b", "status": "completed"}], merge=True),
            update([{"id": "c", "status": "pending"}], merge=True),
            update([{"id": "a", "status": "cancelled"}], merge=True),
            update(todos[1:], merge=False),
        ]
    )
    plans = of(events, "turn.plan.updated")
    assert [[(s.step, s.status) for s in e.payload.plan] for e in plans] == [
        [("a", "pending"), ("b", "pending")],
        [("a", "pending"), ("b", "completed")],
        [("b", "completed")],
        [("b", "pending")],
    ]
    assert warnings(events)[1:] == ["todos with a status that is not known: 'a' is 'cancelled'"]


def test_a_request_asked_again_by_the_same_id_ends_the_first() -> None:
    params = {"sessionId": "s1", "name": "A", "plan": "p", "todos": []}
    ask = {"jsonrpc": "2.0", "id": 1, "method": "cursor/create_plan", "params": params}
    events = events_of([prompt(), ask, ask])
    assert [e.type for e in events if e.type.startswith("request.")] == [
        "request.opened",
        "request.resolved",
        "request.opened",
        "request.resolved",
    ]
    assert [e.payload.decision for e in of(events, "request.resolved")] == ["cancelled"] * 2
    assert warnings(events) == ["request 1 is asked again before it is answered"]
