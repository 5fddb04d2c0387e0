"""Field reports of `codex exec --json`: what each of them expects, by value."""

import pytest
from msgspec import UNSET

from tests.surfaces.codex.wire import (
    EXEC,
    exited,
    is_made_up,
    kinds,
    normalize,
    of,
    one,
    reported,
    started,
    types,
    warnings,
)

USAGE = {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1}


def test_cxe_01_a_reconnect_is_no_failure() -> None:
    events = normalize(EXEC, reported("CXE-01"))
    assert warnings(events) == [
        "Reconnecting... 1/5 (stream dropped)",
        "Reconnecting... 2/5 (stream dropped)",
    ]
    assert of(events, "runtime.error") == []
    assert one(events, "turn.completed").payload.state == "completed"


def test_cxe_01_the_text_of_an_error_decides_nothing() -> None:
    lines = reported("CXE-01")
    lines[2] = {"type": "error", "message": "Verbindung verloren"}
    events = normalize(EXEC, lines)
    assert one(events, "turn.completed").payload.state == "completed"
    assert warnings(events)[0] == "Verbindung verloren"


@pytest.mark.parametrize("code", [0, 1])
def test_cxe_03_one_failure_and_the_open_tool_closed(code: int) -> None:
    events = normalize(EXEC, [*reported("CXE-03"), exited(code)])
    assert one(events, "runtime.error").payload.message == "limit exceeded"
    assert warnings(events) == [
        "Reconnecting... 1/5 (overloaded)",
        "Reconnecting... 5/5 (limit)",
        "limit exceeded",
    ]
    tool = one(events, "item.completed")
    assert is_made_up(tool)
    assert (tool.payload.status, tool.payload.detail) == ("failed", "the turn failed")
    end = one(events, "turn.completed")
    assert (end.payload.state, end.payload.errorMessage) == ("failed", "limit exceeded")
    assert one(events, "session.exited").payload.exitKind == ("error" if code else "graceful")


def test_cxe_04_a_stream_that_just_stops() -> None:
    events = normalize(EXEC, [*reported("CXE-04"), exited(143)])
    tool, end, exit_ = events[-3:]
    assert types([tool, end, exit_]) == ["item.completed", "turn.completed", "session.exited"]
    assert is_made_up(tool)
    assert (tool.payload.status, tool.payload.detail) == ("failed", "the turn was interrupted")
    assert is_made_up(end)
    assert (end.payload.state, end.payload.stopReason) == ("interrupted", "missing-terminal")
    assert end.payload.usage is UNSET
    assert (exit_.payload.exitKind, exit_.payload.reason) == ("error", "exit code 143")


def test_cxe_05_usage_is_the_threads_and_is_never_added_up() -> None:
    lines = reported("CXE-05")
    first, second = lines[:3], lines[3:]
    events = normalize(
        EXEC,
        [
            started("codex", "exec", "go"),
            *first,
            exited(0),
            started("codex", "exec", "resume", "0190aaaa-0000-7000-8000-000000000005", "more"),
            *second,
            exited(0),
        ],
    )
    ends = of(events, "turn.completed")
    assert [e.payload.usage for e in ends] == [
        {
            "scope": "thread",
            "tokens": {"input_tokens": 1200, "cached_input_tokens": 200, "output_tokens": 50},
        },
        {
            "scope": "thread",
            "tokens": {
                "input_tokens": 2400,
                "cached_input_tokens": 400,
                "cache_write_input_tokens": 0,
                "output_tokens": 100,
                "reasoning_output_tokens": 20,
            },
        },
    ]
    # One thread, two sessions: DECISIONS.md 13.
    assert ends[0].threadId == ends[1].threadId
    assert ends[0].sessionId != ends[1].sessionId
    assert of(events, "session.started")[1].payload.resume == {
        "providerThreadId": "0190aaaa-0000-7000-8000-000000000005"
    }
    assert warnings(events) == []


def test_cxe_07_each_snapshot_replaces_the_plan() -> None:
    events = normalize(EXEC, reported("CXE-07"))
    plans = [[(s.step, s.status) for s in e.payload.plan] for e in of(events, "turn.plan.updated")]
    assert plans == [
        [("a", "pending"), ("b", "pending")],
        [("a", "completed"), ("b", "pending")],
        [("a", "completed"), ("b", "pending")],
    ]
    todo = [e for e in of(events, "item.completed") if e.payload.itemType == "plan"]
    assert [(e.payload.status, e.payload.title) for e in todo] == [
        ("completed", "1 of 2 steps done")
    ]
    assert len(of(events, "item.updated")) == 1


def test_cxe_08_items_that_were_never_started_and_a_warning_before_the_turn() -> None:
    events = normalize(EXEC, reported("CXE-08"))
    warning = one(events, "runtime.warning")
    assert warning.payload.message == "config warning: something deprecated"
    assert warning.turnId is UNSET
    assert warning.threadId == one(events, "thread.started").threadId
    done = [(e.payload.itemType, e.payload.status) for e in of(events, "item.completed")]
    assert done == [("reasoning", "completed"), ("file_change", "failed")]
    assert all(is_made_up(e) for e in of(events, "item.started"))
    assert not any(is_made_up(e) for e in of(events, "item.completed"))
    assert of(events, "item.completed")[1].payload.title == "add /w/a.txt"
    assert one(events, "turn.completed").payload.state == "completed"


def test_cxe_09_generation_1() -> None:
    events = normalize(EXEC, reported("CXE-09")[:5])
    assert one(events, "item.completed").payload.data["text"] == "hi"
    usage = one(events, "thread.token-usage.updated").payload.usage
    assert usage["scope"] == "thread"
    assert usage["tokens"]["total_token_usage"]["total_tokens"] == 36
    assert one(events, "turn.completed").payload.state == "completed"
    assert one(events, "turn.completed").payload.usage is UNSET
    assert "wire generation 1 of codex exec --json" in warnings(events)
    assert "token_count without info: the usage is not known" in warnings(events)


def test_cxe_09_generations_2_and_3_give_the_same_item() -> None:
    second, third = reported("CXE-09")[5:]
    results = [normalize(EXEC, [line]) for line in (second, third)]
    old, new = [one(events, "item.completed").payload for events in results]
    assert old == new
    assert (new.itemType, new.data) == ("assistant_message", {"text": "hi"})
    assert warnings(results[0]) == ["wire generation 2 of codex exec --json"]
    assert warnings(results[1]) == []


def test_cxe_09_all_generations_in_one_stream() -> None:
    assert kinds(EXEC, reported("CXE-09")) == [
        "msg/task_started",
        "msg/agent_message",
        "msg/token_count",
        "msg/token_count",
        "msg/task_complete",
        "item.completed/assistant_message",
        "item.completed/agent_message",
    ]
    normalize(EXEC, reported("CXE-09"))


def test_cxe_09_a_line_of_no_generation_is_kept_with_a_warning() -> None:
    line = {"event": "something", "from": "the future"}
    events = normalize(EXEC, [line, {"type": "thread.paused"}])
    assert warnings(events) == [
        "the agent sent a line of an unknown generation",
        "thread.paused is not known",
    ]
    assert events[0].raw.payload == line  # type: ignore[union-attr]


def test_cxe_10_noise_around_the_lines_and_crlf() -> None:
    lines = reported("CXE-10")
    events = normalize(EXEC, lines)
    assert kinds(EXEC, lines) == ["noise", "noise", "turn.started", "noise", "turn.completed"]
    noise = of(events, "runtime.warning")
    assert [e.raw.payload for e in noise] == [lines[i][2].decode() for i in (0, 1, 3)]
    assert {e.payload.message for e in noise} == {
        "the agent sent a line that is not of the protocol"
    }
    assert one(events, "turn.started").raw.payload == '{"type":"turn.started"}\r'
    assert one(events, "turn.completed").payload.usage == {"scope": "thread", "tokens": USAGE}


def test_cxe_10_a_byte_order_mark_is_tolerated_and_kept() -> None:
    events = normalize(EXEC, ['\ufeff{"type":"turn.started"}'])
    assert one(events, "turn.started").raw.payload.startswith("\ufeff")
    assert warnings(events) == []


def test_cxe_11_another_thread_than_the_one_to_be_resumed() -> None:
    command = ["codex", "exec", "resume", "0190aaaa-0000-7000-8000-0000000000aa"]
    events = normalize(EXEC, [started(*command), *reported("CXE-11")])
    warning = one(events, "runtime.warning")
    assert warning.payload.detail == {
        "asked": "0190aaaa-0000-7000-8000-0000000000aa",
        "started": "0190aaaa-0000-7000-8000-0000000000bb",
    }
    thread = one(events, "thread.started")
    assert thread.payload.providerThreadId == "0190aaaa-0000-7000-8000-0000000000bb"
    assert one(events, "turn.completed").threadId == thread.threadId
    assert {e.payload.itemType for e in of(events, "item.started")} == {"assistant_message"}
