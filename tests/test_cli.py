"""The commands: what they print, and the exit code of each way to end."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness.canonical import decode_event
from harness.cli import main
from harness.project import find_project
from harness.scenarios import scenario_ids
from harness.surfaces import surface

ROOT = find_project(Path(__file__)).root
TEXT = "codex-exec/codex-0.163.0/text"


def run(capsys: pytest.CaptureFixture[str], *arguments: str, root: Path = ROOT) -> Any:
    """Run a command; return its exit code, what it printed, and its errors."""
    code = main(["--root", str(root), *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_show_is_a_timeline_of_both_directions(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", TEXT)
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith(f"{TEXT}  (scripted, 20")
    assert " -> start " in lines[2]
    assert " <- stderr Reading additional input from stdin" in lines[3]
    assert " <- stdout thread.started " in lines[4]
    assert lines[-1].endswith("frames, exit code 0, complete")
    _, narrow, _ = run(capsys, "show", TEXT, "--width", "40")
    assert max(map(len, narrow.splitlines()[2:-1])) == 40


def test_replay_prints_canonical_events(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "replay", TEXT)
    assert code == 0
    events = [decode_event(line) for line in out.splitlines()]
    assert [e.type for e in events] == [
        "session.started",
        "thread.started",
        "turn.started",
        "item.started",
        "item.completed",
        "turn.completed",
        "session.exited",
    ]


def test_schema_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "schema")
    assert code == 0
    assert json.loads(out)["title"] == "ProviderRuntimeEventV2"


def test_check_judges_a_selection(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "--surface", "codex-exec", "--scenario", "text")
    assert code == 0
    assert f"pass     {TEXT}" in out
    code, out, _ = run(capsys, "check", TEXT, "--json")
    assert code == 0
    (result,) = json.loads(out)["cassettes"]
    assert (result["id"], result["verdict"]) == (TEXT, "pass")


def test_list_surfaces_scenarios_cassettes(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {
        what: json.loads(run(capsys, "list", what, "--json")[1])
        for what in ("surfaces", "scenarios", "cassettes", "laws")
    }
    by_name = {row["surface"]: row for row in rows["surfaces"]}
    assert set(by_name) >= {"claude-sdk", "codex-app-server", "codex-exec"}
    assert by_name["codex-exec"]["excluded"]["command-approved"] == (
        "codex exec asks nobody, so a command cannot be approved"
    )
    # An agent's own exclusions are shown with its name.
    acp = surface("acp").manifest
    own = [(a.name, name, why) for a in acp.agents for name, why in a.excluded.items()]
    assert own
    by_scenario = {row["scenario"]: row["excluded"] for row in rows["scenarios"]}
    for agent, name, why in own:
        assert by_name["acp"]["excluded"][f"{agent}/{name}"] == why
        assert by_scenario[name][f"acp/{agent}"] == why
    assert [row["scenario"] for row in rows["scenarios"]] == list(scenario_ids())
    cassette = next(row for row in rows["cassettes"] if row["id"] == TEXT)
    assert cassette == {
        "id": TEXT,
        "surface": "codex-exec",
        "agent": "codex-0.163.0",
        "scenario": "text",
        "provenance": "scripted",
        "outcome": "completed",
        "frames": 7,
    }
    assert {"items", "turns", "requests", "deltas", "text"} <= {r["law"] for r in rows["laws"]}
    assert all(row["statement"] and row["source"] for row in rows["laws"])


def test_a_quarter_of_the_corpus_ends_in_something_else_than_success(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = json.loads(run(capsys, "list", "cassettes", "--json")[1])
    scripted = [row for row in rows if row["provenance"] == "scripted"]
    assert len(scripted) >= 40
    other = [row for row in scripted if row["outcome"] != "completed"]
    assert len(other) * 4 >= len(scripted)
    assert {row["outcome"] for row in other} == {
        "cancelled",
        "failed",
        "interrupted",
        "tool declined",
        "tool failed",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["check", "--scenario", "nope"], 3, "no cassette under"),
        (["check", "nope"], 3, "no cassette 'nope': neither a file nor an id under"),
        (["show", "nope"], 3, "`harness list cassettes` gives the ids"),
        (["show", "README.md"], 4, "README.md:1: not a cassette"),
        (["replay", "README.md"], 4, "README.md:1: not a cassette"),
        (["check", TEXT, "--normalizer", "nowhere:N"], 5, "nowhere"),
        (["check", TEXT, "--normalizer", ""], 2, "write it as package.module:name"),
        (["replay", TEXT, "--normalizer", " "], 2, "write it as package.module:name"),
        (["check", TEXT, "--normalizer", "tests.exits:X"], 5, "raised SystemExit: 0"),
        (["record", "--surface", "codex-exec"], 2, "name a --surface or an --agent"),
        (["record", "--all", "--scenario", "text"], 2, "exclude each other"),
        (["record", "--surface", "codx-exec", "--all"], 2, "did you mean codex-exec?"),
        (["record", "--surface", "codex-exec", "--scenario", "txt"], 2, "text"),
        (
            ["record", "--surface", "codex-exec", "--scenario", "command-approved"],
            3,
            "codex exec asks nobody",
        ),
        (
            ["record", "--surface", "codex-exec", "--scenario", "text", "--timeout", "nan"],
            2,
            "a number of seconds above 0",
        ),
        (
            [
                *("record", "--surface", "codex-exec", "--agent", "codex", "--scenario", "text"),
                *("--agent-path", "/no/such/codex"),
            ],
            5,
            "/no/such/codex: No such file or directory",
        ),
    ],
)
def test_an_error_has_its_code_and_says_what_to_do(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(ROOT)
    got, _, err = run(capsys, *arguments)
    assert got == code
    assert said in err
    assert err.startswith(f"harness {arguments[0]}: ")
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["check", "accept", "matrix", "demo"])
def test_a_root_that_is_none_is_not_exchanged_for_another(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    code, out, err = run(capsys, command, root=tmp_path / "nowhere")
    assert (code, out) == (3, "")
    assert f"--root {str(tmp_path / 'nowhere')!r}: no folder with cassettes/ in it" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--root", "", "matrix"],
        ["record", "--all", "--into", ""],
        ["show", TEXT, "--width", "-1"],
        ["record", "--timeout", "soon"],
        ["mutate", "--least", "200"],
        ["mutate", "--least", "-1"],
        ["mutate", "--least", "nan"],
        ["mutate", "--least", "most"],
        ["schema", "--protocol", "--report"],
    ],
)
def test_a_value_that_means_nothing_is_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


@pytest.mark.parametrize(
    "arguments",
    [["construct"], ["review", "--list"], ["check"], ["accept"], ["mutate"], ["vocabulary"]],
)
def test_a_surface_that_there_is_not_is_usage(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    code, out, err = run(capsys, *arguments, "--surface", "nosuch")
    assert (code, out) == (2, "")
    assert f"harness {arguments[0]}: no surface is called 'nosuch'; known: acp, " in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--language", "ts", "--report"], "--language ts is for the canonical events alone"),
        (["--report", "--stage", "chat_event"], "--stage is of events"),
        (["--protocol", "--stage", "legacy_out"], "--stage is of events"),
    ],
)
def test_one_schema_is_asked_for_at_a_time(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    code, out, err = run(capsys, "schema", *arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_no_corpus_is_nothing_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "cassettes").mkdir()
    for command in (["check"], ["matrix"], ["accept"]):
        assert run(capsys, *command, root=tmp_path)[0] == 3


def test_accept_pins_and_check_then_compares(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "cassettes" / f"{TEXT}.jsonl"
    path.parent.mkdir(parents=True)
    shutil.copy(ROOT / "cassettes" / f"{TEXT}.jsonl", path)
    code, out, _ = run(capsys, "check", root=tmp_path)
    assert code == 4
    assert "harness accept" in out
    assert run(capsys, "accept", root=tmp_path)[0] == 0
    pinned = tmp_path / "expected" / f"{TEXT}.jsonl"
    assert pinned.read_bytes() == (ROOT / "expected" / f"{TEXT}.jsonl").read_bytes()
    assert run(capsys, "check", root=tmp_path)[0] == 0


def test_demo_without_agents_runs_on_the_corpus_and_says_what_is_missing(
    tmp_path: Path,
) -> None:
    root = tmp_path / "cassettes" / Path(TEXT).parent
    root.mkdir(parents=True)
    shutil.copy(ROOT / "cassettes" / f"{TEXT}.jsonl", root)
    expected = tmp_path / "expected" / Path(TEXT).parent
    expected.mkdir(parents=True)
    shutil.copy(ROOT / "expected" / f"{TEXT}.jsonl", expected)
    # Agents are looked for in this environment's packages and on PATH: hide both.
    code = (
        "import importlib.util as u, sys\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda n, *a: None if n in ('codex_cli_bin', 'claude_agent_sdk') "
        "else find(n, *a)\n"
        "from harness.cli import main\n"
        f"sys.exit(main(['--root', {str(tmp_path)!r}, 'demo']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": "/nowhere", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"pass     {TEXT}" in done.stdout
    assert "== Not installed, so not recorded just now" in done.stdout
    assert "pip install openai-codex-cli-bin" in done.stdout
    assert "pip install claude-agent-sdk" in done.stdout


@pytest.mark.agents
def test_demo_records_three_scenarios_from_each_agent(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = tmp_path / "cassettes" / Path(TEXT).parent
    root.mkdir(parents=True)
    shutil.copy(ROOT / "cassettes" / f"{TEXT}.jsonl", root)
    expected = tmp_path / "expected" / Path(TEXT).parent
    expected.mkdir(parents=True)
    shutil.copy(ROOT / "expected" / f"{TEXT}.jsonl", expected)
    code, out, err = run(capsys, "demo", "--json", root=tmp_path)
    assert code == 0, err
    result = json.loads(out)
    if result["missing"]:
        pytest.skip(result["missing"][0])
    recorded = [name.removesuffix(".jsonl") for name in result["recorded"]]
    assert [name.rsplit("/", 1)[1] for name in recorded] == 2 * [
        "text",
        "command-approved",
        "interrupt-text",
    ]
    assert result["verdicts"] == dict.fromkeys([*recorded, TEXT], "pass")


def test_a_pipe_that_closes_is_no_error() -> None:
    command = [sys.executable, "-m", "harness.cli", "--root", str(ROOT), "list", "laws"]
    # The reading end is closed before anything is written to it.
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False, cwd=ROOT)
    os.close(writer)
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_output_that_cannot_be_written_is_said() -> None:
    command = [sys.executable, "-m", "harness.cli", "--root", str(ROOT), "schema"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT
        )
    assert done.returncode != 0
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_output_is_no_traceback() -> None:
    command = f"{sys.executable} -m harness.cli --root {ROOT} list laws >&-"
    done = subprocess.run(
        ["/bin/sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_list_of_scenarios_says_why_a_surface_cannot_express_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "list", "scenarios")
    assert code == 0
    assert "codex-exec: codex exec asks nobody" in " ".join(out.split())
    assert max(map(len, out.splitlines())) < 320


def test_a_list_shows_a_value_as_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"agent": "a", "found": False, "version": "1.10"}]
    monkeypatch.setattr("harness.recording.agents.find_agents", lambda: rows)
    code, out, _ = run(capsys, "list", "agents")
    assert (code, out.split()[-3:]) == (0, ["a", "False", "1.10"])


@pytest.mark.slow
def test_help_is_quick() -> None:
    def best(*arguments: str) -> float:
        times = []
        for _ in range(7):
            begun = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True, cwd=ROOT)
            times.append(time.perf_counter() - begun)
        return min(times)

    # A bare start takes from 15 to 30 ms, by what the environment hooks into it.
    assert best("-m", "harness.cli", "--help") <= 10 * best("-c", "pass")


def test_the_schema_of_the_matrix_is_that_of_the_shipped_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, printed, _ = run(capsys, "matrix", "--schema")
    assert code == 0
    schema = json.loads(printed)["$defs"]["Matrix"]
    shipped = json.loads((ROOT / "matrix" / "matrix.json").read_bytes())
    assert sorted(schema["properties"]) == sorted(shipped)
    assert set(schema["required"]) <= set(shipped)


@pytest.mark.parametrize(
    "module", ["harness.output", "harness.commands.parser", "harness.conformance.command", "yaml"]
)
def test_ctrl_c_while_modules_are_loaded_is_no_traceback(module: str) -> None:
    script = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from harness.cli import entry\n"
        "sys.argv = ['harness', 'check']\n"
        "entry()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, text=True
    )
    assert ended.returncode == 130
    assert ended.stdout == ""
    assert ended.stderr in {"", "harness: interrupted\n"}
