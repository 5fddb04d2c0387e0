"""The seed document: its claims, how they are judged, and the document rebuilt."""

from pathlib import Path

import pytest

from harness.matrix.build import build
from harness.matrix.markdown import table
from harness.matrix.model import PROVIDERS, Cell, Evidence, State, SurfaceState, Value
from harness.matrix.render import files
from harness.matrix.rows import ADDITIONS, ROWS
from harness.matrix.seed import (
    SEED,
    Declared,
    SeedError,
    disagreements,
    judge,
    parse,
    reasons,
    seed,
)
from harness.project import find_project
from harness.projection.additions import RULES

PROJECT = find_project(Path(__file__))


def test_the_seed_has_92_claims_in_the_rows_of_ours() -> None:
    tables = seed()
    assert [row.id for row in ROWS] == list(tables["kinds"].rows)
    assert [row.id for row in ADDITIONS] == list(tables["additions"].rows) == list(RULES)
    claims = [c for t in tables.values() for row in t.rows.values() for c in row.values()]
    assert len(claims) == 92
    assert all(c.words for c in claims)
    notes = tables["kinds"].notes | tables["additions"].notes
    assert {row.id: row.value for row in (*ROWS, *ADDITIONS)} == notes


def test_a_claim_is_its_icon_s_value_and_its_words() -> None:
    kinds = seed()["kinds"].rows
    assert kinds["question"]["acp"] == Declared("not core", "no core question-request update")
    assert kinds["text"]["codex"] == Declared("direct", "agent message items")
    assert kinds["usage"]["acp"].value == "optional"
    assert seed()["additions"].rows["parentId"]["cursor"].value == "partial"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("| text | ✓ ", "| text | ! ", r"md:\d+: '!' is no icon of the legend's"),
        ("## Interface Additions", "## Others", "no line '## Interface Additions'"),
        ("| text | ✓ ", "| text | more | ✓ ", r"md:\d+: 7 cells where 6 were due"),
    ],
)
def test_a_seed_that_cannot_be_read_is_named(old: str, new: str, problem: str) -> None:
    text = SEED.read_text("utf-8")
    assert old in text
    with pytest.raises(SeedError, match=problem):
        parse(text.replace(old, new, 1))


def made(value: Value, *, tier: str = "base", state: State = "native") -> Cell:
    evidence = Evidence(
        "s/a/shown", 3, "k", state == "native", 1, int(state != "native"), [], "live"
    )
    shown = value in {"direct", "partial", "optional"}
    unit = SurfaceState("s", "a", tier, state, "", ["s/a/silent"])  # type: ignore[arg-type] # any tier
    return Cell(value, "r", "", [evidence] if shown else [], [unit])


@pytest.mark.parametrize(
    ("claimed", "cell", "agreement", "against"),
    [
        ("direct", made("direct"), "agrees", []),
        ("direct", made("not tried", state="not tried"), "open", []),
        ("direct", made("partial", tier="rich"), "open", []),
        ("direct", made("partial", state="synthesized"), "disagrees", ["s/a/shown"]),
        ("partial", made("direct"), "disagrees", ["s/a/shown"]),
        ("partial", made("not core", state="silent"), "disagrees", ["s/a/silent"]),
        ("not core", made("partial", tier="rich"), "disagrees", ["s/a/shown"]),
    ],
)
def test_a_claim_is_judged_with_the_cassettes_that_contradict_it(
    claimed: Value, cell: Cell, agreement: str, against: list[str]
) -> None:
    claim = judge(Declared(claimed, "words"), cell, "a reason")
    assert (claim.agreement, claim.against) == (agreement, against)
    assert claim.reason == ("a reason" if agreement == "disagrees" else "")


def test_each_disagreement_has_a_reason_and_cassettes_and_no_reason_is_left_over() -> None:
    found = disagreements(build(PROJECT).tables)
    told = {(row, provider) for row, by in reasons().items() for provider in by}
    assert {(row.id, provider) for row, provider, _ in found} == told
    ids = set(map(PROJECT.cassette_id, PROJECT.cassette_paths()))
    for _, _, cell in found:
        assert cell.claim is not None
        assert cell.claim.against
        assert set(cell.claim.against) <= ids
        assert "\n" not in cell.claim.reason


def test_the_rebuilt_document_is_the_seed_with_other_cells() -> None:
    matrix = build(PROJECT)
    text = files(matrix)[SEED.name].decode()
    # Claude's column is one more than the seed's, so its own parser is not for it.
    lines = text.splitlines()
    for each in matrix.tables:
        for row in each.rows:
            line = next(x for x in lines if x.startswith(f"| {row.id} | "))
            assert line.count(" | ") == len(PROVIDERS) + 1
            assert line.endswith(f" | {row.note} |")
    prose = [x for x in SEED.read_text("utf-8").splitlines() if x and x[0] not in "|•"]
    assert [x for x in prose if x not in lines] == []
    assert "Local opencode source" not in text
    assert table(["Icon", "Value", "Meaning"], []).splitlines()[0] in lines
