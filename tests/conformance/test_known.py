"""known-failures.toml excuses what it lists, and nothing else."""

from pathlib import Path

import msgspec
import pytest

from harness.cli import main
from tests.project_of_one import ID, project_of_one

OTHER = "codex-exec/codex-0.163.0/command"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus of two cassettes; the output of one is not what is pinned."""
    monkeypatch.chdir(tmp_path)
    project_of_one(tmp_path, ID, OTHER)
    pinned = tmp_path / "expected" / f"{ID}.jsonl"
    pinned.write_bytes(pinned.read_bytes().replace(b'"graceful"', b'"error"'))
    return tmp_path


def entry(
    cassette: str = ID, check: str = "expected", reason: str = "later", more: str = ""
) -> str:
    return f"[[failure]]\ncassette = '{cassette}'\ncheck = '{check}'\nreason = '{reason}'\n{more}\n"


def run(root: Path, listed: str | bytes, *arguments: str, name: str = "known-failures.toml") -> int:
    path = root / name
    path.write_bytes(listed if isinstance(listed, bytes) else listed.encode())
    return main(["--root", str(root), "check", *arguments])


def test_a_listed_failure_is_excused_and_shown(root: Path, capsys: Capture) -> None:
    assert run(root, "") == 1
    capsys.readouterr()
    assert run(root, entry(more="link = 'https://example.org/7'")) == 0
    out = capsys.readouterr().out
    assert f"pass     {ID}" in out
    assert "known to fail expected" in out
    assert f"1 known failures excused ({root / 'known-failures.toml'})" in out


def test_the_json_counts_it_and_keeps_the_reason(root: Path, capsys: Capture) -> None:
    assert run(root, entry(more="link = 'https://example.org/7'"), "--json") == 0
    value = msgspec.json.decode(capsys.readouterr().out)
    assert value["summary"] == {"pass": 2, "fail": 0, "unusable": 0, "not-claimed": 0, "known": 1}
    (known,) = [c for x in value["cassettes"] for c in x["checks"] if c["status"] == "known"]
    assert known["id"] == "expected"
    assert known["note"] == "later (https://example.org/7)"
    assert known["violations"][0]["path"] == "payload.exitKind"


def test_a_failure_that_is_not_listed_stays_one(root: Path, capsys: Capture) -> None:
    assert run(root, entry(check="text")) == 1
    out = capsys.readouterr().out
    assert "fails text, expected" in out
    assert "expected  a failure, as known-failures.toml lists it: later" in out


def test_a_listed_failure_that_passes_is_an_error(root: Path, capsys: Capture) -> None:
    assert run(root, entry() + entry(OTHER, "turns")) == 1
    out = capsys.readouterr().out
    assert f"fail     {OTHER}" in out
    assert "got       it passes" in out
    assert "take the entry out of the list" in out


def test_only_the_selection_is_judged(root: Path) -> None:
    listed = entry() + entry(OTHER, "turns")
    assert run(root, listed, ID) == 0
    assert run(root, listed, OTHER) == 1
    assert run(root, listed, "--scenario", "text") == 0
    # What no level asks for is neither passed nor failed.
    assert run(root, entry(), "--level", "laws") == 0


def test_a_file_elsewhere_is_named(root: Path, capsys: Capture) -> None:
    assert run(root, entry(), "--known-failures", "mine.toml", name="mine.toml") == 0
    assert "excused (mine.toml)" in capsys.readouterr().out
    assert main(["--root", str(root), "check", "--known-failures", "none.toml"]) == 4
    assert "none.toml: No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("listed", "code", "said"),
    [
        (entry("codex-exec/codex-0.163.0/texd"), 1, f"did you mean {ID}?"),
        (entry("nothing/like/it"), 1, "no cassette is called 'nothing/like/it'; see `harness"),
        (entry(check="turn"), 1, "no check is called 'turn'; did you mean turns?"),
        (entry() + entry(), 4, "failure 2: expected of codex-exec/codex-0.163.0/text is listed"),
        (entry(reason=" "), 4, "failure 1: its reason is empty"),
        (f"[[failure]]\ncassette = '{ID}'\ncheck = 'text'\n", 4, "field `reason` - at `$.failure"),
        (entry(more="why = 'x'"), 4, "unknown field `why`"),
        (entry(more="link = 7"), 4, "$.failure[0].link"),
        ("[[failure]\n", 4, "at line 1"),
        (b"\xff", 4, "known-failures.toml: 'utf-8' codec"),
    ],
)
def test_a_list_that_is_wrong_says_where(
    root: Path, capsys: Capture, listed: str | bytes, code: int, said: str
) -> None:
    assert run(root, listed) == code
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_a_folder_of_that_name_is_no_list(root: Path, capsys: Capture) -> None:
    (root / "known-failures.toml").mkdir()
    assert main(["--root", str(root), "check"]) == 4
    assert "known-failures.toml: Is a directory" in capsys.readouterr().err
