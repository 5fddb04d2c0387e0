"""Conversations that were written by hand: asked of the reference, of others only on request."""

import json
import shutil
from pathlib import Path

import pytest

from harness.cli import main
from harness.project import find_project

PROJECT = find_project(Path(__file__))
SPEC = f"{shutil.which('python3')} {PROJECT.root / 'examples' / 'python' / 'normalizer.py'}"
RECORDED = "codex-exec/codex-0.163.0/text"
WRITTEN = "codex-exec/documents-1/items"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in (PROJECT.cassettes, PROJECT.expected):
        for name in (RECORDED, WRITTEN):
            made = tmp_path / folder.name / f"{name}.jsonl"
            made.parent.mkdir(parents=True)
            shutil.copy(folder / f"{name}.jsonl", made)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def judged(capsys: Capture, *arguments: str, code: int) -> dict[str, str]:
    assert main(["check", "--json", *arguments]) == code
    said = capsys.readouterr()
    left = "1 conversations written by hand left out; --documents takes them in"
    results = {c["id"]: c["verdict"] for c in json.loads(said.out)["cassettes"]}
    assert (left in said.err) == (WRITTEN not in results)
    return results


@pytest.mark.usefixtures("root")
def test_the_reference_is_judged_on_them(capsys: Capture) -> None:
    assert judged(capsys, code=0) == {RECORDED: "pass", WRITTEN: "pass"}


@pytest.mark.usefixtures("root")
def test_another_is_only_where_it_asks(capsys: Capture) -> None:
    asked = {RECORDED: "pass", WRITTEN: "fail"}
    assert judged(capsys, "--normalizer", SPEC, code=0) == {RECORDED: "pass"}
    assert judged(capsys, "--normalizer", SPEC, "--documents", code=1) == asked
    assert judged(capsys, "--normalizer", SPEC, WRITTEN, code=1) == {WRITTEN: "fail"}
    named = f"[subject]\nnormalizer = {json.dumps(SPEC)}\n"
    Path("harness.toml").write_text(named, "utf-8")
    assert judged(capsys, code=0) == {RECORDED: "pass"}
    Path("harness.toml").write_text(f"{named}documents = true\n", "utf-8")
    assert judged(capsys, code=1) == asked


def test_where_there_are_no_others_nothing_was_run(root: Path, capsys: Capture) -> None:
    (root / "cassettes" / f"{RECORDED}.jsonl").unlink()
    assert main(["check", "--normalizer", SPEC]) == 3
    told = "there are only conversations written by hand; --documents takes them in"
    assert told in capsys.readouterr().err
