"""A normalizer of this process that changes what it was given, or what it returned."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from msgspec.structs import replace

from harness.cassette import Frame, Header
from harness.conformance import check
from harness.conformance.laws.handed import Handed
from harness.conformance.report import CassetteResult
from harness.project import find_project
from harness.subject import InProcess, Reference, reference

PROJECT = find_project(Path(__file__))
TEXT = "codex-exec/codex-0.163.0/text"


class Normalizer:
    """The reference, in a process that the judge shares with it."""

    def __init__(self, header: Header) -> None:
        self.inner = reference(header)

    def feed(self, frame: Frame) -> Iterable[Any]:
        return list(self.inner.feed(frame))

    def close(self) -> Iterable[Any]:
        return list(self.inner.close())


class Adds(Normalizer):
    """Puts something into each frame, once its events are made."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        events = super().feed(frame)
        if isinstance(frame.data, dict):
            frame.data["added"] = "tampered"
        return events


class AddsDeep(Normalizer):
    """As `Adds`, one level down, before the events are made: 1 and true are not the same."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        if isinstance(frame.data, dict) and isinstance(frame.data.get("usage"), dict):
            for name, value in frame.data["usage"].items():
                frame.data["usage"][name] = bool(value) if value in {0, 1} else value + 1
        return super().feed(frame)


class AddsAndTakesBack(Normalizer):
    """Has each frame right again when the next one comes."""

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.before: Any = {}

    def feed(self, frame: Frame) -> Iterable[Any]:
        self.before.pop("added", None)
        events = super().feed(frame)
        self.before = frame.data if isinstance(frame.data, dict) else {}
        self.before["added"] = "tampered"
        return events


class EqualsAll(Normalizer):
    """Its `raw` says that it equals whatever it is compared with."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        return [replace(e, raw=replace(e.raw, payload=ANY)) for e in super().feed(frame)]


class Spoils(Normalizer):
    """Leaves nothing of a frame once it is over: its own copy, so that nobody is the worse."""

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.before: Any = None

    def feed(self, frame: Frame) -> Iterable[Any]:
        if isinstance(self.before, Frame):
            self.before.seq, self.before.data = -1, None
        self.before = frame
        return super().feed(frame)


class LooksBack(Normalizer):
    """Fills an event in when the next frame has come."""

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.held: list[tuple[Any, Any]] = []

    def fill(self) -> None:
        for empty, data in self.held:
            empty.update(data)
        self.held = []

    def feed(self, frame: Frame) -> Iterable[Any]:
        self.fill()
        events = []
        for event in super().feed(frame):
            data = getattr(event.payload, "data", None)
            if isinstance(data, dict) and event.type == "item.completed":
                empty: dict[str, Any] = {}
                self.held.append((empty, data))
                events.append(replace(event, payload=replace(event.payload, data=empty)))
            else:
                events.append(event)
        return events

    def close(self) -> Iterable[Any]:
        self.fill()
        return super().close()


def judged(make: Callable[[Header], Any], name: str = TEXT) -> CassetteResult:
    report = check(
        [name],
        cassettes=PROJECT.cassettes,
        expected=PROJECT.expected,
        subject=InProcess(make, "adversary"),
    )
    (result,) = report.cassettes
    return result


@pytest.mark.parametrize(
    ("make", "laws"),
    [
        (Normalizer, []),
        (Spoils, []),
        (Adds, ["raw"]),
        (AddsDeep, ["raw", "expected"]),
        (AddsAndTakesBack, ["raw"]),
        (EqualsAll, ["raw"]),
        (LooksBack, ["expected"]),
    ],
)
def test_what_counts_is_what_was_returned(make: Any, laws: list[str]) -> None:
    result = judged(make)
    assert (result.verdict, result.failed()) == ("fail" if laws else "pass", laws)


def test_the_finding_has_the_frame_as_it_was_told() -> None:
    (law,) = [c for c in judged(Adds).checks if c.status == "fail"]
    assert {v.path for v in law.violations} == {"raw.payload"}
    assert law.violations[0].frame == 3
    assert '"added":"tampered"' in law.violations[0].got


def test_no_reference_changes_what_it_is_given() -> None:
    """They are trusted, and judged without copies: here they are not."""
    report = check(
        cassettes=PROJECT.cassettes,
        expected=PROJECT.expected,
        subject=InProcess(reference, "reference"),
    )
    assert {r.id for r in report.cassettes if r.verdict != "pass"} == set()
    assert len(report.cassettes) > 300
    assert Reference().trusted


def test_a_copy_is_found_by_itself_where_two_frames_are_alike() -> None:
    window = Handed()
    frames = [Frame(n, n * 10, "in", "stdout", data={"type": "x"}) for n in (1, 2)]
    own = []
    for frame in frames:
        own.append(window.hand(frame).data)
        window.frames.append((frame.seq, frame.at, frame.data))
    assert [window.find(each) for each in own] == [(1, 10), (2, 20)]
    assert window.find({"type": "x"}) == (2, 20)
    own[0]["type"] = "y"
    assert window.find(own[0]) == (0, 0)
    assert frames[0].data == {"type": "x"}
