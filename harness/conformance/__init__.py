"""Laws, comparison with expected output, verdicts and their reports."""

from harness.conformance.check import (
    PinError,
    canonical_lines,
    check,
    rules_of,
    write_expected,
)
from harness.conformance.explain import explain
from harness.conformance.judge import LAWS, Judge, Rules
from harness.conformance.render import render_terminal, report_json
from harness.conformance.report import CassetteResult, CheckResult, Report, Violation

__all__ = [
    "LAWS",
    "CassetteResult",
    "CheckResult",
    "Judge",
    "PinError",
    "Report",
    "Rules",
    "Violation",
    "canonical_lines",
    "check",
    "explain",
    "render_terminal",
    "report_json",
    "rules_of",
    "write_expected",
]
