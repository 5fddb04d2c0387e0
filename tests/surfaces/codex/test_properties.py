"""What holds for every conversation, whatever comes in whatever order."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.surfaces.codex import samples
from tests.surfaces.codex.wire import (
    APP,
    EXEC,
    events_of,
    exited,
    frames,
    kinds,
    note,
    reported,
    sent,
    started,
    turn_completed,
    turn_started,
    violations,
)


def entries(name: str) -> list[Any]:
    """Every message of the samples and the field reports, and some from other threads."""
    table = samples.APP if name == APP else samples.EXEC
    found = [entry for conversations in table.values() for c in conversations for entry in c]
    prefix = "CXA" if name == APP else "CXE"
    numbers = ("01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13")
    for number in numbers:
        try:
            found += reported(f"{prefix}-{number}")
        except KeyError:
            continue
    found += [started("codex", "x"), exited(1), exited(signal="SIGKILL")]
    if name == APP:
        found += [turn_started("t2"), turn_completed(turn="t2"), turn_started("t", "thr_B")]
        found += [
            note("item/completed", item={"type": t, "id": "i"}) for t in ("agentMessage", "x")
        ]
        found += [sent({"id": i, "result": {"decision": {"accept": 1}}}) for i in (0, 7, "0", True)]
    return found


ENTRIES = {name: entries(name) for name in (APP, EXEC)}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


def paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [before] if before else []
    if isinstance(value, dict):
        found += [p for key, inner in value.items() for p in paths(inner, (*before, key))]
    elif isinstance(value, list):
        found += [p for i, inner in enumerate(value) for p in paths(inner, (*before, i))]
    return found


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    if isinstance(value, dict):
        return {k: changed(v, path[1:], new) if k == path[0] else v for k, v in value.items()}
    return [changed(v, path[1:], new) if i == path[0] else v for i, v in enumerate(value)]


@st.composite
def conversations(draw: st.DrawFn, name: str, *, damaged: bool) -> list[Any]:
    drawn = draw(st.lists(st.sampled_from(ENTRIES[name]), max_size=25))
    if not damaged:
        return drawn
    result = []
    for entry in drawn:
        where = paths(entry) if isinstance(entry, dict) else []
        damage: bool = draw(st.booleans())
        if where and damage:
            result.append(changed(entry, draw(st.sampled_from(where)), draw(json_values)))
        else:
            result.append(entry)
    return result


SLOW = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@pytest.mark.parametrize("name", [APP, EXEC])
@SLOW
@given(data=st.data())
def test_the_laws_hold_in_any_order(name: str, data: st.DataObject) -> None:
    found = violations(name, frames(data.draw(conversations(name, damaged=False))))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", [APP, EXEC])
@SLOW
@given(data=st.data())
def test_a_damaged_message_is_never_lost_and_never_raises(name: str, data: st.DataObject) -> None:
    drawn = data.draw(conversations(name, damaged=True))
    found = violations(name, frames(drawn))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", [APP, EXEC])
@SLOW
@given(data=st.data())
def test_a_prefix_of_the_frames_gives_a_prefix_of_the_events(
    name: str, data: st.DataObject
) -> None:
    cassette = frames(data.draw(conversations(name, damaged=False)))
    cut = data.draw(st.integers(0, len(cassette)))
    whole = events_of(name, cassette, close=False)
    part = events_of(name, cassette[:cut], close=False)
    assert whole[: len(part)] == part


@pytest.mark.parametrize("name", [APP, EXEC])
@SLOW
@given(data=st.data())
def test_kinds_never_raise(name: str, data: st.DataObject) -> None:
    drawn = data.draw(conversations(name, damaged=True))
    assert len(kinds(name, drawn)) == len(drawn)
