"""Every law holds on what becomes of a cassette by a mutation."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from harness.cassette import CassetteWriter, Frame, Header, open_cassette
from harness.conformance import check, render_terminal
from harness.conformance.mutations import MUTATIONS, STORM
from harness.project import find_project
from harness.subject import InProcess, Reference

PROJECT = find_project(Path(__file__))
PATHS = PROJECT.cassette_paths()
SAMPLE = PATHS[::24]


def write(root: Path, source: Path, name: str) -> Path | None:
    """Write a mutation of a cassette; None where it has no place for it."""
    with open_cassette(source) as cassette:
        header, frames = cassette.header, list(cassette)
    mutated = MUTATIONS[name](frames)
    if mutated is None:
        return None
    writer = CassetteWriter(root / "mutated.jsonl", header)
    for frame in mutated:
        field = next(f for f in ("data", "text", "b64") if getattr(frame, f) is frame.content)
        writer.frame(frame.at, frame.dir, frame.channel, field, frame.content)
    writer.finish(complete=True)
    return root / "mutated.jsonl"


def hold(root: Path, source: Path, name: str) -> None:
    path = write(root, source, name)
    if path is not None:
        report = check([path], cassettes=PROJECT.cassettes, expected=None)
        assert report.exit_code == 0, render_terminal(report)


@pytest.mark.parametrize("name", MUTATIONS)
@pytest.mark.parametrize("source", SAMPLE, ids=PROJECT.cassette_id)
def test_the_laws_hold_on_a_sample(tmp_path: Path, source: Path, name: str) -> None:
    hold(tmp_path, source, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
@pytest.mark.parametrize("source", PATHS, ids=PROJECT.cassette_id)
def test_the_laws_hold_on_the_corpus(tmp_path: Path, source: Path, name: str) -> None:
    hold(tmp_path, source, name)


def frames(*data: object) -> list[Frame]:
    return [Frame(n, n * 10, "in", "stdout", data=value) for n, value in enumerate(data, 1)]


A = {"type": "item.started", "id": "a"}
U = {"type": "item.updated", "id": "a"}
B = {"type": "item.completed", "id": "a"}
Z = {"type": "note", "id": "z"}


@pytest.mark.parametrize(
    ("name", "given", "due"),
    [
        ("tail-dropped", [A, U, B], [A, U]),
        ("start-doubled", [A, U, B], [A, A, U, B]),
        ("id-sent-again", [A, B, Z], [A, B, A, Z]),
        ("late-update", [A, U, B], [A, U, B, U]),
        ("swapped", [A, B, Z], [A, Z, B]),
        ("replayed", [A, B], [A, B, A, B]),
        ("update-storm", [U], [U] * (STORM + 1)),
        ("swapped", [A, B], None),
        ("start-doubled", [Z], None),
    ],
)
def test_what_a_mutation_makes(name: str, given: list[object], due: list[object] | None) -> None:
    made = MUTATIONS[name](frames(*given))
    assert (None if made is None else [f.data for f in made]) == due
    if made is not None:
        assert [f.seq for f in made] == list(range(1, len(made) + 1))
        assert [f.at for f in made] == sorted(f.at for f in made)


def test_a_fragmented_line_is_the_same_text() -> None:
    made = MUTATIONS["fragmented"](frames(A))
    assert made is not None
    assert [f.text for f in made] == ['{"type":"item.st', 'arted","id":"a"}']
    assert all(f.data is UNSET for f in made)


class Forgetful:
    """The reference, but what a frame says twice starts twice."""

    def __init__(self, header: Header) -> None:
        self.inner: Any = Reference().open(header)
        self.seen: Any = None
        self.started: list[Any] = []

    def feed(self, frame: Frame) -> list[Any]:
        again = list(self.started) if frame.content == self.seen else []
        events: list[Any] = list(self.inner.feed(frame))
        self.seen = frame.content
        self.started = [e for e in events if e.type == "item.started"]
        return [*again, *events]

    def close(self) -> list[Any]:
        return list(self.inner.close())


def test_a_mutation_shows_what_the_cassette_does_not(tmp_path: Path) -> None:
    source = PROJECT.find("codex-exec/codex-0.163.0/command")
    subject = InProcess(Forgetful, "forgetful")
    cassettes = PROJECT.cassettes
    assert check([source], cassettes=cassettes, expected=None, subject=subject).exit_code == 0
    mutated = write(tmp_path, source, "start-doubled")
    assert mutated is not None
    report = check([mutated], cassettes=cassettes, expected=None, subject=subject)
    assert report.exit_code == 1
    assert "items" in report.cassettes[0].failed()
