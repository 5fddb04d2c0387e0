"""`harness check`, `harness accept` and `harness replay`: arguments in, exit code out."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness import output as out
from harness.canonical import encode_event
from harness.cassette import CassetteError, open_cassette
from harness.conformance.check import PinError, check, write_expected
from harness.conformance.render import render_terminal, report_json
from harness.project import Project
from harness.subject import Given, Junk, Reference, Subject, coerce, listed, load_subject
from harness.surfaces import SurfaceError


def check_command(project: Project, paths: Sequence[Path], arguments: argparse.Namespace) -> int:
    """Judge a normalizer on cassettes; return the exit code. Raises SubjectError."""
    show = out.progress()
    report = check(
        paths,
        cassettes=project.cassettes,
        expected=project.expected,
        subject=_subject(arguments.normalizer),
        surface=arguments.surface,
        scenario=arguments.scenario,
        orphans=not arguments.cassettes,
        progress=lambda number, total, id_: show(f"{number}/{total} {id_}"),
    )
    show("")
    if arguments.json:
        out.say(report_json(report).decode())
    else:
        out.say(render_terminal(report, colour=out.colour()))
    return report.exit_code


def accept_command(project: Project, paths: Sequence[Path], arguments: argparse.Namespace) -> int:
    """Pin what the reference normalizers give for cassettes; return the exit code.

    A cassette that is unusable, or whose output breaks a law, is named and left as it was.
    """
    rows = []
    code = out.OK
    for path in paths:
        row = {"cassette": str(path), "result": "", "expected": "", "problem": ""}
        try:
            before = _bytes(project, path)
            written = write_expected(path, cassettes=project.cassettes, expected=project.expected)
        except PinError as error:
            row |= {"result": "refused", "problem": str(error)}
            code = max(code, error.code)
        except CassetteError as error:
            row |= {"result": "unusable", "problem": str(error)}
            code = out.UNUSABLE
        else:
            after = written.read_bytes()
            result = "new" if before is None else "unchanged" if after == before else "changed"
            row |= {"result": result, "expected": str(written)}
        rows.append(row)
        if not arguments.json:
            out.say(f"{row['result']:<9} {row['problem'] or row['expected']}")
    if arguments.json:
        out.say_json(rows)
    return code


def replay_command(path: Path, normalizer: str | None) -> int:
    """Print a cassette's canonical events, one a line; return the exit code.

    Raises SubjectError and CassetteError.
    """
    subject = _subject(normalizer) or Reference()
    with open_cassette(path) as cassette:
        place = "opening a session"
        try:
            session = subject.open(cassette.header)
            for frame in cassette:
                place = f"frame {frame.seq}"
                _print(session.feed(frame))
            place = "the end of the frames"
            _print(session.close())
        except (CassetteError, SurfaceError, BrokenPipeError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a foreign normalizer raises
            out.note(
                f"harness replay: {path}: the normalizer {subject.name} raised at {place}: "
                f"{type(error).__name__}: {error}"
            )
            return out.NOT_CONFORMING
        if cassette.truncated:
            out.note(f"harness replay: {path}: truncated; these are the events of what there is")
    return out.OK


def _print(events: Iterable[Given]) -> None:
    for given in listed(events):
        event = coerce(given)
        if isinstance(event, Junk):
            out.note(f"harness replay: not an event: {event.problem}: {event.shown}")
        else:
            out.say(encode_event(event).decode())


def _subject(spec: str | None) -> Subject | None:
    return load_subject(spec) if spec is not None else None


def _bytes(project: Project, path: Path) -> bytes | None:
    """What is pinned for a cassette now. Raises CassetteError."""
    with open_cassette(path) as cassette:
        pinned = project.expected / f"{cassette.header.id}.jsonl"
    return pinned.read_bytes() if pinned.is_file() else None
