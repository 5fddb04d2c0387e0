"""`harness record` on many, and twice."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from harness.cassette import CassetteWriter
from harness.recording import batch
from harness.recording.batch import Batch, record_all
from harness.recording.errors import RecordError
from harness.recording.job import Recording
from tests.recording.fakes import header

BASE = Batch(
    surfaces=["codex-exec"],
    agents=["codex"],
    scenarios=["text"],
    all=False,
    into=Path("unused"),
    agent_path=None,
    timeout=5.0,
    port=0,
    isolate=None,
    json=True,
    verify=True,
)


class Recorder:
    """Stands in for `record`: each call writes the next of some texts, or raises."""

    def __init__(self, *says: str | RecordError) -> None:
        self.says = iter(says)

    def __call__(self, surface: str, scenario: str, into: Path, **_: Any) -> Recording:
        said = next(self.says)
        if isinstance(said, RecordError):
            raise said
        path = into / "a.jsonl"
        head = replace(header(), surface=surface, scenario=scenario)
        with CassetteWriter(path, head) as writer:
            writer.frame(0, "in", "stdout", "data", {"type": "error", "message": said})
            writer.finish(complete=True, exit_code=0)
        return Recording(
            surface,
            scenario,
            "codex-1",
            path,
            1,
            0.1,
            isolated=True,
            refused_connections=0,
            unhandled=[],
            notices=[],
        )


def run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: Path,
    *says: str | RecordError,
) -> Any:
    monkeypatch.setattr(batch, "record", Recorder(*says))
    code = record_all(replace(BASE, into=folder))
    captured = capsys.readouterr()
    (row,) = json.loads(captured.out)
    return code, row, captured.err


def test_twice_the_same_is_verified(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, row, err = run(monkeypatch, capsys, tmp_path, "hello", "hello")
    assert (code, row["differences"], err) == (0, [], "")


def test_a_difference_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, row, err = run(monkeypatch, capsys, tmp_path, "hello", "goodbye")
    assert code == 1
    assert row["problem"] == "recorded twice, it differs"
    assert "codex-exec/text: recorded twice, it differs:" in err
    assert '"message":"hello"' in err
    assert '"message":"goodbye"' in err


def test_a_second_recording_that_fails_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, row, err = run(monkeypatch, capsys, tmp_path, "hello", RecordError(5, "it is gone"))
    assert (code, row["problem"]) == (5, "the second time: it is gone")
    assert "recording it again: it is gone" in err


def test_a_failure_is_a_row_of_the_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, row, _ = run(monkeypatch, capsys, tmp_path, RecordError(4, "no room"))
    assert code == 4
    assert row == {
        "surface": "codex-exec",
        "scenario": "text",
        "agent": "codex",
        "problem": "no room",
        "code": 4,
    }
