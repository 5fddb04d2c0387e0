"""The runs after the first: two in turns, and alone what differs, to tell whose finding it is."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from harness.cassette import Frame, open_cassette
from harness.conformance.judge import Judge
from harness.conformance.law import Place
from harness.conformance.laws.handed import window
from harness.conformance.laws.reruns import (
    RERUN,
    Apart,
    Deterministic,
    Prefix,
    Rerun,
    Split,
    found,
    in_turns,
)
from harness.conformance.levels import ALWAYS
from harness.conformance.report import CassetteResult, Violation
from harness.ending import ENDS
from harness.subject import FaultError, Subject, said, standard_open

ALONE: Final = "a run alone differs too"
STOPPED: Final = "the normalizer stopped in a rerun"


class Reruns:
    """Judges `deterministic`, `apart` and `split`, and the rest of `prefix`.

    What the subject raises is a finding of `subject` too, whatever it is held to: so they are run
    at every level.
    """

    def __init__(self, subject: Subject, judge: Judge, name: str) -> None:
        self._subject = subject
        self._judge = judge
        self._name = name
        self._deterministic = Deterministic(Place(name))
        self._apart = Apart(Place(name))
        self._split = Split(Place(name))
        # None sees messages and bytes but what is behind a command.
        self._reopen = getattr(subject, "reopen", None)
        self._cut = getattr(subject, "open_split", None)
        self.laws = [self._deterministic, self._apart]
        if self._cut is not None:
            self.laws.append(self._split)

    def not_judged(self, why: str) -> None:
        """Say why nothing was run again."""
        for law in self.laws:
            law.not_judged(why)

    def run(self, path: Path, frames: Sequence[Frame] | None) -> None:
        """Feed the frames again; they are read again where they were not kept.

        Raises CassetteError.
        """
        fed = len(self._judge.record.counts)
        again, half = Deterministic(Place(self._name)), Prefix(Place(self._name))
        self._in_turns(path, frames, again, half, fed)
        apart = []
        turns = "in turns with another"
        if again.stopped and half.stopped and again.stopped[1] is half.stopped[1]:
            # One process serves both: which of the two has ended it, nothing tells.
            turns = "or of the other in turns with it"
        for trial, law, upto, which in (
            (again, self._deterministic, fed, "a second run"),
            (half, self._judge.prefix, fed // 2, "a run of the first half"),
        ):
            self._stopped(trial, law, f"{which}, {turns}")
            if trial.result.status == "fail" and self._passes_alone(path, frames, law, upto, which):
                apart.append(trial)
            if self._judge.frames > RERUN:
                law.result.note = f"on the first {upto:,} of {self._judge.frames:,} frames"
        # A process that ends in one run ends the other with it: that is no leak.
        if self._apart.result.status == "pass":
            for trial in apart:
                found(self._apart, trial)

    def _in_turns(
        self,
        path: Path,
        frames: Sequence[Frame] | None,
        again: Deterministic,
        half: Prefix,
        fed: int,
    ) -> None:
        record = self._judge.record
        with ExitStack() as stack:
            runs = []
            for law, upto in ((again, fed), (half, fed // 2)):
                session = self._session(law, self._opening(half=law is half))
                if session is None or self._repeats(law, session, upto):
                    continue
                runs.append(
                    (
                        Rerun(law, session, record, upto, window(self._subject)),
                        _again(path, frames, stack),
                    )
                )
            if len(runs) == 2:  # noqa: PLR2004 - both
                (one, its), (other, others) = runs
                in_turns(one, other, its, others)
            for one, its in runs:
                while one.left >= 0:
                    one.feed(its, max(one.left, 1))

    def _opening(self, *, half: bool) -> Any:
        """What opens one of the two runs in turns."""
        return self._subject.open if self._reopen is None else partial(self._reopen, half=half)

    def _repeats(self, law: Deterministic | Prefix, session: Any, upto: int) -> bool:
        """Whether a session is known to repeat the first run: then only its end is left."""
        repeats = getattr(session, "repeats", None)
        if repeats is None or not repeats():
            return False
        if isinstance(law, Prefix):
            if upto:
                law.place.frame, law.place.kind = upto, self._judge.record.kinds[upto - 1]
            try:
                law.closing(session.close())
            except ENDS:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever a foreign normalizer raises
                law.stop("close()", error)
        return True

    def _session(self, law: Deterministic | Prefix, opening: Any) -> Any:
        """Open one more session; None where that fails."""
        try:
            return opening(self._judge.header)
        except ENDS:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a foreign normalizer raises
            law.stop("opening a session", error)
            return None

    def _stopped(
        self, trial: Deterministic | Prefix, law: Deterministic | Prefix, which: str
    ) -> bool:
        """Report what the subject raised in a run; return whether there is no more to be found.

        It may come of the other run, or of how the frames are sent: so far the run differs.
        """
        if trial.stopped is None:
            return False
        doing, error, where = trial.stopped
        self._judge.runs.raised_again(f"{doing} of {which}", error, where)
        if trial is not law:
            trial.fail("", "no error, as in the first run", said(error), where=where)
            return False
        for each in (law, self._apart, self._split):
            if each.result.status == "pass":
                each.not_judged(STOPPED)
        return True

    def _passes_alone(
        self,
        path: Path,
        frames: Sequence[Frame] | None,
        law: Deterministic | Prefix,
        upto: int,
        which: str,
    ) -> bool:
        """Run alone what differed in turns, whole and cut; each says what it finds."""
        before = law.place.failures
        self._once(path, frames, law, self._subject.open, upto)
        if self._stopped(law, law, f"{which}, alone"):
            return False
        if law.place.failures > before:
            for other in (self._apart, self._split):
                if other.result.status == "pass":
                    other.not_judged(ALONE)
            return False
        if self._cut is None:
            return True
        cut = type(law)(Place(self._name))
        self._once(path, frames, cut, self._cut, upto)
        self._stopped(cut, law, f"{which}, alone, each message in two pieces")
        if cut.result.status != "fail":
            return True
        found(self._split, cut)
        if self._apart.result.status == "pass":
            self._apart.not_judged(f"the law `{Split.id}` is broken")
        return False

    def _once(
        self,
        path: Path,
        frames: Sequence[Frame] | None,
        law: Deterministic | Prefix,
        opening: Any,
        upto: int,
    ) -> None:
        session = self._session(law, opening)
        if session is None:
            return
        with ExitStack() as stack:
            run = Rerun(law, session, self._judge.record, upto, window(self._subject))
            its = _again(path, frames, stack)
            while run.left >= 0:
                run.feed(its, max(run.left, 1))


def planned(subject: Subject, judge: Judge, frames: Sequence[Frame]) -> None:
    """Tell a subject that can be told what its runs will be fed."""
    plan = getattr(subject, "plan", None)
    if plan is not None:
        # Where it cannot be started, opening says so.
        with suppress(FaultError):
            plan(judge.header, frames, RERUN)


def after(subject: Subject, result: CassetteResult) -> None:
    """Say whose fault it is that a cassette does not pass, and what the subject said meanwhile.

    What a subject does unasked after its last answer is a finding too.
    """
    finish = getattr(subject, "finish", None)
    if finish is not None:
        fault, said_last = finish()
        if fault is not None and result.checks:
            runs = next(c for c in result.checks if c.id == ALWAYS)
            if runs.status != "fail":
                runs.status = result.verdict = "fail"
                runs.violations.append(
                    Violation(
                        ALWAYS, result.id, 0, "", 0, "", "", "nothing but answers", str(fault)
                    )
                )
        if result.verdict == "fail":
            result.stderr = said_last
    if result.verdict == "fail":
        result.fault = "subject"


def _again(path: Path, frames: Sequence[Frame] | None, stack: ExitStack) -> Iterator[Frame]:
    if frames is not None:
        return iter(frames)
    standard_open()
    return iter(stack.enter_context(open_cassette(path)))
