"""Annotations for a GitHub Actions job: workflow commands, one a line.

A step shows ten errors and ten warnings and drops the rest: the last of each says how many
there are more.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from harness.cassette.show import printable
from harness.conformance.report import CassetteResult
from harness.conformance.reports import words
from harness.conformance.reports.stream import Document

PER_STEP: Final = 10
"""How many annotations of one level GitHub keeps of a step."""


class _Annotation(NamedTuple):
    level: str
    title: str
    text: str
    file: str = ""
    line: int = 0


def github(document: Document) -> bytes:
    """Return the report as workflow commands; the end of a run that holds is a notice."""
    noted: dict[str, list[_Annotation]] = {"error": [], "warning": []}
    if document.problem:
        noted["error"].append(_Annotation("error", "conformance", printable(document.problem)))
    for cassette in document.report.cassettes:
        for annotation in _of(cassette):
            noted[annotation.level].append(annotation)
    lines = []
    for level, annotations in noted.items():
        # The first of each cassette and check are the ones that say most: they come in order.
        shown = annotations if len(annotations) <= PER_STEP else annotations[: PER_STEP - 1]
        lines += [_command(a) for a in shown]
        if more := len(annotations) - len(shown):
            text = f"{more} more are in the log and in the other reports"
            lines.append(_command(_Annotation(level, "conformance", text)))
    verdict, text = words.outcome(document)
    if verdict == "pass":
        lines.append(_command(_Annotation("notice", "conformance", text)))
    return "".join(f"{line}\n" for line in lines).encode()


def inert(text: str) -> str:
    """Return text of which no line is a workflow command to GitHub's runner."""
    lines = text.replace("##[", "#\\x23[").split("\n")
    return "\n".join(
        f"\\x3a{line.lstrip()[1:]}" if line.lstrip().startswith("::") else line for line in lines
    )


def _of(cassette: CassetteResult) -> Iterator[_Annotation]:
    file = _file(cassette.path)
    for check in cassette.checks:
        if check.status != "fail":
            continue
        title = f"{cassette.id}: {check.id}"
        lines = [words.reason(check)]
        for violation in check.violations[:1]:
            lines += words.told(violation)
        if more := len(check.violations[1:]) + check.more:
            lines.append(f"and {more:,} more")
        lines += words.blame(cassette)
        frame = check.violations[0].frame if check.violations else 0
        # The cassette's first line is its header, and frame 1 is the second.
        yield _Annotation("error", title, "\n".join(lines), file, frame + 1)
    if cassette.verdict == "unusable":
        text = "\n".join([words.problem(cassette), *words.blame(cassette)])
        yield _Annotation("error", f"{cassette.id}: unusable", text, file, 1)
    for check in cassette.checks:
        if check.status == "known":
            note = printable(check.note) or "a known failure"
            yield _Annotation("warning", f"{cassette.id}: {check.id}, known", note, file, 1)


def _file(path: str) -> str:
    """The path as GitHub has it: from the top of the repository, where it is in there."""
    top = os.environ.get("GITHUB_WORKSPACE") or str(Path.cwd())
    try:
        return os.path.relpath(path, top) if Path(path).resolve().is_relative_to(top) else path
    except (OSError, ValueError):
        return path


def _command(annotation: _Annotation) -> str:
    properties = []
    if annotation.file:
        properties += [f"file={_property(annotation.file)}", f"line={max(annotation.line, 1)}"]
    properties.append(f"title={_property(annotation.title)}")
    return f"::{annotation.level} {','.join(properties)}::{_data(annotation.text)}"


def _data(text: str) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.encode("utf-8", "backslashreplace").decode()


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
