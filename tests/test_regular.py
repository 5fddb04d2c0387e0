"""What is read as a file is a file: no command waits for a pipe, or reads a device without end."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from harness.constructed.write import StoryError
from harness.constructed.write import read as read_story
from harness.gateway.tape import cassette_config, load_tape
from harness.mutation import equivalents
from harness.project import find_project
from harness.recording.errors import RecordError
from harness.regular import NotRegularError, is_absent, open_regular, read_bytes, read_text
from harness.review.changes import _lines
from harness.scenarios import ScenarioError, load_scenario

ROOT = find_project(Path(__file__)).root
TEXT = "codex-exec/codex-0.163.0/text"


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _full(path: Path) -> None:
    path.symlink_to("/dev/full")


MAKE = pytest.mark.parametrize("make", [_pipe, _zero, _full])
Make = Callable[[Path], None]


@MAKE
def test_it_is_refused_at_once(tmp_path: Path, make: Make) -> None:
    path = tmp_path / "odd"
    make(path)
    for read in (open_regular, read_bytes, read_text):
        with pytest.raises(NotRegularError, match="not a regular file") as caught:
            read(path)
        assert caught.value.filename == str(path)
    assert not is_absent(path)


def test_a_file_is_read_and_a_folder_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("é", "utf-8")
    (tmp_path / "link").symlink_to("a")
    assert read_bytes(tmp_path / "link") == b"\xc3\xa9"
    assert read_text(tmp_path / "a") == "é"
    with pytest.raises(NotRegularError, match="Is a directory"):
        read_bytes(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none")
    assert is_absent(tmp_path / "none")


@MAKE
def test_a_models_cassette(tmp_path: Path, make: Make) -> None:
    path = tmp_path / "odd"
    make(path)
    with pytest.raises(RecordError, match="not a regular file") as caught:
        load_tape(path, cassette_config((), ()))
    assert caught.value.code == 4


@MAKE
def test_stories_scenarios_and_lists(tmp_path: Path, make: Make) -> None:
    path = tmp_path / "odd"
    make(path)
    with pytest.raises(StoryError, match="odd: not a regular file"):
        read_story(path)
    with pytest.raises(ScenarioError, match="not a regular file"):
        load_scenario(path)
    with pytest.raises(equivalents.EquivalentsError, match="odd: not a regular file"):
        equivalents.load(path)
    notes: list[str] = []
    assert _lines(path, notes) == []
    assert notes == [f"{path}: could not be read: not a regular file"]


@MAKE
def test_commands(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    make: Make,
) -> None:
    monkeypatch.chdir(tmp_path)
    make(Path("odd"))
    assert main(["report", "odd"]) == 4
    assert capsys.readouterr().err == "harness report: odd: not a regular file\n"
    check = ["--root", str(ROOT), "check", TEXT]
    assert main([*check, "--known-failures", "odd"]) == 4
    assert capsys.readouterr().err == "harness check: odd: not a regular file\n"
    Path("odd").rename("harness.toml")
    assert main(check) == 2
    said = "harness check: harness.toml: not a regular file; mend it, or take it away\n"
    assert capsys.readouterr().err == said


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _broken(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_folder, "Is a directory"),
        (_loop, "Too many levels of symbolic links"),
        (_broken, "No such file or directory"),
    ],
)
def test_a_harness_toml_that_is_there_is_never_taken_for_none(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    make: Make,
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    make(Path("harness.toml"))
    assert main(["--root", str(ROOT), "check", TEXT]) == 2
    assert f"harness check: harness.toml: {why}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[subjects]\nnormalizer = "x:y"\n', "subjects"),
        ('normalizer = "x:y"\n', "normalizer"),
        ('[subject]\nnomalizer = "x:y"\n', "nomalizer"),
        ('[subject]\n"levels by" = "me"\n', "levels by"),
        ('[subject]\nlevels_by = "me"\n', "levels_by"),
    ],
)
def test_a_key_that_is_not_known_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    key: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("harness.toml").write_text(text, "utf-8")
    assert main(["--root", str(ROOT), "check", TEXT]) == 2
    said = capsys.readouterr().err
    assert f"harness.toml: Object contains unknown field `{key}`" in said
    assert "one table, [subject], of normalizer, surfaces, levels, time-limit" in said
