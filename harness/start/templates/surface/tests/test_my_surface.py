"""What my-surface says, kind by kind, as events under the laws."""

from pathlib import Path
from typing import Any

import pytest

from harness.canonical import EVENT_CLASSES, EventBase
from harness.cassette import open_cassette
from harness.recording.record import record
from harness.surfaces import surface
from tests.surfaces.acp.wire import normalize

NAME = "my-surface"
READY = {"type": "ready", "session": "s1"}
PROMPT = ("out", "stdin", {"type": "prompt", "text": "Hello?"})
STARTED = {"type": "turn.started"}
COMPLETED = {"type": "turn.completed", "usage": {"total_tokens": 3}}
EXIT = ("in", "exit", {"code": 0})


def text(words: Any) -> dict[str, Any]:
    return {"type": "text", "text": words}


def of(*entries: Any) -> list[EventBase]:
    """The events of a conversation, which obey every law, whole and cut short anywhere."""
    return normalize(entries, NAME)


def types(events: list[EventBase]) -> list[str]:
    return [event.type for event in events]


def test_a_whole_turn() -> None:
    events = of(READY, PROMPT, STARTED, text("Hel"), text("lo."), COMPLETED, EXIT)
    assert types(events) == [
        "session.started",
        "thread.started",
        "turn.started",
        "item.started",
        "content.delta",
        "content.delta",
        "item.completed",
        "turn.completed",
        "session.exited",
    ]
    ended: Any = events[-2].payload
    assert (ended.state, ended.usage) == (
        "completed",
        {"scope": "turn", "tokens": {"total_tokens": 3}},
    )
    said: list[Any] = [event.payload for event in events[4:6]]
    assert "".join(payload.delta for payload in said) == "Hello."


def test_a_turn_that_fails() -> None:
    events = of(READY, PROMPT, STARTED, {"type": "turn.failed", "message": "HTTP 500"}, EXIT)
    assert types(events)[3:] == ["runtime.error", "turn.completed", "session.exited"]
    ended: Any = events[-2].payload
    assert (ended.state, ended.errorMessage) == ("failed", "HTTP 500")


def test_what_is_left_open_is_closed() -> None:
    events = of(READY, STARTED, text("Hel"), STARTED)
    assert types(events)[5:] == [
        "item.completed",
        "turn.completed",
        "turn.started",
        "turn.completed",
    ]
    ended: Any = events[-1].payload
    assert (ended.state, ended.stopReason) == ("interrupted", "missing-terminal")


def test_what_comes_first_opens_what_it_needs() -> None:
    begun = ["session.started", "thread.started", "turn.started"]
    assert types(of(text("Hi."), EXIT))[:3] == begun
    assert types(of(COMPLETED, EXIT)) == [*begun, "turn.completed", "session.exited"]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"type": "dreamt"}, "dreamt is not known"),
        ({"no": "type"}, "None is not known"),
        (text(3), "text has not the shape that it should: TypeError('text is no text')"),
        (
            {"type": "turn.completed", "usage": 3},
            "turn.completed has not the shape that it should: TypeError('usage is no object')",
        ),
        (("in", "stdout", b"no message"), "the agent sent a line that is not of the protocol"),
        (("out", "stdin", {"type": "hello"}), "the client sent what is no prompt"),
        (READY, "ready came twice"),
    ],
)
def test_what_is_odd_is_told(entry: Any, told: str) -> None:
    warning: Any = of(READY, entry)[-1]
    assert warning.type == "runtime.warning"
    assert warning.payload.message == told


def test_the_vocabulary_names_events_that_there_are() -> None:
    for kind, entry in surface(NAME).vocabulary.kinds.items():
        assert set(entry.to) <= set(EVENT_CLASSES), kind


def test_the_stand_in_is_recorded_as_what_it_is(tmp_path: Path) -> None:
    recording = record(NAME, "text", tmp_path)
    with open_cassette(recording.path) as cassette:
        said = [frame.data for frame in cassette if frame.channel == "stdout"]
        assert cassette.header.provenance == "constructed"
    assert "".join(line["text"] for line in said if line["type"] == "text") == "Hello, world."
    assert said[-1]["type"] == "turn.completed"
