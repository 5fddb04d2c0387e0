"""Threads, turns and the process of `codex app-server`: EVENTS.md 3.1."""

from typing import Any

import pytest
from msgspec import UNSET

from harness.surfaces import surface
from tests.surfaces.codex.wire import (
    APP,
    events_of,
    exited,
    frames,
    header,
    is_made_up,
    normalize,
    note,
    of,
    one,
    sent,
    started,
    turn_completed,
    turn_started,
    types,
    warnings,
)

THREAD = {"id": "thr_A", "model": "gpt-5.5", "status": {"type": "idle"}}
SETTINGS = {"model": "gpt-5.5", "approvalPolicy": "untrusted", "sandbox": {"type": "readOnly"}}


def of_thread(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": "thr_A", **params}}


def opening(method: str = "thread/start") -> list[Any]:
    return [
        started("codex", "app-server"),
        sent({"id": 0, "method": "initialize", "params": {}}),
        {"id": 0, "result": {"userAgent": "x/0.163.0"}},
        sent({"id": 1, "method": method, "params": {}}),
        {"id": 1, "result": {"thread": THREAD, "reasoningEffort": "high", **SETTINGS}},
    ]


def test_a_session_and_a_thread_begin() -> None:
    lines = [*opening(), {"method": "thread/started", "params": {"thread": THREAD}}]
    events = normalize(APP, lines)
    assert types(events) == ["session.started", "session.configured", "thread.started"]
    assert events[0].payload.message == "x/0.163.0"
    assert events[1].payload.config == {"reasoningEffort": "high", **SETTINGS}
    assert events[1].threadId == events[2].threadId
    assert events[2].payload.providerThreadId == "thr_A"


def test_a_resumed_thread_begins_with_the_response() -> None:
    events = normalize(APP, opening("thread/resume"))
    assert types(events) == ["session.started", "thread.started", "session.configured"]


def test_a_turn_knows_its_model_and_effort() -> None:
    asked = {"threadId": "thr_A", "input": [], "model": "other", "effort": "low"}
    lines = [
        *opening(),
        turn_started("turn_1"),
        turn_completed(turn="turn_1"),
        sent({"id": 2, "method": "turn/start", "params": asked}),
        turn_started("turn_2"),
    ]
    first, second = of(normalize(APP, lines), "turn.started")
    assert (first.payload.model, first.payload.effort) == ("gpt-5.5", "high")
    assert (second.payload.model, second.payload.effort) == ("other", "low")


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({"type": "idle"}, "idle"),
        ({"type": "active", "activeFlags": ["waitingOnApproval"]}, "active"),
        ({"type": "systemError"}, "error"),
        ({"type": "notLoaded"}, "closed"),
    ],
)
def test_the_whole_status_of_a_thread_is_kept(status: dict[str, Any], state: str) -> None:
    changed = one(
        normalize(APP, [of_thread("thread/status/changed", status=status)]), "thread.state.changed"
    )
    assert (changed.payload.state, changed.payload.detail) == (state, status)


def test_an_unknown_thread_status_is_a_warning() -> None:
    status = {"type": "dreaming"}
    events = normalize(APP, [of_thread("thread/status/changed", status=status)])
    assert types(events) == ["runtime.warning"]
    assert (warnings(events), events[0].payload.detail) == (
        ["thread status dreaming is not known"],
        status,
    )


@pytest.mark.parametrize(
    ("method", "state", "detail"),
    [
        ("thread/archived", "archived", UNSET),
        ("thread/unarchived", "active", {"status": "unarchived"}),
        ("thread/closed", "closed", UNSET),
        ("thread/deleted", "closed", {"status": "deleted"}),
        ("thread/compacted", "compacted", UNSET),
    ],
)
def test_states_that_have_a_method_of_their_own(method: str, state: str, detail: Any) -> None:
    changed = one(normalize(APP, [of_thread(method)]), "thread.state.changed").payload
    assert (changed.state, changed.detail) == (state, detail)


@pytest.mark.parametrize("status", ["inProgress", "evaporated", None])
def test_a_turn_that_ends_no_one_knows_how_is_aborted(status: Any) -> None:
    lines = [turn_started(), note("item/started", item={"type": "sleep", "id": "s"})]
    events = normalize(APP, [*lines, turn_completed(status)])
    assert one(events, "turn.aborted").payload.reason == str(status)
    assert warnings(events) == [f"turn status {status} is not known"]
    assert is_made_up(one(events, "item.completed"))
    assert of(events, "turn.completed") == []


def test_an_inner_turn_ends_with_the_turn_it_is_of() -> None:
    # A review: the inner turn is named once, its items are the outer turn's, and nothing ends it.
    inner = turn_started("inner")
    inner["params"]["turn"]["rootTurnId"] = "outer"
    item = {"type": "exitedReviewMode", "id": "x", "review": "fine"}
    params = {"threadId": "thr_A", "turnId": "outer", "item": item}
    lines = [
        inner,
        {"method": "item/completed", "params": params},
        turn_completed(turn="outer"),
        exited(0),
    ]
    first, second = of(normalize(APP, lines), "turn.completed")
    assert (first.payload.state, first.payload.stopReason) == ("interrupted", "missing-terminal")
    assert (first.providerRefs.providerTurnId, is_made_up(first)) == ("inner", True)
    assert (second.payload.state, is_made_up(second)) == ("completed", False)


def test_a_sub_agents_turn_outlives_the_turn_that_started_it() -> None:
    child = turn_started("child", "thr_B")
    child["params"]["turn"]["rootTurnId"] = "turn_1"
    lines = [turn_started(), child, turn_completed(), turn_completed(turn="child", thread="thr_B")]
    assert [e.payload.state for e in of(normalize(APP, lines), "turn.completed")] == [
        "completed",
        "completed",
    ]


def test_a_sub_agents_thread_is_announced_by_the_call_to_it() -> None:
    # Codex 0.163.0 sends no thread/started for it.
    call = {
        "type": "collabAgentToolCall",
        "id": "call_1",
        "tool": "spawnAgent",
        "senderThreadId": "thr_A",
        "receiverThreadIds": ["thr_B"],
        "status": "completed",
    }
    lines = [turn_started(), note("item/completed", item=call), turn_started("child", "thr_B")]
    events = normalize(APP, lines)
    parent, child = of(events, "thread.started")
    assert child.providerRefs.providerThreadId == "thr_B"
    assert is_made_up(child)
    link = one(events, "thread.metadata.updated")
    assert (link.threadId, link.payload.metadata) == (
        child.threadId,
        {"parentThreadId": parent.threadId},
    )
    assert of(events, "turn.started")[1].threadId == child.threadId


def test_a_snapshot_closes_what_it_has() -> None:
    item = {"type": "agentMessage", "id": "m", "text": "hello"}
    turn = {"id": "turn_1", "status": "completed", "error": None, "items": [item]}
    events = normalize(
        APP,
        [
            turn_started(),
            note("item/agentMessage/delta", itemId="m", delta="hello"),
            of_thread("turn/completed", turn=turn),
        ],
    )
    done = one(events, "item.completed")
    assert (done.payload.status, done.payload.data) == ("completed", {"text": "hello"})
    assert not is_made_up(done)


def test_usage_is_the_threads() -> None:
    usage = {"total": {"totalTokens": 3}, "last": {"totalTokens": 1}}
    lines = [turn_started(), note("thread/tokenUsage/updated", tokenUsage=usage)]
    event = one(normalize(APP, lines), "thread.token-usage.updated")
    assert event.payload.usage == {"scope": "thread", "tokens": usage}
    assert event.turnId is not UNSET
    late = [turn_started(), turn_completed(), lines[1]]
    assert one(normalize(APP, late), "thread.token-usage.updated").turnId is UNSET


def test_nothing_of_a_turn_after_its_end() -> None:
    late = [
        note("item/agentMessage/delta", itemId="m", delta="x"),
        note("item/started", item={"type": "sleep", "id": "s"}),
        note("turn/diff/updated", diff="d"),
        turn_started(),
        turn_completed("failed"),
    ]
    events = normalize(APP, [turn_started(), turn_completed(), *late])
    assert types(events)[-6:] == ["turn.completed", *["runtime.warning"] * 5]
    assert all(e.turnId is UNSET for e in events[-5:])


def test_deltas_after_the_items_end_are_told() -> None:
    message = {"type": "agentMessage", "id": "m", "text": "x"}
    delta = note("item/agentMessage/delta", itemId="m", delta="x")
    events = normalize(
        APP, [turn_started(), delta, note("item/completed", item=message), delta, turn_completed()]
    )
    assert len(of(events, "content.delta")) == 1
    assert warnings(events) == ["item/agentMessage/delta came after its item was completed"]


def test_one_item_id_in_two_threads_is_two_items() -> None:
    def said(thread: str, turn: str, text: str) -> dict[str, Any]:
        params = {"threadId": thread, "turnId": turn, "itemId": "msg_1", "delta": text}
        return {"method": "item/agentMessage/delta", "params": params}

    lines = [
        turn_started("t", "thr_A"),
        turn_started("t", "thr_B"),
        said("thr_A", "t", "a"),
        said("thr_B", "t", "b"),
        said("thr_A", "t", "a"),
        said("thr_B", "t", "b"),
    ]
    deltas = of(normalize(APP, lines), "content.delta")
    by_thread = {(e.threadId, e.turnId, e.itemId): "" for e in deltas}
    for event in deltas:
        by_thread[event.threadId, event.turnId, event.itemId] += event.payload.delta
    assert sorted(by_thread.values()) == ["aa", "bb"]


def test_a_process_that_dies_ends_what_is_open() -> None:
    events = normalize(APP, [*opening(), turn_started(), exited(signal="SIGKILL")])
    assert types(events)[-2:] == ["turn.completed", "session.exited"]
    assert (events[-1].payload.reason, events[-1].payload.exitKind) == ("signal SIGKILL", "error")
    assert events[-2].payload.stopReason == "missing-terminal"


def test_why_a_process_failed_that_said_nothing() -> None:
    events = normalize(APP, [("in", "stderr", "error: no such option"), exited(2)])
    assert one(events, "session.exited").payload.reason == "exit code 2: error: no such option"


def test_a_message_of_another_shape_is_told_with_its_frame() -> None:
    line = {"method": "turn/started", "params": {"threadId": "thr_A", "turn": None}}
    events = events_of(APP, frames([line]))
    warning = one(events, "runtime.warning")
    assert warning.payload.message.startswith("turn/started has not the shape that it should: ")
    assert warning.raw.payload == line


def test_ended_turns_leave_nothing_behind() -> None:
    normalizer: Any = surface(APP).normalizer(header(APP))
    lines: list[Any] = []
    for number in range(3000):
        turn = f"turn_{number}"
        place = {"threadId": "thr_A", "turnId": turn}
        delta = {**place, "itemId": f"m_{number}", "delta": "x"}
        lines += [
            turn_started(turn),
            {"method": "item/agentMessage/delta", "params": delta},
            {"id": number, "method": "item/tool/call", "params": {**place, "callId": "c"}},
            turn_completed(turn=turn),
        ]
    for frame in frames(lines):
        normalizer.feed(frame)
    conversation, requests = normalizer.conversation, normalizer.requests
    assert conversation.fast == {}
    assert conversation.threads["thr_A"].open == {}
    assert len(conversation._ended) == 1024
    assert requests._open == {}
    assert len(requests._resolved) <= 1024


@pytest.mark.parametrize("told", ["", "Hel"])
def test_a_message_cut_off_does_not_end_with_the_empty_text_that_it_began_with(told: str) -> None:
    """DECISIONS.md 4: what was told last, without a text that was empty then."""
    item = {"type": "agentMessage", "id": "msg_1", "text": told, "phase": "final_answer"}
    place = {"threadId": "thr_A", "turnId": "turn_1"}
    lines = [
        *opening(),
        turn_started("turn_1"),
        {"method": "item/started", "params": {"item": item, **place}},
        *(
            [
                {
                    "method": "item/agentMessage/delta",
                    "params": {"itemId": "msg_1", "delta": "Hel", **place},
                }
            ]
            if not told
            else []
        ),
    ]
    end = one(normalize(APP, lines), "item.completed")
    assert end.payload.status == "failed"
    assert end.payload.data.get("text", "absent") == (told or "absent")
    assert end.payload.data["phase"] == "final_answer"
