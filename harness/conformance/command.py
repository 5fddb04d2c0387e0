"""`harness check`, `harness accept` and `harness replay`: arguments in, exit code out."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any, Final

from harness import output as out
from harness.cassette import CassetteError, CassetteReader, open_cassette
from harness.cassette.show import printable
from harness.conformance.check import PinError, check, write_expected
from harness.conformance.known import find_known
from harness.conformance.levels import held_to
from harness.conformance.render import render_terminal, report_json
from harness.conformance.report import Report
from harness.conformance.reports.forms import shown
from harness.conformance.reports.live import Live
from harness.ending import ENDS
from harness.pending import in_ci, waiting_under
from harness.project import Project, ProjectError, of_documents
from harness.projection.stages import Stage, native_in, stage
from harness.subject import (
    Aside,
    Given,
    Junk,
    Subject,
    coerce,
    exits_held,
    listed,
    said,
)
from harness.subject.choice import choices, running, stopped
from harness.surfaces import SurfaceError, surface

_TAKEN_IN: Final = "--documents takes them in"


def check_command(
    project: Project, paths: Sequence[Path], arguments: argparse.Namespace, live: Live
) -> int:
    """Judge a normalizer on cassettes; return the exit code. Raises SubjectError, KnownError.

    Every form of its report is made of the stream that `live` takes.
    """
    known = find_known(arguments.known_failures, (Path.cwd(), project.root))
    show = out.progress()
    chosen = choices(arguments)
    if arguments.pending and chosen.normalizer is not None:
        raise out.UsageError("--pending is of the reference normalizers: leave --normalizer out")
    left = [] if arguments.cassettes or chosen.all_of_them else [*filter(of_documents, paths)]
    if left and not (paths := [p for p in paths if p not in left]):
        raise ProjectError(f"there are only conversations written by hand; {_TAKEN_IN}")
    with _descriptor_aside(), running(chosen) as subject:
        held = held_to(subject, chosen.levels, chosen.levels_by, chosen.surfaces)
        live.begin(subject.name, getattr(subject, "claims", None), held.levels, held.by)
        report = check(
            paths,
            cassettes=project.cassettes,
            expected=project.expected,
            subject=subject,
            surface=arguments.surface,
            scenario=arguments.scenario,
            orphans=not arguments.cassettes,
            progress=lambda number, total, id_: show(f"{number}/{total} {id_}"),
            held=held,
            finished=live.add,
            known=known,
        )
        report.problem = stopped(subject)
    show("")
    if arguments.json:
        out.say(report_json(report).decode())
    else:
        text = render_terminal(report, colour=out.colour() and not live.takes_stdout)
        (out.note if live.takes_stdout else out.say)(shown(text))
    live.ended(report)
    if left:
        out.note(f"harness check: {len(left)} conversations written by hand left out; {_TAKEN_IN}")
    if arguments.pending:
        _leave(project, report)
    if left := waiting_under(project.cassettes, project.expected):
        out.note(f"harness check: {len(left)} waiting for `harness review`:")
        for path in left:
            out.note(f"  {printable(str(path))}")
    return report.exit_code


def _leave(project: Project, report: Report) -> None:
    """Let the output that is not the pinned one wait beside it; nothing in CI."""
    if in_ci():
        out.note("harness check: --pending: in CI nothing is written")
        return
    for result in report.cassettes:
        missing = not (project.expected / f"{result.id}.jsonl").exists()
        if result.failed() != ["expected"] and not (missing and result.verdict == "unusable"):
            continue
        try:
            write_expected(
                result.path, cassettes=project.cassettes, expected=project.expected, pending=True
            )
        except (PinError, CassetteError) as error:
            out.note(f"harness check: --pending: {printable(str(error))}")


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
            out.say(printable(f"{row['result']:<9} {row['problem'] or row['expected']}"))
    if arguments.json:
        out.say_json(rows)
    return code


def replay_command(path: Path, arguments: argparse.Namespace) -> int:
    """Print one stage of a cassette (`STAGES`), one JSON value a line; return the exit code.

    What a projection leaves out is said on stderr. Raises SubjectError and CassetteError.
    """
    stage_name = arguments.stage
    with running(choices(arguments)) as subject, open_cassette(path) as cassette:
        try:
            surface(cassette.header.surface)
        except SurfaceError as unknown:
            hint = "use the harness version that recorded it"
            raise CassetteError(path, 1, printable(str(unknown)), hint) from unknown
        if stage_name == "native_in":
            for line in native_in(cassette.header, cassette):
                out.say(line.decode())
            code = out.OK
        else:
            code = _replay(path, cassette, subject, stage(stage_name))
        if cassette.truncated:
            out.note(f"harness replay: {path}: truncated; these are the events of what there is")
    return code


def _replay(path: Path, cassette: CassetteReader, subject: Subject, of: Stage) -> int:
    """Print what a stage after the normalizer gives; return the exit code."""
    junk = 0
    place = "opening a session"
    frames = iter(cassette)
    try:
        session = _aside(subject.open, cassette.header)
        # A frame that cannot be read is the cassette's fault, and raised as it is.
        for frame in frames:
            place = f"frame {frame.seq}"
            junk += _print(_aside(session.feed, frame), of)
        place = "the end of the frames"
        junk += _print(_aside(session.close), of)
    except _RaisedError as raised:
        error = raised.error
        out.note(
            f"harness replay: {path}: the normalizer {subject.name} raised at {place}: "
            f"{said(error)}"
        )
        return out.NOT_CONFORMING
    for line in of.close():
        out.say(line.decode())
    for what in of.left():
        out.note(f"harness replay: not projected: {what}")
    return out.NOT_CONFORMING if junk else out.OK


class _RaisedError(Exception):
    """The subject raised `error`: told apart from what the cassette or the output raises."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        super().__init__()


def _aside(call: Callable[..., Any], *arguments: Any) -> Any:
    """Call the subject; what it prints goes to stderr. Raises _RaisedError for what it raises."""
    try:
        with redirect_stdout(Aside()), exits_held():
            value = call(*arguments)
            return value if hasattr(value, "feed") else listed(value)
    except ENDS:
        raise
    except BaseException as error:
        raise _RaisedError(error) from error


def _print(events: Sequence[Given], of: Stage) -> int:
    """Print what a stage makes of the events; return how many were none."""
    junk = 0
    for given in events:
        event = coerce(given)
        if isinstance(event, Junk):
            junk += 1
            out.note(
                f"harness replay: not an event: {printable(f'{event.problem}: {event.shown}')}"
            )
        else:
            for line in of.feed(event):
                out.say(line.decode())
    return junk


@contextmanager
def _descriptor_aside() -> Iterator[None]:
    """Let what is written to descriptor 1 itself go to stderr; a subject may close it too."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _bytes(project: Project, path: Path) -> bytes | None:
    """What is pinned for a cassette now. Raises CassetteError."""
    with open_cassette(path) as cassette:
        pinned = project.expected / f"{cassette.header.id}.jsonl"
    return pinned.read_bytes() if pinned.is_file() else None
