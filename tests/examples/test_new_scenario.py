"""`harness new scenario`: it loads and can be recorded as it is, and takes nobody's place."""

import json
import os
from importlib import import_module
from pathlib import Path

import pytest

from harness.cli import main
from harness.output import UsageError
from harness.recording import RecordError, record
from harness.recording.agents import find_agent
from harness.scenarios import Run, ScenarioError, load_scenario, scenario_ids
from harness.scenarios.model import SHOWS
from harness.scenarios.read import _CLIENT, _KEYS, _TURN
from harness.scenarios.steps import Steps
from harness.start import new_scenario
from harness.surfaces import surface
from tests.examples.checkout import everything, small


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_it_loads_with_what_it_says(tmp_path: Path) -> None:
    path = new_scenario("count-fruit", root=small(tmp_path))
    assert path == tmp_path / "harness/scenarios/count-fruit.yaml"
    found = load_scenario(path)
    assert (found.id, found.shows) == ("count-fruit", ("text", "tool", "terminal", "usage"))
    assert found.files == {"fruit.txt": "apple\npear\nplum\n"}
    (turn,) = found.turns
    assert [step.command for step in turn.model if isinstance(step, Run)] == ["wc -l fruit.txt"]
    assert set(found.shows) <= set(SHOWS)
    assert list(path.parent.iterdir()) == [path]


def test_every_field_and_every_step_is_explained(tmp_path: Path) -> None:
    text = text_of(new_scenario("explained", root=small(tmp_path)))
    heading = text[: text.index("\ntitle:")]
    for name in {*_KEYS, *_TURN, *_CLIENT, *Steps({}).steps}:
        assert name in heading, name


@pytest.mark.parametrize("source", scenario_ids())
def test_from_another_it_tells_the_same(source: str, tmp_path: Path) -> None:
    path = new_scenario("mine", source, small(tmp_path))
    mine, other = load_scenario(path), load_scenario(shipped(source))
    assert (mine.title, mine.shows, mine.files, mine.permissions) == (
        other.title,
        other.shows,
        other.files,
        other.permissions,
    )
    assert [turn.prompt for turn in mine.turns] == [turn.prompt for turn in other.turns]
    assert text_of(path).endswith(text_of(shipped(source)))


def shipped(source: str) -> Path:
    return Path(__file__).parents[2] / "harness" / "scenarios" / f"{source}.yaml"


def test_from_one_that_was_begun_so_has_one_heading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = new_scenario("first", root=small(tmp_path))
    monkeypatch.setattr("harness.start.scenario.scenario", lambda _: load_scenario(first))
    assert text_of(new_scenario("second", "first", tmp_path)) == text_of(first)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "a name is small letters"),
        ("Fruit", "a name is small letters"),
        ("../fruit", "a name is small letters"),
        ("a/b", "a name is small letters"),
        ("fruit.yaml", "a name is small letters"),
        ("fruit_two", "a name is small letters"),
        ("fruit-", "a name is small letters"),
        ("früchte", "a name is small letters"),
        ("fruit\n", "a name is small letters"),
        ("f" * 33, "33 characters; a name has 32 at most"),
        ("taken", "is there already; choose another name"),
        ("dangling", "is there already; choose another name"),
    ],
)
def test_a_bad_name_writes_nothing(name: str, told: str, tmp_path: Path) -> None:
    folder = small(tmp_path) / "harness" / "scenarios"
    (folder / "taken.yaml").write_text("kept", encoding="utf-8")
    (folder / "dangling.yaml").symlink_to("nowhere")
    before = everything(tmp_path)
    with pytest.raises(UsageError, match=f"^writing the scenario .*{told}"):
        new_scenario(name, root=tmp_path)
    assert everything(tmp_path) == before
    assert text_of(folder / "taken.yaml") == "kept"


def test_an_unknown_source_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="did you mean 'text'"):
        new_scenario("mine", "txet", small(tmp_path))
    assert list((tmp_path / "harness/scenarios").iterdir()) == []


def test_one_that_came_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small(tmp_path) / "harness/scenarios/mine.yaml"
    link = os.link

    def late(part: Path, target: Path) -> None:
        path.write_text("theirs", encoding="utf-8")
        link(part, target)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(UsageError, match="is there already"):
        new_scenario("mine", root=tmp_path)
    assert text_of(path) == "theirs"
    assert list(path.parent.iterdir()) == [path]


def test_a_disk_that_is_full_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(OSError, match="No space left"):
        new_scenario("mine", root=small(tmp_path))
    assert list((tmp_path / "harness/scenarios").iterdir()) == []


def test_an_installed_package_is_none_to_write_into(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="get a checkout of the project"):
        new_scenario("mine", root=tmp_path)
    assert everything(tmp_path) == []


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(new_scenario, "__defaults__", (None, small(tmp_path)))
    path = tmp_path / "harness/scenarios/mine.yaml"
    assert main(["new", "scenario", "mine", "--from", "text", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"scenario": "mine", "files": [str(path)]}
    assert main(["new", "scenario", "mine"]) == 2
    assert f"{path} is there already" in capsys.readouterr().err
    assert main(["new", "scenario", "other"]) == 0
    assert "now: harness record --surface SURFACE --scenario other" in capsys.readouterr().out


@pytest.mark.agents
@pytest.mark.parametrize("room", ["codex-exec", "codex-app-server"])
def test_a_real_agent_plays_it_as_it_is(
    room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        find_agent(surface(room))
    except RecordError as error:
        pytest.skip(str(error))
    path = new_scenario("count-fruit", root=small(tmp_path))
    recorder = import_module("harness.recording.record")
    monkeypatch.setattr(recorder, "scenario", lambda _: load_scenario(path))
    recording = record(room, "count-fruit", tmp_path / "into")
    assert recording.path.stem == "count-fruit"
    assert recording.unhandled == []
    assert "3 fruit.txt" in text_of(recording.path)
