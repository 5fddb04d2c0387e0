"""`harness copy`, and what an installed corpus is not for."""

import json
import os
from pathlib import Path

import pytest

from harness import project as project_module
from harness.cli import main
from harness.copying import copy_corpus
from harness.project import Project, find_project, shipped

ROOT = find_project(Path(__file__)).root
SHIPPED = Project(ROOT)
Capture = pytest.CaptureFixture[str]


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def small(tmp_path: Path) -> Project:
    """A corpus of one cassette."""
    for folder in ("cassettes", "expected"):
        path = tmp_path / "small" / folder / "codex-exec/codex-0.163.0/text.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes((ROOT / path.relative_to(tmp_path / "small")).read_bytes())
    return Project(tmp_path / "small")


@pytest.fixture
def installed(small: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Project:
    """The same corpus, as if it had come with the package; the working folder is another."""
    monkeypatch.setattr(project_module, "PACKAGED", small.root)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    return small


@pytest.mark.parametrize("there", [False, True])
def test_every_file_is_copied_as_it_is(tmp_path: Path, there: bool, capsys: Capture) -> None:
    into = tmp_path / "mine"
    if there:
        into.mkdir()
    assert main(["copy", str(into)]) == 0
    assert contents(into) == {
        f"{folder}/{name}": data
        for folder in ("cassettes", "expected")
        for name, data in contents(ROOT / folder).items()
    }
    count = len(SHIPPED.cassette_paths())
    assert capsys.readouterr().out == (
        f"wrote {count} cassettes and {count} expected files into {into}\n"
        f"now: cd {into} && harness check\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_as_json_and_of_another_root(small: Project, tmp_path: Path, capsys: Capture) -> None:
    into = tmp_path / "mine"
    assert main(["--root", str(small.root), "copy", "--json", str(into)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "folder": str(into),
        "cassettes": 1,
        "expected": 1,
    }
    assert contents(into) == contents(small.root)


def test_no_file_of_anybody_is_touched(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name, problem in (
        ("full", "the folder is not empty; name a new one"),
        ("file", "there is something of that name that is no folder"),
        ("no/such", f"there is no folder {tmp_path / 'no'}; make it first"),
    ):
        assert main(["copy", str(tmp_path / name)]) == 2
        said = f"harness copy: copying the corpus into {tmp_path / name}: {problem}\n"
        assert capsys.readouterr().err == said
    assert contents(tmp_path) == {"full/notes": b"mine", "file": b"mine"}


@pytest.mark.parametrize("there", [False, True])
def test_a_copy_that_fails_leaves_nothing(
    small: Project, tmp_path: Path, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    into = tmp_path / "mine"
    if there:
        into.mkdir()
        # The first file has its place by then.
        link, calls = os.link, [1]
        monkeypatch.setattr(os, "link", lambda *a: link(*a) if calls and calls.pop() else full())
    else:
        monkeypatch.setattr("harness.copying.shutil.copyfile", full)
    with pytest.raises(OSError, match="No space"):
        copy_corpus(small, into)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "small"][1 - there :]
    assert not there or list(into.iterdir()) == []


def test_the_nearest_corpus_is_the_project_s_and_else_the_packaged_one(
    installed: Project, tmp_path: Path
) -> None:
    assert find_project() == installed
    assert shipped() == installed
    assert find_project().packaged
    (tmp_path / "empty" / "cassettes").mkdir()
    assert find_project() == Project(tmp_path / "empty")
    assert not find_project().packaged


def test_check_says_which_corpus_it_is_on(installed: Project, capsys: Capture) -> None:
    assert main(["check"]) == 0
    said = capsys.readouterr()
    assert "reference: 1 pass; 1 cassettes, 7 events" in said.out
    assert said.err == (
        f"harness check: on the corpus that came with the package, {installed.root}; "
        "`harness copy DIR` writes it out\n"
    )


@pytest.mark.parametrize(
    "command",
    [
        ["accept"],
        ["record", "--surface", "codex-exec", "--scenario", "text"],
        ["matrix"],
        ["matrix", "--check"],
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_an_installed_corpus_is_not_written_to(
    installed: Project, command: list[str], named: bool, capsys: Capture
) -> None:
    before = contents(installed.root)
    root = ["--root", str(installed.root)] if named else []
    assert main([*root, *command]) == 2
    assert capsys.readouterr().err == (
        f"harness {command[0]}: writing what `harness {command[0]}` gives: the corpus in "
        f"{installed.root} came with the package and is not written to; `harness copy DIR` "
        "writes it out, then run this in DIR\n"
    )
    assert contents(installed.root) == before
