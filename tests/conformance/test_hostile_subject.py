"""A normalizer that prints, closes the output, or raises what is hard to report."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.project import find_project
from harness.surfaces import surface

ROOT = find_project(Path(__file__)).root
TEXT = "codex-exec/codex-0.163.0/text"


class SpeechlessError(Exception):
    """An error that cannot be told."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Subject:
    """The reference normalizer, with something done before each frame."""

    def __init__(self, header: Any) -> None:
        self.inner = surface(header.surface).normalizer(header)

    def feed(self, frame: Any) -> Iterable[Any]:
        self.act()
        return self.inner.feed(frame)

    def close(self) -> Iterable[Any]:
        return self.inner.close()

    def act(self) -> None: ...


class Prints(Subject):
    def act(self) -> None:
        print("NOISE")


class Closes(Subject):
    def act(self) -> None:
        sys.stdout.close()


class RaisesSpeechless(Subject):
    def act(self) -> None:
        raise SpeechlessError


class RaisesGeneratorExit(Subject):
    def act(self) -> None:
        raise GeneratorExit


class RaisesColour(Subject):
    def act(self) -> None:
        raise ValueError("\x1b[31mred\u202e")


class GivesJunk(Subject):
    def close(self) -> Iterable[Any]:
        return [{"type": "\x1b[31m"}]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["--root", str(ROOT), *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def spec(kind: type[Subject]) -> str:
    return f"{__name__}:{kind.__name__}"


@pytest.mark.parametrize("kind", [Prints, Closes])
def test_what_a_subject_does_to_the_output_is_not_in_the_result(
    capsys: pytest.CaptureFixture[str], kind: type[Subject]
) -> None:
    code, out, _ = run(capsys, "check", TEXT, "--json", "--normalizer", spec(kind))
    assert code == 0
    assert json.loads(out)["cassettes"][0]["verdict"] == "pass"
    code, out, _ = run(capsys, "replay", TEXT, "--normalizer", spec(kind))
    assert code == 0
    assert out == run(capsys, "replay", TEXT)[1]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (RaisesSpeechless, "SpeechlessError: it cannot say what"),
        (RaisesGeneratorExit, "GeneratorExit: "),
        (RaisesColour, "ValueError: \\x1b[31mred\\u202e"),
    ],
)
def test_whatever_it_raises_is_a_failed_check(
    capsys: pytest.CaptureFixture[str], kind: type[Subject], said: str
) -> None:
    code, out, _ = run(capsys, "check", TEXT, "--normalizer", spec(kind))
    assert code == 1
    assert said in out
    assert "\x1b" not in out
    code, _, err = run(capsys, "replay", TEXT, "--normalizer", spec(kind))
    assert code == 1
    assert f"raised at frame 1: {said}" in err


def test_replay_of_what_are_no_events_fails(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "replay", TEXT, "--normalizer", spec(GivesJunk))
    assert code == 1
    assert "harness replay: not an event: " in err
    assert "\x1b" not in err


_BELOW = """
import os
from tests.conformance.test_hostile_subject import Subject
print("NOISE at import")
class Writes(Subject):
    def act(self):
        os.write(1, b"NOISE")
class Shuts(Subject):
    def act(self):
        os.closerange(1, 2)
"""


@pytest.mark.parametrize("name", ["Writes", "Shuts"])
def test_what_a_subject_does_below_python_is_not_in_the_report(tmp_path: Path, name: str) -> None:
    (tmp_path / "below.py").write_text(_BELOW)
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "harness.cli",
            "check",
            TEXT,
            "--json",
            "--normalizer",
            f"below:{name}",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["cassettes"][0]["verdict"] == "pass"
    assert b"NOISE at import" in ended.stderr
