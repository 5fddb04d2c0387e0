"""A report as text for a terminal, and as JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from harness.cassette.show import printable
from harness.conformance.report import CassetteResult, CheckResult, Report
from harness.conformance.reports import words

_COLOURS: Final = {"pass": "32", "fail": "31"} | dict.fromkeys(
    ("unusable", "not-judged", "not-claimed", "known"), "33"
)
_EXPLAINED: Final = 20
"""How many violations of one cassette are shown."""


def report_json(report: Report) -> bytes:
    """Return the report as one JSON object, with its exit code."""
    value: dict[str, Any] = msgspec.to_builtins(report)
    counts = Counter(c.verdict for c in report.cassettes)
    value["summary"] = {v: counts[v] for v in ("pass", "fail", "unusable", "not-claimed")}
    value["summary"]["known"] = _known(report.cassettes)
    value["exit_code"] = report.exit_code
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


def render_terminal(report: Report, *, colour: bool = False, verbose: bool = False) -> str:
    """Return the report as text: a line for each cassette, then what is wrong with which.

    `verbose` adds a line for each check of each cassette. What comes from cassettes, files and
    subjects is shown with its control characters as escapes.
    """
    return "\n".join(_lines(report, colour=colour, verbose=verbose))


def trouble_text(cassette: CassetteResult) -> str:
    """Return what is wrong with a cassette, or its result, as text."""
    return "\n".join(_trouble(cassette, colour=False))


def check_text(cassette: CassetteResult, check: CheckResult) -> str:
    """Return what one check of a cassette found, as text."""
    lines = [printable(f"{cassette.id}: {check.status} ({cassette.path})")]
    lines += [*_check(check, _EXPLAINED), *_inside(words.blame(cassette), 2)]
    return "\n".join(lines)


def _lines(report: Report, *, colour: bool, verbose: bool) -> Iterator[str]:
    if not report.cassettes:
        yield "nothing was checked: no cassette fits; see `harness list cassettes`"
        return
    judged = [c for c in report.cassettes if c.verdict != "not-claimed"]
    width = max((len(printable(c.id)) for c in judged), default=0)
    for cassette in judged:
        mark = _paint(f"{cassette.verdict:<8}", cassette.verdict, colour=colour)
        yield f"{mark} {printable(cassette.id):<{width}}  {_facts(cassette)}".rstrip()
        if verbose:
            yield from (_check_line(c, colour=colour) for c in cassette.checks)
    for cassette in judged:
        if cassette.verdict != "pass":
            yield ""
            yield from _trouble(cassette, colour=colour)
    yield ""
    yield _summary(report, colour=colour)


def _facts(cassette: CassetteResult) -> str:
    facts = [f"{cassette.frames:,} frames, {cassette.events:,} events"] if cassette.frames else []
    if _silent(cassette):
        facts[0] += " (no event at all)"
    if cassette.truncated:
        facts.append("truncated")
    if failed := cassette.failed():
        facts.append("fails " + ", ".join(failed))
    if known := [c.id for c in cassette.checks if c.status == "known"]:
        facts.append("known to fail " + ", ".join(known))
    return "; ".join(facts)


def _silent(cassette: CassetteResult) -> bool:
    """Whether a normalizer took a cassette's frames and said nothing of them."""
    return bool(cassette.verdict == "pass" and cassette.frames and not cassette.events)


def _known(cassettes: list[CassetteResult]) -> int:
    """How many failures are excused."""
    return sum(c.status == "known" for cassette in cassettes for c in cassette.checks)


def _check_line(check: CheckResult, *, colour: bool) -> str:
    note = f" ({printable(check.note)})" if check.note else ""
    mark = _paint(f"{check.status:<10}", check.status, colour=colour)
    return f"    {mark} {check.id}: {check.statement}{note}"


def _trouble(cassette: CassetteResult, *, colour: bool) -> Iterator[str]:
    yield _paint(f"{printable(cassette.id)}: {cassette.verdict}", cassette.verdict, colour=colour)
    if cassette.problem:
        yield f"  {words.problem(cassette)}"
    shown = 0
    for check in cassette.checks:
        if check.status != "fail":
            continue
        yield from _check(check, _EXPLAINED - shown)
        shown += len(check.violations)
    if shown > _EXPLAINED:
        yield f"  … {shown - _EXPLAINED} more violations are in --json"
    yield from _inside(words.blame(cassette), 2)


def _check(check: CheckResult, most: int) -> Iterator[str]:
    yield f"  {check.id}: {words.reason(check)}"
    for violation in check.violations[: max(most, 0)]:
        yield from _inside(words.told(violation), 4)
    if check.more:
        yield f"    … and {check.more:,} more of this law"


def _inside(lines: Iterable[str], columns: int) -> Iterator[str]:
    for line in lines:
        yield " " * columns + line


def _summary(report: Report, *, colour: bool) -> str:
    counts = Counter(c.verdict for c in report.cassettes)
    parts = [
        _paint(f"{counts[v]} {v}", v, colour=colour)
        for v in ("pass", "fail", "unusable")
        if counts[v]
    ]
    events = sum(c.events for c in report.cassettes)
    judged = len(report.cassettes) - counts["not-claimed"]
    said = (
        f"{_who(report)}: {', '.join(parts) or 'nothing was checked'}; {judged} cassettes, "
        f"{events:,} events, {report.seconds:.2f} s"
    )
    if silent := sum(map(_silent, report.cassettes)):
        mark = _paint("warning", "unusable", colour=colour)
        said += (
            f"\n{mark}: {silent} of them gave no event at all, and pass since what they are held "
            "to says nothing of that"
        )
    if counts["not-claimed"]:
        left = Counter(c.surface for c in report.cassettes if c.verdict == "not-claimed")
        named = ", ".join(f"{printable(s)} {n}" for s, n in sorted(left.items()))
        said += f"\n{counts['not-claimed']} cassettes not claimed, and not run: {named}"
    if report.known_by:
        said += (
            f"\n{_known(report.cassettes)} known failures excused ({printable(report.known_by)})"
        )
    if report.held_by:
        said += f"\nheld to {', '.join(report.held) or 'nothing'} ({report.held_by})"
    if report.problem:
        said += f"\n{_paint('fail', 'fail', colour=colour)}: {printable(report.problem)}"
    return said


def _who(report: Report) -> str:
    claims = report.claims
    name = "" if claims.name == report.subject else claims.name
    more = " ".join(part for part in (name, claims.version, claims.language) if part)
    known = claims.version and f" ({more})"
    return printable(f"{report.subject}{known}")


def _paint(text: str, meaning: str, *, colour: bool) -> str:
    return f"\x1b[{_COLOURS[meaning]}m{text}\x1b[0m" if colour else text
