"""Which agents a surface with several is recorded with, and that each has its own cassettes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness import output as out
from harness.recording import batch as module
from harness.recording.batch import Batch, plan, record_all
from harness.recording.errors import RecordError
from harness.surfaces.base import Preparation, Program, Start
from harness.surfaces.registry import AgentSource
from tests.recording.fakes import FakeDriver, FakeSurface, NoModel, agent

# The package has a function of the module's name.
recording = sys.modules["harness.recording.record"]

BODY = """\
import json, os, pathlib, sys
said = pathlib.Path(os.environ["HOME"], "say.txt").read_text()
print(json.dumps({"bye": True, "said": said, "args": sys.argv[1:]}), flush=True)
"""


class Driver(FakeDriver):
    def __init__(self, args: tuple[str, ...]) -> None:
        super().__init__()
        self.args = args

    def begin(self) -> Any:
        return [Start(list(self.args))]


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSurface:
    """Return a surface with three agents, one of which is not there."""
    fake = FakeSurface(lambda setup: Driver(setup.args))

    def entry(name: str, path: str, **more: Any) -> AgentSource:
        prepare = Preparation(args=("--as", name), files={"{home}/say.txt": f"I am {name}"})
        program = Program(command=path, npm=f"@some/{name}")
        return AgentSource(name, program=program, prepare=prepare, **more)

    fake.__dict__["manifest"] = msgspec.structs.replace(
        fake.manifest,
        agents=[
            entry("one", agent(tmp_path, BODY, "one")),
            entry("two", agent(tmp_path, BODY, "two"), excluded={"unicode": "it is too old"}),
            entry("gone", "no-such-agent"),
        ],
    )
    for where in (module, recording):
        monkeypatch.setattr(where, "surface", lambda _: fake)
    monkeypatch.setattr(module, "surfaces", lambda: {"fake": fake})
    monkeypatch.setattr("harness.recording.job.ModelServer", NoModel)
    return fake


@pytest.fixture
def choose(room: FakeSurface, tmp_path: Path) -> Callable[..., Batch]:
    assert room.manifest.agents

    def make(**more: Any) -> Batch:
        usual: dict[str, Any] = {
            "surfaces": ["fake"], "scenarios": ["text"], "all": False, "into": tmp_path / "c",
            "agent_path": None, "timeout": 20, "port": 0, "isolate": False, "json": True,
        }  # fmt: skip
        return Batch(**(usual | more))

    return make


def named(batch: Batch) -> list[tuple[str, str, str]]:
    return [(room.name, agent, name) for room, agent, name in plan(batch)]


def test_those_that_are_found_are_taken(
    choose: Callable[..., Batch], capsys: pytest.CaptureFixture[str]
) -> None:
    assert named(choose()) == [("fake", "one", "text"), ("fake", "two", "text")]
    said = capsys.readouterr().err
    assert said.startswith("harness record: fake: left out: gone: looking for the agent of fake")
    assert "harness agents install gone" in said


def test_one_is_chosen_by_its_name(choose: Callable[..., Batch]) -> None:
    assert named(choose(agents=["two"])) == [("fake", "two", "text")]
    assert named(choose(agents=["gone"])) == [("fake", "gone", "text")]  # recording it will say
    assert named(choose(agents=["two"], surfaces=[])) == [("fake", "two", "text")]
    with pytest.raises(out.UsageError, match="no agent is called 'tow'; did you mean 'two'"):
        plan(choose(agents=["tow"]))
    with pytest.raises(out.UsageError, match="say with --agent which of fake it is: one, two"):
        plan(choose(agent_path="/x"))
    assert named(choose(agent_path="/x", agents=["one"])) == [("fake", "one", "text")]


def test_what_one_agent_cannot_express(choose: Callable[..., Batch]) -> None:
    everything = named(choose(all=True, scenarios=[]))
    assert ("fake", "one", "unicode") in everything
    assert ("fake", "two", "unicode") not in everything
    assert not [one for one in everything if one[2] == "reasoning"]
    with pytest.raises(RecordError, match="unicode with two: it is too old") as caught:
        plan(choose(agents=["two"], scenarios=["unicode"]))
    assert caught.value.code == 3


def test_none_is_found(room: FakeSurface, choose: Callable[..., Batch]) -> None:
    gone = room.manifest.agents[2]
    room.__dict__["manifest"] = msgspec.structs.replace(
        room.manifest, agents=[gone, msgspec.structs.replace(gone, name="lost")]
    )
    with pytest.raises(RecordError, match=r"no agent is found\n  gone: .*\n  lost: ") as caught:
        plan(choose())
    assert caught.value.code == 5


def test_each_is_recorded_as_its_entry_says(
    choose: Callable[..., Batch], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert record_all(choose()) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["agent"] for row in rows] == ["one-1.2.3", "two-1.2.3"]
    for name in ("one", "two"):
        lines = (tmp_path / f"c/fake/{name}-1.2.3/text.jsonl").read_text().splitlines()
        header, start, said = (json.loads(line) for line in lines[:3])
        assert header["agent"] == {"name": name, "version": "1.2.3"}
        assert start["data"]["command"][1:] == ["--as", name]
        assert said["data"] == {"bye": True, "said": f"I am {name}", "args": ["--as", name]}
