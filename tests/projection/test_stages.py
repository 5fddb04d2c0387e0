"""`harness replay --stage`: what each stage prints, and what it says beside it."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from harness.cassette import open_cassette
from harness.cli import main
from harness.projection.stages import STAGES
from tests.projection.corpus import ROOT, events, project

CASSETTE = "codex-app-server/codex-0.163.0/command-approved"


def replay(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[list[Any], str]:
    assert main(["--root", str(ROOT.parent), "replay", CASSETTE, *arguments]) == 0
    printed = capsys.readouterr()
    return [json.loads(line) for line in printed.out.splitlines()], printed.err


def test_the_canonical_events_are_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    default = replay(capsys)
    assert default == replay(capsys, "--stage", "normalized_out", "--json")
    assert [event["eventId"] for event in default[0]] == [e.eventId for e in events(CASSETTE)]
    assert default[1] == ""


def test_native_in_is_the_frames_with_their_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    lines, _ = replay(capsys, "--stage", "native_in")
    with open_cassette(ROOT / f"{CASSETTE}.jsonl") as cassette:
        frames = [msgspec.to_builtins(frame) for frame in cassette]
    kinds = [line.pop("kind") for line in lines]
    assert lines == frames
    assert kinds[:2] == ["start", "client initialize"]
    assert "response initialize" in kinds
    assert kinds[-2:] == ["turn/completed", "exit"]


def test_chat_event_is_the_projection(capsys: pytest.CaptureFixture[str]) -> None:
    lines, err = replay(capsys, "--stage", "chat_event")
    assert lines == [msgspec.to_builtins(chat) for chat in _encoded(project(events(CASSETTE)))]
    assert err == ""


def _encoded(chats: list[Any]) -> list[Any]:
    return [msgspec.json.decode(msgspec.json.encode(chat)) for chat in chats]


def test_legacy_out_says_what_it_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    lines, err = replay(capsys, "--stage", "legacy_out")
    assert lines[-2]["type"] == "turn.completed"
    assert "not projected: 4 thread.state.changed: new in V2 (EVENTS.md 2.3)\n" in err


@pytest.mark.parametrize("stage", STAGES[1:])
def test_each_stage_keeps_its_published_schema(
    stage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", "--stage", stage]) == 0
    validator = jsonschema.Draft202012Validator(json.loads(capsys.readouterr().out))
    lines, _ = replay(capsys, "--stage", stage)
    assert len(lines) > 5
    for line in lines:
        validator.validate(line)
        assert not validator.is_valid({**line, "more": 1})


def test_the_stages_of_the_command_are_those_of_the_seed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["replay", CASSETTE, "--stage", "nothing"])
    assert refused.value.code == 2
    listed = capsys.readouterr().err.partition("choose from ")[2]
    assert all(stage in listed for stage in STAGES)
    assert listed.count(",") == len(STAGES) - 1


def test_a_truncated_cassette_ends_all_that_is_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (ROOT / f"{CASSETTE}.jsonl").read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(b"".join(lines[:20]))
    assert main(["--root", str(ROOT.parent), "replay", str(cut), "--stage", "chat_event"]) == 0
    printed = capsys.readouterr()
    chats = [json.loads(line) for line in printed.out.splitlines()]
    started = {chat["partId"] for chat in chats if chat["phase"] == "started"}
    ended = {chat["partId"] for chat in chats if chat["phase"] in {"completed", "failed"}}
    assert started == ended
    assert "truncated" in printed.err
