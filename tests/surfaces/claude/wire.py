"""Conversations with Claude, written by hand: frames in, events out, the laws judged each time."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from harness.canonical import EventBase, decode_event, encode_event
from harness.cassette import Agent, Frame, Header
from harness.conformance.judge import Judge, Rules
from harness.subject.inprocess import InProcess
from harness.surfaces import surface
from tests.surfaces.codex.wire import exited, frames, is_made_up, of, one, reported, sent, types
from tests.surfaces.codex.wire import kinds as kinds_on
from tests.surfaces.codex.wire import warnings as warnings_of

__all__ = [
    "exited",
    "frames",
    "is_made_up",
    "of",
    "one",
    "reported",
    "sent",
    "types",
    "warnings_of",
]

CLAUDE = "claude-sdk"
HEADER = Header(
    cassette=1,
    surface=CLAUDE,
    provider="claude",
    agent=Agent("claude-code", "2.1.332"),
    scenario="by-hand",
    provenance="constructed",
    recorded="2026-01-01T00:00:00Z",
)
Entries = Iterable[Any]


def kinds(entries: Entries) -> list[str]:
    return kinds_on(CLAUDE, entries)


def normalize(entries: Entries) -> list[EventBase]:
    """The events of a conversation, which obey every law, whole and cut short anywhere."""
    cassette = frames(entries)
    found = violations(cassette)
    assert not found, "\n".join(found)
    return events_of(cassette)


def events_of(cassette: list[Frame], *, close: bool = True) -> list[EventBase]:
    normalizer = surface(CLAUDE).normalizer(HEADER)
    events = [event for frame in cassette for event in normalizer.feed(frame)]
    if close:
        events += normalizer.close()
    for event in events:
        assert decode_event(encode_event(event)) == event
    return events


def violations(cassette: list[Frame]) -> list[str]:
    """What the laws find, as `law: expected, got`."""
    room = surface(CLAUDE)
    judge = Judge(
        InProcess(room.normalizer, CLAUDE),
        SimpleNamespace(header=HEADER),  # type: ignore[arg-type]
        "by-hand",
        Rules(room.kinds(), room.ignored),
    )
    judge.run(cassette)
    judge.finish(truncated=False)
    return [
        f"{v.law} at frame {v.frame} {v.kind}: {v.expected}, got {v.got}"
        for law in judge.laws
        for v in law.result.violations
    ]


def system(subtype: str, **fields: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": subtype, "session_id": "s", "uuid": "u", **fields}


def assistant(*content: Any, **fields: Any) -> dict[str, Any]:
    message = {"id": "msg_1", "role": "assistant", "model": "m", "content": list(content)}
    return {
        "type": "assistant",
        "message": message | fields.pop("message", {}),
        "parent_tool_use_id": None,
        "session_id": "s",
        "uuid": "u",
        **fields,
    }


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": None,
        "session_id": "s",
        **fields,
    }


def prompt(text: str = "hi") -> tuple[str, str, Any]:
    return sent(user(text, session_id="default"))


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(name: str = "Bash", id_: str = "toolu_1", **tool_input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": tool_input}


def result_of(content: Any, id_: str = "toolu_1", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **fields}


def stream(event: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
    return {
        "type": "stream_event",
        "event": event,
        "session_id": "s",
        "parent_tool_use_id": parent,
        "uuid": "u",
    }


def begin(id_: str = "msg_1", parent: str | None = None) -> dict[str, Any]:
    return stream({"type": "message_start", "message": {"id": id_}}, parent)


def start(block: dict[str, Any], index: int = 0, parent: str | None = None) -> dict[str, Any]:
    return stream({"type": "content_block_start", "index": index, "content_block": block}, parent)


def delta(piece: dict[str, Any], index: int = 0, parent: str | None = None) -> dict[str, Any]:
    return stream({"type": "content_block_delta", "index": index, "delta": piece}, parent)


def says(piece: str, index: int = 0, parent: str | None = None) -> dict[str, Any]:
    return delta({"type": "text_delta", "text": piece}, index, parent)


def stop(index: int = 0, parent: str | None = None) -> dict[str, Any]:
    return stream({"type": "content_block_stop", "index": index}, parent)


def result(subtype: str = "success", **fields: Any) -> dict[str, Any]:
    return {
        "type": "result",
        "subtype": subtype,
        "is_error": subtype != "success",
        "session_id": "s",
        **fields,
    }


def asks(id_: str, request: dict[str, Any]) -> dict[str, Any]:
    return {"type": "control_request", "request_id": id_, "request": request}


def may_i(id_: str = "r1", name: str = "Bash", **fields: Any) -> dict[str, Any]:
    request = {"subtype": "can_use_tool", "tool_name": name, "input": {"command": "ls"}}
    return asks(id_, request | fields)


def answer(id_: str, response: Any = None, error: str = "") -> dict[str, Any]:
    inner: dict[str, Any] = {"subtype": "success", "request_id": id_, "response": response}
    if error:
        inner = {"subtype": "error", "request_id": id_, "error": error}
    return {"type": "control_response", "response": inner}
