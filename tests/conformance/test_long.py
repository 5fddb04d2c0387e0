"""Cassettes that are too long to be kept: read again, judged on a part, in bounded memory."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from benchmarks.conformance import MEMORY_GROWS_AT_MOST, corpus_of, peak
from harness.conformance import CassetteResult, check
from harness.conformance.check import SMALL
from harness.conformance.laws.reruns import RERUN
from harness.subject import InProcess
from tests.conformance import toy

_COUNTER = itertools.count()

TURN = [
    {"kind": "turn", "turnId": "native"},
    *[{"kind": "say", "itemId": "native-item", "text": "word " * 10}] * 97,
    {"kind": "said", "itemId": "native-item", "text": "word " * 970},
    {"kind": "done"},
]


class Normalizer(toy.Normalizer):
    """The correct one, for items whose native ids come again in each turn."""

    def on_turn(self, data: dict[str, Any]) -> None:
        super().on_turn(data)
        self.items.clear()


def judge(tmp_path: Path, make: Any, turns: int) -> CassetteResult:
    path = toy.write(tmp_path / "cassettes", [toy.CHAT[0], *TURN * turns])
    assert path.stat().st_size > SMALL
    report = check(
        [path],
        cassettes=tmp_path / "cassettes",
        expected=None,
        subject=InProcess(make, "toy"),
        rules=toy.rules,
    )
    (result,) = report.cassettes
    return result


def counting(turn: int) -> Any:
    """A normalizer that says something random at the end of one turn."""

    class Random(Normalizer):
        ended = 0

        def on_done(self, data: dict[str, Any]) -> None:
            super().on_done(data)
            self.ended += 1
            if self.ended == turn:
                self.ledger.warn(str(next(_COUNTER)))

    return Random


def test_reruns_stop_and_say_so(tmp_path: Path) -> None:
    result = judge(tmp_path, Normalizer, 101)
    assert result.verdict == "pass", result
    assert (result.frames, result.events) == (10_101, 10_202)
    assert result.check("deterministic").note == f"on the first {RERUN:,} of 10,101 frames"
    assert result.check("prefix").note == "on the first 5,000 of 10,101 frames"


@pytest.mark.parametrize(("turn", "failed"), [(10, True), (99, True), (101, False)])
def test_a_difference_is_found_within_the_reruns_alone(
    tmp_path: Path, turn: int, *, failed: bool
) -> None:
    result = judge(tmp_path, counting(turn), 101)
    assert ("deterministic" in result.failed()) is failed
    assert ("prefix" in result.failed()) is (turn < 50)
    if failed:
        violation = result.check("deterministic").violations[0]
        assert (violation.type, violation.path) == ("runtime.warning", "payload.message")
        assert violation.frame == 1 + 100 * turn


@pytest.mark.slow
def test_memory_does_not_grow_with_the_cassette(tmp_path: Path) -> None:
    short, long = tmp_path / "short", tmp_path / "long"
    corpus_of(short, 12_000)
    corpus_of(long, 60_000)
    assert peak(long) / peak(short) <= MEMORY_GROWS_AT_MOST
