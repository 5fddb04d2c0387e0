"""Conversations with Codex, written by hand: frames in, events out, the laws judged each time."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec import UNSET

from harness.canonical import EventBase, decode_event, encode_event
from harness.cassette import Agent, Frame, Header, classify
from harness.conformance.judge import Judge, Rules
from harness.subject.inprocess import InProcess
from harness.surfaces import surface

APP, EXEC = "codex-app-server", "codex-exec"
REPORTS = {
    report["id"]: report
    for report in json.loads(
        (Path(__file__).parents[2] / "cases" / "field-reports.json").read_text("utf-8")
    )
}


def header(name: str) -> Header:
    return Header(
        cassette=1,
        surface=name,
        provider="codex",
        agent=Agent("codex", "0.163.0"),
        scenario="by-hand",
        provenance="constructed",
        recorded="2026-01-01T00:00:00Z",
    )


def sent(data: Any) -> tuple[str, str, Any]:
    """What the client writes."""
    return "out", "stdin", data


def started(*command: str) -> tuple[str, str, Any]:
    return "out", "start", {"command": list(command)}


def exited(code: int | None = None, signal: str | None = None) -> tuple[str, str, Any]:
    return "in", "exit", {"code": code} if signal is None else {"signal": signal}


def frames(entries: Iterable[Any]) -> list[Frame]:
    """Frames from entries: a message or a line of the agent, or (direction, channel, content)."""
    result = []
    for number, entry in enumerate(entries, 1):
        direction, channel, content = entry if isinstance(entry, tuple) else ("in", "stdout", entry)
        if isinstance(content, bytes):
            field, value = classify(content)
        elif isinstance(content, str):
            field, value = classify(content.encode())
        else:
            field, value = "data", content
        result.append(Frame(number, number * 10, direction, channel, **{field: value}))
    return result


def reported(id_: str) -> list[Any]:
    """The native lines of a field report, without its notes."""
    entries: list[Any] = []
    for native in REPORTS[id_]["native"]:
        if native["dir"] == "note":
            continue
        line = (
            base64.b64decode(native["b64"]).removesuffix(b"\n")
            if "b64" in native
            else native["line"].encode()
        )
        entries.append((native["dir"], "stdin" if native["dir"] == "out" else "stdout", line))
    return entries


def normalize(name: str, entries: Iterable[Any]) -> list[EventBase]:
    """The events of a conversation, which obey every law, whole and cut short anywhere."""
    cassette = frames(entries)
    found = violations(name, cassette)
    assert not found, "\n".join(found)
    return events_of(name, cassette)


def events_of(name: str, cassette: list[Frame], *, close: bool = True) -> list[EventBase]:
    normalizer = surface(name).normalizer(header(name))
    events = [event for frame in cassette for event in normalizer.feed(frame)]
    if close:
        events += normalizer.close()
    for event in events:
        assert decode_event(encode_event(event)) == event
    return events


def violations(name: str, cassette: list[Frame]) -> list[str]:
    """What the laws find, as `law: expected, got`."""
    room = surface(name)
    subject = InProcess(room.normalizer, name)
    judge = Judge(
        subject,
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


def kinds(name: str, entries: Iterable[Any]) -> list[str]:
    namer = surface(name).kinds()
    return [namer.of(frame) for frame in frames(entries)]


def types(events: Iterable[EventBase]) -> list[str]:
    return [event.type for event in events]


def of(events: Iterable[EventBase], *wanted: str) -> list[Any]:
    return [event for event in events if event.type in wanted]


def one(events: Iterable[EventBase], wanted: str) -> Any:
    found = of(events, wanted)
    assert len(found) == 1, f"{len(found)} {wanted}"
    return found[0]


def is_made_up(event: EventBase) -> bool:
    return event.raw is not UNSET and event.raw.messageType == "synthesized"


def warnings(events: Iterable[EventBase]) -> list[str]:
    return [event.payload.message for event in of(events, "runtime.warning")]


def note(method: str, **params: Any) -> dict[str, Any]:
    """A notification of the app-server on thread thr_A and turn turn_1."""
    return {"method": method, "params": {"threadId": "thr_A", "turnId": "turn_1", **params}}


def turn_started(turn: str = "turn_1", thread: str = "thr_A") -> dict[str, Any]:
    snapshot: dict[str, Any] = {
        "id": turn,
        "items": [],
        "status": "inProgress",
        "error": None,
    }
    return {"method": "turn/started", "params": {"threadId": thread, "turn": snapshot}}


def turn_completed(
    status: str = "completed", turn: str = "turn_1", thread: str = "thr_A", error: Any = None
) -> dict[str, Any]:
    snapshot = {"id": turn, "items": [], "status": status, "error": error}
    return {"method": "turn/completed", "params": {"threadId": thread, "turn": snapshot}}
