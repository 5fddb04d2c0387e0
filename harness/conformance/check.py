"""From cassettes and a subject to verdicts: what `harness check` and pytest both run."""

import os
import shutil
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

from harness.cassette import CassetteError, Header, open_cassette
from harness.conformance.corpus import Corpus, Target, unusable
from harness.conformance.expected import Expected, ExpectedError
from harness.conformance.judge import LAWS, Judge, Rules
from harness.conformance.known import Known
from harness.conformance.laws.subject import Runs
from harness.conformance.levels import ALWAYS, Held, held_to
from harness.conformance.report import (
    FAILED,
    UNUSABLE,
    CassetteResult,
    CheckResult,
    Report,
    Violation,
)
from harness.conformance.rerunning import Reruns, after, planned
from harness.ending import ENDS
from harness.pending import NEW, waiting
from harness.subject import Aside, Claims, Reference, Subject, exits_held, said, standard_open, told
from harness.surfaces import SurfaceError, surface

_PART: Final = ".part"

SMALL: Final = 1 << 20
"""Bytes up to which a cassette's frames are kept for the reruns instead of read again."""

RulesOf = Callable[[Header], Rules]
"""Finds what the judge needs of a cassette's surface. Raises SurfaceError."""

Progress = Callable[[int, int, str], None]
"""Called before each cassette: its number from 1, how many there are, its id."""

Finished = Callable[[CassetteResult], None]
"""Called with each cassette's result as soon as it is there."""


class PinError(Exception):
    """Output that must not be pinned, or could not be.

    `code` is the exit code: 1 where a check fails, 4 where a file is unusable.
    """

    def __init__(self, message: str, code: int) -> None:
        self.code = code
        super().__init__(message)


def rules_of(header: Header) -> Rules:
    """Return what the judge needs of a header's surface."""
    found = surface(header.surface)
    return Rules(found.kinds(), found.ignored, found.sources)


def check(  # noqa: C901, PLR0913 - a selection, where things lie; one step after another
    names: Sequence[str | Path] = (),
    *,
    cassettes: Path,
    expected: Path | None,
    subject: Subject | None = None,
    surface: str | None = None,
    scenario: str | None = None,
    rules: RulesOf = rules_of,
    orphans: bool | None = None,
    progress: Progress | None = None,
    held: Held | None = None,
    finished: Finished | None = None,
    known: Known | None = None,
) -> Report:
    """Judge a subject (the reference normalizers, if none) on cassettes.

    `names` are paths or ids, and none of them means the corpus under `cassettes`, with the
    orphan check in both directions (`orphans` says otherwise). Without `expected` nothing is
    compared. `held` is what the subject is held to (what it claims, if not given), `known` the
    failures that are excused. Nothing that a cassette, an expected file or a subject does raises:
    it is in the report. Raises KnownError where `known` lists what there is not.
    """
    began = time.perf_counter()
    subject = subject or Reference()
    held = held or held_to(subject)
    corpus = Corpus(cassettes, expected)
    targets, unknown = corpus.select(names, surface, scenario)
    results: list[CassetteResult] = []

    def take(result: CassetteResult) -> None:
        results.append(result)
        if finished is not None:
            finished(result)

    for result in unknown:
        take(result)
    if known is not None:
        ids = {t.id for t in (*corpus.all(), *targets)}
        known.verify(ids, {law.id for law in LAWS})
    for number, target in enumerate(targets, 1):
        if progress is not None:
            progress(number, len(targets), target.id)
        result = check_one(target, corpus, subject, rules, held=held)
        if known is not None:
            known.apply(result)
        if surface in {None, result.surface} and scenario in {None, result.scenario}:
            take(result)
    if not names if orphans is None else orphans:
        for result in corpus.orphans(surface, scenario):
            take(result)
    return Report(
        subject.name,
        results,
        time.perf_counter() - began,
        getattr(subject, "claims", Claims()),
        held.levels,
        held.by,
        known_by=str(known.path) if known is not None else "",
    )


def check_one(  # noqa: PLR0913 - a selection, and what it is held to
    target: Target,
    corpus: Corpus,
    subject: Subject,
    rules: RulesOf = rules_of,
    pins: BinaryIO | None = None,
    *,
    held: Held | None = None,
) -> CassetteResult:
    """Judge a subject on one cassette. With `pins`, write its canonical lines instead of comparing.

    Raises nothing but what writing to `pins` does.
    """
    result = unusable(target, "", "")
    standard_open()
    try:
        # What the subject prints is no result of ours.
        with redirect_stdout(Aside()), exits_held():
            _judge(target, corpus, subject, rules, pins, result, held or held_to(subject))
    except CassetteError as error:
        where = f"{error.path}:{error.line}" if error.line else str(error.path)
        _give_up(result, f"{where}: {error.problem}", error.hint)
    except ExpectedError as error:
        _give_up(result, str(error), "")
    except SurfaceError as error:
        _give_up(result, f"{target.path}: {error}", "use the harness version that recorded it")
    except Exception as error:
        if pins is not None and isinstance(error, OSError):
            raise
        _own_fault(result, error)
    except ENDS:
        raise
    except BaseException as error:  # noqa: BLE001 - the harness raises none such: it is foreign
        _foreign(result, error)
    after(subject, result)
    return result


def _own_fault(result: CassetteResult, error: Exception) -> None:
    """Say that the harness itself failed: no other cassette is the worse for it."""
    trace = traceback.extract_tb(error.__traceback__)[-1]
    _give_up(
        result,
        f"the harness failed, not the normalizer: {type(error).__name__}: {told(error)} "
        f"({Path(trace.filename).name}, line {trace.lineno})",
        "report it, with the trace on stderr",
    )
    result.fault = "harness"
    traceback.print_exception(error)


def _foreign(result: CassetteResult, error: BaseException) -> None:
    """Say that what the subject gave raised where it was looked at."""
    result.verdict = "fail"
    runs = next((c for c in result.checks if c.id == ALWAYS), None)
    if runs is None:
        runs = CheckResult(ALWAYS, Runs.statement, Runs.source)
        result.checks.append(runs)
    runs.status = "fail"
    due = "values that can be looked at without an error"
    runs.violations.append(Violation(ALWAYS, result.id, 0, "", 0, "", "", due, said(error)))


def _give_up(result: CassetteResult, problem: str, hint: str) -> None:
    result.verdict, result.problem, result.hint = "unusable", problem, hint
    for law in result.checks:
        if law.status == "pass":
            law.status, law.note = "not-judged", problem


def _judge(  # noqa: PLR0913, PLR0917 - the parts of one verdict
    target: Target,
    corpus: Corpus,
    subject: Subject,
    rules: RulesOf,
    pins: BinaryIO | None,
    result: CassetteResult,
    held: Held,
) -> None:
    with open_cassette(target.path) as cassette:
        header = cassette.header
        result.surface, result.agent = header.surface, header.agent.id
        result.scenario, result.provenance = header.scenario, header.provenance
        if held.surfaces is not None and header.surface not in held.surfaces:
            result.verdict = "not-claimed"
            return
        name = target.id if target.shipped else header.id
        if name != header.id:
            raise CassetteError(
                target.path, 1, f"its header says {header.id}", "move it to where its id says"
            )
        result.id = name
        judge = Judge(subject, cassette, name, rules(header))
        result.checks = [law.result for law in judge.laws]
        pinned = _pinned(target, corpus, name) if pins is None else None
        compared = pinned is not None and pinned.is_file()
        if pins is not None:
            judge.pin(pins)
        try:
            if compared and pinned is not None:
                judge.compare(pinned)
            # A cassette that is small is read once for all runs.
            kept = list(cassette) if cassette.size <= SMALL else None
            if kept is not None:
                planned(subject, judge, kept)
            judge.run(cassette if kept is None else kept)
            judge.finish(truncated=cassette.truncated)
        finally:
            judge.close()
            result.checks = [law.result for law in judge.laws]
            result.frames, result.events = judge.frames, judge.events
        result.truncated = cassette.truncated
    reruns = Reruns(subject, judge, name)
    result.checks += [law.result for law in reruns.laws]
    if judge.failed:
        reruns.not_judged("the normalizer stopped in the first run")
    else:
        reruns.run(target.path, kept)
    result.checks = held.of(result.checks)
    failed = any(c.status == "fail" for c in result.checks)
    result.verdict = "fail" if failed else "pass"
    if result.truncated:
        result.problem = f"{target.path}: truncated after frame {result.frames}: {cassette.why}"
        result.hint = "record it again with `harness record`"
    elif pinned is not None and not compared and held.to(Expected.id):
        result.problem = f"{pinned}: there is no expected output for this cassette"
        result.hint = "`harness accept` pins its output, once it is right"
    if result.problem and not failed:
        result.verdict = "unusable"


def _pinned(target: Target, corpus: Corpus, name: str) -> Path | None:
    """Where the expected output is due; None where a cassette elsewhere has none to keep to."""
    path = corpus.pinned(name)
    if path is not None and (target.shipped or path.is_file()):
        return path
    return None


def canonical_lines(
    path: Path, *, subject: Subject | None = None, rules: RulesOf = rules_of
) -> bytes:
    """Return the canonical form of a cassette's events, one a line: what would be pinned.

    Raises CassetteError for a cassette that is unusable, truncated ones among them.
    """
    with open_cassette(path) as cassette:
        target = Target(cassette.header.id, path, shipped=False)
    lines = BytesIO()
    result = check_one(target, Corpus(path.parent, None), subject or Reference(), rules, lines)
    if result.problem:
        raise CassetteError(path, 0, result.problem, result.hint or "record it again")
    return lines.getvalue()


def write_expected(  # noqa: PLR0913 - a cassette, where things lie, and how
    name: str | Path,
    *,
    cassettes: Path,
    expected: Path,
    subject: Subject | None = None,
    rules: RulesOf = rules_of,
    pending: bool = False,
) -> Path:
    """Pin a cassette's canonical output under `expected`, whole or not at all; return the file.

    With `pending` the pinned file stays as it is, and the output waits beside it for `harness
    review`. Without, nothing waits there any more: what was pinned is newer.

    Raises PinError for a cassette that is truncated, for output that breaks a law, and where
    the file cannot be written; CassetteError for a cassette that is unusable.
    """
    corpus = Corpus(cassettes, expected)
    targets, unknown = corpus.select([name], None, None)
    if unknown:
        raise CassetteError(Path(name), 0, unknown[0].problem, unknown[0].hint)
    (target,) = targets
    with open_cassette(target.path) as cassette:
        path = expected / f"{cassette.header.id}.jsonl"
    if target.path.suffix == NEW:
        raise PinError(f"could not pin {target.path}: it waits; first `harness review`", FAILED)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Without a name while it is judged, so that a kill leaves nothing of it; only the copy
        # has one, for the moment before it takes its place.
        with TemporaryFile(dir=path.parent) as pins:
            result = check_one(target, corpus, subject or Reference(), rules, pins)
            _refuse(result)
            pins.seek(0)
            _put(pins, waiting(path) if pending else path)
        if not pending:
            waiting(path).unlink(missing_ok=True)
    except OSError as error:
        message = f"could not pin {path}: {error.strerror}; nothing was changed"
        raise PinError(message, UNUSABLE) from error
    return waiting(path) if pending else path


def _put(pins: BinaryIO, path: Path) -> None:
    """Make a file of what was pinned, in one step, or nothing, also where a signal ends it."""
    from harness.recording.terminable import unwinding  # noqa: PLC0415 - `check` needs none of it

    part = path.with_name(path.name + _PART)
    with unwinding():
        try:
            with part.open("wb") as copy:
                shutil.copyfileobj(pins, copy)
                copy.flush()
                os.fsync(copy.fileno())
            part.replace(path)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _refuse(result: CassetteResult) -> None:
    """Raise PinError where a result is not good enough to be pinned."""
    if result.verdict == "pass":
        return
    failed = [c for c in result.checks if c.status == "fail"]
    why = result.problem or "; ".join(_first(c) for c in failed)
    code = FAILED if failed else UNUSABLE
    raise PinError(f"could not pin {result.id}: {why}; nothing was changed", code)


def _first(check: CheckResult) -> str:
    if not check.violations:
        return f"{check.id} fails"
    v: Any = check.violations[0]
    return f"{check.id} fails at frame {v.frame}: expected {v.expected}, got {v.got}"
