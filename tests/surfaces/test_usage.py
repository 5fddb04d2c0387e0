"""Usage that is none, on each wire that has it: left out, and warned about."""

from typing import Any

import pytest
from msgspec import UNSET

from harness.surfaces.usage import flaw
from tests.surfaces.acp.wire import answered, normalize, prompt, told
from tests.surfaces.claude.wire import normalize as claude
from tests.surfaces.claude.wire import result
from tests.surfaces.codex.wire import APP, EXEC, note, of, one, turn_started, warnings
from tests.surfaces.codex.wire import normalize as codex
from tests.surfaces.opencode.wire import event, request
from tests.surfaces.opencode.wire import normalize as opencode

NONE = [
    (7, "the usage is no object: 7"),
    ([1], "the usage is no object: [1]"),
    ({"a": [{"b": -2}], "c": 1}, "the usage counts below zero: -2"),
]


@pytest.mark.parametrize("usage", [{}, {"a": 0, "b": [1.5, True, None, "-1"]}])
def test_any_object_without_a_count_below_zero_is_usage(usage: Any) -> None:
    assert flaw(usage) == ""


@pytest.mark.parametrize(("usage", "said"), NONE)
def test_acp(usage: Any, said: str) -> None:
    events = normalize([prompt(5), answered(5, {"stopReason": "end_turn", "usage": usage})])
    assert one(events, "turn.completed").payload.usage is UNSET
    assert warnings(events) == [said]
    assert one(events, "runtime.warning").payload.detail == usage


def test_acp_of_a_session() -> None:
    update = told("usage_update", used=1, size=2, cost={"amount": -1})
    events = normalize([prompt(5), update])
    assert of(events, "thread.token-usage.updated") == []
    assert "the usage counts below zero: -1" in one(events, "runtime.warning").payload.message


@pytest.mark.parametrize(("usage", "said"), NONE)
def test_codex_exec(usage: Any, said: str) -> None:
    events = codex(EXEC, [{"type": "turn.started"}, {"type": "turn.completed", "usage": usage}])
    assert one(events, "turn.completed").payload.usage is UNSET
    assert warnings(events) == [said]


@pytest.mark.parametrize(("usage", "said"), NONE)
def test_codex_app_server(usage: Any, said: str) -> None:
    events = codex(APP, [turn_started(), note("thread/tokenUsage/updated", tokenUsage=usage)])
    assert of(events, "thread.token-usage.updated") == []
    assert said in one(events, "runtime.warning").payload.message


@pytest.mark.parametrize(("usage", "said"), NONE)
@pytest.mark.parametrize("field", ["usage", "modelUsage"])
def test_claude(field: str, usage: Any, said: str) -> None:
    events = claude([result(**{field: usage})])
    assert getattr(one(events, "turn.completed").payload, field) is UNSET
    assert f"{field}: {said}" in warnings(events)


@pytest.mark.parametrize("cost", [-0.5, "1", True])
def test_what_claude_cost(cost: Any) -> None:
    events = claude([result(total_cost_usd=cost)])
    assert one(events, "turn.completed").payload.totalCostUsd is UNSET
    assert "total_cost_usd is no cost" in warnings(events)


@pytest.mark.parametrize(
    ("more", "said"), [({"cost": -1}, -1), ({"tokens": {"cache": {"read": -3}}}, -3)]
)
def test_a_step_of_opencode(more: Any, said: int) -> None:
    part = {"id": "p1", "type": "step-finish", "tokens": {"input": 1}, **more}
    step = event("message.part.updated", sessionID="ses1", part=part)
    events = opencode([request(1, "POST", "/session/ses1/prompt_async", {}), step])
    assert of(events, "thread.token-usage.updated") == []
    assert warnings(events) == [f"the usage counts below zero: {said}"]
