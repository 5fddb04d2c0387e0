"""Hostile cassettes: their text is text in every file, and they take no other cassette down."""

import re
import shutil
from pathlib import Path

import pytest

from harness.cassette import Agent, CassetteWriter, Header
from harness.matrix.build import build
from harness.matrix.render import files
from harness.project import Project, find_project

CORPUS = find_project(Path(__file__)).cassettes
EXEC = "codex-exec/codex-0.163.0"
HOSTILE = [
    "<script>alert(1)</script>",
    "a|b",
    "a\\|b",
    "two\nlines",
    "\u202eright to left",
    "\x1b[31mred",
    "`code` | more",
    "![x](http://example.invalid/x.png)",
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with one good cassette, and one whose native kinds are hostile."""
    folder = tmp_path / "cassettes" / EXEC
    folder.mkdir(parents=True)
    shutil.copy(CORPUS / f"{EXEC}/text.jsonl", folder)
    head = Header(
        1,
        "codex-exec",
        "codex",
        Agent("codex", "0.163.0"),
        "hostile",
        "constructed",
        "2026-01-01T00:00:00Z",
    )
    with CassetteWriter(folder / "hostile.jsonl", head) as writer:
        for number, text in enumerate(HOSTILE):
            item = {"id": text, "type": text, "text": text, "status": text}
            writer.frame(number, "in", "stdout", "data", {"type": text})
            writer.frame(number, "in", "stdout", "data", {"type": "item.completed", "item": item})
        writer.finish(complete=True, exit_code=0)
    return Project(tmp_path)


def delimiters(line: str) -> int:
    """How many pipes of a line end a cell: one after a backslash that is itself none does not."""
    return len(re.findall(r"\|", re.sub(r"\\.", "", line)))


def test_hostile_text_is_text_in_every_file(project: Project) -> None:
    matrix = build(project)
    assert not matrix.unusable
    kinds = {k.kind for k in matrix.native["codex-exec"] if not k.in_vocabulary}
    assert kinds
    for name, content in files(matrix).items():
        text = content.decode()
        if name.endswith(".json"):
            continue
        assert "<script" not in text, name
        assert "\u202e" not in text, name
        assert "\x1b" not in text, name
        assert "![" not in re.sub(r"\\.", "", text), name
        block = 0
        for line in text.splitlines():
            here = delimiters(line) if line.startswith("|") else 0
            assert not (block and here) or here == block, (name, line)
            block = here


def test_a_cassette_of_a_surface_that_is_not_known_is_listed(project: Project) -> None:
    folder = project.cassettes / "nowhere/x-1"
    folder.mkdir(parents=True)
    whole = (project.cassettes / EXEC / "text.jsonl").read_bytes()
    (folder / "text.jsonl").write_bytes(whole.replace(b'"codex-exec"', b'"nowhere"', 1))
    before = build(Project(project.root))
    shutil.rmtree(project.cassettes / "nowhere")
    after = build(project)
    assert [one.id for one in before.unusable] == ["nowhere/x-1/text"]
    assert "no surface is called 'nowhere'" in before.unusable[0].problem
    assert before.kinds == after.kinds
    assert before.additions == after.additions
