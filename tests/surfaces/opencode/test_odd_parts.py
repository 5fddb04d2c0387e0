"""Parts and histories that are not what they were, or not what they should be."""

from typing import Any

import pytest

from tests.surfaces.codex.wire import of, one, types, warnings
from tests.surfaces.opencode.wire import Entry, event, normalize, request, response

PROMPT = request(1, "POST", "/session/ses1/prompt_async", {})


def part(id_: str, kind: Any, **more: Any) -> Entry:
    told = {"id": id_, "type": kind, "messageID": "m", **more}
    return event("message.part.updated", sessionID="ses1", part=told)


@pytest.mark.parametrize("kind", ["patch", "tool", "step-finish", -1, None, ["text"]])
def test_a_text_that_is_told_again_as_another_kind_stays_one(kind: Any) -> None:
    events = normalize(
        [
            PROMPT,
            part("p1", "text", text="He"),
            part("p1", kind, text="other", tokens={"input": 1}),
            part("p1", "text", text="Hello", time={"start": 1, "end": 2}),
        ]
    )
    item = one(events, "item.completed")
    assert (item.payload.itemType, item.payload.data) == ("assistant_message", {"text": "Hello"})
    assert [e.payload.delta for e in of(events, "content.delta")] == ["He", "llo"]
    assert warnings(events) == ["a part was told again as another kind"]
    assert of(events, "thread.token-usage.updated") == []


def test_a_tool_that_is_told_again_as_a_patch_stays_one() -> None:
    running = {"status": "running", "input": {"command": "ls"}}
    done = {"status": "completed", "input": {"command": "ls"}, "output": "a"}
    events = normalize(
        [
            PROMPT,
            part("p1", "tool", tool="bash", callID="c", state=running),
            part("p1", "patch", files=["a"]),
            part("p1", "tool", tool="bash", callID="c", state=done),
        ]
    )
    item = one(events, "item.completed").payload
    assert (item.itemType, item.data["output"]) == ("command_execution", "a")
    assert warnings(events) == ["a part was told again as another kind"]


@pytest.mark.parametrize("body", [None, {}, 7, "x"])
def test_a_history_that_is_no_list_is_warned_about(body: Any) -> None:
    events = normalize([request(1, "GET", "/session/ses1/message"), response(1, 200, body)])
    assert warnings(events) == ["the restored history is no list"]
    assert types(events) == ["runtime.warning"]


def test_an_answer_to_what_is_no_request_is_not_an_earlier_one_s() -> None:
    odd = ("out", "http", {"request": 1, "method": "GET", "body": None})
    events = normalize([PROMPT, odd, response(1, 200, [])])
    assert warnings(events) == [
        "the client sent what is no request",
        "an answer to a request that is not known",
    ]
