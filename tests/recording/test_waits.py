"""A recording never takes an older cassette's place unasked."""

import sys
from pathlib import Path
from typing import Any

import pytest

from harness.pending import waiting
from harness.recording.record import record
from harness.surfaces import surface
from tests.recording.fakes import (
    QUICK,
    FakeSurface,
    NoModel,
    agent,
    no_temporary_folder_is_left,  # noqa: F401 - a fixture of every test
)

module = sys.modules["harness.recording.record"]
SAYS = "print('{\"bye\":%s}', flush=True)\n"


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    room = FakeSurface()
    monkeypatch.setattr(module, "surface", lambda _: room)
    # Its frames are named as those of a real surface are.
    monkeypatch.setattr("harness.recording.verify.surface", lambda _: surface("codex-exec"))
    monkeypatch.setattr("harness.recording.job.ModelServer", NoModel)
    monkeypatch.delenv("CI", raising=False)


def again(tmp_path: Path, says: str, **options: Any) -> Any:
    program = agent(tmp_path, SAYS % says)
    return record(
        "fake", "text", tmp_path / "into", agent_path=str(program), limits=QUICK, **options
    )


def test_an_equal_recording_changes_nothing(tmp_path: Path) -> None:
    first = again(tmp_path, "1")
    before = first.path.stat()
    second = again(tmp_path, "1")
    assert (first.result, second.result) == ("new", "unchanged")
    assert first.path.stat() == before
    assert [p for p in first.path.parent.iterdir() if p != first.path] == []


def test_another_recording_waits(tmp_path: Path) -> None:
    first = again(tmp_path, "1")
    before = first.path.read_bytes()
    second = again(tmp_path, "2")
    assert (second.result, second.path) == ("waits", waiting(first.path))
    assert second.changed != []
    assert first.path.read_bytes() == before


def test_a_damaged_cassette_is_not_recorded_over(tmp_path: Path) -> None:
    first = again(tmp_path, "1")
    first.path.write_bytes(b"foreign\n")
    second = again(tmp_path, "1")
    assert (second.result, first.path.read_bytes()) == ("waits", b"foreign\n")
    assert second.changed[0].startswith("the cassette cannot be used: ")


def test_overwrite_and_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = again(tmp_path, "1")
    before = first.path.read_bytes()
    monkeypatch.setenv("CI", "true")
    assert again(tmp_path, "2").result == "differs"
    assert first.path.read_bytes() == before
    assert not waiting(first.path).exists()
    assert again(tmp_path, "2", overwrite=True).result == "replaced"
    assert first.path.read_bytes() != before
