"""What the normalizer makes of blocks, tools, turns and the control channel."""

from typing import Any

import pytest
from msgspec import UNSET

from tests.surfaces.claude.samples import HOOK, THINKING, client_asks
from tests.surfaces.claude.wire import (
    answer,
    assistant,
    begin,
    call,
    delta,
    exited,
    is_made_up,
    may_i,
    normalize,
    of,
    one,
    prompt,
    result,
    result_of,
    says,
    sent,
    start,
    stop,
    stream,
    system,
    text,
    types,
    user,
    warnings_of,
)


def thinks(piece: str) -> dict[str, Any]:
    return delta({"type": "thinking_delta", "thinking": piece})


def test_a_turn_runs_from_the_prompt_to_the_result() -> None:
    usage = {"input_tokens": 3}
    models = {"m": {"inputTokens": 3}}
    events = normalize(
        [
            client_asks("initialize"),
            answer("c1", {"commands": []}),
            prompt("hi"),
            system("init", model="m"),
            begin(),
            start(THINKING),
            thinks("a"),
            thinks("b"),
            stop(),
            start(text(""), 1),
            says("c", 1),
            says("d", 1),
            assistant(text("cd")),
            stop(1),
            result(stop_reason="end_turn", usage=usage, modelUsage=models, total_cost_usd=0.5),
            exited(0),
        ]
    )
    assert types(events) == [
        "session.started",
        "session.configured",
        "turn.started",
        "item.started",
        "item.completed",
        "thread.started",
        "session.configured",
        "item.started",
        "content.delta",
        "content.delta",
        "item.completed",
        "item.started",
        "content.delta",
        "content.delta",
        "item.updated",
        "item.completed",
        "turn.completed",
        "session.exited",
    ]
    deltas = [(e.payload.streamKind, e.payload.delta) for e in of(events, "content.delta")]
    assert deltas == [
        ("reasoning_text", "a"),
        ("reasoning_text", "b"),
        ("assistant_text", "c"),
        ("assistant_text", "d"),
    ]
    finals = [e.payload.data for e in of(events, "item.completed")]
    assert finals == [{"text": "hi"}, {"text": "ab"}, {"text": "cd"}]
    ended = one(events, "turn.completed")
    assert (ended.payload.state, ended.payload.stopReason) == ("completed", "end_turn")
    assert ended.payload.usage == {"scope": "turn", "tokens": usage}
    assert (ended.payload.modelUsage, ended.payload.totalCostUsd) == (models, 0.5)
    assert ended.threadId == "thr-1"
    assert ended.providerRefs.providerSessionId == "s"
    # The thread is not known before the agent names it: the id is left out (EVENTS.md 1.6).
    assert one(events, "turn.started").threadId is UNSET


def test_a_prompt_that_comes_too_early_waits_for_the_turns_end() -> None:
    events = normalize(
        [
            prompt("a"),
            prompt("b"),
            assistant(text("to a")),
            result(uuid="u1"),
            assistant(text("to b"), message={"id": "msg_2"}),
            result(uuid="u2"),
        ]
    )
    said = [(e.payload.data["text"], e.turnId) for e in of(events, "item.completed")]
    assert said == [("a", "trn-1"), ("b", "trn-1"), ("to a", "trn-1"), ("to b", "trn-2")]
    assert [e.payload.state for e in of(events, "turn.completed")] == ["completed"] * 2


def test_a_result_that_is_told_twice_ends_one_turn() -> None:
    events = normalize([prompt(), result(uuid="u1"), result(uuid="u1")])
    one(events, "turn.completed")
    assert warnings_of(events) == ["a result is told again"]


def test_a_result_that_nobody_knows_still_ends_its_turn() -> None:
    events = normalize([prompt(), result("error_of_tomorrow", errors=["e"])])
    assert one(events, "turn.completed").payload.state == "failed"
    assert one(events, "runtime.error").payload.message == "e"
    assert warnings_of(events) == ["result/error_of_tomorrow is not known"]


def test_a_message_that_breaks_off_and_begins_anew_under_the_same_id() -> None:
    again = [begin(), start(text("")), says("half")]
    events = normalize([*again, *again, says(" whole"), stop(), result()])
    done = of(events, "item.completed")
    assert [e.payload.data["text"] for e in done] == ["half", "half whole"]
    assert [is_made_up(e) for e in done] == [True, False]
    assert done[0].payload.detail == "the message was broken off"


def test_a_message_ends_the_blocks_that_it_leaves_open() -> None:
    events = normalize([begin(), start(text("")), says("a"), stream({"type": "message_stop"})])
    done = one(events, "item.completed")
    assert (done.payload.data, is_made_up(done)) == ({"text": "a"}, True)


def test_what_comes_late_for_what_is_over_is_a_warning() -> None:
    events = normalize([prompt(), assistant(call()), result(), user([result_of("a")])])
    (late,) = of(events, "runtime.warning")
    assert late.payload.message == "a result of a tool call that is over"
    assert late.turnId is UNSET
    closed = of(events, "item.completed")[-1]
    assert closed.payload.status is UNSET
    assert closed.payload.detail == "no result by the end of the turn"


def test_a_tool_of_the_providers_own_has_its_result_as_a_block() -> None:
    search = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"url": "u"}]}
    piece = {"type": "input_json_delta", "partial_json": '{"query":"q"}'}
    events = normalize([begin(), start(search), delta(piece), stop(), start(found, 1), stop(1)])
    done = one(events, "item.completed").payload
    assert (done.itemType, done.title, done.status) == ("web_search", "q", "completed")
    assert done.data["content"] == [{"url": "u"}]
    error = {**found, "content": {"type": "web_search_tool_result_error"}}
    events = normalize([begin(), start(search), stop(), start(error, 1), stop(1)])
    assert one(events, "item.completed").payload.status == "failed"


def test_a_block_that_nobody_knows_is_an_unknown_item() -> None:
    block = {"type": "hologram", "a": 1}
    for lines in ([start(block), stop()], [assistant(block)]):
        events = normalize(lines)
        assert one(events, "item.started").payload.itemType == "unknown"
        assert any("'hologram' is not known" in said for said in warnings_of(events))
    assert one(events, "item.completed").payload.data == {"block": block}


def test_a_failure_that_is_tried_again_is_no_error() -> None:
    retry = system("api_retry", attempt=1, max_retries=3, error="overloaded", error_status=529)
    events = normalize([prompt(), retry, result()])
    assert warnings_of(events) == [
        "the model API failed (overloaded, HTTP 529); attempt 1 of 3 follows"
    ]
    assert one(events, "turn.completed").payload.state == "completed"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"api_error_status": 401}, "permission_error"),
        ({"api_error": "connection_failed", "terminal_reason": "api_error"}, "transport_error"),
        ({"api_error_status": 500, "terminal_reason": "api_error"}, "provider_error"),
        ({}, "unknown"),
    ],
)
def test_the_class_of_an_error(fields: dict[str, Any], expected: str) -> None:
    events = normalize([prompt(), result(is_error=True, result="no", **fields)])
    assert one(events, "runtime.error").payload.error_class == expected


def test_statuses_that_nobody_knows_are_not_turned_into_known_ones() -> None:
    events = normalize(
        [
            system("session_state_changed", state="dreaming"),
            system("task_notification", task_id="t", status="lost"),
            system("hook_response", **HOOK, outcome="odd"),
            system("hook_response", **HOOK),
        ]
    )
    assert not of(events, "session.state.changed", "task.completed", "hook.completed")
    assert warnings_of(events) == [
        "the session state 'dreaming' is not known",
        "the status 'lost' of a task is not known",
        "the outcome 'odd' of a hook is not known",
        "the outcome None of a hook is not known",
    ]
    events = normalize([system("status", status="dreaming")])
    assert one(events, "session.state.changed").payload.reason == "dreaming"
    assert warnings_of(events) == ["the status 'dreaming' is not known"]


def test_hooks_and_tasks_keep_their_ids_through_their_life() -> None:
    named = {"hook_name": "Stop", "hook_event": "Stop"}
    events = normalize(
        [
            system("hook_started", **named),
            system("hook_progress", **named, stdout="a"),
            system("hook_response", **named, exit_code=2),
            system("task_started", task_id="bg", description="d", task_type="local_bash"),
            system("task_updated", task_id="bg", patch={"status": "running"}),
            system("task_notification", task_id="bg", status="killed", summary="s"),
        ]
    )
    hooks = of(events, "hook.started", "hook.progress", "hook.completed")
    assert len({e.payload.hookId for e in hooks}) == 1
    assert (hooks[2].payload.outcome, hooks[2].payload.exitCode) == ("error", 2)
    tasks = of(events, "task.started", "task.progress", "task.completed")
    assert {e.payload.taskId for e in tasks} == {"tsk-1"}
    assert tasks[1].payload.description == "d"
    assert tasks[2].payload.status == "stopped"


def test_how_the_process_ended() -> None:
    events = normalize([prompt(), assistant(text("a")), exited(signal="SIGTERM")])
    assert one(events, "turn.completed").payload.stopReason == "missing-terminal"
    gone = one(events, "session.exited").payload
    assert (gone.reason, gone.exitKind) == ("signal SIGTERM", "error")
    events = normalize([("in", "stderr", "no such option"), exited(2)])
    assert one(events, "session.exited").payload.reason == "exit code 2: no such option"


def test_replayed_messages_are_marked() -> None:
    events = normalize([user("again", isReplay=True)])
    assert one(events, "item.completed").payload.data == {"text": "again", "replay": True}
    assert not of(events, "turn.started")


def test_a_session_that_goes_on_under_another_id_is_another_thread() -> None:
    other = system("init", session_id="s2")
    events = normalize([system("init"), other, system("init")])
    assert [e.threadId for e in of(events, "session.configured")] == ["thr-1", "thr-2", "thr-1"]
    assert [e.payload.providerThreadId for e in of(events, "thread.started")] == ["s", "s2"]


def test_what_the_client_sets_is_the_sessions_configuration() -> None:
    events = normalize([client_asks("set_model", model="m2"), answer("c1")])
    assert one(events, "session.configured").payload.config == {"model": "m2"}


def test_each_block_of_a_message_is_told_once() -> None:
    events = normalize(
        [
            begin(),
            start(text("")),
            says("a"),
            assistant(text("a")),
            stop(),
            start(text(""), 1),
            says("b", 1),
            assistant(text("b")),
            stop(1),
        ]
    )
    assert [e.payload.data for e in of(events, "item.updated")] == [{"text": "a"}, {"text": "b"}]
    assert not warnings_of(events)


def test_a_message_that_is_not_the_one_that_streams() -> None:
    other = assistant(text("other"), message={"id": "msg_2"})
    events = normalize([begin("msg_1"), start(text("")), says("a"), other, stop()])
    texts = [e.payload.data["text"] for e in of(events, "item.completed")]
    assert texts == ["other", "a"]
    assert not of(events, "item.updated")


def test_a_piece_after_the_turns_end_is_of_another_turn() -> None:
    events = normalize([prompt(), begin(), start(text("")), says("a"), result(), says("b")])
    deltas = of(events, "content.delta")
    assert [(e.payload.delta, e.turnId) for e in deltas] == [("a", "trn-1"), ("b", "trn-2")]
    assert deltas[0].itemId != deltas[1].itemId


def test_a_piece_of_another_kind_than_its_block() -> None:
    events = normalize([begin(), start(text("")), thinks("a")])
    assert [e.payload.itemType for e in of(events, "item.started")] == [
        "assistant_message",
        "reasoning",
    ]
    assert one(events, "content.delta").itemId == "itm-2"


def test_the_clis_own_words_without_a_failure() -> None:
    own = assistant(text("No response requested."), message={"model": "<synthetic>"})
    done = one(normalize([own]), "item.completed").payload
    assert (done.itemType, done.status) == ("assistant_message", "completed")
    assert done.data == {"text": "No response requested.", "synthetic": True}


def test_a_prompt_that_waited_has_a_turn_that_a_background_result_does_not_end() -> None:
    background = result(uuid="u2", origin={"kind": "task-notification"})
    events = normalize(
        [
            prompt("a"),
            prompt("b"),
            result(uuid="u1"),
            assistant(text("to b")),
            background,
            result(uuid="u3"),
        ]
    )
    ended = [(e.turnId, e.raw.payload["uuid"]) for e in of(events, "turn.completed")]
    assert ended == [("trn-1", "u1"), ("trn-3", "u2"), ("trn-2", "u3")]


def test_a_refusal_is_of_its_own_turn() -> None:
    failed = user([result_of("no", is_error=True)])
    deny = sent(answer("r1", {"behavior": "deny", "message": "no"}))
    ask = may_i(tool_use_id="toolu_1")
    events = normalize(
        [begin(), start(call()), ask, deny, failed, result(), begin(), start(call()), failed]
    )
    statuses = [e.payload.status for e in of(events, "item.completed")]
    assert statuses == ["declined", "failed"]
