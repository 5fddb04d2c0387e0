"""`harness vocabulary`: what is pinned beside what an installed agent declares."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.recording import vocabulary
from harness.recording.agents import Found, find_agent
from harness.recording.errors import RecordError
from harness.recording.vocabulary import compare, vocabulary_command, write
from harness.surfaces import Surface, surface

PINNED = """\
# Kinds.
version: 1.0.0
source: its own list
kinds:
  exit: {to: [session.exited]}
  said: {to: [content.delta]}
  left: {ignored: "says nothing"}
"""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Surface:
    """A surface whose agent 2.0.0 declares `said`, and the new `asked` and `dreamt`."""
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "manifest.yaml").write_text(
        "{surface: toy, provider: codex, title: t, tier: base, tier_reason: r, agents: []}"
    )
    (folder / "vocabulary.yaml").write_text(PINNED)
    own = SimpleNamespace(
        COMPLETE=True,
        BEYOND="exit",
        declared=lambda _: {"said": False, "asked": False, "dreamt": True},
    )
    monkeypatch.setattr(Surface, "declared", own)
    monkeypatch.setattr(vocabulary, "find_agent", lambda _: Found("/toy", "2.0.0"))
    toy = Surface(folder)
    monkeypatch.setattr(vocabulary, "surface", lambda _: toy)
    return toy


def test_new_and_gone_kinds_are_named(room: Surface, capsys: pytest.CaptureFixture[str]) -> None:
    assert vocabulary_command(["toy"], write_them=False, json=False) == 1
    assert capsys.readouterr().out.splitlines() == [
        "toy: 3 kinds pinned from 1.0.0, 3 declared by 2.0.0: 2 new, 1 gone",
        "  new   asked",
        "  new   dreamt (experimental)",
        "  gone  left",
    ]
    assert (room.folder / "vocabulary.yaml").read_text() == PINNED


def test_write_adds_what_is_new_and_keeps_the_rest(room: Surface) -> None:
    write(room, compare(room))
    text = (room.folder / "vocabulary.yaml").read_text()
    assert text.startswith(PINNED.replace("1.0.0", "2.0.0"))
    again = Surface(room.folder)
    kinds = again.vocabulary.kinds
    assert list(kinds) == ["exit", "said", "left", "asked", "dreamt"]
    assert kinds["asked"].to == ["runtime.warning"]
    assert kinds["dreamt"].experimental
    assert compare(again).new == {}


def test_as_json(room: Surface, capsys: pytest.CaptureFixture[str]) -> None:
    vocabulary_command([room.name], write_them=False, json=True)
    (row,) = json.loads(capsys.readouterr().out)
    assert row["new"] == {"asked": False, "dreamt": True}
    assert row["gone"] == ["left"]


def test_a_list_that_is_not_whole_says_nothing_of_what_is_gone(
    room: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room.declared, "COMPLETE", False)
    assert compare(room).gone == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (subprocess.CalledProcessError(2, "x", stderr=b"a\nno such flag\x1b"), "no such flag\\x1b"),
        (subprocess.TimeoutExpired("x", 60), "timed out"),
        (KeyError("oneOf"), "oneOf"),
    ],
)
def test_an_agent_that_does_not_tell_is_an_error(
    room: Surface, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fails(_: str) -> Any:
        raise error

    monkeypatch.setattr(room.declared, "declared", fails)
    result = compare(room)
    assert said in result.problem
    assert (result.code, vocabulary_command(["toy"], write_them=True, json=False)) == (5, 5)


def test_a_missing_agent_is_named(room: Surface, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Surface) -> Found:
        raise RecordError(5, "looking for the agent of toy: install it")

    monkeypatch.setattr(vocabulary, "find_agent", missing)
    assert compare(room).problem == "looking for the agent of toy: install it"
    assert vocabulary_command(["toy"], write_them=False, json=False) == 5


def test_a_surface_without_a_list_says_where_its_own_is_from() -> None:
    result = compare(surface("codex-exec"))
    assert result.code == 0
    assert result.problem.startswith("its agent writes no list of its kinds; from events.ts")


@pytest.mark.agents
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("codex-app-server", "request item/tool/call"),
        ("claude-sdk", "request can_use_tool"),
        pytest.param("opencode", "question.asked", marks=pytest.mark.slow),
    ],
)
def test_the_pinned_kinds_are_the_installed_agents(name: str, kind: str) -> None:
    result = compare(surface(name))
    if result.code:
        pytest.skip(result.problem)
    assert (result.new, result.gone) == ({}, [])
    source = surface(name).declared
    assert kind in source.declared(find_agent(surface(name)).path)
