"""Questions of the agent and what the client answers: EVENTS.md 3.2, DECISIONS.md 15."""

from typing import Any

import pytest
from msgspec import UNSET

from harness.surfaces.codex_app_server.requests import REQUESTS
from tests.surfaces.codex.wire import (
    APP,
    exited,
    is_made_up,
    normalize,
    note,
    of,
    one,
    sent,
    turn_completed,
    turn_started,
    types,
    warnings,
)

ASK = "item/commandExecution/requestApproval"
COMMAND = {"type": "commandExecution", "id": "call_1", "command": "touch x", "status": "inProgress"}


def question(method: str = ASK, id_: Any = 0, **params: Any) -> dict[str, Any]:
    place = {"threadId": "thr_A", "turnId": "turn_1", "itemId": "call_1"}
    return {"id": id_, "method": method, "params": {**place, **params}}


def resolved(id_: Any = 0) -> dict[str, Any]:
    return {"method": "serverRequest/resolved", "params": {"threadId": "thr_A", "requestId": id_}}


@pytest.mark.parametrize(
    "decision", ["accept", "acceptForSession", "decline", "cancel", "approved"]
)
def test_the_decision_is_what_the_client_wrote(decision: str) -> None:
    events = normalize(
        APP,
        [
            turn_started(),
            note("item/started", item=COMMAND),
            question(command="touch x", reason=None),
            sent({"id": 0, "result": {"decision": decision}}),
            resolved(),
            turn_completed(),
        ],
    )
    opened, closed = one(events, "request.opened"), one(events, "request.resolved")
    assert closed.payload.decision == decision
    assert closed.payload.resolution == {"decision": decision}
    assert closed.payload.requestType == "command_execution_approval"
    assert closed.raw.source == "codex.app-server.response"
    assert closed.requestId == opened.requestId
    assert opened.itemId == one(events, "item.started").itemId
    assert opened.payload.detail == "touch x"
    assert opened.providerRefs.providerRequestId == "0"
    assert opened.providerRefs.providerItemId == "call_1"


def test_a_decision_with_an_amendment_is_its_key() -> None:
    amendment = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["touch"]}}
    lines = [turn_started(), question(), sent({"id": 0, "result": {"decision": amendment}})]
    closed = one(normalize(APP, lines), "request.resolved").payload
    assert closed.decision == "acceptWithExecpolicyAmendment"
    assert closed.resolution == {"decision": amendment}


def test_an_answer_that_is_an_error_has_no_decision() -> None:
    error = {"code": -32601, "message": "unknown"}
    lines = [turn_started(), question(), sent({"id": 0, "error": error})]
    closed = one(normalize(APP, lines), "request.resolved").payload
    assert (closed.decision, closed.resolution) == (UNSET, {"error": error})


def test_the_agent_may_resolve_a_request_itself() -> None:
    events = normalize(APP, [turn_started(), question(), resolved(), turn_completed()])
    closed = one(events, "request.resolved")
    assert (closed.payload.decision, is_made_up(closed)) == (UNSET, False)
    assert closed.raw.method == "serverRequest/resolved"


def test_an_answer_that_comes_too_late_is_told() -> None:
    answer = sent({"id": 0, "result": {"decision": "accept"}})
    events = normalize(APP, [turn_started(), question(), turn_completed("interrupted"), answer])
    closed = one(events, "request.resolved")
    assert (closed.payload.decision, is_made_up(closed)) == ("cancelled", True)
    assert warnings(events) == ["an answer to a request that was resolved before"]
    assert events[-1].turnId is UNSET


def test_ids_that_are_numbers_and_texts_are_two() -> None:
    lines = [
        turn_started(),
        question(id_=0, command="a"),
        question(id_="0", command="b"),
        sent({"id": "0", "result": {"decision": "decline"}}),
        sent({"id": 0, "result": {"decision": "accept"}}),
    ]
    events = normalize(APP, lines)
    first, second = of(events, "request.opened")
    declined, accepted = of(events, "request.resolved")
    assert (declined.requestId, declined.payload.decision) == (second.requestId, "decline")
    assert (accepted.requestId, accepted.payload.decision) == (first.requestId, "accept")


def test_a_question_to_the_user() -> None:
    questions = [{"id": "q1", "question": "Which?"}]
    answers = {"q1": {"answers": ["a"]}}
    events = normalize(
        APP,
        [
            turn_started(),
            question("item/tool/requestUserInput", questions=questions),
            sent({"id": 0, "result": {"answers": answers}}),
            resolved(),
        ],
    )
    kinds = ["request.opened", "user-input.requested", "user-input.resolved", "request.resolved"]
    four = of(events, *kinds)
    assert types(four) == kinds
    assert four[1].payload.questions == questions
    assert four[2].payload.answers == answers
    assert len({e.requestId for e in four}) == 1
    assert four[0].payload.requestType == "tool_user_input"


def test_new_tokens_are_not_repeated_in_the_resolution() -> None:
    lines = [
        {"id": 0, "method": "account/chatgptAuthTokens/refresh", "params": {"reason": "expired"}},
        sent({"id": 0, "result": {"accessToken": "secret"}}),
    ]
    closed = one(normalize(APP, lines), "request.resolved")
    assert closed.payload.requestType == "auth_tokens_refresh"
    assert closed.payload.resolution is UNSET


def test_a_request_outside_a_turn_is_closed_by_the_end() -> None:
    lines = [{"id": 0, "method": "attestation/generate", "params": {}}, exited(0)]
    events = normalize(APP, lines)
    closed = one(events, "request.resolved")
    assert (closed.payload.decision, is_made_up(closed)) == ("cancelled", True)
    assert types(events)[-1] == "session.exited"


@pytest.mark.parametrize("method", sorted(REQUESTS))
def test_every_request_of_the_protocol_has_its_type(method: str) -> None:
    events = normalize(APP, [turn_started(), question(method)])
    assert one(events, "request.opened").payload.requestType == REQUESTS[method]
    assert warnings(events) == []


def test_an_unknown_request_is_opened_and_told() -> None:
    events = normalize(APP, [turn_started(), question("item/mind/read")])
    opened = one(events, "request.opened").payload
    assert (opened.requestType, opened.detail) == ("unknown", "item/mind/read")
    assert warnings(events) == ["the agent asks item/mind/read, which is not known"]


def test_what_the_client_is_refused() -> None:
    error = {"code": -32600, "message": "no such thread"}
    asked = {"id": 1, "method": "turn/start", "params": {"threadId": "thr_A"}}
    events = normalize(APP, [sent(asked), {"id": 1, "error": error}])
    failure = one(events, "runtime.error").payload
    assert failure.message == "turn/start was refused: no such thread"
    assert failure.error_class == "validation_error"
    asked = {"id": 1, "method": "turn/interrupt", "params": {"threadId": "thr_A"}}
    events = normalize(APP, [sent(asked), {"id": 1, "error": error}])
    assert warnings(events) == ["turn/interrupt was refused: no such thread"]
