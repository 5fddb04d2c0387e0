"""Each law catches its faults, and nothing but them; the correct normalizer passes them all."""

from pathlib import Path
from typing import Any

import pytest

from harness.conformance import LAWS, CassetteResult, check
from harness.subject import InProcess
from tests.conformance import toy
from tests.conformance.broken import ALSO, BROKEN

ELSEWHERE = {"expected", "split"}
"""Judged where there is something to compare with, and of what is behind a command."""


def judge(tmp_path: Path, make: Any, frames: Any = toy.CHAT, **options: Any) -> CassetteResult:
    toy.write(tmp_path / "cassettes", frames, **options)
    report = check(
        cassettes=tmp_path / "cassettes",
        expected=None,
        subject=InProcess(make, "toy"),
        rules=toy.rules,
    )
    (result,) = report.cassettes
    return result


def test_the_correct_one_passes_every_law(tmp_path: Path) -> None:
    result = judge(tmp_path, toy.Normalizer)
    assert result.verdict == "pass"
    assert {c.id: c.status for c in result.checks} == {
        law.id: "pass" for law in LAWS if law.id not in ELSEWHERE
    }
    assert (result.frames, result.events) == (17, 19)


def test_the_correct_one_passes_with_all_that_there_is(tmp_path: Path) -> None:
    result = judge(tmp_path, toy.Normalizer, toy.MORE)
    assert [c.id for c in result.checks if c.status != "pass"] == []
    assert (result.frames, result.events) == (22, 25)


@pytest.mark.parametrize(("law", "fault", "make"), BROKEN, ids=[f"{b[0]}-{b[1]}" for b in BROKEN])
def test_a_fault_breaks_its_law_alone(tmp_path: Path, law: str, fault: str, make: Any) -> None:
    result = judge(tmp_path, make, getattr(make, "FRAMES", toy.CHAT))
    assert result.verdict == "fail"
    assert set(result.failed()) == {law} | ALSO.get(fault, set())
    violations = result.check(law).violations
    assert violations
    assert all(v.law == law and v.cassette == toy.HEADER.id and v.expected for v in violations)


def test_every_law_has_a_fault() -> None:
    assert {law for law, _, _ in BROKEN} == {law.id for law in LAWS} - ELSEWHERE
