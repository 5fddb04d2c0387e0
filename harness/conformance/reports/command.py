"""`harness report`: a kept report, in another form."""

import sys
from collections.abc import Sequence
from pathlib import Path

from harness import output as out
from harness.cassette.show import printable
from harness.conformance.render import render_terminal
from harness.conformance.reports.forms import STDOUT, shown, targets, write
from harness.conformance.reports.stream import Document, read_report
from harness.regular import open_regular


def report_command(file: str, forms: Sequence[str]) -> int:
    """Render a kept report (`-`: standard input); return the exit code that its run ended with.

    No form is the terminal's. A truncated report ends with 4. Raises ReportError, UsageError.
    """
    asked = targets(list(forms), STDOUT)
    document = _read(file)
    for target in asked:
        write(target, document)
    if not asked:
        say(document)
    if document.footer is None:
        out.note(f"harness report: {file}: {document.problem}")
    return document.exit_code


def say(document: Document) -> None:
    """Print a document for a terminal."""
    text = render_terminal(document.report, colour=out.colour())
    if document.problem and (document.report.cassettes or document.footer is None):
        text += f"\n{printable(document.problem)}"
    out.say(shown(text))


def _read(file: str) -> Document:
    if file == STDOUT:
        return read_report(sys.stdin.buffer, "standard input")
    with open_regular(Path(file)) as lines:
        return read_report(lines, file)
