"""Whatever a subject gives and whatever stands in an expected file: a verdict, never a crash."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.cassette import Frame
from harness.conformance import check, render_terminal, report_json, write_expected
from harness.subject import InProcess
from tests.conformance import toy

_JUNK: list[Any] = [
    None,
    3,
    1.5,
    "",
    " x ",
    "itm-1",
    b"bytes",
    "\ud800",
    [],
    {},
    {"a": [1]},
    {1: 2},
    {b"k": 0},
    object(),
    float("nan"),
    2**80,
    msgspec.UNSET,
    toy.HEADER,
    toy.Normalizer,
]
_FIELDS = (
    "eventId",
    "provider",
    "sessionId",
    "createdAt",
    "payload",
    "raw",
    "threadId",
    "turnId",
    "itemId",
    "requestId",
    "providerRefs",
)
_DEEPER = (*_FIELDS, "payload.*", "raw.*", "providerRefs.*", "")


def broken(at: int, field: str, junk: Any, *, foreign: bool) -> Any:
    """A normalizer that puts junk into a field (or in place) of its event number `at`."""

    class Hostile(toy.Normalizer):
        given = 0

        def feed(self, frame: Frame) -> Any:
            return [self.one(event) for event in super().feed(frame)]

        def one(self, event: Any) -> Any:
            self.given += 1
            if self.given != at:
                return event
            if not field:
                return junk
            name, _, inner = field.partition(".")
            if inner == "payload":
                return replace(event, raw=replace(event.raw, payload=junk))
            part = getattr(event, name)
            if inner and part is not msgspec.UNSET:
                first = part.__struct_fields__[0]
                event = replace(event, **{name: replace(part, **{first: junk})})
            else:
                event = replace(event, **{name: junk})
            if not foreign:
                return event
            return {"type": event.type} | {
                f: getattr(event, f) for f in _FIELDS if getattr(event, f) is not msgspec.UNSET
            }

    return Hostile


@given(st.integers(1, 19), st.sampled_from(_DEEPER), st.integers(0, len(_JUNK) - 1), st.booleans())
@settings(max_examples=150, deadline=None)
def test_junk_in_an_event_is_a_finding(at: int, field: str, junk: int, foreign: Any) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        toy.write(root / "cassettes")
        report = check(
            cassettes=root / "cassettes",
            expected=None,
            subject=InProcess(broken(at, field, _JUNK[junk], foreign=foreign), "hostile"),
            rules=toy.rules,
        )
        (result,) = report.cassettes
        assert result.verdict in {"pass", "fail"}
        # What may stay: an optional field left out, an id that only this event has, free text
        # (bytes are written as such).
        if result.verdict == "pass":
            harmless = isinstance(_JUNK[junk], str | bytes | dict | msgspec.UnsetType)
            assert harmless, (at, field)
        render_terminal(report)
        msgspec.json.decode(report_json(report))


_EDITS = st.lists(
    st.tuples(
        st.sampled_from(["drop", "double", "swap", "text", "junk"]),
        st.integers(0, 18),
        st.integers(0, 18),
    ),
    min_size=1,
    max_size=5,
)


@given(_EDITS)
@settings(max_examples=50, deadline=None)
def test_whatever_was_pinned_is_compared_or_named(edits: list[tuple[str, int, int]]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        toy.write(root / "cassettes")
        places: Any = {"cassettes": root / "cassettes", "expected": root / "expected"}
        subject = InProcess(toy.Normalizer, "toy")
        path = write_expected(toy.HEADER.id, **places, subject=subject, rules=toy.rules)
        right = path.read_bytes()
        lines = right.splitlines(keepends=True)
        for what, one, other in edits:
            one, other = one % len(lines), other % len(lines)  # noqa: PLW2901 - in range
            if what == "drop" and len(lines) > 1:
                del lines[one]
            elif what == "double":
                lines.insert(other, lines[one])
            elif what == "swap":
                lines[one], lines[other] = lines[other], lines[one]
            elif what == "text":
                lines[one] = lines[one].replace(b"native", b"NATIVE")
            elif what == "junk":
                lines[one] = lines[one][: other * 9] + b"\n"
        path.write_bytes(b"".join(lines))
        report = check(**places, subject=subject, rules=toy.rules)
        (result,) = report.cassettes
        if path.read_bytes() == right:
            assert report.exit_code == 0
        elif result.verdict == "unusable":
            assert f"{path}:" in result.problem
        else:
            assert result.failed() == ["expected"]
            assert result.check("expected").violations


class Hostile:
    """A value that raises whatever is done with it."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __eq__(self, other: object) -> bool:
        raise self.error

    def __hash__(self) -> int:
        raise self.error

    def __repr__(self) -> str:
        raise self.error


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), SpeechlessError()])
@pytest.mark.parametrize(
    "field", ["createdAt", "eventId", "turnId", "payload", "raw", "raw.payload", ""]
)
def test_a_value_that_raises_is_a_finding(tmp_path: Path, field: str, error: BaseException) -> None:
    toy.write(tmp_path / "cassettes")
    report = check(
        cassettes=tmp_path / "cassettes",
        expected=None,
        subject=InProcess(broken(3, field, Hostile(error), foreign=False), "hostile"),
        rules=toy.rules,
    )
    (result,) = report.cassettes
    assert result.verdict == "fail"
    # What is of no type of JSON is the content of no frame, and not asked whether it is.
    assert ("raw" if field == "raw.payload" else "schema") in result.failed()
