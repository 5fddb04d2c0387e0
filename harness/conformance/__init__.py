"""Laws, comparison with expected output, verdicts and their reports."""

from harness.conformance.check import PinError, check, rules_of, write_expected
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
    "check",
    "render_terminal",
    "report_json",
    "rules_of",
    "write_expected",
]
