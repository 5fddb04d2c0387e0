"""A small wire, a correct normalizer for it, and cassettes of it: what the laws are tried on.

The wire: `hello`, `turn`, `say` (a delta), `said` (the whole text), `run`, `ran`, `ask`, `answer`
(from the client), `think`, `done`, `note`, and `tick`, which is ignored.
"""
# ruff: noqa: ARG002 - every handler takes the frame's data

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.canonical import EventBase, ProviderRefs
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.cassette import Agent, CassetteWriter, Frame, Header
from harness.conformance import Rules
from harness.surfaces.ledger import Item, Ledger, Request, Turn

HEADER = Header(
    1, "toy", "codex", Agent("toy", "1.0"), "chat", "constructed", "2026-01-01T00:00:00Z"
)

CHAT: list[dict[str, Any]] = [
    {"kind": "hello", "threadId": "native-thread"},
    {"kind": "turn", "turnId": "native-turn-1"},
    {"kind": "tick"},
    {"kind": "say", "itemId": "native-a", "text": "Hello, "},
    {"kind": "say", "itemId": "native-a", "text": "wörld 🌍"},
    {"kind": "said", "itemId": "native-a", "text": "Hello, wörld 🌍"},
    {"kind": "run", "itemId": "native-b", "command": "ls"},
    {"kind": "ask", "requestId": "native-r", "itemId": "native-b"},
    {"kind": "answer", "requestId": "native-r", "allow": True},
    {"kind": "ran", "itemId": "native-b", "output": "a\nb\n"},
    {"kind": "note", "text": "something odd"},
    {"kind": "done"},
    {"kind": "turn", "turnId": "native-turn-2"},
    {"kind": "say", "itemId": "native-c", "text": "Again"},
    {"kind": "said", "itemId": "native-c", "text": "Again"},
    {"kind": "run", "itemId": "native-d", "command": "sleep"},
    {"kind": "done"},
]
"""Two turns; the second leaves a command open."""


class Kinds:
    """Names the toy's kinds."""

    def of(self, frame: Frame) -> str:
        return str(frame.data["kind"]) if isinstance(frame.data, dict) else "noise"


def rules(_: Header | None = None) -> Rules:
    """What the judge needs of the toy's surface."""
    return Rules(Kinds(), frozenset({"tick"}))


class Normalizer:
    """The correct one. A broken one overrides a method."""

    def __init__(self, header: Header) -> None:
        self.ledger = Ledger(header)
        self.thread: Any = None
        self.turn: Turn | None = None
        self.items: dict[str, Item] = {}
        self.requests: dict[str, Request] = {}

    def feed(self, frame: Frame) -> Iterable[Any]:
        data = frame.data
        self.ledger.cause(frame, "codex.app-server.notification", data["kind"])
        getattr(self, "on_" + data["kind"])(data)
        return self.ledger.take()

    def close(self) -> Iterable[Any]:
        if self.turn is not None and self.turn.open:
            state = pl.TurnCompletedPayload("interrupted", stopReason="missing-terminal")
            self.ledger.end_turn(self.turn, state, synthesized=True)
        return self.ledger.take()

    def on_hello(self, data: dict[str, Any]) -> None:
        self.thread = self.ledger.mint("thr")
        self.ledger.emit(
            ev.ThreadStarted,
            pl.ThreadStartedPayload(),
            thread=self.thread,
            refs=ProviderRefs(providerThreadId=data["threadId"]),
        )

    def on_turn(self, data: dict[str, Any]) -> None:
        refs = ProviderRefs(providerTurnId=data["turnId"])
        self.turn = self.ledger.start_turn(data["turnId"], self.thread, refs)

    def on_tick(self, data: dict[str, Any]) -> None:
        pass

    def item(self, data: dict[str, Any], payload: pl.ItemLifecyclePayload) -> Item:
        native = data["itemId"]
        if native not in self.items:
            refs = ProviderRefs(providerItemId=native)
            self.items[native] = self.ledger.start_item(self.turn, native, payload, refs)
        return self.items[native]

    def on_say(self, data: dict[str, Any]) -> None:
        item = self.item(data, pl.ItemLifecyclePayload("assistant_message", "inProgress"))
        self.delta(item, pl.ContentDeltaPayload("assistant_text", data["text"]))

    def delta(self, item: Item, payload: pl.ContentDeltaPayload) -> None:
        turn = item.turn
        assert turn is not None
        self.ledger.emit(
            ev.ContentDelta,
            payload,
            thread=turn.thread,
            turn=turn.id,
            item=item.id,
            refs=item.refs,
        )

    def on_said(self, data: dict[str, Any]) -> None:
        payload = pl.ItemLifecyclePayload(
            "assistant_message", "completed", data={"text": data["text"]}
        )
        self.ledger.complete(self.item(data, payload), "completed", payload)

    def on_run(self, data: dict[str, Any]) -> None:
        payload = pl.ItemLifecyclePayload(
            "command_execution", "inProgress", data={"command": data["command"], "cwd": "/home"}
        )
        self.item(data, payload)

    def on_ran(self, data: dict[str, Any]) -> None:
        payload = pl.ItemLifecyclePayload(
            "command_execution", "completed", data={"output": data["output"]}
        )
        self.ledger.complete(self.items[data["itemId"]], "completed", payload)

    def on_ask(self, data: dict[str, Any]) -> None:
        self.requests[data["requestId"]] = self.ledger.open_request(
            self.turn,
            data["requestId"],
            pl.RequestOpenedPayload("command_execution_approval"),
            ProviderRefs(providerRequestId=data["requestId"]),
            self.items[data["itemId"]],
        )

    def on_answer(self, data: dict[str, Any]) -> None:
        decision = "accept" if data["allow"] else "decline"
        self.ledger.resolve(self.requests[data["requestId"]], decision)

    def on_note(self, data: dict[str, Any]) -> None:
        self.ledger.warn(data["text"], turn=self.turn)

    def on_done(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        self.ledger.end_turn(self.turn, pl.TurnCompletedPayload("completed"))


def write(
    root: Path,
    frames: Sequence[dict[str, Any]] = CHAT,
    *,
    header: Header = HEADER,
    finished: bool = True,
) -> Path:
    """Write a cassette of the toy's wire under `root`; unfinished, it is a truncated one."""
    path = root / f"{header.id}.jsonl"
    writer = CassetteWriter(path, header)
    for number, data in enumerate(frames):
        direction = "out" if data.get("kind") == "answer" else "in"
        channel = "stdin" if direction == "out" else "stdout"
        writer.frame(number * 7, direction, channel, "data", data)  # type: ignore[arg-type]
    if finished:
        writer.finish(complete=True, exit_code=0)
        return path
    part = path.with_name(path.name + ".part")
    part.replace(path)
    return path


def events_of(make: Any, frames: Sequence[dict[str, Any]] = CHAT) -> list[EventBase]:
    """Return what a normalizer gives for frames."""
    normalizer = make(HEADER)
    out: list[EventBase] = []
    for number, data in enumerate(frames):
        out += normalizer.feed(Frame(number + 1, number * 7, "in", "stdout", data=data))
    return [*out, *normalizer.close()]
