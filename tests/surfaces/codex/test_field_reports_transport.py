"""Field reports of the transport, as far as a normalizer of Codex can meet them, by value."""

import json

import msgspec
from msgspec import UNSET

from harness.canonical import encode_event
from tests.surfaces.codex.wire import (
    APP,
    EXEC,
    events_of,
    frames,
    kinds,
    normalize,
    note,
    of,
    one,
    reported,
    turn_completed,
    turn_started,
    warnings,
)

GOOD = {"type": "turn.started"}
DONE = {"type": "turn.completed", "usage": {"input_tokens": 1}}


def message(text: str) -> dict[str, object]:
    return note("item/completed", item={"type": "agentMessage", "id": "m", "text": text})


def test_trn_03_a_native_replacement_character_is_left_as_it_is() -> None:
    delta = note("item/agentMessage/delta", itemId="m", delta="\ufffd")
    events = normalize(APP, [turn_started(), delta, message("\u4fee"), turn_completed()])
    assert one(events, "content.delta").payload.delta == "\ufffd"
    # The agent's final text is intact, and is not passed off as what it streamed.
    assert one(events, "item.completed").payload.data == {"finalText": "\u4fee"}
    (said,) = warnings(events)
    assert said.startswith("the final text is not what was streamed: 1 characters of ")


def test_trn_03_a_character_split_over_two_chunks_of_output() -> None:
    raw = "修\n".encode()
    lines = [
        {"id": "1", "msg": {"type": "task_started"}},
        *(
            {
                "id": "1",
                "msg": {
                    "type": "exec_command_output_delta",
                    "call_id": "c",
                    "stream": "stdout",
                    "chunk": list(part),
                },
            }
            for part in (raw[:1], raw[1:])
        ),
    ]
    events = normalize(EXEC, lines)
    assert [e.payload.delta for e in of(events, "content.delta")] == ["", "修\n"]


def test_trn_04_bytes_that_are_not_utf8() -> None:
    noise = reported("TRN-04")[0]
    item = b'{"id":"item_0","type":"agent_message","text":"C:\\\\V\xd0"}'
    inside = b'{"type":"item.completed","item":' + item + b"}"
    lines = [GOOD, noise, inside, DONE]
    events = normalize(EXEC, lines)
    assert kinds(EXEC, lines)[1:3] == ["noise", "item.completed/agent_message"]
    assert warnings(events) == [
        "the agent sent a line that is not of the protocol",
        "bytes that are not UTF-8 were read as U+FFFD",
    ]
    done = one(events, "item.completed")
    assert done.payload.data["text"] == "C:\\V\ufffd"
    assert done.raw.payload == frames([inside])[0].b64
    assert one(events, "turn.completed").payload.state == "completed"


def test_trn_05_a_line_of_5_mib_and_a_line_that_is_cut() -> None:
    long = json.dumps(message("x" * (5 << 20)))
    events = normalize(APP, [turn_started(), long, long[:65536]])
    assert len(one(events, "item.completed").payload.data["text"]) == 5 << 20
    assert warnings(events) == ["the agent sent a line that is not of the protocol"]
    assert len(of(events, "runtime.warning")[0].raw.payload) == 65536


def test_trn_06_two_objects_on_a_line_are_two_messages() -> None:
    line = json.dumps(GOOD) + json.dumps(DONE)
    events = normalize(EXEC, [line])
    assert one(events, "turn.completed").payload.state == "completed"
    assert one(events, "turn.completed").raw.payload == line
    assert warnings(events) == ["2 objects on one line were read as 2 messages"]


def test_trn_06_an_object_over_several_lines_is_noise_and_swallows_nothing() -> None:
    lines = [GOOD, *reported("TRN-06")[1:], DONE]
    events = normalize(EXEC, lines)
    assert kinds(EXEC, lines) == ["turn.started", *["noise"] * 4, "turn.completed"]
    assert len(warnings(events)) == 4
    assert one(events, "turn.completed").payload.state == "completed"


def test_trn_08_numbers_are_exact_and_nan_is_no_json() -> None:
    item = reported("TRN-08")[2]
    events = normalize(APP, [turn_started(), item])
    done = one(events, "item.completed").payload
    assert (done.data["exitCode"], done.status) == (3221225786, "failed")
    assert done.detail == "exit code 3221225786"
    line = '{"type":"turn.completed","usage":{"input_tokens":9007199254740993,"cost":NaN}}'
    events = events_of(EXEC, frames([GOOD, line]))
    end = one(events, "turn.completed")
    assert end.payload.usage == {
        "scope": "thread",
        "tokens": {"input_tokens": 9007199254740993, "cost": None},
    }
    assert end.raw.payload == line
    assert warnings(events) == ["NaN, which JSON does not have, was read as null"]
    assert json.loads(encode_event(end), parse_constant=lambda _: 1 / 0)["type"] == end.type


def test_a_key_that_stands_twice_has_its_last_value() -> None:
    # `codex exec` writes the id of a web search twice.
    line = (
        '{"type":"item.completed","item":{"id":"item_0","type":"web_search","id":"ws_1",'
        '"query":"q"}}'
    )
    events = normalize(EXEC, [GOOD, line])
    assert one(events, "item.completed").providerRefs.providerItemId == "ws_1"
    assert one(events, "item.completed").payload.title == "q"


def test_json_that_is_no_object_is_noise() -> None:
    for name in (APP, EXEC):
        events = normalize(name, [5, "[1]", "null", '"x"'])
        assert len(warnings(events)) == 4
        assert kinds(name, [5, "[1]", "null", '"x"']) == ["noise"] * 4


def test_what_is_encoded_is_read_back() -> None:
    events = normalize(APP, [turn_started(), message("ok"), turn_completed()])
    for event in events:
        assert msgspec.json.decode(encode_event(event))["type"] == event.type
        assert event.raw is not UNSET
