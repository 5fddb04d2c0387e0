"""What real agents sent, with one JSON value in it that is another: every surface at once.

The reference normalizer takes it, raises nothing, accounts for every frame, and breaks no law.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from harness.cassette import CassetteWriter, Frame, Header, open_cassette
from harness.conformance import check, render_terminal
from harness.project import find_project
from harness.subject import InProcess, Reference, Subject
from harness.surfaces import surfaces

PROJECT = find_project(Path(__file__))
SURFACES = [name for name in surfaces() if (PROJECT.cassettes / name).is_dir()]
LONGEST = 500
"""Frames of the longest cassette that is damaged: it is judged whole, many times."""

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**53 + 1, 1.5, "", "x", " y ", "\ud7ff",
    [], [None], [1], ["x"], [{}], [[]], {}, {"": 1}, {"id": "x"}, {"type": "x"},
)  # fmt: skip
Place = tuple[str | int, ...]
Change = Callable[[Any], Any]


def kind(value: Any) -> str:
    """The type of a JSON value: 1 and 1.5 are of one, 1 and true of two."""
    if isinstance(value, bool) or value is None:
        return type(value).__name__
    return "number" if isinstance(value, int | float) else type(value).__name__


def places(value: Any, before: Place = ()) -> Iterator[Place]:
    """Every place in a JSON value, the whole of it first."""
    yield before
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*before, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*before, number))


def at(value: Any, place: Place) -> Any:
    for step in place:
        value = value[step]
    return value


def changed(value: Any, place: Place, change: Change) -> Any:
    if not place:
        return change(value)
    first, rest = place[0], place[1:]
    if isinstance(value, dict):
        return {k: changed(v, rest, change) if k == first else v for k, v in value.items()}
    return [changed(v, rest, change) if n == first else v for n, v in enumerate(value)]


def without(value: Any, place: Place) -> Any:
    """The value without the key, or the element, at a place that is not the whole."""

    def drop(inner: Any) -> Any:
        if isinstance(inner, dict):
            return {k: v for k, v in inner.items() if k != place[-1]}
        return [v for n, v in enumerate(inner) if n != place[-1]]

    return changed(value, place[:-1], drop)


@cache
def cassettes(surface: str) -> list[tuple[Header, tuple[Frame, ...]]]:
    """Those of a surface that are not too long, with at least one frame that is JSON."""
    found = []
    for path in sorted((PROJECT.cassettes / surface).rglob("*.jsonl")):
        with open_cassette(path) as cassette:
            frames = tuple(cassette)
            if len(frames) <= LONGEST and any(f.data is not UNSET for f in frames):
                found.append((cassette.header, frames))
    return found


@st.composite
def damaged(draw: st.DrawFn, surface: str) -> tuple[Header, list[Frame], str]:
    """A cassette with one value of one frame that is of another type, or is not there at all."""
    header, frames = draw(st.sampled_from(cassettes(surface)))
    frame = draw(st.sampled_from([f for f in frames if f.data is not UNSET]))
    place = draw(st.sampled_from(list(places(frame.data))))
    old = at(frame.data, place)
    others = [v for v in (*VALUES, [old], {"x": old}) if kind(v) != kind(old)]
    gone: bool = bool(place) and draw(st.booleans())
    if gone:
        data, said = without(frame.data, place), "is gone"
    else:
        new = draw(st.sampled_from(others))
        data, said = changed(frame.data, place, lambda _: new), f"is {new!r}"
    name = ".".join(map(str, place)) or "the whole"
    made = [replace(f, data=data) if f is frame else f for f in frames]
    return header, made, f"{header.id}, frame {frame.seq}: {name} {said}"


def violations(header: Header, frames: list[Frame], subject: Subject) -> str:
    """What the laws find, as `harness check` tells it; nothing where they hold."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.jsonl"
        writer = CassetteWriter(path, header)
        for frame in frames:
            field = next(f for f in ("data", "text", "b64") if getattr(frame, f) is not UNSET)
            writer.frame(frame.at, frame.dir, frame.channel, field, frame.content)
        writer.finish(complete=True)
        report = check([path], cassettes=PROJECT.cassettes, expected=None, subject=subject)
    return "" if report.exit_code == 0 else render_terminal(report)


def hold(surface: str, data: st.DataObject) -> None:
    header, frames, said = data.draw(damaged(surface))
    found = violations(header, frames, Reference())
    assert not found, f"{said}\n{found}"


# Shrinking to the smallest frame is worth less here than the next fault.
SOME = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.generate],
    database=None,
)


@pytest.mark.parametrize("surface", SURFACES)
@settings(SOME, max_examples=60)
@given(data=st.data())
def test_the_laws_hold_whatever_one_value_is(surface: str, data: st.DataObject) -> None:
    hold(surface, data)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("surface", SURFACES)
@settings(SOME, max_examples=1_200)
@given(data=st.data())
def test_the_laws_hold_whatever_one_value_is_at_length(surface: str, data: st.DataObject) -> None:
    hold(surface, data)


GONE = object()
"""In place of a value: it is not there."""

FOUND = (
    # A request that the same id is used for again, in the turn that a process left open.
    ("claude-sdk/documents-1/kinds", 341, ("type",), GONE),
    # A request that is resolved by the id of one that the process before this one had asked.
    ("codex-app-server/documents-1/requests", 40, ("id",), " y "),
)
"""What the test at length has found: cassette, frame, place, value."""


@pytest.mark.parametrize(("id_", "seq", "place", "value"), FOUND)
def test_the_laws_hold_of_what_was_found(id_: str, seq: int, place: Place, value: Any) -> None:
    with open_cassette(PROJECT.cassettes / f"{id_}.jsonl") as cassette:
        header, frames = cassette.header, list(cassette)
    old = frames[seq - 1]
    assert (old.seq, at(old.data, place)) == (seq, "control_response" if value is GONE else 0)
    data = without(old.data, place) if value is GONE else changed(old.data, place, lambda _: value)
    frames[seq - 1] = replace(old, data=data)
    assert violations(header, frames, Reference()) == ""


@pytest.mark.parametrize("surface", SURFACES)
def test_the_laws_hold_where_a_process_starts_anew_unannounced(surface: str) -> None:
    """No exit went before it: what the last process left open has ids that are given anew."""
    told = {h.scenario: (h, fs) for h, fs in cassettes(surface) if fs[0].channel == "start"}
    scenarios = told.keys() & {"text", "command", "file-edit-approved", "client-files", "question"}
    assert scenarios
    for header, frames in (told[scenario] for scenario in sorted(scenarios)):
        for n in range(1, len(frames), 1 if len(frames) < 80 else 9):
            start = replace(frames[0], at=frames[n].at)
            made = [*frames[:n], start, *frames[n:]]
            assert violations(header, made, Reference()) == "", f"{header.id}, before frame {n + 1}"


class Trusting:
    """The reference, but it takes a message's type on trust."""

    def __init__(self, header: Header) -> None:
        self.inner: Any = Reference().open(header)

    def feed(self, frame: Frame) -> list[Any]:
        if isinstance(frame.data, dict) and "type" in frame.data:
            assert frame.data["type"].strip()
        return list(self.inner.feed(frame))

    def close(self) -> list[Any]:
        return list(self.inner.close())


def test_what_trusts_a_type_is_caught() -> None:
    header, frames = next(c for c in cassettes("codex-exec") if c[0].scenario == "text")
    number = next(n for n, f in enumerate(frames) if "type" in (f.data or {}))
    damage = changed(frames[number].data, ("type",), lambda _: 7)
    bad = [replace(f, data=damage) if n == number else f for n, f in enumerate(frames)]
    subject = InProcess(Trusting, "trusting")
    assert violations(header, list(frames), subject) == ""
    found = violations(header, bad, subject)
    assert "AttributeError" in found
    assert violations(header, bad, Reference()) == ""


@pytest.mark.parametrize(
    ("place", "made"),
    [((), {}), (("a",), {"b": [1, {"c": 2}]}), (("b", 0), {"a": 0, "b": [{"c": 2}]})],
)
def test_what_is_taken_away(place: Place, made: Any) -> None:
    whole = {"a": 0, "b": [1, {"c": 2}]}
    assert list(places(whole)) == [(), ("a",), ("b",), ("b", 0), ("b", 1), ("b", 1, "c")]
    if place:
        assert without(whole, place) == made
    else:
        assert changed(whole, place, lambda _: {}) == made
