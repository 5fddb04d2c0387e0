"""The recorder: when its client speaks, what it holds still, and the real SDK and CLI."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import util
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from harness.cassette import Frame, classify, open_cassette
from harness.recording import RecordError, record
from harness.recording.verify import differences
from harness.scenarios import scenario
from harness.surfaces.base import Setup
from harness.surfaces.claude_sdk.recorder import RULES, converse, prepare
from harness.surfaces.claude_sdk.story import Story
from tests.surfaces.claude.wire import (
    CLAUDE,
    answer,
    begin,
    call,
    events_of,
    may_i,
    of,
    one,
    result,
    says,
    start,
    stop,
    stream,
    system,
    text,
    violations,
)

needs_sdk = pytest.mark.skipif(
    util.find_spec("claude_agent_sdk") is None,
    reason="no Claude Agent SDK here: pip install claude-agent-sdk",
)
IDLE = system("session_state_changed", state="idle")
MESSAGE_STOP = stream({"type": "message_stop"})


def test_the_next_prompt_comes_once_the_agent_is_idle() -> None:
    story = Story(scenario("multi-turn"))
    assert story.next_prompt() == "Remember the word apple."
    assert story.on_message(IDLE) is None
    assert story.on_message(system("session_state_changed", state="running")) is None
    assert story.on_message(result()) is None
    assert story.patience == pytest.approx(0.2)
    assert story.on_message(IDLE) == "next"
    assert story.next_prompt() == "Print the word that I gave you."
    assert story.awaiting == "the result of turn 2 of 3"
    # An agent that says it is idle before its result, and one that never says it.
    story.on_message(IDLE)
    assert story.on_message(result()) == "next"
    assert story.next_prompt() == "Thank you, and goodbye."
    story.on_message(result())
    assert story.on_silence() == "next"
    assert story.coming is None


def test_the_interrupt_comes_after_the_last_word() -> None:
    story = Story(scenario("interrupt-text"))
    story.next_prompt()
    for message in (begin(), start(text("")), says("Once upon")):
        assert story.on_message(message) is None
    assert story.on_message(says(" a time")) == "interrupt"
    assert story.on_message(says(" a time")) is None


def test_a_turn_is_cancelled_at_its_start_once_the_model_is_asked() -> None:
    story = Story(scenario("cancel-before-first-token"))
    assert not story.waits_for_model
    story.next_prompt()
    assert story.waits_for_model
    assert story.patience == pytest.approx(0.2)
    assert story.on_silence() == "interrupt"
    assert (story.waits_for_model, story.patience) == (False, None)


def test_what_a_process_that_is_left_said_last_is_forgotten() -> None:
    story = Story(scenario("session-load"))
    story.next_prompt()
    story.on_message(result())
    assert story.coming is not None
    assert story.coming.client.resume
    assert story.session == "s"
    assert story.patience == pytest.approx(0.2)
    story.leave()
    assert story.patience is None


def test_the_interrupt_comes_once_the_command_runs() -> None:
    story = Story(scenario("interrupt-command"))
    story.next_prompt()
    for message in (begin(), start(call()), stop()):
        assert story.on_message(message) is None
        assert story.patience is None
    assert story.on_message(MESSAGE_STOP) is None
    # What runs says nothing: the silence after the message does.
    assert story.patience == pytest.approx(1.0)
    assert story.on_silence() == "interrupt"
    assert story.patience is None


async def nothing() -> bool:
    return False


class FakeWire:
    """Answers each line that the client writes as `replies` says; a frame each."""

    def __init__(self, replies: Any) -> None:
        self.awaiting = ""
        self.held = asyncio.Event()
        self.interrupting: Callable[[], Awaitable[bool]] = nothing
        self.log: list[tuple[str, Any]] = []
        self.asked: list[str] = []
        self.args: list[str] = []
        self._replies = replies
        self._queue: asyncio.Queue[Any] = asyncio.Queue()

    async def start(self, args: list[str]) -> None:
        self.args = args

    async def send(self, line: bytes) -> None:
        message = msgspec.json.decode(line)
        # A client that takes its time: a reader that does not wait for it goes ahead.
        for _ in range(9):
            await asyncio.sleep(0)
        self.log.append(("out", message))
        for reply in self._replies(message):
            await self._queue.put(reply)

    async def close_stdin(self) -> None:
        await self._queue.put(None)

    def signal(self, name: Literal["SIGINT", "SIGTERM"]) -> None:
        raise AssertionError(name)

    async def frames(self) -> AsyncIterator[Frame]:
        while (message := await self._queue.get()) is not None:
            self.log.append(("in", message))
            field, value = classify(
                message.encode() if isinstance(message, str) else msgspec.json.encode(message)
            )
            yield Frame(len(self.log), 0, "in", "stdout", **{field: value})

    async def settle(self) -> None:
        raise AssertionError("settling is the runner's")

    def unhandled(self, what: str) -> None:
        self.asked.append(what)


def talk(scenario_id: str, replies: Any) -> FakeWire:
    setup = Setup(scenario(scenario_id), "/workspace", "/home/agent", 1, "/opt/claude", "key")

    async def run() -> FakeWire:
        wire = FakeWire(replies)
        async with asyncio.timeout(20):
            await converse(setup, wire)
        return wire

    return asyncio.run(run())


def initialized(message: Any) -> list[Any]:
    is_it = message["type"] == "control_request"
    return [answer(message["request_id"], {})] if is_it else []


@needs_sdk
def test_the_answer_follows_its_question_however_fast_the_agent_goes_on() -> None:
    def replies(message: Any) -> list[Any]:
        if message["type"] == "user":
            ask = may_i(tool_use_id="toolu_1", permission_suggestions=[])
            return [begin(), ask, MESSAGE_STOP, result(duration_ms=1, **RESULT), IDLE]
        return initialized(message)

    wire = talk("command-approved", replies)
    names = [(way, m.get("type")) for way, m in wire.log]
    assert names == [
        ("out", "control_request"),
        ("in", "control_response"),
        ("out", "user"),
        ("in", "stream_event"),
        ("in", "control_request"),
        ("out", "control_response"),
        ("in", "stream_event"),
        ("in", "result"),
        ("in", "system"),
    ]
    said = wire.log[5][1]["response"]["response"]
    assert said == {"behavior": "allow", "updatedInput": {"command": "ls"}}
    assert "--permission-prompt-tool" in wire.args
    assert "--include-partial-messages" in wire.args
    assert wire.asked == []


RESULT: dict[str, Any] = {
    "duration_api_ms": 1,
    "num_turns": 1,
    "total_cost_usd": 0.0,
    "usage": {},
    "result": "",
    "uuid": "u",
}


@needs_sdk
def test_a_request_that_nobody_knows_is_refused_and_reported() -> None:
    def replies(message: Any) -> list[Any]:
        if message["type"] == "user":
            ask = {"type": "control_request", "request_id": "r", "request": {"subtype": "new"}}
            return ["a banner", ask, result(duration_ms=1, **RESULT), IDLE]
        return initialized(message)

    wire = talk("text", replies)
    assert wire.asked == ["control_request new"]
    refused = next(m for way, m in wire.log if way == "out" and m["type"] == "control_response")
    assert refused["response"]["subtype"] == "error"
    assert refused["response"]["error"] == "Unsupported control request subtype: new"


@needs_sdk
@pytest.mark.parametrize(
    ("dies_at", "awaited"),
    [
        ("control_request", "the response to initialize"),
        ("user", "the result of turn 1 of 1"),
    ],
)
def test_an_agent_that_ends_too_early_fails_the_recording(dies_at: str, awaited: str) -> None:
    def replies(message: Any) -> list[Any]:
        return [None] if message["type"] == dies_at else initialized(message)

    with pytest.raises(RecordError) as caught:
        talk("text", replies)
    assert caught.value.code == 5
    assert str(caught.value) == f"the agent ended too early; awaited: {awaited}"


def test_the_cli_gets_the_model_server_and_nothing_else(tmp_path: Path) -> None:
    setup = Setup(scenario("text"), "/w", str(tmp_path), 8123, "/opt/claude", "the-key")
    variables = prepare(setup)
    assert variables["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8123"
    assert variables["ANTHROPIC_API_KEY"] == "the-key"
    assert variables["CLAUDE_CONFIG_DIR"] == str(tmp_path / ".claude")
    assert (tmp_path / ".claude").is_dir()


def test_the_sdks_random_ids_are_scrubbed() -> None:
    from harness.cassette.scrub import Scrubber

    scrubber = Scrubber(RULES, paths={}, words={}, port=1, now=0.0)
    scrubbed = scrubber.value(
        {
            "request_id": "req_12_0a1b2c3d",
            "messaging_socket_path": "/run/cc-socks/13904.sock",
            "retry_delay_ms": 530.4,
            "first_content_frame_ms": 35,
            "description": "d" * 200,
        }
    )
    assert scrubbed == {
        "request_id": "req_12_00000000",
        "messaging_socket_path": "/run/cc-socks/1000.sock",
        "retry_delay_ms": 1.0,
        "first_content_frame_ms": 1,
        "description": "d" * 80 + "…",
    }


def children() -> list[str]:
    return [p.read_text() for p in Path("/proc/self/task").glob("*/children") if p.read_text()]


@needs_sdk
@pytest.mark.agents
@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("command-approved", "completed"),
        ("interrupt-text", "interrupted"),
        pytest.param("file-edit-declined", "completed", marks=pytest.mark.slow),
        pytest.param("interrupt-command", "interrupted", marks=pytest.mark.slow),
        pytest.param("model-error", "failed", marks=pytest.mark.slow),
    ],
)
def test_the_real_agent_twice(name: str, state: str, tmp_path: Path) -> None:
    first = record(CLAUDE, name, tmp_path / "first")
    second = record(CLAUDE, name, tmp_path / "second")
    assert differences(first.path, second.path) == []
    assert first.unhandled == []
    assert children() == []
    with open_cassette(first.path) as cassette:
        frames = list(cassette)
    assert violations(frames) == []
    events = events_of(frames)
    assert one(events, "turn.completed").payload.state == state
    statuses = [
        e.payload.status
        for e in of(events, "item.completed")
        if e.payload.itemType in {"command_execution", "file_change"}
    ]
    assert statuses == {
        "command-approved": ["completed"],
        "file-edit-declined": ["declined"],
        "interrupt-command": ["failed"],
    }.get(name, [])
    errors = [e.payload.error_class for e in of(events, "runtime.error")]
    assert errors == (["provider_error"] if name == "model-error" else [])
