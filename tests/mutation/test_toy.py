"""The mutation run on a toy normalizer: what is caught, what survives, what never ends."""

from pathlib import Path

import pytest

from harness.cassette import Agent, CassetteWriter, Header
from harness.conformance.check import write_expected
from harness.conformance.corpus import Corpus
from harness.conformance.judge import Rules
from harness.mutation.equivalents import EquivalentsError, load, stale
from harness.mutation.modules import closure
from harness.mutation.run import Bench, Outcome
from harness.mutation.score import Kept, score
from harness.mutation.sites import Module, Mutant
from harness.subject import load_subject

SOURCE = '''
"""A docstring is no mutant."""
from typing import Any
from msgspec import UNSET
from harness.surfaces.ledger import Ledger

class Normalizer:
    def __init__(self, header: Any) -> None:
        self.ledger = Ledger(header)
        self.unused = 7

    def feed(self, frame: Any) -> Any:
        self.ledger.cause(frame, "process.stdout")
        count = 0
        while count < 2:
            count += 1
        if frame.data == "rare":
            self.ledger.warn("rare")
        else:
            self.ledger.warn(f"frame {count}")
        return self.ledger.take()

    def close(self) -> Any:
        return []
'''


class Kinds:
    def of(self, frame: object) -> str:
        del frame
        return "line"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    package = tmp_path / "toymut"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "normalizer.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    paths = closure("toymut.normalizer", "toymut", package)
    assert paths == {"toymut.normalizer": package / "normalizer.py"}
    header = Header(
        1, "toy", "codex", Agent("toy", "1"), "one", "constructed", "2026-01-01T00:00:00Z"
    )
    cassettes, expected = tmp_path / "cassettes", tmp_path / "expected"
    with CassetteWriter(cassettes / f"{header.id}.jsonl", header) as writer:
        writer.frame(0, "in", "stdout", "data", {"a": 1})
        writer.finish(complete=True)
    rules = Rules(Kinds(), frozenset())
    write_expected(
        header.id,
        cassettes=cassettes,
        expected=expected,
        subject=load_subject("toymut.normalizer:Normalizer"),
        rules=lambda _: rules,
    )
    module = Module("toymut.normalizer", package / "normalizer.py", "normalizer.py")
    made = Bench(
        [module],
        {"toymut.normalizer": frozenset({"toy"})},
        Corpus(cassettes, expected),
        lambda: load_subject("toymut.normalizer:Normalizer"),
        lambda _: rules,
    )
    made.cpu = 0.5
    return made


def mutant(made: Bench, operator: str, before: str) -> Mutant:
    found = [
        m for m in made.modules[0].mutants.values() if (m.operator, m.before) == (operator, before)
    ]
    assert len(found) == 1, [(m.operator, m.before) for m in made.modules[0].mutants.values()]
    return found[0]


def outcomes(made: Bench, *mutants: Mutant) -> dict[str, Outcome]:
    return {o.id: o for o in made.run(mutants, made.baseline())}


def test_a_mutant_is_caught_survives_or_never_ends(bench: Bench) -> None:
    told = mutant(bench, "statement removed", "self.ledger.warn(f'frame {count}')")
    unseen = mutant(bench, "statement removed", "self.ledger.warn('rare')")
    unused = mutant(bench, "constant", "7")
    endless = mutant(bench, "statement removed", "count += 1")
    found = outcomes(bench, told, unseen, unused, endless)
    assert found[told.id].status == "caught"
    assert found[told.id].cassette == "toy/toy-1/one"
    assert set(found[told.id].checks) == {"expected", "accounted", "session"}
    assert (found[unseen.id].status, found[unseen.id].ran) == ("survived", 0)
    assert (found[unused.id].status, found[unused.id].ran) == ("survived", 1)
    assert found[endless.id].status == "timeout"

    result = score(bench.modules, [told, unseen, unused, endless], found, {unused.id: "unread"})
    total = result.total
    assert (total.mutants, total.caught, total.timeouts, total.survived) == (4, 2, 1, 1)
    assert (total.not_run, total.equivalent, total.by_laws) == (1, 1, 1)
    assert round(total.score, 2) == 66.67
    (survivor,) = result.survivors
    assert survivor.where == "normalizer.py:18"
    assert (survivor.before, survivor.after) == ("self.ledger.warn('rare')", "pass")


def test_an_entry_that_is_caught_or_gone_is_an_error() -> None:
    assert stale({"a": "r", "b": "r", "c": "r"}, ["a", "b"], {"b": "caught by expected on x"}) == [
        "c is no mutant any more: remove it",
        "b is not equivalent, caught by expected on x: remove it",
    ]


def test_an_id_stays_when_lines_move(bench: Bench, tmp_path: Path) -> None:
    moved = tmp_path / "moved.py"
    moved.write_text("\n\n\n" + SOURCE)
    ids = list(bench.modules[0].mutants)
    assert list(Module("moved", moved, "normalizer.py").mutants) == ids
    assert len(set(ids)) == len(ids)


def test_equivalents_are_read_strictly(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    assert load(file) == {}
    file.write_text('[[equivalent]]\nreason = "r"\nmutants = ["a", "b"]\n')
    assert load(file) == {"a": "r", "b": "r"}
    for wrong, what in (
        ('[[equivalent]]\nreason = " "\nmutants = ["a"]\n', "a reason is needed"),
        ('[[equivalent]]\nreason = "r"\nmutants = ["a", "a"]\n', "a stands twice"),
        ('[[equivalent]]\nreason = "r"\nmutant = ["a"]\n', "unknown field"),
        ("[[", "Invalid"),
    ):
        file.write_text(wrong)
        with pytest.raises(EquivalentsError, match=what):
            load(file)


def test_outcomes_are_kept_and_a_line_that_was_cut_off_is_not(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "k.jsonl")
    kept.add(Outcome("a", "caught", "c", ("expected",), 3, "e"))
    kept.add(Outcome("a", "survived"))
    kept.add(Outcome("b", "timeout"))
    with kept.path.open("a") as file:
        file.write('{"id": "c", "st')
    again = Kept(kept.path).outcomes
    assert again == {"a": Outcome("a", "survived"), "b": Outcome("b", "timeout")}
