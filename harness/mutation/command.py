"""`harness mutate`: arguments in, exit code out."""

import argparse
import random
from pathlib import Path
from typing import Final

import msgspec

from harness import output as out
from harness.conformance.corpus import Corpus
from harness.mutation import equivalents
from harness.mutation.modules import PACKAGE, reference_modules
from harness.mutation.run import Baseline, Bench, Outcome
from harness.mutation.score import Kept, as_json, render, score
from harness.mutation.sites import Module, Mutant
from harness.project import Project
from harness.subject import Reference
from harness.surfaces import surface

LEAST: Final = 95.0
FOLDER: Final = ".mutation"


def bench(project: Project, surface_: str | None = None, workers: int = 2) -> Bench:
    """Return the reference normalizers' modules on a corpus; with a surface, only its own."""
    of = reference_modules()
    if surface_ is not None:
        of = {surface(surface_).name: of[surface(surface_).name]}
    scopes: dict[str, set[str]] = {}
    paths: dict[str, Path] = {}
    for name, found in of.items():
        for module, path in found.items():
            scopes.setdefault(module, set()).add(name)
            paths[module] = path
    modules = [Module(name, paths[name], _file(name)) for name in sorted(paths)]
    corpus = Corpus(project.cassettes, project.expected)
    fixed = {name: frozenset(found) for name, found in scopes.items()}
    return Bench(modules, fixed, corpus, Reference, workers=workers)


def _file(module: str) -> str:
    return module.removeprefix(f"{PACKAGE}.").replace(".", "/") + ".py"


def mutate_command(project: Project, arguments: argparse.Namespace) -> int:
    """Run mutants, or those left to run; print the score; return the exit code.

    Raises SurfaceError, EquivalentsError, and UsageError for a file that has no mutants.
    """
    made = bench(project, arguments.surface, arguments.workers)
    every = {m.id: m for module in made.modules for m in module.mutants.values()}
    wanted = _wanted(list(every.values()), arguments)
    listed = equivalents.load(arguments.equivalents)
    if arguments.sample is not None:
        wanted = [m for m in wanted if m.id not in listed]
        random.Random(arguments.seed).shuffle(wanted)  # noqa: S311 - a sample, no secret
        wanted = wanted[: arguments.sample]
    if not wanted:
        out.note("harness mutate: no mutant to run")
        return out.NOTHING_RUN
    folder = project.root / FOLDER
    if not made.targets:
        out.note(f"harness mutate: {project.cassettes} holds no cassette of these surfaces")
        return out.NOTHING_RUN
    name = arguments.surface or "all"
    baseline = made.baseline(folder / f"lines-{name}.json")
    if baseline.failed:
        out.note(
            f"harness mutate: without any mutant {', '.join(baseline.failed[:5])} fails; "
            "`harness check` says why"
        )
        return out.NOT_CONFORMING
    kept = Kept(folder / "outcomes.jsonl")
    outcomes = _run(made, wanted, baseline, kept, again=arguments.again)
    found = score(made.modules, wanted, outcomes, listed)
    caught = {i: _caught(o) for i, o in outcomes.items() if o.status != "survived"}
    whole = arguments.surface is None
    asked = {i: r for i, r in listed.items() if whole or i in every}
    found.stale = equivalents.stale(asked, every, caught)
    if arguments.json:
        out.say_json(as_json(found))
    else:
        out.say(render(found, shown=True))
    return out.NOT_CONFORMING if found.stale or found.total.score < arguments.least else out.OK


def _wanted(mutants: list[Mutant], arguments: argparse.Namespace) -> list[Mutant]:
    if not arguments.file:
        return mutants
    files = {m.file for m in mutants}
    for name in arguments.file:
        if not any(f == name or f.endswith(f"/{name}") for f in files):
            raise out.UsageError(f"--file {name}: no module of a normalizer; of {sorted(files)}")
    return [
        m for m in mutants if any(m.file == f or m.file.endswith(f"/{f}") for f in arguments.file)
    ]


def _run(
    made: Bench, wanted: list[Mutant], baseline: Baseline, kept: Kept, *, again: bool
) -> dict[str, Outcome]:
    """Return the outcomes of mutants: those kept that still hold, and the others, run now."""
    evidence = {i: made.evidence(i) for i in made.targets}
    outcomes: dict[str, Outcome] = {}
    first: dict[str, str] = {}
    for mutant in wanted:
        old = kept.outcomes.get(mutant.id)
        if old is None or old.status == "survived":
            continue
        first[mutant.id] = old.cassette
        # Caught by what has not changed since: it would be caught again.
        if not again and old.cassette and old.evidence == evidence.get(old.cassette):
            outcomes[mutant.id] = old
    left = [m for m in wanted if m.id not in outcomes]
    show = out.progress()
    for number, outcome in enumerate(made.run(left, baseline, first), 1):
        dated = msgspec.structs.replace(outcome, evidence=evidence.get(outcome.cassette, ""))
        kept.add(dated)
        outcomes[outcome.id] = dated
        show(f"{number}/{len(left)} {outcome.id}")
    show("")
    return outcomes


def _caught(outcome: Outcome) -> str:
    by = ", ".join(outcome.checks) or outcome.status
    return f"caught by {by} on {outcome.cassette or 'a time limit'}"
