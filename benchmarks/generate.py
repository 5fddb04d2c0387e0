"""Writes a long cassette of `codex app-server`, mixed as real ones are: most frames are deltas."""

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from harness.cassette import Agent, Footer, Frame, Header

SURFACE = "codex-app-server"
HEADER = Header(
    cassette=1,
    surface=SURFACE,
    provider="codex",
    agent=Agent("codex", "0.163.0"),
    scenario="generated",
    provenance="constructed",
    recorded="2026-01-01T00:00:00Z",
    protocol="codex app-server, v2",
    sources=["benchmarks/generate.py"],
)

MESSAGE_DELTAS, OUTPUT_DELTAS, REASONING_DELTAS = 60, 40, 20
WORDS = (" the", " quick", " brown", " fox", " jumps", " over", " a", " lazy", " dog", ".", "\n")
_THREAD = "0193a1b2-0000-7000-8000-000000000001"

_encode = msgspec.json.Encoder().encode

# Direction, channel, message: the rest of a frame is counted.
Entry = tuple[str, str, Any]


def generate(path: Path, frames: int) -> None:
    """Write a complete cassette with that many frames; the last one is the process's exit."""
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        block = [_encode(HEADER), b"\n"]
        for number, (direction, channel, data) in enumerate(_entries(frames), 1):
            # Five frames to a millisecond: deltas come in bursts.
            frame = Frame(number, number // 5, direction, channel, data)  # type: ignore[arg-type]
            block += (_encode(frame), b"\n")
            if number % 256 == 0:
                _write(file, digest, block)
        _write(file, digest, block)
        footer = Footer(frames, True, f"sha256:{digest.hexdigest()}", 0)  # noqa: FBT003
        file.write(_encode(footer) + b"\n")


def _write(file: Any, digest: Any, block: list[bytes]) -> None:
    data = b"".join(block)
    digest.update(data)
    file.write(data)
    block.clear()


def _entries(frames: int) -> Iterator[Entry]:
    """The opening, as many turns as fit, and the exit."""
    yield from islice(_conversation(), frames - 1)
    yield "in", "exit", {"code": 0}


def _conversation() -> Iterator[Entry]:
    yield "out", "start", {"command": ["codex", "app-server"]}
    yield "out", "stdin", {"method": "initialize", "id": 0, "params": {"clientInfo": {"name": "x"}}}
    yield "in", "stdout", {"id": 0, "result": {"userAgent": "x/0.163.0"}}
    yield "out", "stdin", {"method": "initialized"}
    yield "out", "stdin", {"method": "thread/start", "id": 1, "params": {"cwd": "/workspace"}}
    thread = {"id": _THREAD, "model": "gpt-5.5", "status": {"type": "idle"}, "turns": []}
    settings = {"model": "gpt-5.5", "cwd": "/workspace", "approvalPolicy": "never"}
    yield "in", "stdout", {"id": 1, "result": {"thread": thread, **settings}}
    yield _note("thread/started", {"thread": thread})
    turn = 0
    while True:
        turn += 1
        yield from _turn(turn)


def _note(method: str, params: dict[str, Any]) -> Entry:
    return "in", "stdout", {"method": method, "params": params, "emittedAtMs": 1767225600000}


def _turn(number: int) -> Iterator[Entry]:
    turn = f"0193a1b2-{number // 65536:04x}-7000-9000-{number:012x}"
    place = {"threadId": _THREAD, "turnId": turn}
    yield (
        "out",
        "stdin",
        {
            "method": "turn/start",
            "id": number + 1,
            "params": {"threadId": _THREAD, "input": [{"type": "text", "text": "go on"}]},
        },
    )
    snapshot: dict[str, Any] = {"id": turn, "items": [], "status": "inProgress", "error": None}
    yield "in", "stdout", {"id": number + 1, "result": {"turn": snapshot}}
    yield _note("turn/started", {"threadId": _THREAD, "turn": snapshot})
    content = [{"type": "text", "text": "go on", "text_elements": []}]
    user = {"type": "userMessage", "id": f"user_{number:08x}", "content": content}
    yield _note("item/started", {"item": user, **place})
    yield _note("item/completed", {"item": user, **place})
    yield from _reasoning(number, place)
    yield from _command(number, place)
    yield from _message(number, place)
    count = {"totalTokens": 120, "inputTokens": 100, "cachedInputTokens": 10, "outputTokens": 20}
    usage = {"total": count, "last": count, "modelContextWindow": 258400}
    yield _note("thread/tokenUsage/updated", {**place, "tokenUsage": usage})
    yield _note("account/rateLimits/updated", {"rateLimits": {"limitId": "codex", "primary": None}})
    idle = {"type": "idle"}
    yield _note("thread/status/changed", {"threadId": _THREAD, "status": idle})
    ended = {**snapshot, "status": "completed", "durationMs": 900}
    yield _note("turn/completed", {"threadId": _THREAD, "turn": ended})


def _reasoning(number: int, place: dict[str, Any]) -> Iterator[Entry]:
    id_ = f"rs_{number:032x}"
    item = {"type": "reasoning", "id": id_, "summary": [], "content": []}
    yield _note("item/started", {"item": item, **place})
    words = [WORDS[(number + i) % len(WORDS)] for i in range(REASONING_DELTAS)]
    for word in words:
        params = {**place, "itemId": id_, "delta": word, "summaryIndex": 0}
        yield _note("item/reasoning/summaryTextDelta", params)
    yield _note("item/completed", {"item": {**item, "summary": ["".join(words)]}, **place})


def _command(number: int, place: dict[str, Any]) -> Iterator[Entry]:
    id_ = f"call_{number:024x}"
    item: dict[str, Any] = {
        "type": "commandExecution",
        "id": id_,
        "command": f"/bin/bash -lc 'seq {number}'",
        "cwd": "/workspace",
        "status": "inProgress",
        "commandActions": [],
        "aggregatedOutput": None,
        "exitCode": None,
    }
    yield _note("item/started", {"item": item, **place})
    lines = [f"{number} line {i} of the output of a command\n" for i in range(OUTPUT_DELTAS)]
    for line in lines:
        params = {**place, "itemId": id_, "delta": line}
        yield _note("item/commandExecution/outputDelta", params)
    ended = {**item, "status": "completed", "aggregatedOutput": "".join(lines), "exitCode": 0}
    yield _note("item/completed", {"item": ended, **place})


def _message(number: int, place: dict[str, Any]) -> Iterator[Entry]:
    id_ = f"msg_{number:032x}"
    item = {"type": "agentMessage", "id": id_, "text": "", "phase": None}
    yield _note("item/started", {"item": item, **place})
    words = [WORDS[(number + i) % len(WORDS)] for i in range(MESSAGE_DELTAS)]
    for word in words:
        yield _note("item/agentMessage/delta", {**place, "itemId": id_, "delta": word})
    yield _note("item/completed", {"item": {**item, "text": "".join(words)}, **place})
