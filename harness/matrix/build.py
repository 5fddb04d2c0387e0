"""The whole matrix as one value, from the cassettes alone. Nothing here is written by hand."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from harness.canonical.events import EVENT_CLASSES
from harness.canonical.names import ITEM_TYPES, REQUEST_TYPES
from harness.cassette import CassetteError
from harness.matrix.cells import cell
from harness.matrix.coverage import Coverage, scan
from harness.matrix.model import (
    PROVIDERS,
    CassetteEntry,
    KindSeen,
    Matrix,
    NativeKind,
    ScenarioColumn,
    ScenarioView,
    Seen,
    Table,
    TableRow,
    Unusable,
)
from harness.matrix.rows import ADDITIONS, ROWS, Row
from harness.matrix.seed import with_claim
from harness.matrix.skeleton import align, differences
from harness.project import Project
from harness.scenarios import Scenario, scenarios
from harness.surfaces import Surface, SurfaceError, surfaces


class MatrixError(Exception):
    """A file under `matrix/` that could not be written. Exit code 4."""


_RANK: dict[Seen, int] = {"live": 3, "scripted": 2, "constructed": 1, "not seen": 0}


class Corpus(Struct, frozen=True):
    """What the cassettes of a project show, each scanned once, and those that cannot be used."""

    coverages: list[Coverage]
    unusable: list[Unusable]


def read(project: Project) -> Corpus:
    """Scan every agent's cassettes once. One that does not load is listed, and takes none down."""
    coverages: list[Coverage] = []
    unusable: list[Unusable] = []
    for path in project.recorded_paths():
        own = project.cassette_id(path)
        try:
            coverage = scan(path)
        except CassetteError as error:
            unusable.append(Unusable(own, f"line {error.line}: {error.problem}"))
            continue
        except SurfaceError as error:
            unusable.append(Unusable(own, str(error)))
            continue
        if coverage.header.id != own:
            unusable.append(Unusable(own, f"its header says {coverage.header.id}"))
        elif coverage.truncated:
            unusable.append(Unusable(own, "truncated"))
        else:
            coverages.append(coverage)
    return Corpus(coverages, unusable)


def build(project: Project) -> Matrix:
    """Compute the matrix of a project's cassettes. Raises SeedError and ScenarioError."""
    return matrix_of(read(project))


def matrix_of(corpus: Corpus) -> Matrix:
    """Compute the matrix of cassettes that were scanned."""
    coverages = corpus.coverages
    known = scenarios()
    by_surface: dict[str, list[Coverage]] = {name: [] for name in surfaces()}
    for coverage in coverages:
        by_surface[coverage.header.surface].append(coverage)
    return Matrix(
        kinds=_table("kinds", ROWS, by_surface, known),
        additions=_table("additions", ADDITIONS, by_surface, known),
        cassettes=[_entry(c, known) for c in coverages],
        unusable=corpus.unusable,
        native={name: _native(surfaces()[name], by_surface[name]) for name in sorted(by_surface)},
        canonical=_canonical(coverages),
        scenarios=_scenarios(coverages, known),
    )


_WORDS: dict[str, tuple[str, str, str]] = {
    "kinds": ("Event kinds", "chat_event kind", "Interface value"),
    "additions": ("Interface additions", "Addition", "Why it matters"),
}


def _table(
    name: Literal["kinds", "additions"],
    rows: Iterable[Row],
    by_surface: Mapping[str, list[Coverage]],
    known: Mapping[str, Scenario],
) -> Table:
    whole = name == "additions"
    return Table(
        name,
        *_WORDS[name],
        [
            TableRow(
                row.id,
                row.value,
                {
                    provider: with_claim(
                        name,
                        row.id,
                        provider,
                        cell(row, _surfaces_of(provider), by_surface, known, whole=whole),
                    )
                    for provider in PROVIDERS
                },
            )
            for row in rows
        ],
    )


def to_json(matrix: Matrix) -> bytes:
    """Return `matrix.json`: the same bytes for the same cassettes."""
    return msgspec.json.format(msgspec.json.encode(matrix), indent=1) + b"\n"


def _surfaces_of(provider: str) -> list[Surface]:
    return [s for s in surfaces().values() if s.manifest.provider == provider]


def _entry(coverage: Coverage, known: Mapping[str, Scenario]) -> CassetteEntry:
    header = coverage.header
    return CassetteEntry(
        header.id,
        header.surface,
        header.provider,
        header.agent.id,
        header.scenario,
        known[header.scenario].title if header.scenario in known else "",
        header.provenance,
        coverage.outcome,
        coverage.frames,
        coverage.events,
    )


def _scenarios(coverages: Iterable[Coverage], known: Mapping[str, Scenario]) -> list[ScenarioView]:
    """Put the cassettes of each scenario side by side."""
    by_scenario: dict[str, list[Coverage]] = {}
    for coverage in coverages:
        by_scenario.setdefault(coverage.header.scenario, []).append(coverage)
    views = []
    for name, own in sorted(by_scenario.items()):
        own.sort(key=lambda c: (PROVIDERS.index(c.header.provider), c.header.id))
        skeletons = [c.skeleton for c in own]
        recorded = [c.header.provenance != "constructed" for c in own]
        columns = [
            ScenarioColumn(
                c.header.id,
                c.header.provider,
                c.header.surface,
                c.header.agent.id,
                c.outcome,
                differs,
            )
            for c, differs in zip(own, differences(skeletons, recorded), strict=True)
        ]
        title = known[name].title if name in known else ""
        views.append(ScenarioView(name, title, columns, align(skeletons)))
    return views


def _native(surface: Surface, coverages: Iterable[Coverage]) -> list[NativeKind]:
    agents: dict[str, dict[str, KindSeen]] = {}
    for coverage in coverages:
        header = coverage.header
        for kind, (frame, count) in coverage.native_kinds.items():
            new = KindSeen(header.provenance, count, (header.id, frame))
            of = agents.setdefault(kind, {})
            of[header.agent.id] = _better(of.get(header.agent.id), new)
    known = surface.vocabulary.kinds
    entries = []
    for kind in [*known, *sorted(set(agents) - set(known))]:
        entry = known.get(kind)
        of = agents.get(kind, {})
        best: KindSeen | None = None
        for one in of.values():
            best = _better(best, one)
        entries.append(
            NativeKind(
                kind,
                list(entry.to) if entry else [],
                entry.ignored if entry else "",
                entry.experimental if entry else False,
                best.seen if best else "not seen",
                best.count if best else 0,
                best.first if best else None,
                entry is not None,
                of,
            )
        )
    return entries


def _better(old: KindSeen | None, new: KindSeen) -> KindSeen:
    """Join what two saw of a kind: the better provenance, its first frame, and both counts."""
    if old is None:
        return new
    best = new if _RANK[new.seen] > _RANK[old.seen] else old
    return KindSeen(best.seen, old.count + new.count, best.first)


def _canonical(coverages: Iterable[Coverage]) -> dict[str, dict[str, dict[str, int]]]:
    """Events of each type, item type and request type, by provider: 0 is not seen, not a no."""
    tables: dict[str, dict[str, dict[str, int]]] = {
        "types": {name: {} for name in EVENT_CLASSES},
        "item types": {name: {} for name in ITEM_TYPES},
        "request types": {name: {} for name in REQUEST_TYPES},
    }
    for coverage in coverages:
        provider = coverage.header.provider
        for table, counts in (
            ("types", coverage.types),
            ("item types", coverage.item_types),
            ("request types", coverage.request_types),
        ):
            for name, count in counts.items():
                row = tables[table][name]
                row[provider] = row.get(provider, 0) + count
    return tables


def write(project: Project, files: dict[str, bytes]) -> list[Path]:
    """Write the files under `matrix/`, each at once, and remove older ones that are no more."""
    try:
        project.matrix.mkdir(exist_ok=True)
    except OSError as error:
        raise MatrixError(f"making {project.matrix}: {error.strerror}") from error
    written = []
    for name, content in files.items():
        path = project.matrix / name
        part = path.with_name(name + ".part")
        try:
            part.write_bytes(content)
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise MatrixError(
                f"writing {path}: {error.strerror}; the file is as it was: make room, or let "
                "matrix/ be written, and run `harness matrix` again"
            ) from error
        written.append(path)
    for path in stale_names(project, files):
        path.unlink()
    return written


def stale(project: Project, files: dict[str, bytes]) -> list[str]:
    """Return the names under `matrix/` that are not what the cassettes say now."""
    different = [
        name
        for name, content in files.items()
        if not (project.matrix / name).is_file() or (project.matrix / name).read_bytes() != content
    ]
    return different + [path.name for path in stale_names(project, files)]


def stale_names(project: Project, files: dict[str, Any]) -> list[Path]:
    """Return the generated files under `matrix/` that would not be generated any more."""
    here = sorted(p for p in project.matrix.glob("*") if p.suffix in {".md", ".json", ".html"})
    return [path for path in here if path.name not in files]
