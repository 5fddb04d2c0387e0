"""Comparing two recordings."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from harness.cassette import CassetteWriter
from harness.recording import verify
from harness.recording.verify import differences, volatile
from harness.surfaces import SurfaceError
from tests.recording.fakes import header

DECLARED = {
    "log": "presence: from a thread of its own",
    "usage": "order: from a thread of its own",
    "output": "chunks delta: as the pipe gives it",
}


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = SimpleNamespace(of=lambda frame: frame.data["kind"])
    fake = SimpleNamespace(
        manifest=SimpleNamespace(volatile_for=lambda *_: DECLARED), kinds=lambda: kinds
    )
    monkeypatch.setattr(verify, "surface", lambda _: fake)


def write(path: Path, *frames: dict[str, Any], late: int = 0) -> Path:
    head = msgspec.structs.replace(header(), recorded=f"2026-01-01T00:00:0{late}Z")
    with CassetteWriter(path, head) as writer:
        for number, data in enumerate(frames):
            writer.frame(number + late, "in", "stdout", "data", data)
        writer.finish(complete=True, exit_code=0)
    return path


TEXT = {"kind": "text", "text": "hello"}
A, B = ({"kind": "output", "id": 1, "delta": t} for t in ("ab", "c"))
C, D = ({"kind": "output", "id": 1, "delta": t} for t in ("a", "bc"))
USE = {"kind": "usage", "n": 1}
LOG = {"kind": "log", "line": "x"}


@pytest.mark.parametrize(
    "other",
    [(TEXT, A, B, USE), (TEXT, C, D, USE), (USE, A, TEXT, B, LOG), (LOG, LOG, TEXT, A, USE, B)],
)
def test_what_may_differ(tmp_path: Path, other: tuple[dict[str, Any], ...]) -> None:
    first = write(tmp_path / "a", TEXT, A, B, USE)
    assert differences(first, write(tmp_path / "b", *other, late=7)) == []


@pytest.mark.parametrize(
    ("other", "part"),
    [
        ((TEXT | {"text": "hallo"}, A, B, USE), "frames, number 1 (of 1 and of 1):"),
        ((TEXT, TEXT, A, B, USE), "frames, number 2 (of 1 and of 2):"),
        ((TEXT, A, B), "usage, number 1 (of 1 and of 0):"),
        ((TEXT, A, B, USE, USE), "usage, number 2 (of 1 and of 2):"),
        ((TEXT, A, USE), "output, number 1 (of 1 and of 1):"),
        ((TEXT, A, B | {"id": 2}, USE), "output, number 1 (of 1 and of 2):"),
    ],
)
def test_what_must_not(tmp_path: Path, other: tuple[dict[str, Any], ...], part: str) -> None:
    first = write(tmp_path / "a", TEXT, A, B, USE)
    found = differences(first, write(tmp_path / "b", *other))
    assert found[0] == part
    assert [line[:8] for line in found[1:3]] == ["  first ", "  second"]


def test_the_same_text_twice_is_no_repetition(tmp_path: Path) -> None:
    twice = write(tmp_path / "a", B, B)
    assert differences(twice, write(tmp_path / "b", B)) != []


def test_a_kind_only_in_the_second_and_another_end(tmp_path: Path) -> None:
    first = write(tmp_path / "a", TEXT)
    assert differences(first, write(tmp_path / "b", TEXT, USE)) == [
        f"usage: only in {tmp_path / 'b'}"
    ]
    with CassetteWriter(tmp_path / "c", header()) as writer:
        writer.frame(0, "in", "stdout", "data", TEXT)
        writer.finish(complete=True, signal="SIGTERM")
    assert differences(first, tmp_path / "c")[0] == "end, number 1 (of 1 and of 1):"


def test_a_long_line_is_cut_to_where_it_differs(tmp_path: Path) -> None:
    one = write(tmp_path / "a", TEXT | {"text": "x" * 5000 + "A" + "y" * 5000})
    other = write(tmp_path / "b", TEXT | {"text": "x" * 5000 + "B" + "y" * 5000})
    _, first, second = differences(one, other)
    assert ("xAy" in first, "xBy" in second) == (True, True)
    assert max(len(first), len(second)) < 400


def test_a_declaration_that_says_nothing_of_how() -> None:
    assert volatile({"a": "chunks x: y", "b": "order: z"}) == {"a": "chunks x", "b": "order"}
    with pytest.raises(SurfaceError, match="volatile: a: begins with none of"):
        volatile({"a": "sometimes it is another"})
