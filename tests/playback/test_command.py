"""`harness play`: choosing a process, standing in for a program, what cannot be played."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.cli import main
from harness.playback.shim import Played, played
from harness.project import find_project
from harness.recording.agents import find_agent
from harness.surfaces import surface
from tests.playback.tapes import Entry, asks, cassette, run, says

ROOT = find_project(Path(__file__)).root
EXEC = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
RESUME = ["exec", "resume", *EXEC[1:], "019b76da-a800-7000-8000-000000000001"]
OVER: Entry = ("in", "exit", {"code": 0})


def corpus(name: str) -> Path:
    return ROOT / "cassettes" / f"{name}.jsonl"


def test_the_command_line_says_which_process_it_is() -> None:
    path = corpus("codex-exec/codex-0.163.0/multi-turn")
    said = [
        run(path, b"", *args)[1].count(b"apple")
        for args in (
            [*EXEC, "Remember the word apple."],
            [*RESUME, "Print the word that I gave you."],
        )
    ]
    assert said == [0, 4]
    code, out, err = run(path, b"", *RESUME, "Print the word that I gave you")
    assert (code, out) == (1, b"")
    assert "no process was started with these arguments; the nearest is frame 8" in err
    assert (
        'differs:  argument 7: recorded "Print the word that I gave you.", '
        'came "Print the word that I gave you"'
    ) in err


def test_processes_of_one_command_line_are_told_apart_by_what_the_client_says(
    tmp_path: Path,
) -> None:
    start: Entry = ("out", "start", {"command": ["agent", "acp"]})
    hello = [asks(0, "initialize"), says(id=0, result={})]
    first = [asks(1, "session/new"), says(id=1, result={"sessionId": "s"}), OVER]
    other = [asks(1, "session/load"), says(id=1, result={"old": 1}), OVER]
    path = cassette(tmp_path / "t.jsonl", [*hello, *first, start, *hello, *other])
    line = '{"id":5,"method":"initialize","params":{}}\n{"id":6,"method":"session/%s","params":{}}'
    assert run(path, (line % "new").encode(), "acp")[1].endswith(b'{"sessionId":"s"}}\n')
    assert run(path, (line % "load").encode(), "acp")[1].endswith(b'{"id":6,"result":{"old":1}}\n')
    code, _, err = run(path, (line % "list").encode(), "acp")
    assert (code, 'recorded "session/new", came "session/list"' in err) == (1, True)
    # One that has said something else so far cannot be the one that is meant.
    unlike = [hello[0], says(id=0, result={"v": 2}), *other]
    path = cassette(tmp_path / "u.jsonl", [*hello, *first, start, *unlike])
    assert run(path, (line % "load").encode(), "acp")[0] == 1


def test_starts_of_one_command_line_are_counted_for_each_client(tmp_path: Path) -> None:
    start: Entry = ("out", "start", {"command": ["agent", "acp"]})
    other: Entry = ("out", "start", {"command": ["agent", "login"]})
    path = cassette(
        tmp_path / "t.jsonl",
        [says(n=1), OVER, other, says(n=9), OVER, start, says(n=2), OVER],
    )
    state = tmp_path / "starts"

    def n(*args: str, options: tuple[str, ...] = ("--state", str(state)), env: Any = None) -> int:
        code, out, err = run(
            path, b"", *(args or ("acp",)), options=options, env=os.environ | (env or {})
        )
        assert (code, err) == (0, "")
        return int(json.loads(out)["n"])

    recording = {"HARNESS_RECORDING": "a", "HARNESS_PLAYED": "1"}
    assert [n(), n("login"), n(), n()] == [1, 9, 2, 1]
    # Another client begins anew, and so does one whose count cannot be read.
    assert [n(env=recording), n(env=recording), n()] == [1, 2, 1]
    state.write_text("{")
    assert [n(), n(options=()), n()] == [1, 1, 2]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["starts", "t.jsonl"]


def test_a_shim_stands_in_path_under_the_agents_name(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    code = main(["play", str(corpus("codex-exec/codex-0.163.0/text")), "--shim", str(folder)])
    assert code == 0
    shim = folder / "codex"
    assert os.listdir(folder) == ["codex"]  # noqa: PTH208 - hidden files too
    assert played(shim) == Played("codex-exec/codex-0.163.0/text", "scripted")
    environment = {"PATH": os.pathsep.join([str(folder), os.defpath])}
    prompt = "Say hello to the world."
    done = subprocess.run(
        ["codex", *EXEC, prompt], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
        check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0
    assert b'"text":"Hello, world."' in done.stdout
    version = subprocess.run(
        ["codex", "--version"], env=environment, capture_output=True, check=True
    )
    assert version.stdout.startswith(b"0.163.0 (harness play codex-exec/codex-0.163.0/text, script")
    found = find_agent(surface("codex-exec"), str(shim))
    assert (found.version, found.played) == ("0.163.0", played(shim))


def test_a_shim_takes_no_other_programs_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "codex").write_text("#!/bin/sh\necho real\n")
    text = corpus("codex-exec/codex-0.163.0/text")
    assert main(["play", str(text), "--shim", str(tmp_path)]) == 2
    assert "is another program: it stays as it is" in capsys.readouterr().err
    assert (tmp_path / "codex").read_text() == "#!/bin/sh\necho real\n"
    again = tmp_path / "again"
    names = ["codex-exec/codex-0.163.0/text", "codex-exec/codex-0.163.0/unicode"]
    for name in names:
        assert main(["play", str(corpus(name)), "--shim", str(again)]) == 0
    assert played(again / "codex") == Played(names[1], "scripted")


def test_a_version_that_is_asked_on_the_wire(tmp_path: Path) -> None:
    path = corpus("acp/codex-acp-0.16.0/text")
    assert main(["play", str(path), "--shim", str(tmp_path)]) == 0
    found = find_agent(surface("acp"), str(tmp_path / "codex-acp"), "codex-acp")
    assert (found.version, found.search) == ("0.16.0", ())


def test_cassettes_that_cannot_be_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(path: Path, *more: str) -> tuple[int, str]:
        return main(["play", str(path), *more]), capsys.readouterr().err

    cut = cassette(tmp_path / "cut.jsonl", [says(a=1)], finish=False)
    code, err = said(cut)
    assert (code, f"{cut}: truncated: it has no footer" in err) == (4, True)
    unknown = cassette(tmp_path / "unknown.jsonl", [OVER], surface="acp-two")
    code, err = said(unknown)
    assert (code, "unknown.jsonl:1: no surface is called 'acp-two'" in err) == (4, True)
    other = tmp_path / "other.jsonl"
    other.write_text("hello\n")
    assert said(other)[0] == 4
    broken = cassette(tmp_path / "start.jsonl", [("out", "start", {"command": "x"}), OVER])
    code, err = said(broken)
    assert (code, "start.jsonl:3: a start without a command line" in err) == (4, True)
    assert said(tmp_path / "missing.jsonl")[0] == 3
    code, err = said(corpus("acp/codex-acp-0.16.0/text"), "--port", "80")
    assert (code, "acp does not listen on any" in err) == (2, True)


def test_a_surface_that_declares_no_playback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(tmp_path / "t.jsonl", [OVER])
    silent = SimpleNamespace(manifest=SimpleNamespace(playback=None))
    monkeypatch.setattr("harness.playback.segments.surface", lambda _: silent)
    assert main(["play", str(path)]) == 5
    assert "cassettes of acp cannot be played back" in capsys.readouterr().err


def test_a_recorder_that_does_not_know_it_gets_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HARNESS_RECORDING", "x")
    assert main(["play", str(corpus("codex-exec/codex-0.163.0/text"))]) == 2
    assert "would take it for a real agent" in capsys.readouterr().err


def test_arguments_of_the_agent_stay_as_they_are(tmp_path: Path) -> None:
    command = ("agent", "--", "--help", "--pace", "")
    path = cassette(tmp_path / "t.jsonl", [says(a=1), OVER], command=command)
    assert run(path, b"", *command[1:])[:2] == (0, b'{"a":1}\n')
    # Without a `--` any process may be meant: it is the first.
    done = subprocess.run(
        [sys.executable, "-P", "-m", "harness.cli", "play", str(path)],
        input=b"", capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b'{"a":1}\n')
