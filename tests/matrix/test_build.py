"""The matrix of a project: from its cassettes alone, the same bytes each time, safe to render."""

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.cassette import CassetteWriter, Header, open_cassette
from harness.matrix.build import MatrixError, build, stale, to_json, write
from harness.matrix.command import matrix_command
from harness.matrix.markdown import table
from harness.matrix.model import ICONS, VALUES, Cell, Matrix, matrix_schema
from harness.matrix.render import files, grid, not_tried
from harness.project import Project, find_project

CORPUS = find_project(Path(__file__)).cassettes


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with three cassettes of the corpus."""
    for name in (
        "codex-exec/codex-0.163.0/text",
        "codex-app-server/codex-0.163.0/command-approved",
        "claude-sdk/claude-code-2.1.332/text",
    ):
        path = tmp_path / "cassettes" / f"{name}.jsonl"
        path.parent.mkdir(parents=True)
        shutil.copy(CORPUS / f"{name}.jsonl", path)
    return Project(tmp_path)


def plain(matrix: Matrix) -> Any:
    return json.loads(to_json(matrix))


def rewrite(source: Path, target: Path, *, keep: Any, **header: Any) -> None:
    """Write a cassette anew with some of its frames: a test's own, not a recording."""
    with open_cassette(source) as cassette:
        frames = [f for f in cassette if keep(f)]
        head: Header = msgspec.structs.replace(cassette.header, **header)
    target.parent.mkdir(parents=True, exist_ok=True)
    with CassetteWriter(target, head) as writer:
        for f in frames:
            field = "data" if f.data is not msgspec.UNSET else "text"
            writer.frame(f.at, f.dir, f.channel, field, f.content)
        writer.finish(complete=True, exit_code=0)


def cells(matrix: Matrix) -> dict[tuple[str, str], Cell]:
    return {(r.id, p): c for t in matrix.tables for r in t.rows for p, c in r.cells.items()}


def test_three_cassettes_give_these_cells(project: Project) -> None:
    found = cells(build(project))
    assert len(found) == 23 * 5
    values = {provider: found["text", provider].value for provider in ("acp", "codex", "claude")}
    assert values == {"acp": "not tried", "codex": "direct", "claude": "direct"}
    assert found["permission", "claude"].value == "not tried"
    cell = found["permission", "codex"]
    assert cell.value == "partial"
    assert cell.reason == "native on codex-app-server; not shown on codex-exec"
    (evidence,) = cell.evidence
    assert evidence.cassette == "codex-app-server/codex-0.163.0/command-approved"
    with open_cassette(project.cassettes / f"{evidence.cassette}.jsonl") as cassette:
        frame = next(f for f in cassette if f.seq == evidence.frame)
    assert frame.data["method"] == "item/commandExecution/requestApproval"
    assert evidence.kinds == ["request item/commandExecution/requestApproval"]
    assert (evidence.native, evidence.made, evidence.provenance) == (True, 0, "scripted")
    assert found["turnId and runId", "codex"].value == "partial"
    assert [(s.surface, s.state) for s in found["turnId and runId", "codex"].states] == [
        ("codex-app-server", "native"),
        ("codex-exec", "synthesized"),
    ]


def test_every_cell_that_is_seen_has_evidence_and_no_other_has() -> None:
    project = find_project(Path(__file__))
    ids = set(map(project.cassette_id, project.cassette_paths()))
    for cell in cells(build(project)).values():
        assert bool(cell.evidence) == (cell.value in {"direct", "partial", "optional"})
        assert all(e.cassette in ids and e.frame >= 1 and e.count >= 1 for e in cell.evidence)
        assert cell.reason


def test_what_the_client_sends_shows_no_kind_natively() -> None:
    matrix = build(find_project(Path(__file__)))
    shown = [e for r in matrix.kinds.rows for c in r.cells.values() for e in c.evidence if e.native]
    assert len(shown) > 1000
    assert not [e for e in shown if any(kind.startswith("client") for kind in e.kinds)]


def test_the_json_fits_its_schema(project: Project) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(matrix_schema()).validate(plain(build(project)))
    assert msgspec.json.decode(to_json(build(project)), type=Matrix) == build(project)


def test_the_same_cassettes_give_the_same_bytes(project: Project) -> None:
    assert files(build(project)) == files(build(project))


def test_one_cassette_changes_only_what_rests_on_it(project: Project) -> None:
    before, old = build(project), cells(build(project))
    (project.cassettes / "claude-sdk/claude-code-2.1.332/text.jsonl").unlink()
    after, new = build(project), cells(build(project))
    for key, cell in old.items():
        if key[1] != "claude":
            assert new[key] == cell
    assert new["text", "claude"].value == "not tried"
    assert after.native["codex-exec"] == before.native["codex-exec"]


def test_a_cell_that_does_not_rest_on_a_cassette_is_as_it_was_without_it(project: Project) -> None:
    name = "codex-app-server/codex-0.163.0/command-approved"
    old = cells(build(project))
    (project.cassettes / f"{name}.jsonl").unlink()
    new = cells(build(project))
    changed = {key for key, cell in old.items() if new[key] != cell}
    assert all(provider == "codex" for _, provider in changed)
    assert ("permission", "codex") in changed
    assert ("text", "codex") in changed


def test_native_kinds_are_counted_and_named_with_their_first_frame(project: Project) -> None:
    native = {k.kind: k for k in build(project).native["codex-exec"]}
    seen = native["turn.started"]
    assert (seen.seen, seen.count) == ("scripted", 1)
    assert seen.first is not None
    assert seen.first[0] == "codex-exec/codex-0.163.0/text"
    agents = {a: (k.seen, k.count) for a, k in seen.agents.items()}
    assert agents == {"codex-0.163.0": ("scripted", 1)}
    unseen = native["turn.failed"]
    assert (unseen.seen, unseen.count, unseen.first) == ("not seen", 0, None)


def test_a_native_kind_is_seen_by_its_best_provenance(project: Project) -> None:
    text = project.cassettes / "codex-exec/codex-0.163.0/text.jsonl"
    made = text.with_name("a-made-one.jsonl")
    rewrite(text, made, keep=lambda _: True, provenance="constructed", scenario="a-made-one")

    def seen() -> tuple[str, int, str]:
        kind = next(k for k in build(project).native["codex-exec"] if k.kind == "turn.started")
        assert kind.first is not None
        return kind.seen, kind.count, kind.first[0].rpartition("/")[2]

    assert seen() == ("scripted", 2, "text")
    rewrite(text, text, keep=lambda _: True, provenance="live")
    assert seen() == ("live", 2, "text")
    text.unlink()
    assert seen() == ("constructed", 1, "a-made-one")


def test_a_broken_cassette_is_listed_and_takes_no_other_down(project: Project) -> None:
    whole = plain(build(project))
    folder = project.cassettes / "codex-exec/codex-0.163.0"
    (folder / "broken.jsonl").write_bytes(b"junk\n")
    lines = (folder / "text.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "cut.jsonl").write_bytes(b"".join(lines[:-1]).replace(b'"text"', b'"cut"', 1))
    (folder / "moved.jsonl").write_bytes((folder / "text.jsonl").read_bytes())
    matrix = build(project)
    assert [one.id for one in matrix.unusable] == [
        f"codex-exec/codex-0.163.0/{name}" for name in ("broken", "cut", "moved")
    ]
    assert "not a cassette" in matrix.unusable[0].problem
    assert matrix.unusable[1].problem == "truncated"
    assert matrix.unusable[2].problem == "its header says codex-exec/codex-0.163.0/text"
    assert plain(matrix) == whole | {"unusable": plain(matrix)["unusable"]}
    assert "broken: line 1: not a cassette" in files(matrix)["README.md"].decode()


def test_constructed_evidence_is_marked(project: Project) -> None:
    source = project.cassettes / "claude-sdk/claude-code-2.1.332/text.jsonl"
    rewrite(source, source, keep=lambda _: True, provenance="constructed")
    matrix = build(project)
    found = cells(matrix)
    assert found["text", "claude"].constructed_only
    assert not found["text", "codex"].constructed_only
    line = next(x for x in grid(matrix.kinds).splitlines() if x.startswith("| text"))
    assert line.count("(constructed)") == 1


def test_stale_names_what_differs_and_write_mends_it(project: Project) -> None:
    content = files(build(project))
    assert stale(project, content) == list(content)
    write(project, content)
    assert stale(project, content) == []
    (project.matrix / "native.md").write_text("old")
    (project.matrix / "gone.md").write_text("of another time")
    assert stale(project, content) == ["native.md", "gone.md"]
    write(project, content)
    assert sorted(p.name for p in project.matrix.iterdir()) == sorted(content)


def test_the_command_says_stale_and_writes_nothing(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert matrix_command(project, check=True, json=False) == 1
    assert "README.md is stale; run `harness matrix`" in capsys.readouterr().err
    assert not project.matrix.exists()
    assert matrix_command(project, check=False, json=False) == 0
    shown = capsys.readouterr().out
    assert "115 cells:" in shown
    assert "  not tried: permission, Claude: no recorded scenario would show it;" in shown
    assert matrix_command(project, check=True, json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kinds"]["rows"][0]["cells"]["codex"]["value"] == "direct"


def test_no_cassette_is_nothing_run(tmp_path: Path) -> None:
    (tmp_path / "cassettes").mkdir()
    assert matrix_command(Project(tmp_path), check=False, json=False) == 3


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a|b", "a\\|b"),
        ("two\nlines", r"two\\nlines"),
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("\x1b[31mred", r"\\x1b\[31mred"),
        ("\u202eright to left", r"\\u202eright to left"),
        (r"a\|b", r"a\\\|b"),
        ("1.10", "1.10"),
        ("[a](javascript:b)", "\\[a\\](javascript:b)"),
        ("`code", "\\`code"),
    ],
)
def test_a_cell_stays_a_cell_whatever_it_holds(hostile: str, shown: str) -> None:
    lines = table(["head"], [[hostile]]).splitlines()
    assert len(lines) == 3
    assert lines[2].strip("| ") == shown


def test_each_value_has_one_icon() -> None:
    assert len(set(ICONS.values())) == len(ICONS) == len(VALUES) == 5


def test_a_full_disk_is_named_and_leaves_the_old_file(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = files(build(project))
    write(project, content)
    before = (project.matrix / "native.md").read_bytes()
    whole = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name == "native.md.part":
            whole(path, data[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return whole(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(MatrixError, match=r"native\.md: No space left on device; the file is as"):
        write(project, content)
    assert (project.matrix / "native.md").read_bytes() == before
    assert sorted(p.name for p in project.matrix.iterdir()) == sorted(content)


def test_what_is_not_tried_is_listed_with_what_would_show_it(project: Project) -> None:
    matrix = build(project)
    found = {(row, provider): why for row, provider, why in not_tried(matrix)}
    assert len(found) == sum(c.value == "not tried" for c in cells(matrix).values())
    assert "question on claude-sdk (claude-code)" in found["question", "claude"]
    assert "subagent on codex-app-server (codex)" in found["task", "codex"]
    page = files(matrix)["README.md"].decode()
    assert f"{len(found)} cells were not tried." in page
