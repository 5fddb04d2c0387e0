"""The stream of a run that goes on: written as it goes, and the other forms at its end."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from harness import __version__
from harness import output as out
from harness.conformance.report import CassetteResult, Report
from harness.conformance.reports.forms import STDOUT, Target, targets, write
from harness.conformance.reports.stream import (
    FORMAT,
    Document,
    Folding,
    Footer,
    Record,
    ReportHeader,
    Selection,
    kept,
    records_of,
)
from harness.subject.protocol import Level


class Live:
    """Takes a run's results one by one. Each line is out before the next cassette is judged.

    `jsonl` goes to its own name at once, so that what a killed run found is there to be read:
    that it has no footer says what it is. The other forms are written whole, at the end.
    """

    def __init__(self, asked: Sequence[Target], selection: Selection) -> None:
        self.asked = asked
        self._selection = selection
        self._folding = Folding()
        self._begun = False
        self._verdicts: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._events = 0
        self._files: list[BinaryIO] = []
        self._open = ExitStack()

    @property
    def takes_stdout(self) -> bool:
        """Whether standard output is a report's alone; annotations stand beside other text."""
        return any(t.path == STDOUT and t.form != "github" for t in self.asked)

    def open(self) -> None:
        """Make the files that are written as the run goes. Raises OSError."""
        for form, path in self.asked:
            if form != "jsonl":
                continue
            # A copy of the descriptor: the subject may close its own, or print there.
            file = os.fdopen(os.dup(1), "wb") if path == STDOUT else Path(path).open("wb")  # noqa: SIM115 - the stack closes it
            self._files.append(self._open.enter_context(file))

    def begin(
        self, subject: str, claims: Any = None, levels: Sequence[Level] = (), held_by: str = ""
    ) -> None:
        """Write the header. `claims` is what the subject says of itself, where it does."""
        self._begun = True
        self._add(
            ReportHeader(
                FORMAT,
                __version__,
                subject,
                datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                self._selection,
                getattr(claims, "name", ""),
                getattr(claims, "version", ""),
                getattr(claims, "language", ""),
                tuple(sorted(getattr(claims, "surfaces", None) or ())),
                tuple(levels),
                held_by,
            )
        )

    def add(self, result: CassetteResult) -> None:
        """Write one cassette's result."""
        self._verdicts[result.verdict] += 1
        self._statuses.update(check.status for check in result.checks)
        self._events += result.events
        for record in records_of(result):
            self._add(record)

    def end(self, exit_code: int, seconds: float = 0.0, problem: str = "") -> None:
        """Write the footer, and every other form. Raises OSError."""
        self._add(
            Footer(
                exit_code,
                sum(self._verdicts.values()),
                dict(self._verdicts),
                dict(self._statuses),
                self._events,
                round(seconds, 3),
                problem,
            )
        )
        self._open.close()
        document = self.document()
        for target in self.asked:
            if target.form != "jsonl":
                write(target, document)

    def ended(self, report: Report) -> None:
        """Write the end of a run that came to it."""
        self.end(report.exit_code, report.seconds, getattr(report, "problem", ""))

    def failed(self, subject: str, exit_code: int, problem: str) -> None:
        """Write the end of a run that could not be made, for what is the matter with it."""
        if not self._begun:
            self.begin(subject)
        self.end(exit_code, problem=problem)

    def document(self) -> Document:
        """Return what there is so far."""
        return self._folding.document()

    def close(self) -> None:
        """Close the files, at whatever state."""
        self._open.close()

    def _add(self, record: Record) -> None:
        line, read = kept(record)
        self._folding.add(read)
        for file in self._files:
            file.write(line)
            file.flush()


@contextmanager
def reporting(arguments: Any) -> Iterator[Live]:
    """Give what takes a run's results; an error that ends the run is in every report of it.

    Raises UsageError for reports that cannot be asked for, OSError for one that cannot be written.
    """
    asked = targets(arguments.report)
    live = Live(
        asked,
        Selection(tuple(arguments.cassettes), arguments.surface or "", arguments.scenario or ""),
    )
    if live.takes_stdout and arguments.json:
        raise out.UsageError("--json and a report to `-` both want standard output")
    try:
        live.open()
        try:
            yield live
        except Exception as error:
            code = out.exit_code(error)
            if code is not None and not isinstance(error, OSError):
                live.failed(arguments.normalizer or "reference", code, out.text_of(error))
            raise
    finally:
        live.close()
