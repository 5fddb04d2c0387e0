"""Both worked examples, behind the protocol, against every cassette of their surface."""

import ast
import shutil
from pathlib import Path

import pytest

from harness.cli import main
from harness.conformance import LAWS, Report, check, render_terminal
from harness.project import find_project
from harness.subject.load import load_command
from tests.nodes import node

PROJECT = find_project(Path(__file__))
EXAMPLES = PROJECT.root / "examples"
SURFACE = "codex-exec"


def command(language: str, folder: Path = EXAMPLES) -> str:
    """The command line of an example."""
    if language == "typescript":
        return f"{node()} {folder / 'typescript' / 'normalizer.ts'}"
    return f"{shutil.which('python3')} {folder / 'python' / 'normalizer.py'}"


def judged(spec: str) -> Report:
    """What `harness check --surface codex-exec --normalizer SPEC` finds."""
    subject = load_command(spec)
    try:
        return check(
            PROJECT.recorded_paths(),
            cassettes=PROJECT.cassettes,
            expected=PROJECT.expected,
            subject=subject,
            surface=SURFACE,
        )
    finally:
        subject.end()


@pytest.mark.parametrize("language", ["typescript", "python"])
def test_an_example_holds_every_law_and_is_what_is_pinned(language: str) -> None:
    report = judged(command(language))
    assert report.exit_code == 0, render_terminal(report)
    cassettes = [p for p in PROJECT.recorded_paths() if p.parent.parent.name == SURFACE]
    results = {result.id: result for result in report.cassettes}
    assert sorted(results) == sorted(map(PROJECT.cassette_id, cassettes))
    for result in results.values():
        assert {c.id: c.status for c in result.checks} == {law.id: "pass" for law in LAWS}


@pytest.mark.parametrize("name", ["typescript/normalizer.ts", "python/normalizer.py"])
def test_an_example_is_short(name: str) -> None:
    lines = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) < 150
    assert max(map(len, lines)) <= 100


def test_the_python_example_stands_on_its_own() -> None:
    tree = ast.parse((EXAMPLES / "python" / "normalizer.py").read_text(encoding="utf-8"))
    modules = {
        name
        for each in ast.walk(tree)
        if isinstance(each, ast.Import | ast.ImportFrom)
        for name in ([each.module] if isinstance(each, ast.ImportFrom) else
                     [alias.name for alias in each.names])
    }  # fmt: skip
    assert modules == {"json", "re", "sys", "datetime"}


@pytest.mark.parametrize(
    ("language", "piece", "broken", "law"),
    [
        ("python", "self.end_turn(CUT_OFF)\n            code,", "code,", "turns"),
        ("python", "made_up=True)\n        if self.turn:", "made_up=True)\n        if 0:", "turns"),
        ("python", '"payload": content, "messageType"', '"payload": kind, "messageType"', "raw"),
        ("typescript", 'eventId: this.mint("evt")', 'eventId: "evt"', "event-ids"),
        ("typescript", '"aggregated_", ""', '"aggregated", ""', "expected"),
        ("typescript", "+ frame.at)", "+ 1)", "clock"),
    ],
)  # fmt: skip
def test_an_example_with_a_fault_is_caught(
    language: str, piece: str, broken: str, law: str, tmp_path: Path
) -> None:
    shutil.copytree(EXAMPLES / language, tmp_path / language)
    (file,) = (tmp_path / language).glob("normalizer.*")
    text = file.read_text(encoding="utf-8")
    assert text.count(piece) == 1
    file.write_text(text.replace(piece, broken), encoding="utf-8")
    report = judged(command(language, tmp_path))
    failed = {law for result in report.cassettes for law in result.failed()}
    assert report.exit_code == 1
    assert law in failed


@pytest.mark.parametrize("language", ["typescript", "python"])
def test_an_example_is_asked_for_its_own_surface_alone(
    language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--scenario", "text", "--normalizer", command(language)]) == 0
    told = capsys.readouterr().out
    assert "codex-exec/codex-0.163.0/text" in told
    assert "not claimed, and not run: acp 7" in told


def test_u_2028_ends_no_line(tmp_path: Path) -> None:
    # node:readline would have it so.
    subject = load_command(command("typescript"))
    try:
        path = PROJECT.find("codex-exec/codex-0.163.0/text")
        text = path.read_text(encoding="utf-8").replace("Hello, world.", "Hello,\u2028world.")
        odd = tmp_path / SURFACE / "codex-0.163.0" / "text.jsonl"
        odd.parent.mkdir(parents=True)
        # The footer's checksum is of the text that was: as for a recorder that was killed.
        odd.write_text("".join(text.splitlines(keepends=True)[:-1]), encoding="utf-8")
        report = check([odd], cassettes=tmp_path, expected=None, subject=subject)
    finally:
        subject.end()
    (result,) = report.cassettes
    assert result.failed() == []
    assert result.events == 7
