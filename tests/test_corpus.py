"""The shipped corpus: the reference normalizers on every cassette, check by check.

All by what the pytest plugin offers to any project.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from harness.conformance import LAWS, CassetteResult, canonical_lines
from harness.conformance.render import check_text
from harness.pending import NEW, waiting_under
from harness.project import find_project
from harness.pytest_plugin.run import Run

PROJECT = find_project(Path(__file__))
CASSETTES = {PROJECT.cassette_id(path): path for path in PROJECT.cassette_paths()}
# `split` is of what is behind a command: a normalizer of this process is given no bytes.
CHECKS = [law.id for law in LAWS if law.id not in {"expected", "split"}]

Judge = Callable[[str], CassetteResult]


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


# One test for all laws of a cassette: 26 items each cost more than what they check.
@pytest.mark.parametrize("cassette", CASSETTES)
def test_laws(cassette: str, judge_cassette: Judge) -> None:
    result = judge_cassette(cassette)
    checks = [result.check(law) for law in CHECKS]
    broken = [check_text(result, check) for check in checks if check.status != "pass"]
    assert broken == [], "\n".join(broken)


@pytest.mark.parametrize("cassette", CASSETTES)
def test_expected(
    cassette: str, expected: SnapshotAssertion, harness_run: Run, judge_cassette: Judge
) -> None:
    assert canonical_lines(CASSETTES[cassette]) == expected(name=cassette)
    if expected.update_snapshots:
        harness_run.forget(cassette)
    # Compared a second time as `harness check` does it: the two must agree.
    result = judge_cassette(cassette)
    check = result.check("expected")
    assert check.status == "pass", check_text(result, check)
