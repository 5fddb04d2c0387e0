"""What holds for every stream and every event, however it is cut or damaged."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.recording.sse import Block, SseParser
from harness.surfaces import surface
from tests.surfaces.acp.wire import violations
from tests.surfaces.codex.wire import frames

_LINES = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=8).map("x".__add__)
_KEYS = st.sampled_from(
    ["sessionID", "id", "info", "part", "type", "status", "error", "todos", "diff", "state",
     "requestID", "reply", "questions", "answers", "partID", "delta", "text", "role"]
)  # fmt: skip
_VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.sampled_from(["", "ses1", "prt1", "text"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=6,
)
_TYPES = sorted(k for k in surface("opencode").vocabulary.kinds if "." in k and " " not in k)
_EVENTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from([*_TYPES, "message.updated", "message.part.updated"]),
        "properties": st.dictionaries(_KEYS, _VALUES, max_size=5)
        | st.fixed_dictionaries({"sessionID": st.just("ses1")}),
    }
)


@given(
    st.lists(st.lists(_LINES, min_size=1, max_size=3), max_size=4),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(0, 200), max_size=8),
)
def test_a_stream_split_anywhere_is_the_same_events(
    events: list[list[str]], end: str, cuts: list[int]
) -> None:
    whole = "".join(
        "".join(f"data: {line}{end}" for line in lines) + end for lines in events
    ).encode()
    parser = SseParser()
    found: list[Block] = []
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    for at, until in pairwise(places):
        found += parser.feed(whole[at:until])
    assert found == [Block("event", "\n".join(lines)) for lines in events]
    assert parser.close() == []


@settings(max_examples=60, deadline=None)
@given(st.lists(_EVENTS, max_size=6))
def test_damaged_events_break_no_law(events: list[Any]) -> None:
    cassette = frames([("in", "sse", json.loads(json.dumps(event))) for event in events])
    assert not violations(cassette, "opencode")
