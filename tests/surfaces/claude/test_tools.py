"""Tools, questions and lists of Claude's: what a call, its permission and its result give."""

import pytest
from msgspec import UNSET

from tests.surfaces.claude.samples import client_asks
from tests.surfaces.claude.wire import (
    answer,
    asks,
    assistant,
    begin,
    call,
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
    system,
    text,
    user,
    warnings_of,
)


@pytest.mark.parametrize(
    ("name", "item", "asked"),
    [
        ("Bash", "command_execution", "command_execution_approval"),
        ("Write", "file_change", "file_change_approval"),
        ("Edit", "file_change", "file_change_approval"),
        ("NotebookEdit", "file_change", "file_change_approval"),
        ("mcp__git__log", "mcp_tool_call", "unknown"),
        ("Task", "collab_agent_tool_call", "unknown"),
        ("Agent", "collab_agent_tool_call", "unknown"),
        ("WebSearch", "web_search", "unknown"),
        ("Read", "dynamic_tool_call", "unknown"),
    ],
)
def test_a_tools_name_says_what_it_is(name: str, item: str, asked: str) -> None:
    events = normalize([assistant(call(name)), may_i(name=name, tool_use_id="toolu_1")])
    started = one(events, "item.started")
    assert started.payload.itemType == item
    opened = one(events, "request.opened")
    assert opened.payload.requestType == asked
    assert opened.itemId == started.itemId
    assert opened.providerRefs.providerRequestId == "r1"
    assert opened.raw.source == "claude.sdk.permission"


def test_the_parts_of_an_mcp_tools_name() -> None:
    events = normalize([assistant(call("mcp__git__log_all", path="a")), user([result_of("b")])])
    assert one(events, "item.completed").payload.data == {
        "server": "git",
        "tool": "log_all",
        "input": {"path": "a"},
        "output": "b",
    }


def test_what_is_in_the_question_for_permission() -> None:
    suggestions = [{"type": "setMode", "mode": "acceptEdits"}]
    ask = may_i(
        permission_suggestions=suggestions,
        blocked_path="/w/a",
        decision_reason="outside",
        agent_id="ag",
    )
    updated = {"behavior": "allow", "updatedInput": {}, "updatedPermissions": suggestions}
    events = normalize([prompt(), ask, sent(answer("r1", updated)), result()])
    opened = one(events, "request.opened")
    assert opened.payload.detail == "outside"
    assert opened.payload.args == {
        "toolName": "Bash",
        "input": {"command": "ls"},
        "suggestions": suggestions,
        "blockedPath": "/w/a",
        "decisionReason": "outside",
        "agentId": "ag",
    }
    resolved = one(events, "request.resolved")
    assert (resolved.payload.decision, resolved.payload.resolution) == ("allow", updated)


def test_a_declined_tool_is_declined_and_a_failed_one_failed() -> None:
    deny = {"behavior": "deny", "message": "no"}
    events = normalize(
        [
            assistant(call(command="a"), call(id_="toolu_2", command="b")),
            may_i(tool_use_id="toolu_1"),
            sent(answer("r1", deny)),
            user([result_of("no", is_error=True)]),
            user([result_of("Exit code 3\nbroken", "toolu_2", is_error=True)]),
            result(),
        ]
    )
    done = of(events, "item.completed")
    assert [e.payload.status for e in done] == ["declined", "failed"]
    assert done[1].payload.detail == "exit code 3"
    assert done[1].payload.data["exitCode"] == 3
    assert done[1].payload.data["output"] == "Exit code 3\nbroken"
    assert one(events, "turn.completed").payload.state == "completed"


def test_a_tool_that_the_agent_itself_says_was_refused() -> None:
    meta = [{"id": "toolu_1", "permission_decision": {"decision": "reject"}}]
    refused = user([result_of("no", is_error=True)], tool_result_meta=meta)
    events = normalize([assistant(call()), refused])
    assert one(events, "item.completed").payload.status == "declined"
    denied = system("permission_denied", tool_name="Bash", tool_use_id="toolu_1", message="no")
    events = normalize([assistant(call()), denied, user([result_of("no", is_error=True)])])
    assert one(events, "item.completed").payload.status == "declined"


def test_a_refusal_that_interrupts_is_an_interrupt() -> None:
    deny = {"behavior": "deny", "message": "no", "interrupt": True}
    events = normalize(
        [prompt(), may_i(), sent(answer("r1", deny)), result("error_during_execution")]
    )
    assert one(events, "turn.completed").payload.state == "interrupted"
    assert not of(events, "runtime.error")


def test_an_interrupt_that_was_refused_is_none() -> None:
    events = normalize(
        [
            prompt(),
            client_asks("interrupt"),
            answer("c1", error="nothing to interrupt"),
            result("error_during_execution", errors=["broken"]),
        ]
    )
    assert one(events, "turn.completed").payload.state == "failed"
    assert warnings_of(events) == ["the agent refused interrupt: nothing to interrupt"]


def test_an_interrupt_is_of_its_own_turn() -> None:
    failed = result("error_during_execution", errors=["x"])
    events = normalize(
        [prompt(), client_asks("interrupt"), failed, prompt(), failed | {"uuid": "u2"}]
    )
    states = [e.payload.state for e in of(events, "turn.completed")]
    assert states == ["interrupted", "failed"]


def test_a_change_to_a_file() -> None:
    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}
    told = {"type": "update", "structuredPatch": [hunk]}
    edit = call("Edit", file_path="/w/f", old_string="a", new_string="b")
    events = normalize([assistant(edit), user([result_of("done")], tool_use_result=told)])
    done = one(events, "item.completed").payload
    assert done.title == "/w/f"
    assert done.data["changes"] == [
        {"path": "/w/f", "kind": "update", "diff": "@@ -1,1 +1,1 @@\n-a\n+b\n"}
    ]
    write = call("Write", file_path="/w/f", content="b")
    created = user([result_of("done")], tool_use_result={"type": "create", "structuredPatch": []})
    events = normalize([assistant(write), created])
    assert one(events, "item.updated").payload.data["changes"] == [{"path": "/w/f"}]
    changes = one(events, "item.completed").payload.data["changes"]
    assert changes == [{"path": "/w/f", "kind": "add"}]


def test_a_todo_list_is_the_turns_plan() -> None:
    todos = [
        {"content": "a", "status": "completed", "activeForm": "A"},
        {"content": "b", "status": "in_progress", "activeForm": "B"},
        {"content": "c", "status": "pending", "activeForm": "C"},
    ]
    events = normalize([assistant(call("TodoWrite", todos=todos))])
    plan = one(events, "turn.plan.updated").payload.plan
    assert [(p.step, p.status) for p in plan] == [
        ("a", "completed"),
        ("b", "inProgress"),
        ("c", "pending"),
    ]
    odd = call("TodoWrite", todos=[{"content": "a", "status": "later"}])
    assert not of(normalize([assistant(odd)]), "turn.plan.updated")


def test_questions_of_the_agent_and_their_answers() -> None:
    questions = [{"question": "which?"}]
    ask = may_i(name="AskUserQuestion", input={"questions": questions})
    said = {"behavior": "allow", "updatedInput": {"answers": {"which?": "this"}}}
    events = normalize([prompt(), ask, sent(answer("r1", said)), result()])
    assert one(events, "request.opened").payload.requestType == "tool_user_input"
    assert one(events, "user-input.requested").payload.questions == questions
    assert one(events, "user-input.resolved").payload.answers == {"which?": "this"}
    assert one(events, "request.resolved").payload.decision == "allow"


def test_a_request_that_nobody_knows_is_opened_and_told() -> None:
    ask = asks("r1", {"subtype": "brand_new", "a": 1})
    events = normalize([prompt(), ask, sent(answer("r1", error="unsupported")), result()])
    opened = one(events, "request.opened")
    assert (opened.payload.requestType, opened.payload.args["a"]) == ("unknown", 1)
    assert one(events, "request.resolved").payload.decision == "error"
    assert warnings_of(events) == ["the control request brand_new is not known"]


def test_a_request_that_its_turn_leaves_open_is_cancelled() -> None:
    events = normalize([prompt(), may_i(), result(), sent(answer("r1", {"behavior": "allow"}))])
    resolved = one(events, "request.resolved")
    assert (resolved.payload.decision, is_made_up(resolved)) == ("cancelled", True)
    assert warnings_of(events) == ["the client answers a request that is resolved already"]


def test_new_tokens_are_not_kept() -> None:
    ask = asks("r1", {"subtype": "oauth_token_refresh"})
    events = normalize([prompt(), ask, sent(answer("r1", {"access_token": "t"}))])
    assert one(events, "request.opened").payload.requestType == "auth_tokens_refresh"
    assert one(events, "request.resolved").payload.resolution is UNSET


def test_the_work_of_a_sub_agent_names_the_call_that_started_it() -> None:
    events = normalize(
        [
            begin(),
            start(call("Task", "toolu_9")),
            stop(),
            user("look around", parent_tool_use_id="toolu_9"),
            begin("msg_2", "toolu_9"),
            start(text(""), parent="toolu_9"),
            start(text(""), 1),
            says("sub", parent="toolu_9"),
            says("main", 1),
            stop(0, "toolu_9"),
            stop(1),
            assistant(call(command="ls"), message={"id": "msg_3"}, parent_tool_use_id="toolu_9"),
            user([result_of("a")], parent_tool_use_id="toolu_9"),
            result(),
        ]
    )
    done = [e.payload for e in of(events, "item.completed")]
    parents = [(p.itemType, (p.data or {}).get("parentToolUseId")) for p in done[:-1]]
    assert parents == [
        ("user_message", "toolu_9"),
        ("assistant_message", "toolu_9"),
        ("assistant_message", None),
        ("command_execution", "toolu_9"),
    ]
    assert [p.data["text"] for p in done[:3]] == ["look around", "sub", "main"]
    assert len({e.turnId for e in of(events, "item.completed")}) == 1
