"""Events and their times: whatever pieces a body comes in, its events are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.gateway.pace import Pace, cut, written

EVENTS = st.lists(
    st.tuples(st.sampled_from(["data: a", "event: b\ndata: ü", ": ping", "data: x\r\ndata: y"]))
    .map(lambda parts: parts[0].encode())
    .flatmap(lambda text: st.sampled_from([text + b"\n\n", text + b"\r\n\r\n"])),
    max_size=8,
)


@given(EVENTS, st.binary(max_size=5).filter(lambda b: not set(b) & set(b"\r\n")), st.data())
def test_events_are_the_same_in_any_pieces(
    events: list[bytes], rest: bytes, data: st.DataObject
) -> None:
    body = b"".join(events) + rest
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=6).map(sorted))
    pace = Pace()
    for at, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(body)], strict=True)):
        pace.chunk(body[start:end], at)
    pieces = cut(body, written(pace.close()))
    assert [piece for _, piece in pieces] == events + ([rest] if rest else [])
    ends = [*cuts, len(body)]
    done = 0
    for ms, piece in pieces:
        done += len(piece)
        # An event's time is that of the piece that has its last byte.
        assert ms == next(n for n, end in enumerate(ends) if end >= done) or piece == rest


def test_what_does_not_add_up() -> None:
    assert cut(b"abc", "1:1 2:2") == [(1, b"a"), (2, b"bc")]
    assert cut(b"", "") == []
    for events, why in (
        ("1:1", "has 3"),
        ("1:4", "has 3"),
        ("2:1 1:2", "not in order"),
        ("1:0 1:3", "not in order"),
        ("x", "'x' is no event's"),
        ("-1:3", "is no event's"),
    ):
        with pytest.raises(ValueError, match=why):
            cut(b"abc", events)
