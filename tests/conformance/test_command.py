"""`check`, `accept` and `replay` on a copy of one shipped cassette: exit codes, words, files."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from harness.canonical import decode_event
from harness.project import find_project
from tests.project_of_one import ID, project_of_one, run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project_of_one(tmp_path)


Capture = pytest.CaptureFixture[str]


def test_check_passes_and_says_so_in_a_line(root: Path, capsys: Capture) -> None:
    assert run(root, "check") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"pass     {ID}  7 frames, 7 events\n")
    assert "reference: 1 pass; 1 cassettes, 7 events" in out
    assert "\x1b" not in out


def test_check_shows_what_differs(root: Path, capsys: Capture) -> None:
    pinned = root / "expected" / f"{ID}.jsonl"
    pinned.write_bytes(pinned.read_bytes().replace(b'"graceful"', b'"error"'))
    assert run(root, "check", ID) == 1
    out = capsys.readouterr().out
    assert "frame 7" in out
    assert "session.exited, payload.exitKind" in out
    assert "expected  'error'\n      got       'graceful'" in out


def test_check_of_nothing_ends_with_3(root: Path, capsys: Capture) -> None:
    assert run(root, "check", "--scenario", "no-such") == 3
    assert "for scenario 'no-such'" in capsys.readouterr().err


def test_check_of_a_surface_that_is_none_is_a_misuse(root: Path, capsys: Capture) -> None:
    assert run(root, "check", "--surface", "codex-exek") == 2
    assert "no surface is called 'codex-exek'; did you mean codex-exec?" in capsys.readouterr().err
    # It is one, and has no cassettes here.
    assert run(root, "check", "--surface", "claude-sdk") == 3
    assert "for surface 'claude-sdk'" in capsys.readouterr().err


def test_check_runs_another_normalizer(root: Path, capsys: Capture) -> None:
    toy = "tests.conformance.toy:Normalizer"
    assert run(root, "check", "--normalizer", toy, "--json") == 1
    value = msgspec.json.decode(capsys.readouterr().out)
    assert value["subject"] == toy
    failed = [c for c in value["cassettes"][0]["checks"] if c["status"] == "fail"]
    assert [c["id"] for c in failed] == ["subject"]
    assert failed[0]["violations"][0]["frame"] == 1
    assert failed[0]["violations"][0]["got"] == "KeyError: 'kind'"


def test_check_holds_the_corpus_to_orphans_and_a_named_cassette_not(
    root: Path, capsys: Capture
) -> None:
    (root / "expected/codex-exec/codex-0.163.0/gone.jsonl").write_bytes(b"")
    assert run(root, "check", ID) == 0
    assert run(root, "check") == 4
    assert "gone.jsonl: an expected file whose cassette is gone" in capsys.readouterr().out


def test_accept_says_what_it_did(root: Path, capsys: Capture) -> None:
    pinned = root / "expected" / f"{ID}.jsonl"
    right = pinned.read_bytes()
    for content, result in ((right, "unchanged"), (b"", "changed"), (None, "new")):
        if content is None:
            pinned.unlink()
        else:
            pinned.write_bytes(content)
        assert run(root, "accept") == 0
        assert capsys.readouterr().out == f"{result:<9} {pinned}\n"
        assert pinned.read_bytes() == right


def test_accept_refuses_a_truncated_cassette(root: Path, capsys: Capture) -> None:
    cassette = root / "cassettes" / f"{ID}.jsonl"
    pinned = root / "expected" / f"{ID}.jsonl"
    before = pinned.read_bytes()
    cassette.write_bytes(b"".join(cassette.read_bytes().splitlines(keepends=True)[:-1]))
    assert run(root, "accept", "--json") == 4
    (row,) = msgspec.json.decode(capsys.readouterr().out)
    assert row["result"] == "refused"
    assert "truncated after frame 7" in row["problem"]
    assert pinned.read_bytes() == before


def test_accept_names_a_file_that_is_no_cassette(root: Path, capsys: Capture) -> None:
    (root / "cassettes" / f"{ID}.jsonl").write_text("hello\n")
    assert run(root, "accept") == 4
    assert "not a cassette" in capsys.readouterr().out


def test_replay_prints_whole_events(root: Path, capsys: Capture) -> None:
    assert run(root, "replay", ID) == 0
    events = [decode_event(line) for line in capsys.readouterr().out.splitlines()]
    assert [event.type for event in events] == [
        "session.started",
        "thread.started",
        "turn.started",
        "item.started",
        "item.completed",
        "turn.completed",
        "session.exited",
    ]
    assert events[0].raw is not msgspec.UNSET


def test_replay_of_a_normalizer_that_raises(root: Path, capsys: Capture) -> None:
    assert run(root, "replay", ID, "--normalizer", "tests.conformance.toy:Normalizer") == 1
    err = capsys.readouterr().err
    assert "the normalizer tests.conformance.toy:Normalizer raised at frame 1: KeyError" in err


@pytest.mark.parametrize("command", ["check", "replay", "accept"])
def test_a_cassette_of_a_surface_that_is_none(root: Path, command: str, capsys: Capture) -> None:
    header, *rest = (root / "cassettes" / f"{ID}.jsonl").read_bytes().splitlines(keepends=True)
    header = header.replace(b'"surface":"codex-exec"', b'"surface":"\\u001b[2J"')
    # Without its footer: the checksum would be the second thing that is wrong.
    (root / "elsewhere.jsonl").write_bytes(header + b"".join(rest[:-1]))
    assert run(root, command, str(root / "elsewhere.jsonl")) == 4
    told = capsys.readouterr()
    assert "no surface is called '\\x1b[2J'; known: " in told.out + told.err
    assert "\x1b" not in told.out + told.err


def test_replay_to_a_full_device_blames_the_output(root: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "harness.cli", "--root", str(root), "replay", ID],
            cwd=find_project(Path(__file__)).root,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 4
    assert ended.stderr == "harness replay: writing the output: No space left on device\n"
