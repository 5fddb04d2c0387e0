"""A small wire, a correct normalizer for it, and cassettes of it: what the laws are tried on.

The wire: `hello`, `turn`, `say` (a delta), `said` (the whole text), `run`, `ran`, `ask`, `answer`
(from the client), `think`, `done`, `note`, and `tick`, which is ignored; besides `old` (history),
`task` and `hook`, `used`, `input` (asked of the user), and `stop` (an interrupted turn's end).
"""
# ruff: noqa: ARG002 - every handler takes the frame's data

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET

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


MORE: list[dict[str, Any]] = [
    {"kind": "hello", "threadId": "native-thread"},
    {"kind": "old", "itemId": "native-o", "text": "Long ago"},
    {"kind": "turn", "turnId": "native-turn-1"},
    {"kind": "hook", "state": "started", "hookId": "h1"},
    {"kind": "hook", "state": "told", "hookId": "h1"},
    {"kind": "hook", "state": "over", "hookId": "h1", "code": 1},
    {"kind": "task", "state": "started", "taskId": "native-task"},
    {"kind": "task", "state": "told", "taskId": "native-task"},
    {"kind": "task", "state": "over", "taskId": "native-task"},
    {"kind": "run", "itemId": "native-a", "command": "rm"},
    {"kind": "ask", "requestId": "native-r1", "itemId": "native-a"},
    {"kind": "answer", "requestId": "native-r1", "allow": False},
    {"kind": "ran", "itemId": "native-a", "status": "declined"},
    {"kind": "run", "itemId": "native-b", "command": "make"},
    {"kind": "ran", "itemId": "native-b", "status": "failed", "code": 3},
    {"kind": "used", "tokens": {"input": 4, "output": [1, {"more": 2}]}},
    {"kind": "done"},
    {"kind": "turn", "turnId": "native-turn-2"},
    {"kind": "run", "itemId": "native-c", "command": "ls"},
    {"kind": "ask", "requestId": "native-r2", "itemId": "native-c"},
    {"kind": "input", "requestId": "native-r2"},
    {"kind": "stop"},
]
"""History, a hook, a task, a refusal, a failure, a count, an interrupt with an open question."""


class Kinds:
    """Names the toy's kinds."""

    def of(self, frame: Frame) -> str:
        return str(frame.data["kind"]) if isinstance(frame.data, dict) else "noise"


def rules(_: Header | None = None) -> Rules:
    """What the judge needs of the toy's surface."""
    return Rules(Kinds(), frozenset({"tick"}), frozenset({"codex.app-server.notification"}))


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
        told = {"output": data.get("output", "")}
        if "code" in data:
            told["exitCode"] = data["code"]
        status = self.status(data)
        payload = pl.ItemLifecyclePayload("command_execution", status, data=told)
        self.ledger.complete(self.items[data["itemId"]], status, payload)

    def status(self, data: dict[str, Any]) -> Any:
        return data.get("status", "completed")

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

    def on_input(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        request = self.requests[data["requestId"]]
        payload = pl.UserInputRequestedPayload([{"question": "which?"}])
        self.ledger.emit(
            ev.UserInputRequested,
            payload,
            thread=self.thread,
            turn=self.turn.id,
            request=request.id,
        )

    def on_old(self, data: dict[str, Any]) -> None:
        payload = pl.ItemLifecyclePayload("user_message", data=self.old(data))
        refs = ProviderRefs(providerItemId=data["itemId"])
        item = self.ledger.start_item(None, data["itemId"], payload, refs, self.thread)
        self.ledger.complete(item, UNSET, payload)

    def old(self, data: dict[str, Any]) -> dict[str, Any]:
        return {"text": data["text"], "replay": True}

    def on_hook(self, data: dict[str, Any]) -> None:
        id_ = data["hookId"]
        payload: Any = {
            "started": pl.HookStartedPayload(id_, "lint", "before"),
            "told": pl.HookProgressPayload(id_, "working"),
            "over": pl.HookCompletedPayload(id_, "error", exitCode=data.get("code", 0)),
        }[data["state"]]
        self.inside({"started": ev.HookStarted, "told": ev.HookProgress}, data, payload)

    def on_task(self, data: dict[str, Any]) -> None:
        id_ = self.task(data)
        payload: Any = {
            "started": pl.TaskStartedPayload(id_),
            "told": pl.TaskProgressPayload(id_, "working", {"tokens": 3}),
            "over": pl.TaskCompletedPayload(id_, "completed"),
        }[data["state"]]
        self.inside({"started": ev.TaskStarted, "told": ev.TaskProgress}, data, payload)

    def task(self, data: dict[str, Any]) -> str:
        return "tsk-1"

    def inside(self, kinds: dict[str, Any], data: dict[str, Any], payload: Any) -> None:
        over = ev.HookCompleted if data["kind"] == "hook" else ev.TaskCompleted
        assert self.turn is not None
        self.ledger.emit(
            kinds.get(data["state"], over), payload, thread=self.thread, turn=self.turn.id
        )

    def on_used(self, data: dict[str, Any]) -> None:
        payload = pl.ThreadTokenUsageUpdatedPayload(self.usage(data))
        self.ledger.emit(ev.ThreadTokenUsageUpdated, payload, thread=self.thread)

    def usage(self, data: dict[str, Any]) -> Any:
        return {"scope": "thread", "tokens": data["tokens"]}

    def on_stop(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        self.ledger.end_turn(self.turn, pl.TurnCompletedPayload("interrupted"))

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
