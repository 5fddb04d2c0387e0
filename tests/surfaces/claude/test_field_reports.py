"""Each field report of Claude, and of the transport as far as it can be met, by value."""

import json

import pytest
from msgspec import UNSET

from harness.canonical import encode_event
from tests.surfaces.claude.wire import (
    assistant,
    call,
    delta,
    frames,
    is_made_up,
    kinds,
    normalize,
    of,
    one,
    prompt,
    reported,
    result,
    result_of,
    says,
    start,
    stop,
    system,
    text,
    types,
    user,
    warnings_of,
)

NOISE = "the agent sent a line that is not of the protocol"


def test_cla_01_a_stream_that_stops_is_interrupted_never_completed() -> None:
    events = normalize(reported("CLA-01"))
    done = one(events, "item.completed")
    assert done.payload.status == "completed"
    assert done.payload.data["output"] == "a"
    assert done.providerRefs.providerItemId == "toolu_1"
    ended = one(events, "turn.completed")
    assert ended.payload.state == "interrupted"
    assert ended.payload.stopReason == "missing-terminal"
    assert is_made_up(ended)
    # Nothing said what it cost: it is not known, and not nothing.
    assert ended.payload.usage is UNSET


def test_cla_02_what_follows_the_result_is_kept_after_the_turn() -> None:
    events = normalize(reported("CLA-02"))
    assert types(events)[-3:] == ["turn.completed", "hook.started", "hook.completed"]
    assert is_made_up(one(events, "hook.started"))
    hook = one(events, "hook.completed")
    assert hook.turnId is UNSET
    assert (hook.payload.outcome, hook.payload.exitCode) == ("success", 0)
    assert hook.raw.payload["hook_name"] == "Stop"
    assert one(events, "turn.completed").payload.totalCostUsd == 0.01


def test_cla_03_a_success_that_is_an_error_failed() -> None:
    events = normalize(reported("CLA-03"))
    error = one(events, "runtime.error")
    assert error.payload.message == "API Error: overloaded"
    assert error.payload.error_class == "provider_error"
    assert error.payload.detail["api_error_status"] == 529
    ended = one(events, "turn.completed")
    assert ended.payload.state == "failed"
    assert ended.payload.errorMessage == "API Error: overloaded"
    # The CLI's own words are no output of the model's, and "<synthetic>" is no model.
    item = one(events, "item.completed")
    assert (item.payload.itemType, item.payload.status) == ("error", "failed")
    assert item.payload.data["error"] == "overloaded"
    assert "assistant_message" not in [e.payload.itemType for e in of(events, "item.started")]
    assert all(b"<synthetic>" not in encode_event(e).split(b'"raw":')[0] for e in events)


def test_cla_04_an_empty_result_takes_nothing_from_what_was_said() -> None:
    events = normalize(reported("CLA-04"))
    assert one(events, "item.completed").payload.data == {"text": "real answer"}
    ended = one(events, "turn.completed")
    assert (ended.payload.state, ended.payload.stopReason) == ("completed", "tool_use")
    assert ended.raw.payload["terminal_reason"] == "hook_stopped"


def test_cla_05_an_interrupt_on_record_is_no_error() -> None:
    events = normalize(reported("CLA-05"))
    assert not of(events, "runtime.error")
    ended = one(events, "turn.completed")
    assert ended.payload.state == "interrupted"
    assert ended.payload.errorMessage is UNSET
    assert ended.raw.payload["errors"][0].startswith("[ede_diagnostic]")
    closed = one(events, "item.completed")
    assert (closed.payload.status, is_made_up(closed)) == ("failed", True)
    assert closed.payload.detail == "the turn was interrupted"
    assert "user_message" not in [e.payload.itemType for e in of(events, "item.started")]
    assert warnings_of(events) == ["[Request interrupted by user]"]


def test_cla_05_the_same_result_without_an_interrupt_failed() -> None:
    lines = reported("CLA-05")
    events = normalize([lines[0], *lines[3:]])
    error = one(events, "runtime.error")
    assert error.payload.message.startswith("[ede_diagnostic] result_type=user")
    assert error.payload.error_class == "unknown"
    assert one(events, "turn.completed").payload.state == "failed"


def test_cla_06_blocks_of_one_message_are_all_kept_and_counted_once() -> None:
    events = normalize(reported("CLA-06"))
    done = of(events, "item.completed")
    assert [(e.payload.itemType, e.payload.status) for e in done] == [
        ("reasoning", "completed"),
        ("assistant_message", "completed"),
        ("dynamic_tool_call", "completed"),
    ]
    assert [e.payload.data for e in done] == [
        {"text": "t"},
        {"text": "x"},
        {"tool": "Read", "input": {}, "output": "ok"},
    ]
    assert one(events, "turn.completed").payload.usage == {
        "scope": "turn",
        "tokens": {"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 260},
    }
    assert not of(events, "thread.token-usage.updated")


def test_cla_06_a_result_may_be_a_text_or_blocks() -> None:
    blocks = [text("o"), text("k")]
    for content, more in (("ok", {}), (blocks, {"textParts": ["o", "k"]})):
        events = normalize([assistant(call(command="x")), user([result_of(content)])])
        data = one(events, "item.completed").payload.data
        assert data == {
            "tool": "Bash",
            "input": {"command": "x"},
            "command": "x",
            "output": "ok",
            **more,
        }


def test_cla_07_a_rate_limit_and_what_nobody_knows() -> None:
    lines = reported("CLA-07")
    events = normalize(lines)
    limits = one(events, "account.rate-limits.updated").payload.rateLimits
    assert (limits["status"], limits["resetsAt"]) == ("allowed", 1790000000)
    assert warnings_of(events) == [
        "some_future_event is not known",
        "system/some_future_subtype is not known",
    ]
    assert of(events, "runtime.warning")[0].raw.payload["payload"] == {"a": 1}
    assert kinds(lines)[1:] == ["some_future_event", "system/some_future_subtype"]


def test_cla_10_a_background_result_does_not_end_the_users_turn() -> None:
    events = normalize(reported("CLA-10"))
    started = [e.turnId for e in of(events, "turn.started")]
    ended = of(events, "turn.completed")
    # The user's first, the user's second, and the one that only its result told of.
    assert started == ["trn-1", "trn-2", "trn-3"]
    assert [e.turnId for e in ended] == ["trn-1", "trn-3", "trn-2"]
    assert [is_made_up(e) for e in of(events, "turn.started")] == [True, False, True]
    tokens = [e.payload.usage["tokens"]["input_tokens"] for e in ended]
    assert tokens == [5, 6, 7]
    task = one(events, "task.completed").payload
    assert (task.status, task.summary) == ("completed", "done")
    answer = of(events, "item.completed")[-1]
    assert answer.payload.data == {"text": "answer to next"}
    assert answer.turnId == "trn-2"


def test_cla_10_a_background_turn_of_its_own_ends_with_its_result() -> None:
    lines = reported("CLA-10")
    events = normalize([lines[1], lines[3], lines[4]])
    ended = one(events, "turn.completed")
    assert ended.turnId == one(events, "turn.started").turnId
    assert one(events, "item.completed").turnId == ended.turnId


def test_cla_11_each_compaction_once_and_a_second_init_is_no_second_session() -> None:
    events = normalize(reported("CLA-11"))
    compacted = of(events, "thread.state.changed")
    assert [e.payload.state for e in compacted] == ["compacted", "compacted"]
    assert compacted[0].payload.detail == {"trigger": "auto", "pre_tokens": 150000}
    # The second one's trigger is not on the wire: DECISIONS.md says why it is not guessed.
    assert compacted[1].payload.detail is UNSET
    one(events, "session.started")
    one(events, "thread.started")
    assert one(events, "session.configured").payload.config == {"model": "m", "tools": []}
    states = [(e.payload.state, e.payload.reason) for e in of(events, "session.state.changed")]
    assert states == [("running", "compacting"), ("ready", "compact_result: success")]


def test_cla_11_the_transcripts_spelling_of_the_metadata() -> None:
    events = normalize([system("compact_boundary", compactMetadata={"trigger": "manual"})])
    assert one(events, "thread.state.changed").payload.detail == {"trigger": "manual"}


def test_cla_12_signatures_and_redacted_thinking_are_no_text() -> None:
    events = normalize(reported("CLA-12"))
    assert not of(events, "content.delta")
    done = of(events, "item.completed")
    assert [e.payload.itemType for e in done] == ["reasoning", "reasoning"]
    assert [e.payload.data for e in done] == [{"text": ""}, {"redacted": True}]
    assert not any(is_made_up(e) for e in done)
    redacted = of(events, "item.started")[1].raw.payload
    assert redacted["event"]["content_block"]["data"] == "b3BhcXVl"


def test_cla_13_input_that_is_not_json_is_kept_as_text_until_a_message_has_it() -> None:
    lines = reported("CLA-13")
    broken = '{"c":"a\\nb", "d\n": 1}'
    events = normalize(lines)
    one(events, "item.started")
    assert one(events, "item.updated").payload.data == {"tool": "Write", "input": broken}
    assert warnings_of(events) == ["a tool's input is not JSON; it is kept as text"]
    parsed = {"file_path": "/w/a", "content": "b"}
    whole = assistant(call("Write", **parsed), session_id="sess-1")
    updates = of(normalize([*lines, whole]), "item.updated")
    assert updates[-1].payload.data["input"] == parsed
    assert updates[-1].payload.title == "/w/a"


def test_cla_13_the_end_of_input_that_is_known_does_not_lose_it() -> None:
    lines = reported("CLA-13")
    whole = assistant(call("Write", file_path="/w/a"), session_id="sess-1")
    updates = of(normalize([*lines[:4], whole, lines[4]]), "item.updated")
    assert [e.payload.data["input"] for e in updates] == [{"file_path": "/w/a"}] * 2


def test_cla_14_text_that_is_streamed_and_told_is_one_text() -> None:
    events = normalize(reported("CLA-14")[:4])
    assert [e.payload.delta for e in of(events, "content.delta")] == ["OK"]
    done = one(events, "item.completed")
    assert done.payload.data == {"text": "OK"}
    assert len({e.itemId for e in events if e.itemId is not UNSET}) == 1
    assert of(events, "item.updated")[0].raw.payload["type"] == "assistant"


def test_cla_14_the_message_may_come_after_its_blocks_end() -> None:
    lines = reported("CLA-14")
    events = normalize([lines[0], lines[1], lines[3], lines[2]])
    assert one(events, "item.completed").payload.data == {"text": "OK"}
    assert warnings_of(events) == ["an assistant message tells nothing that was not told before"]


def test_cla_14_a_banner_is_noise_and_an_array_is_its_messages() -> None:
    lines = reported("CLA-14")[4:]
    events = normalize(lines)
    assert kinds(lines) == ["noise", "noise", "system/init"]
    assert warnings_of(events) == [NOISE, NOISE]
    assert one(events, "turn.completed").payload.state == "completed"
    assert one(events, "session.configured").payload.config == {}
    assert len(one(events, "turn.completed").raw.payload) == 2


def test_cla_15_one_answer_to_each_request() -> None:
    lines = reported("CLA-15")
    events = normalize(lines)
    opened = of(events, "request.opened")
    assert [e.payload.requestType for e in opened] == [
        "command_execution_approval",
        "file_change_approval",
    ]
    assert opened[0].payload.args == {
        "toolName": "Bash",
        "input": {"command": "ls"},
        "toolUseId": "toolu_1",
    }
    resolved = of(events, "request.resolved")
    assert [(e.requestId, e.payload.decision) for e in resolved] == [
        (opened[0].requestId, "allow"),
        (opened[1].requestId, "cancelled"),
    ]
    assert not any(is_made_up(e) for e in resolved)
    (late,) = of(events, "runtime.warning")
    assert late.payload.message == "the client answers a request that is resolved already"
    assert late.raw.payload["response"]["response"]["behavior"] == "deny"


def test_cla_15_an_id_that_is_used_again_is_another_request() -> None:
    ask = reported("CLA-15")[0]
    events = normalize([ask, ask])
    assert [e.payload.decision for e in of(events, "request.resolved")] == ["cancelled"] * 2
    assert len({e.requestId for e in of(events, "request.opened")}) == 2


def test_trn_03_a_native_replacement_character_is_left_as_it_is() -> None:
    lines = [start(text("")), says("\ufffd"), assistant(text("修")), stop()]
    events = normalize(lines)
    assert one(events, "content.delta").payload.delta == "\ufffd"
    assert one(events, "item.updated").payload.data == {"finalText": "修"}
    assert one(events, "item.completed").payload.data == {"text": "\ufffd", "finalText": "修"}
    (said,) = warnings_of(events)
    assert said == "the text is not what was streamed: 1 characters in 1 deltas, 1 in the message"


def test_trn_04_bytes_that_are_not_utf8() -> None:
    lines = reported("TRN-04")
    events = normalize(lines)
    assert kinds(lines) == ["noise", "system/init", "result/success"]
    assert warnings_of(events) == [NOISE, "bytes that are not UTF-8 were read as U+FFFD"]
    configured = one(events, "session.configured")
    assert configured.payload.config == {"cwd": "C:\\\ufffd\ufffd"}
    assert configured.raw.payload == frames(lines)[1].b64
    assert one(events, "turn.completed").payload.state == "completed"


def test_trn_05_a_long_line_is_one_record_and_a_cut_one_is_kept() -> None:
    long = "x" * (5 << 20)
    whole = json.dumps(user([result_of(long)])).encode()
    events = normalize([assistant(call(command="x")), whole, whole[:65536], result()])
    assert one(events, "item.completed").payload.data["output"] == long
    (warning,) = of(events, "runtime.warning")
    assert warning.payload.message == NOISE
    assert warning.raw.payload == whole[:65536].decode()
    assert one(events, "turn.completed").payload.state == "completed"


def test_trn_06_two_objects_on_one_line_and_one_over_several() -> None:
    lines = reported("TRN-06")
    events = normalize([*lines, result()])
    assert one(events, "session.configured").payload.config == {}
    assert warnings_of(events) == ["2 objects on one line were read as 2 messages", *[NOISE] * 4]
    assert [e.payload.state for e in of(events, "turn.completed")] == ["completed"] * 2


def test_trn_08_nan_is_no_cost_and_a_big_number_is_exact() -> None:
    lines = reported("TRN-08")[:1]
    events = normalize(lines)
    ended = one(events, "turn.completed")
    assert ended.payload.totalCostUsd is UNSET
    assert ended.raw.payload == frames(lines)[0].text
    assert warnings_of(events) == ["NaN, which JSON does not have, was read as null"]
    used = 9007199254740993
    events = normalize([prompt(), result(usage={"input_tokens": used})])
    assert one(events, "turn.completed").payload.usage["tokens"]["input_tokens"] == used
    assert b"9007199254740993" in encode_event(one(events, "turn.completed"))


@pytest.mark.parametrize("piece", [None, 7, ["a"], {}])
def test_a_delta_that_is_no_text_gives_a_warning_and_no_text(piece: object) -> None:
    events = normalize([start(text("")), delta({"type": "text_delta", "text": piece}), stop()])
    assert not of(events, "content.delta")
    (said,) = warnings_of(events)
    assert said.startswith("stream_event/content_block_delta/text_delta has not the shape")
    assert said.endswith(": TypeError('text is no text')")
