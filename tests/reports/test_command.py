"""`check --report` and `report`: files, exit codes, what stands where."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from harness.cli import main
from harness.project import find_project
from tests.project_of_one import ID, project_of_one, run

FORMS = ("junit", "github", "summary", "badge", "jsonl")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project_of_one(tmp_path)


def asked(folder: Path) -> list[str]:
    return [part for form in FORMS for part in ("--report", f"{form}={folder / form}")]


def test_live_and_kept_are_the_same_in_each_form(root: Path, capsys: Capture) -> None:
    pinned = root / "expected" / f"{ID}.jsonl"
    pinned.write_bytes(pinned.read_bytes().replace(b'"graceful"', b'"error"'))
    live, kept = root / "live", root / "kept"
    live.mkdir()
    kept.mkdir()
    assert run(root, "check", *asked(live)) == 1
    terminal = capsys.readouterr().out
    forms = [f"{form}={kept / form}" for form in FORMS]
    assert main(["report", *forms, str(live / "jsonl")]) == 1
    for form in FORMS:
        assert (kept / form).read_bytes() == (live / form).read_bytes(), form
    assert sorted(p.name for p in live.iterdir()) == sorted(FORMS)
    assert main(["report", str(live / "jsonl")]) == 1
    # The seconds are rounded in a report: all but the last line is the same.
    assert capsys.readouterr().out.splitlines()[:-1] == terminal.splitlines()[:-1]
    assert b"line=8" in (live / "github").read_bytes()
    assert "| 7 | 7 session.exited | payload.exitKind |" in (live / "summary").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["--scenario", "no-such"], 3, "for scenario 'no-such'"),
        (["--surface", "claude-sdk"], 3, "for surface 'claude-sdk'"),
        (["--normalizer", "no.such:thing"], 5, "no.such"),
        (["no/such/cassette"], 3, "no cassette 'no/such/cassette'"),
    ],
)
def test_a_run_that_could_not_be_made_is_an_error_in_each_form(
    root: Path, arguments: list[str], code: int, problem: str
) -> None:
    folder = root / "out"
    folder.mkdir()
    assert run(root, "check", *arguments, *asked(folder)) == code
    footer = msgspec.json.decode((folder / "jsonl").read_bytes().splitlines()[-1])
    assert (footer["exit_code"], footer["cassettes"]) == (code, 0)
    assert problem in footer["problem"]
    assert 'errors="1"' in (folder / "junit").read_text()
    assert (folder / "github").read_text().startswith("::error title=conformance::")
    assert "Conformance: nothing run" in (folder / "summary").read_text() or code == 5
    assert msgspec.json.decode((folder / "badge").read_bytes())["isError"] is True
    assert main(["report", str(folder / "jsonl")]) == code


def test_an_empty_corpus_is_no_pass(tmp_path: Path) -> None:
    (tmp_path / "cassettes").mkdir()
    assert run(tmp_path, "check", "--report", f"badge={tmp_path / 'b'}") == 3
    assert msgspec.json.decode((tmp_path / "b").read_bytes())["message"] == "nothing run"


@pytest.mark.parametrize(
    ("report", "problem"),
    [
        (["xml=a"], "'xml' is none of jsonl, junit, github, summary, badge"),
        (["junit"], "a path is needed: junit=PATH"),
        (["summary"], "GITHUB_STEP_SUMMARY is not set"),
        (["junit="], "the path is empty"),
        (["junit=-", "github"], "the same place"),
    ],
)
def test_reports_that_cannot_be_asked_for(
    root: Path, capsys: Capture, report: list[str], problem: str
) -> None:
    assert run(root, "check", *[p for r in report for p in ("--report", r)]) == 2
    assert problem in capsys.readouterr().err


def test_json_and_a_report_do_not_share_standard_output(root: Path, capsys: Capture) -> None:
    assert run(root, "check", "--json", "--report", "junit=-") == 2
    assert "both want standard output" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_unusable(root: Path, capsys: Capture) -> None:
    assert run(root, "check", "--report", f"junit={root}/no/such/x.xml") == 4
    assert f"{root}/no/such/x.xml" in capsys.readouterr().err


def test_standard_output_is_the_report_alone(root: Path, capsys: Capture) -> None:
    assert run(root, "check", "--report", "junit=-") == 0
    out, err = capsys.readouterr()
    assert out.startswith("<?xml")
    assert "reference: 1 pass" in err


def test_jsonl_on_standard_output_is_read_from_standard_input(root: Path) -> None:
    harness = [sys.executable, "-m", "harness.cli"]
    checked = subprocess.run(
        [*harness, "--root", str(root), "check", "--report", "jsonl=-"],
        capture_output=True,
        check=True,
    )
    records = [msgspec.json.decode(line)["record"] for line in checked.stdout.splitlines()]
    assert (records[0], records[1], records[2], records[-1]) == (
        "header", "case", "result", "footer",
    )  # fmt: skip
    read = subprocess.run(
        [*harness, "report", "badge", "-"], input=checked.stdout, capture_output=True, check=True
    )
    assert msgspec.json.decode(read.stdout)["message"] == "1 pass"


KILLS = """
import os, signal
from harness.surfaces.codex_exec.normalizer import Normalizer as Whole
def Normalizer(header):
    if header.scenario == "unicode":
        os.kill(os.getpid(), signal.SIGKILL)
    return Whole(header)
"""


def test_a_killed_run_leaves_what_it_found(root: Path, capsys: Capture) -> None:
    for folder in ("cassettes", "expected"):
        other = find_project(Path(__file__)).root / folder / f"{ID}.jsonl"
        other = other.with_name("unicode.jsonl")
        shutil.copy(other, root / folder / Path(ID).parent)
    (root / "kills.py").write_text(KILLS)
    kept = root / "kept.jsonl"
    arguments = ["--root", str(root), "check", "--normalizer", "kills:Normalizer"]
    arguments += ["--report", f"jsonl={kept}", "--report", f"junit={root / 'x.xml'}"]
    killed = subprocess.run(
        [sys.executable, "-m", "harness.cli", *arguments],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert not (root / "x.xml").exists()
    assert main(["report", str(kept)]) == 4
    out, err = capsys.readouterr()
    assert f"pass     {ID}" in out
    assert "the report is truncated" in out
    assert "the report is truncated" in err


def test_in_a_job_the_summary_is_added_to(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = root / "step.md"
    there.write_text("another's\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(there))
    assert run(root, "check", "--report", "summary") == 0
    assert there.read_text().startswith("another's\n## ✅ Conformance: 1 pass\n")


def test_report_names_what_it_cannot_read(tmp_path: Path, capsys: Capture) -> None:
    assert main(["report", str(tmp_path / "none")]) == 4
    (tmp_path / "junk").write_text("{}\n")
    assert main(["report", str(tmp_path / "junk")]) == 4
    assert "junk:1: not a record of a report" in capsys.readouterr().err


@pytest.mark.parametrize("job", [True, False])
def test_in_a_job_the_terminal_s_text_is_no_command(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, job: bool
) -> None:
    kept = root / "kept.jsonl"
    assert run(root, "check", "--report", f"jsonl={kept}") == 0
    kept.write_bytes(kept.read_bytes().replace(b'"reference"', b'"::error::pwn"'))
    if job:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
    capsys.readouterr()
    assert main(["report", str(kept)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("\\x3a:error::pwn: 1 pass" if job else "::error::pwn: 1 pass")
