"""What holds for every conversation with Claude, whatever comes in whatever order."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.surfaces.claude.samples import SAMPLES, client_asks
from tests.surfaces.claude.wire import (
    answer,
    begin,
    events_of,
    exited,
    frames,
    kinds,
    may_i,
    reported,
    result,
    sent,
    start,
    stop,
    stream,
    text,
    violations,
)
from tests.surfaces.codex.test_properties import changed, json_values, paths
from tests.surfaces.codex.wire import REPORTS, started

ENTRIES: list[Any] = [e for conversations in SAMPLES.values() for c in conversations for e in c]
ENTRIES += [e for id_ in REPORTS if id_.startswith("CLA") for e in reported(id_)]
ENTRIES += [
    started("claude"),
    exited(1),
    exited(signal="SIGKILL"),
    begin(),
    begin("msg_2", "toolu_1"),
    start(text(""), parent="toolu_1"),
    stop(0, "toolu_1"),
    stream({"type": "message_stop"}),
    stream({"type": "message_stop"}, "toolu_1"),
    result(origin={"kind": "task-notification"}),
    client_asks("interrupt"),
    may_i("r2", tool_use_id="toolu_1"),
    sent(answer("r2", {"behavior": "deny", "interrupt": True})),
]
SLOW = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@st.composite
def conversations(draw: st.DrawFn, *, damaged: bool) -> list[Any]:
    drawn = draw(st.lists(st.sampled_from(ENTRIES), max_size=25))
    if not damaged:
        return drawn
    found = []
    for entry in drawn:
        where = paths(entry) if isinstance(entry, dict) else []
        damage: bool = draw(st.booleans())
        if where and damage:
            found.append(changed(entry, draw(st.sampled_from(where)), draw(json_values)))
        else:
            found.append(entry)
    return found


@SLOW
@given(conversations(damaged=False))
def test_the_laws_hold_in_any_order(entries: list[Any]) -> None:
    found = violations(frames(entries))
    assert not found, "\n".join(found)


@SLOW
@given(conversations(damaged=True))
def test_a_damaged_message_is_never_lost_and_never_raises(entries: list[Any]) -> None:
    found = violations(frames(entries))
    assert not found, "\n".join(found)


@SLOW
@given(conversations(damaged=False), st.data())
def test_a_prefix_of_the_frames_gives_a_prefix_of_the_events(
    entries: list[Any], data: st.DataObject
) -> None:
    cassette = frames(entries)
    cut = data.draw(st.integers(0, len(cassette)))
    whole = events_of(cassette, close=False)
    part = events_of(cassette[:cut], close=False)
    assert whole[: len(part)] == part


@SLOW
@given(conversations(damaged=True))
def test_kinds_never_raise(entries: list[Any]) -> None:
    assert len(kinds(entries)) == len(entries)
