"""What `--interactive` refuses before anything is asked, and what it says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.project import find_project

ROOT = find_project(Path(__file__)).root
RECORD = ["record", "--interactive", "--surface", "codex-exec", "--agent", "codex"]
SAID = [*RECORD, "--scenario", "text"]


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("harness.interactive.command.at_terminal", lambda: True)


@pytest.mark.usefixtures("at_a_terminal")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (RECORD, "which model answers? Name a --scenario, whose script does, or say --live"),
        ([*SAID, "--scenario", "unicode"], "--interactive is one conversation"),
        ([*RECORD, "--all"], "--interactive is one conversation"),
        ([*SAID, "--json"], "--interactive is one conversation"),
        ([*SAID, "--timeout", "5"], "a person takes what time it takes: without --timeout"),
        (
            [*SAID, "--model-cassette"],
            "replay the draft with --model-cassette, or ask a real model",
        ),
        ([*SAID, "--draft", "x.txt"], "a name that ends in .yaml is needed"),
        ([*SAID, "--draft", "text.yaml"], "there is a scenario 'text' already"),
        ([*SAID, "--draft", "no/x.yaml"], "the folder cannot be written to"),
        ([*SAID, "--draft", "old.yaml"], "old.yaml.new waits from before"),
        ([*SAID, "--draft", "place.yaml"], "a folder is there"),
        ([*SAID, "--into", "old.yaml.new/x"], "old.yaml.new is no folder"),
        (["record", "--draft", "x.yaml", "--all"], "--draft is a choice of --interactive"),
    ],
)
def test_usage(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.yaml.new").touch()
    Path("place.yaml").mkdir()
    assert main(["--root", str(ROOT), "record", "--into", "out", *arguments[1:]]) == 2
    assert text in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.usefixtures("at_a_terminal")
def test_one_agent_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    two = ["--agent", "codex", "--agent", "codex-cli"]
    arguments = ["record", "--interactive", "--surface", "codex-exec", *two, "--scenario", "text"]
    assert main(["--root", str(ROOT), *arguments]) == 2
    assert "name one --surface and one --agent (of codex, codex-cli)" in capsys.readouterr().err


@pytest.mark.usefixtures("at_a_terminal")
def test_in_ci_there_is_no_person(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", "true")
    assert main(["--root", str(ROOT), *SAID]) == 2
    assert "this is a CI job (CI is set), and a person is needed" in capsys.readouterr().err


@pytest.mark.parametrize("terminal", ["", "stdin", "stdout"])
def test_no_terminal_and_half_of_one(tmp_path: Path, terminal: str) -> None:
    master, slave = os.openpty()
    out = tmp_path / "said"
    with out.open("wb") as file:
        ran = subprocess.run(
            [sys.executable, "-m", "harness.cli", "--root", str(ROOT), *SAID, "--into", "out"],
            stdin=slave if terminal == "stdin" else subprocess.DEVNULL,
            stdout=slave if terminal == "stdout" else file,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=tmp_path,
            env={k: v for k, v in os.environ.items() if k != "CI"} | {"PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
    os.close(slave)
    os.close(master)
    assert (ran.returncode, out.read_text()) == (2, "")
    assert ran.stderr == (
        "harness record: --interactive: there is no terminal on standard input and output: nothing "
        "was recorded; run it at a terminal, or record a --scenario without it\n"
    )
    assert list(tmp_path.iterdir()) == [out]


def test_help_says_which_models_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["record", "--help"])
    assert caught.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    for text in (
        "the script of --scenario answers, or, with --live, a real model",
        "not with --model-cassette",
        "Ctrl-D at a prompt ends the recording and keeps it",
    ):
        assert text in said
