"""Finding an agent's program, and its version."""

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from harness.recording import agents
from harness.recording.agents import Found, find_agent, find_agents, wrong_version
from harness.recording.errors import RecordError
from harness.surfaces.base import Program
from harness.surfaces.registry import AgentSource, SurfaceError, Vocabulary
from tests.recording.fakes import FakeSurface, agent


def of(program: Program) -> FakeSurface:
    return FakeSurface(PROGRAM=program)


def test_a_missing_agent_says_how_to_get_it() -> None:
    with pytest.raises(RecordError) as caught:
        find_agent(FakeSurface())
    assert caught.value.code == 5
    assert str(caught.value) == (
        "looking for the agent of fake: no 'no-such-agent' in this environment or on PATH; "
        "pip install fake, or name one with --agent-path"
    )


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"gone: No such file .* --agent-path") as caught:
        find_agent(FakeSurface(), str(tmp_path / "gone"))
    assert caught.value.code == 5


def test_by_path_on_path_and_in_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = agent(tmp_path, "", "fakeagent")
    assert find_agent(FakeSurface(), program) == Found(program, "1.2.3")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert find_agent(of(Program("fake", "fakeagent"))) == Found(program, "1.2.3")
    assert find_agent(FakeSurface(), "fakeagent") == Found(program, "1.2.3")
    package = tmp_path / "fakepackage/bin"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("raise AssertionError('imported')")
    inside = agent(package, "", "run")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = find_agent(of(Program("fake", "fakeagent", "fakepackage", "bin/run")))
    assert found == Found(inside, "1.2.3", str(package.parent))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("#!/bin/sh\necho hello\n", "exit code 0, and no version in what it said: hello"),
        ("#!/bin/sh\nexit 7\n", "exit code 7, and no version in what it said: nothing"),
        ("#!/no/such/interpreter\n", "No such file or directory; try it by hand"),
        ("not a program", "Exec format error; try it by hand"),
    ],
)
def test_a_program_that_tells_no_version(tmp_path: Path, body: str, problem: str) -> None:
    path = tmp_path / "agent"
    path.write_text(body)
    path.chmod(0o755)
    with pytest.raises(RecordError) as caught:
        find_agent(FakeSurface(), str(path))
    assert caught.value.code == 5
    assert str(caught.value) == f"asking the agent {path} for its version: {problem}"


def test_one_that_never_tells_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "_PATIENCE", 0.2)
    path = tmp_path / "agent"
    path.write_text("#!/bin/sh\nexec sleep 60\n")
    path.chmod(0o755)
    with pytest.raises(RecordError, match="no answer in 0 s") as caught:
        find_agent(FakeSurface(), str(path))
    assert caught.value.code == 5


def test_it_is_asked_in_a_home_of_its_own_and_once(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    path.write_text(f'#!/bin/sh\necho "$HOME" >>{tmp_path}/log; touch "$HOME/x"; echo 2.0.0-rc.1\n')
    path.chmod(0o755)
    for _ in range(2):
        assert find_agent(FakeSurface(), str(path)).version == "2.0.0-rc.1"
    (home,) = (tmp_path / "log").read_text().splitlines()
    assert Path(home).name.startswith("harness-")
    assert not Path(home).exists()
    path.write_text("#!/bin/sh\necho 2.0.1\n")  # an update is seen
    assert find_agent(FakeSurface(), str(path)).version == "2.0.1"


def test_a_wrong_version_is_a_notice() -> None:
    room = FakeSurface()
    assert wrong_version(room, Found("x", "1.2.3")) == ""  # no vocabulary: nothing to be wrong by
    room.__dict__["vocabulary"] = Vocabulary("1.2.3", "a test", {})
    assert wrong_version(room, Found("x", "1.2.3")) == ""
    assert wrong_version(room, Found("x", "1.3.0")) == (
        "the agent is at 1.3.0, the vocabulary of fake was made from 1.2.3: kinds that it does "
        "not know are shown as such"
    )


def test_all_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = agent(tmp_path, "", "fakeagent")
    here = of(Program("fake", program))
    gone = FakeSurface()
    none = SimpleNamespace(name="none", recorder=None)
    monkeypatch.setattr(agents, "surfaces", lambda: {"a": here, "b": gone, "c": none})
    assert find_agents() == [
        {"surface": "fake", "agent": "fake", "found": True, "version": "1.2.3", "path": program,
         "problem": "", "source": f"{program} on PATH", "install": "pip install fake"},
        {"surface": "fake", "agent": "fake", "found": False, "version": "", "path": "",
         "problem": "looking for the agent of fake: no 'no-such-agent' in this environment or on "
         "PATH; pip install fake, or name one with --agent-path",
         "source": "no-such-agent on PATH", "install": "pip install fake"},
    ]  # fmt: skip


def test_one_that_tells_its_version_on_its_wire_alone(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    # It answers, and goes on for ever: stdin's end is nothing to it.
    path.write_text(
        "#!/bin/sh\nread line\necho 'a log line 9.9.9' >&2\n"
        'echo "{\\"got\\":\\"$line\\",\\"version\\":\\"4.5.6\\"}"\nexec sleep 60\n'
    )
    path.chmod(0o755)
    program = Program(
        "fake", str(path), ask=(), say="hello", version=r'"hello","version":"([^"]+)"'
    )
    assert find_agent(of(program)) == Found(str(path), "4.5.6")
    path.write_text("#!/bin/sh\nread line\necho no version here\n")
    with pytest.raises(RecordError, match="no version in what it said: no version here"):
        find_agent(of(program))


def test_the_agents_of_one_surface_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = {name: agent(tmp_path, "", name) for name in ("one", "two")}
    room = FakeSurface()
    room.__dict__["manifest"] = msgspec.structs.replace(
        room.manifest,
        agents=[
            AgentSource(name, program=Program(command=path, npm_version=version))
            for (name, path), version in zip(paths.items(), ("1.2.3", "1.2.4"), strict=True)
        ]
        + [AgentSource("three", program=Program(command="no-such", npm="@a/three"))],
    )
    assert find_agent(room, name="two") == Found(paths["two"], "1.2.3")
    assert find_agent(room) == Found(paths["one"], "1.2.3")
    with pytest.raises(SurfaceError, match="no agent is called 'tow'; did you mean two"):
        find_agent(room, name="tow")
    monkeypatch.setattr(agents, "surfaces", lambda: {"a": room})
    rows = find_agents()
    assert [(r["agent"], r["found"], r["version"]) for r in rows] == [
        ("one", True, "1.2.3"),
        ("two", True, "1.2.3"),
        ("three", False, ""),
    ]
    assert [row["problem"] for row in rows[:2]] == [
        "",
        "the agent is at 1.2.3, the manifest's entry pins 1.2.4",
    ]
    assert rows[2]["install"] == "harness agents install three"
    assert "in this environment, in the cache or on PATH" in rows[2]["problem"]


def test_a_program_in_node_modules_knows_its_folder(tmp_path: Path) -> None:
    inside = tmp_path / "node_modules/@some/cli"
    inside.mkdir(parents=True)
    program = agent(inside, "", "some.js")
    (tmp_path / "some").symlink_to(program)
    found = find_agent(FakeSurface(), str(tmp_path / "some"))
    assert found == Found(str(tmp_path / "some"), "1.2.3", str(tmp_path / "node_modules"))


def test_an_entry_without_a_program_is_told() -> None:
    room = of(Program("fake", ""))
    with pytest.raises(SurfaceError, match="agents: fake: says nothing of its program"):
        find_agent(room)
