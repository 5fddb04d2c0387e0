"""What pytest judges: a normalizer and a corpus; each cassette once."""

import argparse
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

from harness.canonical import EventBase
from harness.cassette import CassetteReader, Header, open_cassette
from harness.conformance.check import check_one, rules_of
from harness.conformance.corpus import Corpus, Target
from harness.conformance.judge import LAWS
from harness.conformance.known import Known, KnownError, find_known
from harness.conformance.laws.reruns import Split
from harness.conformance.levels import Held, held_to
from harness.conformance.report import CassetteResult
from harness.output import UsageError
from harness.project import CASSETTES, Project, ProjectError, find_project, of_documents
from harness.subject import (
    InProcess,
    Junk,
    Subject,
    SubjectError,
    coerce,
    exits_held,
    listed,
)
from harness.subject.choice import Choice, choices, running, stopped
from harness.surfaces import SurfaceError, surface

Normalizer = str | Callable[[Header], Any]
"""A spec as of `--normalizer`, or what takes a header and gives `feed` and `close`."""
Replayed = EventBase | Junk


class Run:
    """One session's normalizer and corpus."""

    def __init__(self, choice: Choice, corpus: Corpus, project: Project) -> None:
        self.choice = choice
        self.corpus = corpus
        self.project = project
        self.known: Known | None = None
        self.problems: list[str] = []
        self.targets: list[Target] = []
        self.orphans: list[CassetteResult] = []
        self.arguments: list[str] = []
        self._stack = ExitStack()
        self._subject: Subject | None = None
        self._held: Held | None = None
        self._results: dict[str, CassetteResult] = {}

    @classmethod
    def asked(cls, config: pytest.Config) -> Self:
        """Make a run of the options.

        Raises UsageError of pytest, for a folder that is none or a list of known failures that
        cannot be used.
        """
        option = config.option
        try:
            corpus, project = _corpus(option.cassettes, option.expected, config.rootpath)
            choice = choices(
                argparse.Namespace(
                    normalizer=option.normalizer,
                    level=option.level,
                    time_limit=None,
                    memory_limit=None,
                    documents=option.documents,
                )
            )
            if option.surface is not None:
                surface(option.surface)
            asked = Path(option.known_failures) if option.known_failures is not None else None
            known = find_known(asked, (Path.cwd(), project.root))
            if known is not None:
                known.verify({t.id for t in corpus.all()}, {law.id for law in LAWS})
        except (UsageError, ProjectError, SurfaceError, KnownError) as error:
            raise pytest.UsageError(str(error)) from error
        run = cls(choice, corpus, project)
        run.known = known
        run.targets, _ = corpus.select([str(corpus.cassettes)], option.surface, option.scenario)
        if not choice.all_of_them:
            run.targets = [t for t in run.targets if not of_documents(t.path)]
        run.orphans = corpus.orphans(option.surface, option.scenario)
        return run

    def take(self, arguments: Sequence[str], folder: Path) -> list[str]:
        """Take the arguments that are ids, or begin some; return the others, which are files."""
        ids = [t.id for t in self.targets] + [o.id for o in self.orphans]
        files = []
        for argument in arguments:
            head, _, check = argument.partition("::")
            begun = any(f"{id_}/".startswith(f"{head}/") for id_ in ids)
            if begun and not (folder / head).exists():
                self.arguments.append(argument)
                known = {law.id for law in LAWS} | {ORPHAN}
                if check and check not in known:
                    raise pytest.UsageError(f"{argument}: no check is called {check!r}")
            else:
                files.append(argument)
        return files

    def named(self, id_: str, check: str) -> bool:
        """Whether the arguments let a check of a cassette through."""
        if not self.arguments:
            return True
        parted = (argument.partition("::") for argument in self.arguments)
        return any(
            f"{id_}/".startswith(f"{head}/") and rest in {"", check} for head, _, rest in parted
        )

    def start(self) -> None:
        """Load the normalizer, or start it. Raises UsageError of pytest."""
        try:
            subject = self._stack.enter_context(_running(self.choice))
        except (SubjectError, UsageError) as error:
            raise pytest.UsageError(str(error)) from error
        chosen = self.choice
        self._held = held_to(subject, chosen.levels, chosen.levels_by, chosen.surfaces)
        self._subject = subject

    def problem(self) -> str:
        """End the normalizer as the protocol has it; return what was wrong with that, if any."""
        return "" if self._subject is None else stopped(self._subject)

    def end(self) -> None:
        """End it, whatever happened."""
        self._subject = None
        self._stack.close()

    @property
    def subject(self) -> Subject:
        """The normalizer, started where it is not."""
        if self._subject is None:
            self.start()
        assert self._subject is not None  # noqa: S101 - `start` raises otherwise
        return self._subject

    @property
    def held(self) -> Held:
        """What it is held to; known once it was started."""
        return self._held or Held()

    @property
    def header(self) -> str:
        """What is judged, on what, in a line."""
        by = f" ({self.held.by})" if self.held.by else ""
        known = f"; known failures: {self.known.path}" if self.known is not None else ""
        return (
            f"harness: {self.choice.normalizer or 'the reference normalizers'} on "
            f"{len(self.targets)} cassettes of {self.corpus.cassettes}"
            f"{', which came with the package' if self.project.packaged else ''}; "
            f"held to {', '.join(self.held.levels)}{by}{known}"
        )

    def checks(self) -> list[str]:
        """Return the ids of the checks of a cassette, in the order of a report."""
        left = set() if hasattr(self.subject, "open_split") else {Split.id}
        if self.corpus.expected is None:
            left.add("expected")
        return [law.id for law in LAWS if law.id not in left and self.held.to(law.id)]

    def claimed(self, target: Target) -> bool:
        """Whether the normalizer claims a cassette's surface, as far as its id says so."""
        claims = self.held.surfaces
        return claims is None or target.parts[0] in claims

    def judged(self, target: Target) -> CassetteResult:
        """Judge the normalizer on a cassette, once."""
        result = self._results.get(target.id)
        if result is None:
            subject = self.subject
            result = check_one(target, self.corpus, subject, rules_of, held=self.held)
            if self.known is not None:
                self.known.apply(result)
            self._results[target.id] = result
        return result

    def judge(self, name: str, normalizer: Normalizer | None) -> CassetteResult:
        """Judge a normalizer on a cassette that a path or an id names.

        What is known to fail is the option's normalizer's, and excused for no other.
        """
        targets, unknown = self.corpus.select([name], None, None)
        if unknown:
            return unknown[0]
        if normalizer is None:
            return self.judged(targets[0])
        with _one(normalizer) as subject:
            return check_one(targets[0], self.corpus, subject, rules_of, held=held_to(subject))

    def forget(self, id_: str) -> None:
        """Judge a cassette anew when it is asked for: its expected file was written."""
        self._results.pop(id_, None)

    def open(self, name: str) -> CassetteReader:
        """Open a cassette that a path or an id names. Raises ProjectError and CassetteError."""
        path = Path(name)
        if not path.is_file():
            path = self.corpus.cassettes / f"{name}.jsonl"
        if not path.is_file():
            raise ProjectError(
                f"no cassette {name!r}: neither a file nor an id under {self.corpus.cassettes}"
            )
        return open_cassette(path)

    def replay(self, name: str, normalizer: Normalizer | None) -> list[Replayed]:
        """Return the events that a normalizer gives for a cassette. Raises what it raises."""
        with exits_held(), ExitStack() as stack:
            one = None if normalizer is None else stack.enter_context(_one(normalizer))
            subject = one or self.subject
            cassette = stack.enter_context(self.open(name))
            session = subject.open(cassette.header)
            events: list[Replayed] = []
            for frame in cassette:
                events += map(coerce, listed(session.feed(frame)))
            events += map(coerce, listed(session.close()))
            return events


ORPHAN = "orphan"
"""Stands for a check, where an expected file has no cassette."""


def _corpus(cassettes: str | None, expected: str | None, root: Path) -> tuple[Corpus, Project]:
    """The folders, and the project that they are of. Raises ProjectError and UsageError."""
    for option, name in (("--cassettes", cassettes), ("--expected", expected)):
        if name is not None and not Path(name).is_dir():
            raise UsageError(f"{option} {name!r}: there is no such folder")
    if cassettes is None:
        project = find_project(root)
        return Corpus(project.cassettes, Path(expected) if expected else project.expected), project
    folder = Path(cassettes)
    if (folder / CASSETTES).is_dir():
        folder /= CASSETTES
    project = Project(folder.resolve().parent)
    beside = project.expected if folder.resolve().name == CASSETTES else None
    pins = Path(expected) if expected else beside if beside and beside.is_dir() else None
    return Corpus(folder, pins), project


@contextmanager
def _running(choice: Choice) -> Iterator[Subject]:
    """Run the normalizer; a signal ends pytest as Ctrl-C does, so that it is ended too."""
    came: list[int] = []

    def interrupt(number: int, _: object) -> None:
        came.append(number)
        raise KeyboardInterrupt

    with running(choice) as subject:
        before = {}
        if hasattr(subject, "stop") and threading.current_thread() is threading.main_thread():
            # In place of those of `running`: pytest takes what they raise for a test's failure.
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) != signal.SIG_IGN:
                    before[number] = signal.signal(number, interrupt)
        try:
            yield subject
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _one(normalizer: Normalizer) -> Iterator[Subject]:
    """Run a normalizer of a test's own."""
    if isinstance(normalizer, str):
        with running(Choice(normalizer=normalizer)) as subject:
            yield subject
    else:
        yield InProcess(normalizer, getattr(normalizer, "__qualname__", repr(normalizer)))
