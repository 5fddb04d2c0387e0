"""The scenarios that ship: their ids, and what they say."""

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

import harness.scenarios
from harness.scenarios import (
    Disconnect,
    Edit,
    Fail,
    Hold,
    Parallel,
    Pause,
    Run,
    Say,
    ScenarioError,
    Step,
    Usage,
    load_scenario,
    scenario,
    scenario_ids,
    scenarios,
)

FOLDER = Path(harness.scenarios.__file__).parent
IDS = (
    "cancel-before-first-token",
    "client-files",
    "client-terminal",
    "command",
    "command-approved",
    "command-declined",
    "command-failed",
    "disconnect",
    "file-edit",
    "file-edit-approved",
    "file-edit-declined",
    "interrupt-command",
    "interrupt-text",
    "long-output",
    "mode-change",
    "model-error",
    "multi-turn",
    "parallel-tools",
    "permission-always",
    "plan",
    "question",
    "rate-limited",
    "reasoning",
    "session-load",
    "slash-commands",
    "slow-output",
    "subagent",
    "text",
    "unicode",
)


def test_ids_are_the_files_stems_sorted() -> None:
    stems = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    assert list(scenario_ids()) == list(scenarios()) == stems
    assert [s.id for s in scenarios().values()] == stems


def test_none_is_lost() -> None:
    # One more needs no line here; one less is asked for.
    assert set(IDS) <= set(scenario_ids())


def test_text_has_the_values_of_its_file() -> None:
    found = scenario("text")
    assert found.title == "The model answers in text"
    assert found.shows == ("text", "usage")
    assert (found.permissions, found.files, found.wire) == ("automatic", {}, "whole")
    (turn,) = found.turns
    assert turn.prompt == "Say hello to the world."
    assert turn.model == (
        Say(("Hello", ",", " world", "."), line=6),
        Usage(120, 12, cached_input=20, line=7),
    )
    assert (turn.client.approvals, turn.client.interrupt) == ("allow", None)


def test_file_edit_creates_and_then_changes_one_file() -> None:
    create, change, say = scenario("file-edit").turns[0].model
    assert isinstance(create, Edit)
    assert (create.before, create.after) == (None, "Dear reader,\ngood morning.\n")
    assert isinstance(change, Edit)
    assert (change.before, change.after) == (create.after, "Dear reader,\ngood evening.\n")
    assert (change.old, change.new) == ("good morning", "good evening")
    assert isinstance(say, Say)


def test_parallel_tools_are_two_calls_apart() -> None:
    parallel = scenario("parallel-tools").turns[0].model[0]
    assert isinstance(parallel, Parallel)
    assert [tool.command for tool in parallel.tools if isinstance(tool, Run)] == [
        "sleep 0.6; echo first",
        "sleep 0.8; echo second",
    ]
    assert parallel.steps[1] == Pause(200, line=10)


def test_responses_end_at_tool_steps() -> None:
    turn = scenario("command").turns[0]
    kinds = [[type(step) for step in steps] for steps in turn.responses()]
    assert kinds == [[Say, Usage, Run], [Say, Usage]]


@pytest.mark.parametrize(("name", "decision"), [("approved", "allow"), ("declined", "decline")])
@pytest.mark.parametrize("what", ["command", "file-edit"])
def test_approvals(what: str, name: str, decision: str) -> None:
    found = scenario(f"{what}-{name}")
    assert found.permissions == "ask"
    assert found.turns[0].client.approvals == decision


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("interrupt-text", Hold(line=7)),
        ("disconnect", Disconnect(line=9)),
        ("model-error", Fail(500, "The server had an error", None, None, line=6)),
        ("rate-limited", Fail(429, "Rate limit reached", 1, None, line=6)),
    ],
)
def test_ends_other_than_success(name: str, end: Step) -> None:
    assert scenario(name).turns[0].model[-1] == end


def test_unicode_has_what_it_promises() -> None:
    found = scenario("unicode")
    say = found.turns[0].model[-1]
    assert isinstance(say, Say)
    assert found.wire == "split-bytes"
    assert "\U0001f468\u200d\U0001f469\u200d\U0001f467" in say.text
    assert any(unicodedata.combining(chunk[0]) for chunk in say.chunks), "split before a mark"
    assert any(chunk[0] == "\u200d" for chunk in say.chunks), "split inside a joined emoji"
    assert {"R", "AL"} <= {unicodedata.bidirectional(c) for c in say.text}


def test_an_unknown_name_names_the_nearest() -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario("paralel-tools")
    assert str(caught.value).endswith(
        "no scenario is called 'paralel-tools'; did you mean 'parallel-tools'?"
    )


def test_a_file_elsewhere_is_loaded_and_named_by_its_stem(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("title: t\nshows: [text]\nturns:\n- prompt: p\n  model:\n  - say: s\n")
    found = load_scenario(path)
    assert (found.id, found.path) == ("mine", str(path))


def test_importing_the_package_and_listing_ids_reads_no_yaml() -> None:
    code = (
        "import sys, harness.scenarios as s; s.scenario_ids(); "
        "sys.exit(any(m.split('.')[0] in ('yaml', '_yaml') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
