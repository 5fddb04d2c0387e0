"""Field reports of `codex app-server`: what each of them expects, by value."""

from msgspec import UNSET

from tests.surfaces.codex.wire import (
    APP,
    exited,
    is_made_up,
    kinds,
    normalize,
    note,
    of,
    one,
    reported,
    sent,
    turn_completed,
    turn_started,
    types,
    warnings,
)


def test_cxa_01_an_error_that_is_retried_is_no_failure() -> None:
    events = normalize(APP, reported("CXA-01"))
    warning = one(events, "runtime.warning")
    assert warning.payload.message == "Reconnecting... 1/5"
    assert warning.payload.detail == {
        "error": {
            "message": "Reconnecting... 1/5",
            "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": None}},
            "additionalDetails": "dropped",
        },
        "willRetry": True,
    }
    assert of(events, "runtime.error") == []
    assert one(events, "turn.completed").payload.state == "completed"


def test_cxa_01_without_the_flag_only_the_end_tells() -> None:
    error = note("error", error={"message": "lost", "codexErrorInfo": None})
    events = normalize(APP, [turn_started(), error, turn_completed()])
    assert warnings(events) == ["lost"]
    assert of(events, "runtime.error") == []
    failed = {"message": "lost", "codexErrorInfo": "unauthorized", "additionalDetails": None}
    events = normalize(APP, [turn_started(), error, turn_completed("failed", error=failed)])
    failure = one(events, "runtime.error")
    assert (failure.payload.message, failure.payload.error_class) == ("lost", "permission_error")


def test_cxa_02_interrupted_while_a_tool_call_waits() -> None:
    lines = reported("CXA-02")
    events = normalize(APP, lines)
    resolved, tool, end = events[-3:]
    assert types(events[-3:]) == ["request.resolved", "item.completed", "turn.completed"]
    assert (resolved.payload.decision, is_made_up(resolved)) == ("cancelled", True)
    assert resolved.requestId == one(events, "request.opened").requestId
    assert one(events, "request.opened").payload.requestType == "dynamic_tool_call"
    assert (tool.payload.status, is_made_up(tool)) == ("failed", True)
    assert tool.payload.detail == "the turn was interrupted"
    assert (end.payload.state, end.payload.errorMessage) == ("interrupted", UNSET)
    assert of(events, "runtime.error") == []


def test_cxa_03_idle_ends_no_turn_and_the_end_of_the_frames_does() -> None:
    events = normalize(APP, reported("CXA-03"))
    end = events[-1]
    assert end.type == "turn.completed"
    assert is_made_up(end)
    assert (end.payload.state, end.payload.stopReason) == ("interrupted", "missing-terminal")
    assert one(events, "item.completed").payload.data["text"] == "final"
    assert of(events, "runtime.error") == []
    assert one(events, "thread.state.changed").payload.state == "idle"


def test_cxa_03_a_late_end_is_the_only_one() -> None:
    events = normalize(APP, [*reported("CXA-03"), turn_completed(), exited(0)])
    end = one(events, "turn.completed")
    assert (end.payload.state, is_made_up(end)) == ("completed", False)


def test_cxa_04_a_childs_events_are_the_childs() -> None:
    events = normalize(APP, reported("CXA-04"))
    ends = of(events, "turn.completed")
    texts = {
        e.turnId: e.payload.data["text"]
        for e in of(events, "item.completed")
        if e.payload.itemType == "assistant_message"
    }
    child, root = ends
    assert root == events[-1]
    assert texts == {child.turnId: "child result", root.turnId: "parent answer"}
    assert child.threadId != root.threadId
    assert child.providerRefs.providerThreadId == "thr_B"
    assert root.providerRefs.providerTurnId == "turn_1"
    assert {e.threadId for e in events if e.turnId == root.turnId} == {root.threadId}
    threads = [(e.payload.providerThreadId, is_made_up(e)) for e in of(events, "thread.started")]
    assert threads == [("thr_A", True), ("thr_B", False)]


def test_cxa_04_a_parent_that_is_named_is_linked() -> None:
    thread = {"id": "thr_B", "parentThreadId": "thr_A", "agentNickname": "Ada", "agentRole": None}
    events = normalize(
        APP, [turn_started(), {"method": "thread/started", "params": {"thread": thread}}]
    )
    link = one(events, "thread.metadata.updated")
    assert link.payload.metadata == {
        "parentThreadId": one(events, "turn.started").threadId,
        "agentNickname": "Ada",
    }
    assert link.threadId == of(events, "thread.started")[1].threadId


def test_cxa_05_a_late_start_does_not_open_again() -> None:
    events = normalize(APP, reported("CXA-05"))
    done = one(events, "item.completed")
    assert (done.payload.status, done.payload.data["output"]) == ("completed", "a\n")
    assert [is_made_up(e) for e in of(events, "item.started")] == [True]
    assert warnings(events) == ["item/started came for an item that was completed before"]
    assert one(events, "turn.completed").payload.state == "completed"


def test_cxa_06_an_empty_snapshot_deletes_nothing() -> None:
    events = normalize(APP, reported("CXA-06"))
    assert one(events, "item.completed").payload.data["text"] == "CODEXOK"
    assert one(events, "turn.completed").payload.state == "completed"
    assert warnings(events) == []


def test_cxa_07_two_families_and_one_text() -> None:
    events = normalize(APP, reported("CXA-07"))
    assert [e.payload.delta for e in of(events, "content.delta")] == ["he"]
    done = one(events, "item.completed")
    assert done.payload.data.get("text", done.payload.data.get("finalText")) == "hello"


def test_cxa_07_the_v2_family_is_the_source_on_a_v2_thread() -> None:
    params = {"threadId": "thr_A", "input": []}
    lines = [sent({"id": 5, "method": "turn/start", "params": params}), *reported("CXA-07")]
    assert kinds(APP, lines)[1::2] == ["repeat codex/event", "repeat codex/event"]
    events = normalize(APP, lines)
    assert [e.raw.method for e in of(events, "content.delta")] == ["item/agentMessage/delta"]
    assert one(events, "item.completed").payload.data["finalText"] == "hello"
    assert len(warnings(events)) == 1  # that "he" is not "hello"


def test_cxa_07_legacy_alone_still_normalizes() -> None:
    lines = reported("CXA-07")[::2]
    events = normalize(APP, lines)
    assert [e.payload.delta for e in of(events, "content.delta")] == ["he"]
    assert {e.raw.source for e in of(events, "content.delta", "item.completed")} == {
        "codex.eventmsg"
    }
    assert one(events, "item.completed").payload.data["finalText"] == "hello"


def test_cxa_09_notifications_before_the_response() -> None:
    lines = reported("CXA-09")
    events = normalize(APP, lines)
    assert kinds(APP, lines)[-1] == "response turn/start"
    start = one(events, "turn.started")
    assert not is_made_up(start)
    delta = one(events, "content.delta")
    assert (delta.payload.delta, delta.turnId) == ("hi", start.turnId)
    item = one(events, "item.started")
    assert (item.itemId, is_made_up(item)) == (delta.itemId, True)
    assert item.payload.itemType == "assistant_message"


def test_cxa_09_a_delta_before_its_turn_starts_the_turn_once() -> None:
    lines = reported("CXA-09")
    lines[1], lines[2] = lines[2], lines[1]
    events = normalize(APP, lines)
    start = one(events, "turn.started")
    assert is_made_up(start)
    assert one(events, "content.delta").turnId == start.turnId
    assert warnings(events) == ["turn/started came for a turn that had started before"]


def test_cxa_10_three_reports_of_one_failure() -> None:
    events = normalize(APP, reported("CXA-10"))
    failure = one(events, "runtime.error")
    assert (failure.payload.message, failure.payload.error_class) == ("quota", "provider_error")
    end = one(events, "turn.completed")
    assert (end.payload.state, end.payload.errorMessage) == ("failed", "quota")
    assert one(events, "thread.state.changed").payload.state == "idle"
    assert failure.turnId == end.turnId


def test_cxa_10_without_the_error_notification_and_without_idle() -> None:
    lines = [turn_started(), reported("CXA-10")[1]]
    events = normalize(APP, lines)
    assert types(events)[-2:] == ["runtime.error", "turn.completed"]
    assert events[-2].turnId == events[-1].turnId


def test_cxa_12_a_review_of_an_item_that_is_not_announced() -> None:
    events = normalize(APP, reported("CXA-12"))
    forward = of(events, "runtime.warning")
    assert [e.raw.method for e in forward] == [
        "item/autoApprovalReview/started",
        "item/autoApprovalReview/completed",
    ]
    assert forward[1].payload.detail["review"] == {"status": "approved"}
    done = one(events, "item.completed")
    assert (done.payload.title, done.payload.status) == ("ls", "completed")
    assert [is_made_up(e) for e in of(events, "item.started")] == [False]


def test_cxa_13_two_spellings_of_a_sub_agents_call() -> None:
    old = reported("CXA-13")[:1]
    new = {
        "type": "collabAgentToolCall",
        "id": "col_1",
        "tool": "spawnAgent",
        "senderThreadId": "thr_A",
        "receiverThreadIds": ["thr_B"],
        "agentsStates": {},
        "status": "completed",
    }
    for lines in (old, [note("item/completed", item=new)]):
        done = one(normalize(APP, lines), "item.completed")
        assert done.payload.itemType == "collab_agent_tool_call"
        assert done.payload.data["receiverThreadIds"] == ["thr_B"]


def test_cxa_13_an_approval_that_names_its_thread_otherwise() -> None:
    events = normalize(APP, [turn_started(), reported("CXA-13")[1]])
    opened = one(events, "request.opened")
    assert opened.payload.requestType == "exec_command_approval"
    assert opened.payload.detail == "ls"
    assert opened.threadId == one(events, "turn.started").threadId
    assert opened.providerRefs.providerThreadId == "thr_A"


def test_cxa_13_output_in_base64_and_as_numbers() -> None:
    events = normalize(APP, reported("CXA-13"))
    deltas = [e.payload for e in of(events, "content.delta")]
    assert [(d.streamKind, d.delta) for d in deltas] == [("command_output", "hi\n")] * 2
