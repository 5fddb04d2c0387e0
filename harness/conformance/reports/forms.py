"""Which forms there are, where each goes, and how it is written: whole, or not at all."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from harness import output as out
from harness.conformance.reports.stream import Document, encode, records_of

FORMS: Final = ("jsonl", "junit", "github", "summary", "badge")
STDOUT: Final = "-"
SUMMARY: Final = "GITHUB_STEP_SUMMARY"


class Target(NamedTuple):
    """One form, and the path that it goes to; `-` is standard output."""

    form: str
    path: str


def targets(texts: list[str], default: str = "") -> list[Target]:
    """Return what `FORMAT=PATH` texts ask for. Raises UsageError.

    Without a path, `github` is on standard output and `summary` what GITHUB_STEP_SUMMARY names.
    The others need one, unless there is a `default`.
    """
    found = []
    for text in texts:
        form, given, path = text.partition("=")
        if form not in FORMS:
            raise out.UsageError(f"--report {text}: {form!r} is none of {', '.join(FORMS)}")
        if given and not path:
            raise out.UsageError(f"--report {text}: the path is empty; `-` is standard output")
        if not path and form == "github":
            path = STDOUT
        if not path and form == "summary":
            path = os.environ.get(SUMMARY, "")
        path = path or default
        if not path:
            why = f" ({SUMMARY} is not set)" if form == "summary" else ""
            raise out.UsageError(f"--report {text}: a path is needed{why}: {form}=PATH")
        found.append(Target(form, path))
    paths = [t.path for t in found if t.path != os.devnull]
    if len(set(paths)) < len(paths):
        raise out.UsageError("two reports go to the same place; give each a path of its own")
    return found


def rendered(form: str, document: Document, *, path: str = "", room: int | None = None) -> bytes:
    """Return a document in a form; `room` is how many bytes a summary may have."""
    # Each form's module is imported when it is asked for.
    # ruff: noqa: PLC0415
    if form == "junit":
        from harness.conformance.reports.junit import junit

        return junit(document)
    if form == "github":
        from harness.conformance.reports.github import github

        return github(document)
    if form == "summary":
        from harness.conformance.reports.summary import LIMIT, summary

        return summary(document, LIMIT if room is None else room)
    if form == "badge":
        from harness.conformance.reports.badge import badge

        return badge(document, svg=path.endswith(".svg"))
    lines = [encode(document.header)]
    for result in document.report.cassettes:
        lines += [encode(record) for record in records_of(result)]
    if document.footer is not None:
        lines.append(encode(document.footer))
    return b"".join(lines)


def write(target: Target, document: Document) -> None:
    """Write a document in one form, in one step. Raises OSError."""
    form, name = target
    if name == STDOUT:
        sys.stdout.flush()
        text = rendered(form, document).decode()
        out.say(text.removesuffix("\n"))
        return
    path = Path(name)
    if form == "summary" and name == os.environ.get(SUMMARY):
        from harness.conformance.reports.summary import LIMIT

        # GitHub's own file, to which every step adds: what stands there is another's.
        there = path.stat().st_size if path.exists() else 0
        with path.open("ab") as file:
            file.write(rendered(form, document, room=max(LIMIT - there, 0)))
        return
    content = rendered(form, document, path=name)
    if path.exists() and not path.is_file():
        # A pipe or a device has no name to be exchanged.
        path.write_bytes(content)
        return
    pending = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with pending.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        pending.replace(path)
    finally:
        with suppress(OSError):
            pending.unlink(missing_ok=True)


def shown(text: str) -> str:
    """Return a terminal's text as it may be said here: in a GitHub job, with no command in it."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return text
    from harness.conformance.reports.github import inert

    return inert(text)
