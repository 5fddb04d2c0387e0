"""The one stream of results: a header, a case for each cassette with its results, a footer.

JSON lines, one record each, written as the check goes. No footer means that the run did not
come to its end: the report is truncated, and never a pass.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from harness.conformance.report import (
    Blame,
    CassetteResult,
    CheckResult,
    Report,
    Status,
    Verdict,
    Violation,
)
from harness.subject import Claims
from harness.subject.protocol import LEVELS, Level

_WRONG: Final = frozenset({1, 2, 3, 4, 5})
"""The exit codes of a run with which something was wrong as a whole."""

FORMAT: Final = 1
"""The version of the report's form. Another one is refused, never guessed at."""


class ReportError(Exception):
    """A kept report that cannot be read, or is not whole. Exit code 4."""


class Selection(Struct, frozen=True, omit_defaults=True):
    """What was asked for: cassettes by name (none: the corpus), a surface, a scenario."""

    cassettes: tuple[str, ...] = ()
    surface: str = ""
    scenario: str = ""


class ReportHeader(Struct, frozen=True, tag_field="record", tag="header"):
    """Who was judged, by what, and on which cassettes.

    `name`, `version`, `language` and `surfaces` are what the subject says of itself, where it does;
    `levels` is what it was held to (empty: all), `held_by` what says so. `when` is UTC, RFC 3339.
    """

    format: int
    harness: str
    subject: str
    when: str
    selection: Selection = Selection()
    name: str = ""
    version: str = ""
    language: str = ""
    surfaces: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ()
    held_by: str = ""


class Case(Struct, frozen=True, tag_field="record", tag="case"):
    """One cassette's verdict; the `checks` results that follow are of it.

    `fault` is whose it is where it does not pass, `stderr` what the subject said there meanwhile.
    """

    cassette: str
    path: str
    verdict: Verdict
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
    checks: int = 0


class Result(Struct, frozen=True, tag_field="record", tag="result"):
    """One check of one cassette. `more` counts the violations that are not listed."""

    cassette: str
    check: str
    status: Status
    statement: str
    source: str
    violations: list[Violation] = field(default_factory=list)
    more: int = 0
    note: str = ""


class Footer(Struct, frozen=True, tag_field="record", tag="footer"):
    """The end of the run: how many cassettes and checks came out how, and the exit code.

    `problem` says why nothing was run, or what was wrong with the run as a whole.
    """

    exit_code: int
    cassettes: int
    verdicts: dict[str, int]
    statuses: dict[str, int]
    events: int
    seconds: float
    problem: str = ""


Record = ReportHeader | Case | Result | Footer

_decoder = msgspec.json.Decoder(Record)


class Document(Struct):
    """A stream, read: what every form is made of. Without a footer it is truncated."""

    header: ReportHeader
    report: Report
    footer: Footer | None = None

    @property
    def exit_code(self) -> int:
        """The run's exit code; 4 where the report is truncated."""
        return 4 if self.footer is None else self.footer.exit_code

    @property
    def problem(self) -> str:
        """What was wrong with the run as a whole, or empty."""
        if self.footer is None:
            return "the report is truncated: it has no footer, so its run did not come to its end"
        return self.footer.problem or ("nothing was run" if not self.report.cassettes else "")


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of a report."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One line of a conformance report, version 1",
        **msgspec.json.schema(Record),
    }


def encode(record: Record) -> bytes:
    """Return a record as one line. What UTF-8 cannot hold (lone surrogates) is an escape."""
    try:
        line = msgspec.json.encode(record)
    except UnicodeEncodeError:
        line = msgspec.json.encode(_encodable(msgspec.to_builtins(record)))
    return line + b"\n"


def kept(record: Record) -> tuple[bytes, Record]:
    """Return a record's line, and the record as a reader of the line has it."""
    try:
        return msgspec.json.encode(record) + b"\n", record
    except UnicodeEncodeError:
        line = encode(record)
        return line, _decoder.decode(line)


def records_of(result: CassetteResult) -> Iterator[Case | Result]:
    """Yield the records of one cassette's result."""
    yield Case(
        result.id,
        result.path,
        result.verdict,
        result.surface,
        result.agent,
        result.scenario,
        result.provenance,
        result.truncated,
        result.frames,
        result.events,
        result.problem,
        result.hint,
        result.fault,
        result.stderr,
        len(result.checks),
    )
    for c in result.checks:
        yield Result(result.id, c.id, c.status, c.statement, c.source, c.violations, c.more, c.note)


class Folding:
    """Makes a document of records, one at a time. Raises ReportError for a wrong order."""

    def __init__(self) -> None:
        self._document: Document | None = None
        self._due = 0

    def add(self, record: Record) -> None:
        """Take the next record."""
        document = self._document
        if isinstance(record, ReportHeader):
            if document is not None:
                raise ReportError("a second header")
            if record.format != FORMAT:
                raise ReportError(
                    f"report format {record.format} is not known, {FORMAT} is; "
                    "read it with the harness version that wrote it"
                )
            claims = Claims(record.name, record.version, record.language, record.surfaces or None)
            held = record.levels or LEVELS
            report = Report(record.subject, [], 0.0, claims, held, record.held_by)
            self._document = Document(record, report)
            return
        if document is None:
            raise ReportError("no header before it; a report begins with one")
        if document.footer is not None:
            raise ReportError("a record after the footer")
        if isinstance(record, Result):
            self._result(document, record)
            return
        if self._due:
            raise ReportError(f"{self._due} results of the case before are missing")
        _fits(document.report.cassettes[-1:])
        if isinstance(record, Case):
            self._due = record.checks
            document.report.cassettes.append(_result_of(record))
        else:
            _agrees(record, document.report)
            document.footer = record
            document.report.seconds = record.seconds
            document.report.problem = record.problem

    def document(self) -> Document:
        """Return what was read. Raises ReportError where there was nothing."""
        if self._document is None:
            raise ReportError("it is empty; a report begins with a header")
        return self._document

    def _result(self, document: Document, record: Result) -> None:
        cases = document.report.cassettes
        if not self._due or cases[-1].id != record.cassette:
            raise ReportError(f"a result of {record.cassette!r} that is not of the case before")
        self._due -= 1
        cases[-1].checks.append(
            CheckResult(
                record.check,
                record.statement,
                record.source,
                record.status,
                record.violations,
                record.more,
                record.note,
            )
        )


def _fits(last: Sequence[CassetteResult]) -> None:
    """Refuse a case whose verdict is not that of its results. Raises ReportError."""
    for result in last:
        failed = result.failed()
        if failed and result.verdict not in {"fail", "unusable"}:
            raise ReportError(
                f"the case before, {result.id!r}, is {result.verdict!r} and fails {failed[0]}"
            )
        if not failed and result.verdict == "fail":
            raise ReportError(f"the case before, {result.id!r}, is 'fail' and fails no check")


def _agrees(footer: Footer, report: Report) -> None:
    """Refuse a footer that is not of the cases before it. Raises ReportError.

    Its exit code follows from them, unless it says what was wrong with the run as a whole.
    """
    cases = report.cassettes
    verdicts = Counter(case.verdict for case in cases)
    statuses = Counter(check.status for case in cases for check in case.checks)
    for what, said, there in (
        ("cassettes", footer.cassettes, len(cases)),
        ("verdicts", footer.verdicts, dict(verdicts)),
        ("statuses", footer.statuses, dict(statuses)),
        ("events", footer.events, sum(case.events for case in cases)),
    ):
        if said != there:
            raise ReportError(f"its footer counts {_told(said)} {what}, there are {_told(there)}")
    code, due = footer.exit_code, report.exit_code
    if not footer.problem and code != due:
        raise ReportError(f"its footer has the exit code {code}, its cases have {due}")
    if footer.problem and code not in _WRONG:
        raise ReportError(f"its footer has a problem, and the exit code {code}")


def _told(count: int | Mapping[Any, int]) -> str:
    if isinstance(count, int):
        return str(count)
    return ", ".join(f"{number} {name}" for name, number in sorted(count.items())) or "no"


def read_report(lines: Iterable[bytes], name: str | Path) -> Document:
    """Return the document of a kept report; one that is truncated has no footer.

    Raises ReportError, with the line, for what is no report. A last line that was cut off in the
    middle belongs to a run that was killed: it is left out.
    """
    folding = Folding()
    for number, line in enumerate(lines, 1):
        try:
            folding.add(_decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            if not line.endswith(b"\n") and number > 1:
                break
            raise ReportError(f"{name}:{number}: not a record of a report: {error}") from error
        except ReportError as error:
            raise ReportError(f"{name}:{number}: {error}") from error
    try:
        return folding.document()
    except ReportError as error:
        raise ReportError(f"{name}: {error}") from error


def _result_of(case: Case) -> CassetteResult:
    return CassetteResult(
        case.cassette,
        case.path,
        case.verdict,
        case.surface,
        case.agent,
        case.scenario,
        case.provenance,
        truncated=case.truncated,
        frames=case.frames,
        events=case.events,
        problem=case.problem,
        hint=case.hint,
        fault=case.fault,
        stderr=case.stderr,
    )


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(k): _encodable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(v) for v in value]
    return value
