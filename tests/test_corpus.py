"""The shipped corpus: the reference normalizers on every cassette, check by check."""

from functools import cache
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from harness.conformance import LAWS, Report, canonical_lines, check, render_terminal
from harness.pending import NEW, waiting_under
from tests.expected_file import ExpectedFile

PROJECT = ExpectedFile.project
CASSETTES = {PROJECT.cassette_id(path): path for path in PROJECT.cassette_paths()}
# `split` is of what is behind a command: a normalizer of this process is given no bytes.
CHECKS = [law.id for law in LAWS if law.id not in {"expected", "split"}]


@cache
def judged(path: Path) -> Report:
    """`harness check PATH`, once for all the tests of a cassette."""
    return check([path], cassettes=PROJECT.cassettes, expected=PROJECT.expected)


def test_the_corpus_is_there() -> None:
    assert CASSETTES, f"{PROJECT.cassettes} holds no cassette: record them with `harness record`"


def test_every_cassette_has_its_expected_file_and_the_other_way_round() -> None:
    pinned = {
        path.relative_to(PROJECT.expected).with_suffix("").as_posix()
        for path in PROJECT.expected.rglob("*.jsonl")
    }
    assert sorted(CASSETTES.keys() - pinned) == [], "cassettes without expected output"
    assert sorted(pinned - CASSETTES.keys()) == [], "expected output without a cassette"


def test_nothing_lies_where_only_cassettes_and_expected_files_belong() -> None:
    strays = [
        path
        for root in (PROJECT.cassettes, PROJECT.expected)
        for path in root.rglob("*")
        if path.is_file()
        and not path.name.startswith(".")
        and path.suffix != NEW
        and (path.suffix != ".jsonl" or len(path.relative_to(root).parts) != 3)
    ]
    assert strays == []


def test_nothing_waits_for_review() -> None:
    assert waiting_under(PROJECT.cassettes, PROJECT.expected) == [], "decide by `harness review`"


@pytest.mark.parametrize("law", CHECKS)
@pytest.mark.parametrize("cassette", CASSETTES)
def test_law(cassette: str, law: str) -> None:
    report = judged(CASSETTES[cassette])
    (result,) = report.cassettes
    assert [c.status for c in result.checks if c.id == law] == ["pass"], render_terminal(report)


@pytest.mark.parametrize("cassette", CASSETTES)
def test_expected(cassette: str, expected: SnapshotAssertion) -> None:
    path = CASSETTES[cassette]
    assert canonical_lines(path) == expected(name=cassette)
    if expected.update_snapshots:
        judged.cache_clear()
    # Compared a second time as `harness check` does it: the two must agree.
    report = judged(path)
    (result,) = report.cassettes
    assert result.check("expected").status == "pass", render_terminal(report)
