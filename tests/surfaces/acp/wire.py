"""Conversations in ACP, written by hand: frames in, events out, the laws judged each time."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from harness.canonical import EventBase, decode_event, encode_event
from harness.cassette import Agent, Frame, Header
from harness.conformance.judge import Judge, Rules
from harness.subject.inprocess import InProcess
from harness.surfaces import surface
from tests.surfaces.codex.wire import frames

ACP = "acp"


def header(name: str) -> Header:
    return Header(
        cassette=1,
        surface=name,
        provider=surface(name).manifest.provider,
        agent=Agent("some-agent", "1.0.0"),
        scenario="by-hand",
        provenance="constructed",
        recorded="2026-01-01T00:00:00Z",
    )


def events_of(cassette: list[Frame], name: str = ACP) -> list[EventBase]:
    normalizer = surface(name).normalizer(header(name))
    events = [event for frame in cassette for event in normalizer.feed(frame)]
    events += normalizer.close()
    for event in events:
        assert decode_event(encode_event(event)) == event
    return events


def normalize(entries: Iterable[Any], name: str = ACP) -> list[EventBase]:
    """The events of a conversation, which obey every law, whole and cut short anywhere."""
    cassette = frames(entries)
    found = violations(cassette, name)
    assert not found, "\n".join(found)
    return events_of(cassette, name)


def violations(cassette: list[Frame], name: str = ACP) -> list[str]:
    """What the laws find, as `law: expected, got`."""
    room = surface(name)
    judge = Judge(
        InProcess(room.normalizer, name),
        SimpleNamespace(header=header(name)),  # type: ignore[arg-type]
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


def sent(method: str, params: Any = None, id_: Any = None) -> tuple[str, str, Any]:
    """What the client writes: a request, or without an id a notification."""
    message = {"jsonrpc": "2.0", "method": method, "params": params or {"sessionId": "s1"}}
    return "out", "stdin", message if id_ is None else {**message, "id": id_}


def prompt(id_: Any = 5, session: str = "s1") -> tuple[str, str, Any]:
    return sent("session/prompt", {"sessionId": session, "prompt": []}, id_)


def told(what: str, /, **fields: Any) -> dict[str, Any]:
    """A `session/update` of session s1."""
    update = {"sessionUpdate": what, **fields}
    params = {"sessionId": "s1", "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def said(words: str, kind: str = "agent_message_chunk") -> dict[str, Any]:
    return told(kind, content={"type": "text", "text": words})


def answered(id_: Any, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def refused(id_: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
