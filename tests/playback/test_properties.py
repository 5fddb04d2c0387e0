"""For any conversation: a client that says the recorded lines, its ids aside, gets the others."""

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cassette import classify
from harness.playback import MismatchError
from harness.playback.exchange import sse_block
from harness.recording.sse import SseParser
from tests.playback.tapes import Entry, meet, player

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)
METHODS = st.sampled_from(["a", "b", "c/d"])


@st.composite
def conversations(draw: st.DrawFn) -> list[Entry]:
    """Requests either way, answered in any order or not at all, with notifications between."""
    entries: list[Entry] = []
    pending: dict[str, list[Any]] = {"out": [], "in": []}
    number = {"out": 0, "in": 0}
    for _ in range(draw(st.integers(1, 12))):
        way = draw(st.sampled_from(["out", "in"]))
        other = "in" if way == "out" else "out"
        channel = "stdin" if way == "out" else "stdout"
        kind = draw(st.sampled_from(["request", "note", "answer"]))
        if kind == "answer" and pending[other]:
            id_ = pending[other].pop(draw(st.integers(0, len(pending[other]) - 1)))
            entries.append((way, channel, {"id": id_, "result": draw(VALUES)}))
        elif kind == "request":
            id_ = number[way]
            number[way] += 1
            pending[way].append(id_)
            message = {"id": id_, "method": draw(METHODS), "params": draw(VALUES)}
            entries.append((way, channel, message))
        else:
            entries.append((way, channel, {"method": draw(METHODS), "params": draw(VALUES)}))
    return [*entries, ("in", "exit", {"code": draw(st.integers(0, 3))})]


def client_lines(entries: list[Entry], names: dict[int, Any]) -> list[Any]:
    """What the recorded client said, its requests under other ids."""
    lines = []
    for way, _, message in entries:
        if way == "out" and "method" in message and "id" in message:
            lines.append({**message, "id": names[message["id"]]})
        elif way == "out":
            lines.append(message)
    return lines


def agent_lines(entries: list[Entry], names: dict[int, Any]) -> list[Any]:
    """What the agent has to say to such a client."""
    lines = []
    for way, channel, message in entries:
        if channel == "exit":
            lines.append(message["code"])
        elif way == "in" and "method" not in message:
            lines.append({**message, "id": names[message["id"]]})
        elif way == "in":
            lines.append(message)
    return lines


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")).filter(
    lambda text: (
        not text.startswith(("data", "event", "id", "retry", "\ufeff"))
        and not any(line.startswith(("data", "event", "id", "retry")) for line in text.split("\n"))
    )
)


@settings(deadline=None)  # how long it takes says nothing on a busy machine
@given(st.lists(VALUES.map(msgspec.json.encode) | TEXTS.map(str.encode), max_size=5))
def test_a_stream_of_events_is_read_as_it_was_recorded(lines: list[bytes]) -> None:
    """What a recorder makes of the blocks that are played is what the frames have."""
    frames = [classify(line) for line in lines]
    parser = SseParser()
    blocks = parser.feed(b"".join(sse_block(*frame) for frame in frames)) + parser.close()
    assert [classify(block.text.encode()) for block in blocks] == frames


IDS = st.lists(st.integers(50, 99) | st.text(max_size=3), min_size=12, max_size=12, unique=True)


@settings(deadline=None)  # how long it takes says nothing on a busy machine
@given(conversations(), IDS)
def test_the_recorded_client_gets_the_recorded_agent(entries: list[Entry], ids: list[Any]) -> None:
    names = dict(enumerate(ids))
    came = meet(player(entries), client_lines(entries, names))
    assert came == agent_lines(entries, names)


def mutations(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a value."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(place for k, v in inner for place in mutations(v, (*path, k)))]


def mutated(value: Any, path: tuple[Any, ...], instead: Any) -> Any:
    if not path:
        return instead
    again = copy.copy(value)
    again[path[0]] = mutated(value[path[0]], path[1:], instead)
    return again


@settings(deadline=None)  # how long it takes says nothing on a busy machine
@given(st.data())
def test_any_line_that_differs_is_told_at_its_frame(data: st.DataObject) -> None:
    entries = data.draw(conversations().filter(lambda made: any(e[0] == "out" for e in made)))
    lines = client_lines(entries, {n: n for n in range(20)})
    number = data.draw(st.integers(0, len(lines) - 1))
    line = lines[number]
    is_request = "method" in line and "id" in line
    places = [p for p in mutations(line) if not (is_request and p == ("id",))]
    place = data.draw(st.sampled_from(places))
    instead = data.draw(st.sampled_from(["other text", 12345, {"other": 1}, ["other"]]))
    wrong = mutated(line, place, instead)
    seq = [n for n, entry in enumerate(entries, 1) if entry[0] == "out"][number]
    with pytest.raises(MismatchError) as caught:
        meet(player(entries), [*lines[:number], wrong])
    assert caught.value.seq == seq
    before = len([e for e in entries[: seq - 1] if e[0] == "in"])
    play = player(entries)
    with pytest.raises(MismatchError):
        meet_counting(play, [*lines[:number], wrong], before)


def meet_counting(play: Any, lines: list[Any], most: int) -> None:
    """Play, and assert that no more frames are said than were recorded before the wrong line."""
    from harness.playback import Await, Write

    left = iter(lines)
    said = 0
    while True:
        step = play.step()
        if isinstance(step, Write):
            said += 1
            assert said <= most
        elif isinstance(step, Await):
            play.take(msgspec.json.encode(next(left)))
