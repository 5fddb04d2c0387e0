"""Reports from the field on opencode's stream, by value."""

import base64
from typing import Any

from harness.canonical import events as ev
from harness.recording.sse import Block, SseParser
from tests.surfaces.codex.wire import REPORTS
from tests.surfaces.opencode.wire import event, normalize, report, request, response


def of(events: Any, *kinds: Any) -> list[Any]:
    return [e for e in events if isinstance(e, kinds)]


def deltas(events: Any) -> list[str]:
    return [e.payload.delta for e in of(events, ev.ContentDelta)]


def test_opc_01_a_delta_starts_its_item_and_a_snapshot_erases_nothing() -> None:
    events = normalize(report("OPC-01"))
    assert deltas(events) == ["He", "llo"]
    (done,) = of(events, ev.ItemCompleted)
    assert done.payload.data == {"text": "Hello"}
    assert len(of(events, ev.ItemStarted)) == 1


def test_opc_02_deltas_are_derived_from_snapshots() -> None:
    assert deltas(normalize(report("OPC-02"))) == ["He", "llo"]


def test_opc_02_a_snapshot_that_is_no_continuation_replaces() -> None:
    part = {"id": "prt1", "sessionID": "ses1", "messageID": "msg1", "type": "text"}
    events = normalize(
        [
            event("message.part.updated", part=part | {"text": "Hello"}),
            event("message.part.updated", part=part | {"text": "Bye"}),
        ]
    )
    assert deltas(events) == ["Hello"]
    (update,) = of(events, ev.ItemUpdated)
    assert update.payload.data == {"text": "Bye", "replaces": True}


def test_opc_03_a_requested_abort_is_one_interrupted_turn() -> None:
    events = normalize(report("OPC-03"))
    (end,) = of(events, ev.TurnCompleted)
    assert end.payload.state == "interrupted"
    assert not of(events, ev.RuntimeError)


def test_opc_03_an_abort_that_nobody_asked_for_is_a_failure() -> None:
    events = normalize([e for e in report("OPC-03") if e[1] == "sse"])
    (end,) = of(events, ev.TurnCompleted)
    assert end.payload.state == "failed"
    assert len(of(events, ev.RuntimeError)) == 1


def test_opc_03_a_stale_idle_does_not_end_the_next_turn() -> None:
    busy = event("session.status", sessionID="ses1", status={"type": "busy"})
    idle = event("session.idle", sessionID="ses1")
    answer = event("message.updated", sessionID="ses1", info={"id": "m2", "role": "assistant"})
    prompt = request(2, "POST", "/session/ses1/prompt_async", {})
    events = normalize([*report("OPC-03"), prompt, response(2, 204), busy, idle, answer, idle])
    ends = of(events, ev.TurnCompleted)
    assert [end.payload.state for end in ends] == ["interrupted", "completed"]
    assert ends[1].raw.payload == idle[2]
    assert events.index(ends[1]) == len(events) - 2


def test_opc_04_old_and_new_permissions_are_the_same_requests() -> None:
    events = normalize(report("OPC-04"))
    assert [e.payload.requestType for e in of(events, ev.RequestOpened)] == [
        "command_execution_approval",
        "unknown",
    ]
    assert [e.payload.decision for e in of(events, ev.RequestResolved)] == ["once", "reject"]


def test_opc_05_a_tool_may_end_after_the_error_and_at_idle_at_the_latest() -> None:
    events = normalize(report("OPC-05"))
    task, bash = of(events, ev.ItemCompleted)
    assert (task.payload.itemType, task.payload.status) == ("collab_agent_tool_call", "failed")
    assert task.payload.detail == "Tool execution aborted"
    assert task.payload.data["metadata"] == {"sessionId": "ses2", "interrupted": True}
    assert (bash.payload.itemType, bash.raw.messageType) == ("command_execution", "synthesized")


def test_opc_06_repeated_events_and_the_wrapper() -> None:
    events = normalize(report("OPC-06"))
    assert [e.payload.name for e in of(events, ev.ThreadMetadataUpdated)] == ["t", "t"]
    assert [e.payload.state for e in of(events, ev.ThreadStateChanged)] == ["idle", "idle"]


def test_opc_06_equal_deltas_are_two_but_one_event_id_is_one() -> None:
    kind, channel, data = event(
        "message.part.delta", sessionID="s", messageID="m", partID="p", field="text", delta="ha"
    )
    assert deltas(normalize([(kind, channel, data)] * 2)) == ["ha", "ha"]
    assert deltas(normalize([(kind, channel, data | {"id": "evt_1"})] * 2)) == ["ha"]


def test_opc_08_other_sessions_end_no_turn_of_ours_and_an_empty_step_is_no_usage() -> None:
    prompt = request(1, "POST", "/session/ses1/prompt_async", {})
    events = normalize([prompt, *report("OPC-08")])
    (end,) = of(events, ev.TurnCompleted)
    assert end.providerRefs.providerThreadId == "ses1"
    started = [e.payload.providerThreadId for e in of(events, ev.ThreadStarted)]
    assert started == ["ses1", "ses_other", "ses2"]
    assert not of(events, ev.ThreadTokenUsageUpdated)
    assert of(events, ev.RuntimeWarning)


def test_trn_07_the_stream_is_read_as_the_standard_says() -> None:
    chunks = [base64.b64decode(line["b64"]) for line in REPORTS["TRN-07"]["native"]]
    whole = b"".join(chunks)
    expected = [
        Block("comment", ": keepalive"),
        Block("event", '{"type":"server.connected",\n"properties":{}}'),
        Block("event", '{"type":"session.idle","properties":{"sessionID":"ses1"}}'),
        Block("incomplete", 'data: {"type":"server.heartbeat","properties":{}}'),
    ]
    for size in (1, 2, 7, len(whole)):
        parser = SseParser()
        found = [
            block
            for at in range(0, len(whole), size)
            for block in parser.feed(whole[at : at + size])
        ]
        assert found + parser.close() == expected


def test_restored_history_is_marked_and_in_no_turn() -> None:
    message = {
        "info": {"id": "m1", "role": "user"},
        "parts": [{"id": "p1", "type": "text", "text": "hi"}],
    }
    events = normalize([request(1, "GET", "/session/ses1/message"), response(1, 200, [message])])
    (done,) = of(events, ev.ItemCompleted)
    assert done.payload.itemType == "user_message"
    assert done.payload.data == {"replay": True, "text": "hi"}
    assert not of(events, ev.TurnStarted)
