"""How a report's parts are put into words, whatever the form."""

from collections.abc import Iterator

from harness.cassette.show import printable
from harness.conformance.report import NOTHING, CassetteResult, CheckResult, Violation
from harness.conformance.reports.stream import Document

_BLAMED = {"subject": "normalizer", "harness": "harness"}
_STDERR = 20
"""How many lines of a subject's stderr are shown."""


def place(violation: Violation) -> str:
    """Return where a violation is: native frame, event, field path."""
    at = []
    if violation.frame:
        at.append(f"frame {violation.frame}" + (f" ({violation.kind})" if violation.kind else ""))
    if violation.event:
        at.append(f"event {violation.event} {violation.type}".rstrip())
    if violation.path:
        at.append(violation.path)
    return printable(", ".join(at) or "the run")


def told(violation: Violation) -> Iterator[str]:
    """Yield a violation in lines, each printable."""
    yield place(violation)
    yield printable(f"  expected  {violation.expected}")
    yield printable(f"  got       {violation.got}")
    if violation.hint:
        yield printable(f"  hint      {violation.hint}")


def reason(check: CheckResult) -> str:
    """Return what a check holds, and where that is written."""
    note = f"; {check.note}" if check.note else ""
    return printable(f"{check.statement} [{check.source}]{note}")


def problem(cassette: CassetteResult) -> str:
    """Return why a cassette is unusable, and what to do."""
    return printable(f"{cassette.problem}; {cassette.hint}" if cassette.hint else cassette.problem)


def blame(cassette: CassetteResult) -> Iterator[str]:
    """Yield whose fault it is, and what the subject said on stderr, in printable lines."""
    if cassette.fault:
        yield f"at fault: the {_BLAMED[cassette.fault]}"
    if cassette.stderr:
        yield "its stderr ends with:"
        for line in cassette.stderr.splitlines()[-_STDERR:]:
            yield printable(f"  {line}")


def outcome(document: Document) -> tuple[str, str]:
    """Return the whole verdict: `pass`, `fail` or `error`, and it in a few words."""
    if document.footer is None:
        return "error", "truncated"
    code, counts = document.footer.exit_code, document.footer.verdicts
    judged = sum(counts.get(v, 0) for v in ("pass", "fail", "unusable"))
    if code == 1:
        failed = counts.get("fail", 0)
        return "fail", f"{failed} of {judged} fail" if failed else "fail"
    if not judged:
        return "error", "nothing run" if code == NOTHING else f"ended with {code}"
    if code:
        return "error", f"{counts.get('unusable', 0)} of {judged} unusable"
    return "pass", f"{counts.get('pass', 0)} pass"
