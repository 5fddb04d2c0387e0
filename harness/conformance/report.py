"""What a check found: violations by law, a verdict by cassette, an exit code for the whole."""

from typing import Final, Literal

from msgspec import Struct, field

from harness.subject import Claims
from harness.subject.protocol import LEVELS, Level

PER_LAW: Final = 5
"""How many violations of one law in one cassette are shown; the rest is counted."""

Status = Literal["pass", "fail", "not-judged", "known"]
"""`known` is a failure that known-failures.toml excuses."""
Verdict = Literal["pass", "fail", "unusable", "not-claimed"]
"""`not-claimed` is a surface that the subject does not claim: it was not run, and is no pass."""

Blame = Literal["", "subject", "harness"]
"""Whose fault it is that a cassette does not pass; empty where it passes, or is unusable."""

OK, FAILED, NOTHING, UNUSABLE = 0, 1, 3, 4


class Violation(Struct, frozen=True):
    """One breach of one law: where it is, what was expected, what came, what to do.

    `frame` is the native frame's `seq` (0: none) and `kind` its native kind; `event` counts
    the subject's events from 1 (0: none); `path` is a field of the event, such as
    `payload.state`.
    """

    law: str
    cassette: str
    frame: int
    kind: str
    event: int
    type: str
    path: str
    expected: str
    got: str
    hint: str = ""


class CheckResult(Struct):
    """One check of one cassette. `more` counts the violations that are not shown.

    `note` says why a check was not judged, or on how much of the cassette.
    """

    id: str
    statement: str
    source: str
    status: Status = "pass"
    violations: list[Violation] = field(default_factory=list)
    more: int = 0
    note: str = ""


class CassetteResult(Struct):
    """One cassette's verdict. `problem` and `hint` say why it is unusable.

    `fault` is whose it is where it does not pass; `stderr` is then the end of what a normalizer
    behind a command said there meanwhile.
    """

    id: str
    path: str
    verdict: Verdict = "pass"
    surface: str = ""
    agent: str = ""
    scenario: str = ""
    provenance: str = ""
    truncated: bool = False
    frames: int = 0
    events: int = 0
    problem: str = ""
    hint: str = ""
    fault: Blame = ""
    stderr: str = ""
    checks: list[CheckResult] = field(default_factory=list)

    def check(self, id_: str) -> CheckResult:
        """Return the result of one check. Raises KeyError."""
        for result in self.checks:
            if result.id == id_:
                return result
        raise KeyError(id_)

    def failed(self) -> list[str]:
        """Return the ids of the checks that failed."""
        return [c.id for c in self.checks if c.status == "fail"]


class Report(Struct):
    """What `check` found. `seconds` is wall time, start-up apart.

    `claims` is what the subject says of itself, `held` the levels that it was held to, and
    `held_by` what says so. `problem` is what was wrong with how its process ended, `known_by`
    the file whose known failures are excused.
    """

    subject: str
    cassettes: list[CassetteResult]
    seconds: float = 0.0
    claims: Claims = Claims()
    held: tuple[Level, ...] = LEVELS
    held_by: str = ""
    problem: str = ""
    known_by: str = ""

    @property
    def exit_code(self) -> int:
        """0 all holds, 1 something does not conform, 3 nothing was run, 4 something unusable.

        A failure says something definite about the subject, so it comes before an unusable
        file.
        """
        verdicts = {c.verdict for c in self.cassettes} - {"not-claimed"}
        if not verdicts:
            return NOTHING
        if "fail" in verdicts or self.problem:
            return FAILED
        return UNUSABLE if "unusable" in verdicts else OK
