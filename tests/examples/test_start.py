"""`harness new normalizer`: what it writes is judged as it is, and it writes over nothing."""

import json
import os
from pathlib import Path

import pytest

from harness.cli import main
from harness.project import find_project
from harness.start import SURFACES, new_normalizer
from harness.subject.protocol import LEVELS
from harness.surfaces import surfaces
from tests.nodes import node
from tests.project_of_one import project_of_one

PROJECT = find_project(Path(__file__))
FILES = {
    "python": ["README.md", "harness.toml", "normalizer.py", "protocol.py"],
    "ts": [
        "README.md",
        "canonical.ts",
        "harness.toml",
        "normalizer.ts",
        "package.json",
        "protocol.ts",
    ],
}


@pytest.fixture(autouse=True)
def _newest_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(node()).parent}{os.pathsep}{os.environ['PATH']}")


def test_a_surface_has_its_own_source_and_cassette() -> None:
    assert SURFACES.keys() <= surfaces().keys()
    for name, (_, cassette) in SURFACES.items():
        assert cassette.startswith(f"{name}/")
        assert PROJECT.find(cassette).is_file()


@pytest.mark.parametrize("language", ["ts", "python"])
@pytest.mark.parametrize(
    "surface",
    [pytest.param(s, marks=[] if s == "codex-exec" else [pytest.mark.slow]) for s in SURFACES],
)
def test_a_start_is_judged_as_it_is(
    surface: str,
    language: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "mine"
    arguments = ["new", "normalizer", str(folder), "--language", language, "--surface", surface]
    assert main([*arguments, "--json"]) == 0
    written = {"folder": str(folder), "files": FILES[language]}
    assert json.loads(capsys.readouterr().out) == written
    assert sorted(p.name for p in folder.iterdir()) == FILES[language]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine"]

    monkeypatch.chdir(folder)
    root = ["--root", str(PROJECT.root)]
    assert main([*root, "check", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["held"] == ["schema", "laws"]
    results = {c["id"]: c["verdict"] for c in report["cassettes"] if c["surface"] == surface}
    paths = [p for p in PROJECT.recorded_paths() if p.parent.parent.name == surface]
    assert results == {PROJECT.cassette_id(path): "pass" for path in paths}

    # No frame is dropped in silence; but it is far from what is pinned, and is told so.
    cassette = SURFACES[surface][1]
    assert main([*root, "check", "--level", "coverage", cassette]) == 0
    assert main([*root, "check", "--level", "expected", cassette]) == 1
    told = capsys.readouterr().out
    assert "expected: the events, in canonical form" in told
    assert "at fault: the normalizer" in told


def test_a_surface_that_is_not_named_is_shown_by_its_own_cassette(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(SURFACES, "cursor-acp")
    monkeypatch.chdir(PROJECT.root)
    new_normalizer(tmp_path / "mine", "python", "cursor-acp")
    monkeypatch.chdir(project_of_one(tmp_path / "small"))
    new_normalizer(tmp_path / "other", "python", "cursor-acp")

    def text(folder: str) -> str:
        return "".join(p.read_text(encoding="utf-8") for p in (tmp_path / folder).iterdir())

    assert "cursor-acp/cursor-2026.08.11/text" in text("mine")
    assert "cursor-acp/AGENT/text" in text("other")
    assert '"process.stdout"' in text("mine")


@pytest.mark.parametrize("language", ["ts", "python"])
def test_a_start_is_called_as_its_folder(language: str, tmp_path: Path) -> None:
    new_normalizer(tmp_path / 'Über "Codex" 2', language, "acp")  # type: ignore[arg-type]
    text = "".join(
        path.read_text(encoding="utf-8") for path in (tmp_path / 'Über "Codex" 2').iterdir()
    )
    assert 'ber-codex-2"' in text
    assert "my-normalizer" not in text
    assert "codex-exec" not in text
    assert "acp.notification" in text


def test_a_folder_without_a_plain_name_has_the_common_one(tmp_path: Path) -> None:
    new_normalizer(tmp_path / "日本", "python")
    assert "# my-normalizer" in (tmp_path / "日本" / "README.md").read_text(encoding="utf-8")


def test_it_is_written_into_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert main(["new", "normalizer", ".", "--language", "python"]) == 0
    assert "harness check" in capsys.readouterr().out
    assert sorted(p.name for p in Path().iterdir()) == FILES["python"]
    assert "# here" in Path("README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("taken", ["a file in it", "a file", "a dangling link", "no parent"])
def test_nothing_is_written_over(
    taken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    match taken:
        case "a file in it":
            folder.mkdir()
            (folder / ".hidden").write_text("kept", encoding="utf-8")
        case "a file":
            folder.write_text("kept", encoding="utf-8")
        case "a dangling link":
            folder.symlink_to("nowhere")
        case _:
            folder = tmp_path / "none" / "mine"
    before = sorted(tmp_path.rglob("*"))
    assert main(["new", "normalizer", str(folder), "--language", "ts"]) == 2
    assert f"writing a normalizer into {folder}: " in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("there", [False, True])
def test_a_start_that_cannot_be_finished_leaves_nothing(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    if there:
        folder.mkdir()
    count = 0
    link, rename = os.link, Path.rename

    def some(*arguments: Path) -> None:
        nonlocal count
        count += 1
        if count == 3:
            raise OSError(28, "No space left on device")
        link(*arguments)

    def none(self: Path, target: Path) -> Path:
        if self.suffix == ".part":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(os, "link", some)
    monkeypatch.setattr(Path, "rename", none)
    with pytest.raises(OSError, match="No space left"):
        new_normalizer(folder, "ts")
    assert sorted(tmp_path.rglob("*")) == ([folder] if there else [])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--language", "cobol"], "invalid choice: 'cobol'"),
        ([], "--language"),
        (["--language", "ts", "--surface", "codex-exek"], "did you mean codex-exec?"),
    ],
)
def test_what_is_not_known_is_a_wrong_use(
    arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["new", "normalizer", str(tmp_path / "mine"), *arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_levels_to_come_are_levels() -> None:
    for language in FILES:
        folder = PROJECT.root / "harness" / "start" / "templates" / language
        text = (folder / "harness.toml").read_text(encoding="utf-8")
        assert {level for level in LEVELS if f'"{level}"' in text} == set(LEVELS)


@pytest.mark.parametrize(
    ("language", "piece", "broken"),
    [
        ("ts", "    switch (kind) {", '    if (kind === "error") throw new Error("no idea");'),
        ("python", "        match kind:", "        assert kind != 'error', 'no idea'"),
    ],
)  # fmt: skip
def test_a_start_that_fails_says_so_of_that_conversation_alone(
    language: str,
    piece: str,
    broken: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "mine"
    new_normalizer(folder, language)  # type: ignore[arg-type]
    (file,) = folder.glob("normalizer.*")
    text = file.read_text(encoding="utf-8")
    assert text.count(piece) == 1
    file.write_text(text.replace(piece, f"{broken}\n{piece}"), encoding="utf-8")
    monkeypatch.chdir(folder)
    assert main(["--root", str(PROJECT.root), "check", "--json"]) == 1
    cassettes = json.loads(capsys.readouterr().out)["cassettes"]
    failed = [c for c in cassettes if c["verdict"] == "fail"]
    # Those in which the agent tells of an error, and no others.
    assert {c["scenario"] for c in failed} == {"disconnect", "model-error", "rate-limited"}
    for cassette in failed:
        assert cassette["fault"] == "subject"
        assert "no idea" in cassette["stderr"]
        (runs,) = (c for c in cassette["checks"] if c["id"] == "subject")
        assert "no idea" in runs["violations"][0]["got"]
