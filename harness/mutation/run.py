"""Runs the mutants of a set of modules under a corpus: which are caught, by what, and which not.

Each mutant lives in a child of its own, which imports the changed module and judges, cassette by
cassette, those that execute the changed lines, the quickest first, up to the first that fails.
"""

import gc
import hashlib
import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import process_time
from typing import Final, Literal

import msgspec
from msgspec import Struct

from harness.conformance.check import RulesOf, check_one, rules_of
from harness.conformance.corpus import Corpus, Target
from harness.mutation.children import Job, cpu_limit, each
from harness.mutation.modules import forget, replace, tracer
from harness.mutation.sites import Module, Mutant
from harness.regular import read_bytes
from harness.subject import Subject

CPU: Final = 3.0
"""Seconds of processor time for a cassette; the longest of the corpus takes a tenth of one."""

WALL: Final = 300.0

Status = Literal["caught", "timeout", "survived"]


class Outcome(Struct, frozen=True):
    """What became of a mutant: `cassette` and `checks` say what caught it.

    `ran` counts the cassettes that execute its lines: 0 is a line that the corpus never runs.
    """

    id: str
    status: Status
    cassette: str = ""
    checks: tuple[str, ...] = ()
    ran: int = 0
    evidence: str = ""


class Baseline(Struct):
    """The corpus without a mutant: seconds, and lines by file, for each cassette that passes."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, frozenset[int]]]
    failed: list[str]


class Bench:
    """Modules, a corpus and what runs the modules on it.

    `scopes` says for each module which surfaces import it: what is changed at import time can
    show in any of their cassettes.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what a run is made of
        self,
        modules: Sequence[Module],
        scopes: Mapping[str, frozenset[str]],
        corpus: Corpus,
        subject: Callable[[], Subject],
        rules: RulesOf = rules_of,
        workers: int = 2,
    ) -> None:
        self.modules = modules
        self.scopes = scopes
        self.corpus = corpus
        self.subject = subject
        self.rules = rules
        self.workers = workers
        self.names = [m.name for m in modules]
        self.cpu = CPU
        surfaces = frozenset[str]().union(*scopes.values()) if scopes else frozenset[str]()
        self.targets = {t.id: t for t in corpus.all() if t.parts[0] in surfaces}

    def baseline(self, kept: Path | None = None) -> Baseline:
        """Judge the corpus as it is, and note the lines that each cassette runs.

        With `kept`, a file: it is read where nothing has changed since, and written.
        """
        print_ = self._print()
        if kept is not None:
            with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
                found = msgspec.json.decode(read_bytes(kept), type=tuple[str, Baseline])
                if found[0] == print_:
                    return found[1]
        whole = Baseline({}, {}, [])
        # In a few shares: each is a child that imports the modules once.
        ids = list(self.targets)
        shares = [ids[n :: self.workers] for n in range(self.workers)]
        jobs: list[tuple[int, Job]] = [
            (n, partial(self._trace, share)) for n, share in enumerate(shares) if share
        ]
        for _, ended in each(jobs, self.workers, WALL * 4):
            if ended.value is None:
                raise RuntimeError(f"the corpus could not be judged: {ended}")
            part = msgspec.convert(ended.value, Baseline)
            whole.seconds |= part.seconds
            whole.lines |= part.lines
            whole.failed += part.failed
        if kept is not None and not whole.failed:
            kept.parent.mkdir(parents=True, exist_ok=True)
            new = kept.with_name(kept.name + ".new")
            new.write_bytes(msgspec.json.encode((print_, whole)))
            new.replace(kept)
        return whole

    def run(
        self, mutants: Iterable[Mutant], baseline: Baseline, first: Mapping[str, str] | None = None
    ) -> Iterator[Outcome]:
        """Yield the outcome of each mutant, in the order in which they end.

        `first` says for mutants which cassette to try before the others.
        """
        by_file = {m.file: m for m in self.modules}
        reach = _reach(baseline)
        recent: dict[str, list[str]] = {}
        ran: dict[str, int] = {}

        def jobs() -> Iterator[tuple[Mutant, Job]]:
            for mutant in mutants:
                module = by_file[mutant.file]
                ids = self._cassettes(module, mutant, baseline, reach)
                ran[mutant.id] = len(ids)
                tried = [(first or {}).get(mutant.id, ""), *recent.get(mutant.function, [])]
                ids = [*(i for i in tried if i in ids), *(i for i in ids if i not in tried)]
                yield mutant, partial(self._judge, module, mutant.id, ids)

        gc.collect()
        gc.freeze()
        try:
            for mutant, ended in each(jobs(), self.workers, WALL):
                status: Status = "survived"
                cassette = ""
                checks: tuple[str, ...] = ()
                if ended.signal in {signal.SIGPROF, signal.SIGKILL}:
                    status = "timeout"
                elif ended.value is None:
                    # It has taken the process with it: no run would end well.
                    status, checks = "caught", (f"signal {ended.signal}{ended.problem}",)
                elif ended.value:
                    status = "caught"
                    cassette, *found = ended.value
                    checks = tuple(found)
                    near = recent.setdefault(mutant.function, [])
                    if cassette not in near:
                        near.insert(0, cassette)
                        del near[3:]
                yield Outcome(mutant.id, status, cassette, checks, ran[mutant.id])
        finally:
            gc.unfreeze()

    def evidence(self, cassette: str) -> str:
        """Return a digest of what caught a mutant: the cassette and what is expected of it."""
        digest = hashlib.sha256()
        target = self.targets.get(cassette)
        if target is None:
            return ""
        digest.update(target.path.read_bytes())
        pinned = self.corpus.pinned(cassette)
        if pinned is not None and pinned.is_file():
            digest.update(pinned.read_bytes())
        return digest.hexdigest()[:16]

    def _cassettes(
        self,
        module: Module,
        mutant: Mutant,
        baseline: Baseline,
        reach: dict[str, dict[int, set[str]]],
    ) -> list[str]:
        """The cassettes in which a mutant can show, the quickest first."""
        if mutant.lines:
            of_file = reach.get(mutant.file, {})
            ids = set[str]().union(*(of_file.get(n, ()) for n in mutant.lines))
        else:
            ids = {i for i in self.targets if self.targets[i].parts[0] in self.scopes[module.name]}
        return sorted(ids, key=lambda i: (baseline.seconds[i], i))

    def _judge(self, module: Module, id_: str, cassettes: Sequence[str]) -> list[str]:
        """In a child: return the cassette that fails and its failed checks, or nothing."""
        code = module.mutated(id_)
        forget(self.names)
        replace(module.name, module.path, code)
        for cassette in cassettes:
            cpu_limit(self.cpu)
            failed = self._failed(self.targets[cassette])
            if failed:
                return [cassette, *failed]
        return []

    def _failed(self, target: Target) -> list[str]:
        try:
            result = check_one(target, self.corpus, self.subject(), self.rules)
        except Exception as error:  # noqa: BLE001 - a mutant may do anything, also at import
            return [type(error).__name__]
        failed = result.failed()
        return failed or (["unusable"] if result.verdict != "pass" else [])

    def _trace(self, ids: Sequence[str]) -> Baseline:
        forget(self.names)
        files = {str(m.path): m.file for m in self.modules}
        found = Baseline({}, {}, [])
        for id_ in ids:
            target = self.targets[id_]
            # Once without the tracer: the time, and all imports.
            if self._failed(target):
                found.failed.append(id_)
                continue
            began = process_time()
            self._failed(target)
            found.seconds[id_] = round(process_time() - began, 6)
            seen: dict[str, set[int]] = {}
            sys.settrace(tracer(files, seen))
            try:
                self._failed(target)
            finally:
                sys.settrace(None)
            found.lines[id_] = {name: frozenset(lines) for name, lines in seen.items()}
        return found

    def _print(self) -> str:
        digest = hashlib.sha256()
        for module in self.modules:
            digest.update(module.file.encode() + b"\0" + module.source)
        for id_ in self.targets:
            digest.update(json.dumps([id_, self.evidence(id_)]).encode())
        return digest.hexdigest()


def _reach(baseline: Baseline) -> dict[str, dict[int, set[str]]]:
    """File to line to the cassettes that run it."""
    reach: dict[str, dict[int, set[str]]] = {}
    for id_, files in baseline.lines.items():
        for file, lines in files.items():
            of_file = reach.setdefault(file, {})
            for line in lines:
                of_file.setdefault(line, set()).add(id_)
    return reach
