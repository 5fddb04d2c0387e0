"""What is no cassette, or one that no recorder writes: named with its line, never a traceback."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from harness.cassette import CassetteError, CassetteWriter, Header, open_cassette
from harness.cassette.show import timeline
from harness.cli import main
from tests.cassette.test_file import HEADER


def cassette(path: Path, header: Header = HEADER, at: int = 0, data: Any = None) -> Path:
    with CassetteWriter(path, header) as writer:
        writer.frame(at, "in", "stdout", "data", {"type": "x"} if data is None else data)
        writer.finish(complete=True, exit_code=0)
    return path


def problem(path: Path) -> tuple[int, str]:
    with pytest.raises(CassetteError) as caught, open_cassette(path) as opened:
        list(opened)
    return caught.value.line, caught.value.problem


@pytest.mark.parametrize(
    "recorded", ["", "yesterday", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+01:00"]
)
def test_a_header_with_no_time(tmp_path: Path, recorded: str) -> None:
    path = cassette(tmp_path / "a.jsonl", replace(HEADER, recorded=recorded))
    line, why = problem(path)
    assert line == 1
    assert why.startswith("a broken header: `recorded` is no time: ")


def test_a_frame_after_the_end_of_time(tmp_path: Path) -> None:
    path = cassette(tmp_path / "a.jsonl", at=2**60)
    assert problem(path) == (2, f"`at` is {2**60}, and no time has a year of five digits")


def test_a_header_that_is_nested_too_deeply(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"x":' + b"[" * 200_000 + b"\n")
    assert problem(path)[0] == 1


@pytest.mark.parametrize("command", ["check", "show", "replay"])
def test_every_command_names_the_line(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cassette(tmp_path / "cassettes" / f"{HEADER.id}.jsonl", data={"type": "HERE"})
    deep = b"[" * 200_000 + b"]" * 200_000
    path.write_bytes(path.read_bytes().replace(b'{"type":"HERE"}', deep))
    assert main(["--root", str(tmp_path), command, str(path)]) == 4
    told = capsys.readouterr()
    assert f"{path}:2: not a frame: maximum recursion depth" in told.out + told.err


def test_what_can_just_be_read_can_be_shown(tmp_path: Path) -> None:
    data: Any = []
    for _ in range(900):
        data = [data]
    path = cassette(tmp_path / "a.jsonl", data=data)

    def shown(depth: int) -> list[str]:
        if depth:
            return shown(depth - 1)
        with open_cassette(path) as opened:
            return list(timeline(opened))

    for depth in range(0, 120, 10):
        try:
            lines = shown(depth)
        except CassetteError:
            continue
        assert len(lines) == 3


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_lies_in_the_corpus_and_is_no_file(
    tmp_path: Path, make: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cassettes/codex-exec/codex-0.163.0/text.jsonl"
    path.parent.mkdir(parents=True)
    make(path)
    assert main(["--root", str(tmp_path), "check"]) == 4
    assert f"{path}: not a regular file" in capsys.readouterr().out
    assert main(["--root", str(tmp_path), "list", "cassettes"]) == 4
    assert "not a regular file" in capsys.readouterr().out


def test_the_hint_is_a_command_that_runs(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("hello\n")
    with pytest.raises(CassetteError) as caught:
        open_cassette(tmp_path / "a.jsonl")
    assert caught.value.hint == "see `harness list cassettes`"


def test_no_header_draws_on_the_terminal(tmp_path: Path) -> None:
    agent = replace(HEADER.agent, version="1\x1b[31m")
    header = replace(HEADER, agent=agent, scenario="te\u202ext", command=["a\x07"])
    with open_cassette(cassette(tmp_path / "a.jsonl", header)) as opened:
        lines = list(timeline(opened))
    assert lines[0] == (
        "codex-exec/codex-1\\x1b[31m/te\\u202ext  (constructed, 2026-01-01T00:00:00Z)"
    )
    assert all(line.isprintable() for line in lines)


def ended(path: Path, end: dict[str, Any], **footer: Any) -> Path:
    with CassetteWriter(path, HEADER) as writer:
        writer.frame(0, "in", "stdout", "data", {"type": "x"})
        writer.frame(1, "in", "exit", "data", end)
        writer.finish(**{"complete": True} | footer)
    return path


@pytest.mark.parametrize(
    ("end", "footer", "why"),
    [
        ({"code": 0}, {"exit_code": 3}, "exit code 3, and the last exit frame exit code 0"),
        ({"code": 0}, {}, "neither, and the last exit frame exit code 0"),
        (
            {"code": 0},
            {"exit_code": 0, "signal": "SIGTERM"},
            "exit code 0 and signal 'SIGTERM', and the last exit frame exit code 0",
        ),
        (
            {"signal": "SIGTERM"},
            {"signal": "SIGKILL"},
            "signal 'SIGKILL', and the last exit frame signal 'SIGTERM'",
        ),
    ],
)
def test_a_footer_says_how_the_process_ended_as_its_frame_does(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    end: dict[str, Any],
    footer: dict[str, Any],
    why: str,
) -> None:
    path = ended(tmp_path / "a.jsonl", end, **footer)
    if not footer:
        path.write_bytes(path.read_bytes().replace(b',"exit_code":0}', b"}"))
    assert problem(path) == (4, f"the footer says {why}")
    assert main(["check", str(path)]) == 4
    assert f"{path}:4: the footer says" in capsys.readouterr().out


def test_a_cassette_that_says_that_it_is_not_complete_is_truncated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ended(tmp_path / "a.jsonl", {"code": 0}, exit_code=0)
    path.write_bytes(path.read_bytes().replace(b'"complete":true', b'"complete":false'))
    with open_cassette(path) as opened:
        assert len(list(opened)) == 2
        assert opened.truncated
        assert opened.why == "its footer says that it is not complete"
    assert main(["check", str(path)]) == 4
    said = capsys.readouterr().out
    assert "truncated after frame 2: its footer says that it is not complete" in said
    assert main(["show", str(path)]) == 0
    assert "exit code 0, not complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ({"code": 3}, (3, None)),
        ({"signal": "SIGTERM"}, (None, "SIGTERM")),
        ({"code": "x"}, (None, None)),
        ([], (None, None)),
    ],
)
def test_a_footer_that_is_not_told_the_end_takes_it_from_the_frames(
    tmp_path: Path, end: Any, told: tuple[Any, Any]
) -> None:
    with open_cassette(ended(tmp_path / "a.jsonl", end)) as opened:
        assert len(list(opened)) == 2
        assert opened.footer is not None
        assert (opened.footer.exit_code, opened.footer.signal) == told
