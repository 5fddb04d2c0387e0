"""CONTRIBUTING.md, followed by a newcomer who does just what it says."""

import re
from pathlib import Path

import msgspec
import pytest
import yaml

from harness.recording import RecordError
from harness.recording.agents import find_agent
from harness.surfaces import surface
from harness.surfaces.registry import AgentSource
from tests.examples.checkout import ROOT, shell, whole

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^<!-- (.*?) -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
AGENTS = (("codex-exec", "codex"), ("acp", "qwen-code"))


def follow(root: Path, *, agents: bool) -> int:
    """Do what each block says, in a checkout; return how many commands were run."""
    seen, ran = "", 0
    for mark, _, text in BLOCK.findall(GUIDE):
        what, *more = mark.split()
        if what == "seen":
            for line in text.splitlines():
                assert " ".join(line.split()) in seen, line
        elif what == "run" and (agents or "agents" not in more):
            seen = ""
            for line in text.splitlines():
                code, told = shell(root, line.replace("/tmp/new", str(root / "new")))
                assert code == int(more[0]), f"{line}\n{told}"
                seen += " ".join(told.split()) + " "
                ran += 1
    return ran


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_command_that_needs_no_agent(tmp_path: Path) -> None:
    assert follow(whole(tmp_path), agents=False) == 11


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.agents
def test_every_command(tmp_path: Path) -> None:
    for room, agent in AGENTS:
        try:
            find_agent(surface(room), name=agent)
        except RecordError as error:
            pytest.skip(str(error))
    assert follow(whole(tmp_path), agents=True) == 15


def test_every_shell_block_is_run_but_the_installation_and_the_whole_suite() -> None:
    shells = re.findall(r"^```sh$", GUIDE, re.MULTILINE)
    assert len(shells) == sum(kind == "sh" for _, kind, _ in BLOCK.findall(GUIDE)) + 2
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt -e " in GUIDE
    assert "(CONTRIBUTING.md)" in readme


def test_the_agents_entry_is_the_manifests() -> None:
    ((mark, text),) = [(m, t) for m, k, t in BLOCK.findall(GUIDE) if k == "yaml"]
    _, room, name = mark.split()
    (shown,) = msgspec.convert(yaml.safe_load(text), list[AgentSource])
    assert shown == surface(room).manifest.agent(name)


def test_what_it_names_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", GUIDE)
    folders = re.findall(r"`((?:harness|tests|cassettes|expected|matrix)/[\w/.-]*)`", GUIDE)
    assert len(links) >= 2
    assert len(folders) >= 10
    for name in [*links, *folders]:
        if "some_cli" not in name and "count-fruit" not in name:
            assert (ROOT / name).exists(), name
