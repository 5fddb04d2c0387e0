"""The whole matrix as one data file, from the cassettes alone. Nothing here is written by hand."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from harness.canonical.events import EVENT_CLASSES
from harness.canonical.names import ITEM_TYPES, REQUEST_TYPES
from harness.cassette import CassetteError
from harness.matrix.cells import Cell, cell
from harness.matrix.coverage import Coverage, scan
from harness.matrix.rows import ROWS
from harness.project import Project
from harness.scenarios import scenarios
from harness.surfaces import Surface, surfaces

PROVIDERS = ("acp", "cursor", "opencode", "codex", "claude")
"""The columns, in the seed document's order, with Claude beside them."""


class MatrixError(Exception):
    """A file under `matrix/` that could not be written. Exit code 4."""


class NativeKind(Struct, frozen=True):
    """A native kind of a surface's vocabulary, and what the cassettes showed of it.

    `seen` is live, scripted, constructed or `not seen`; `first` is a cassette's id and the
    number of a frame.
    """

    kind: str
    to: list[str]
    ignored: str
    experimental: bool
    seen: str
    count: int
    first: tuple[str, int] | None
    in_vocabulary: bool


class CassetteEntry(Struct, frozen=True):
    """A cassette that the matrix rests on."""

    id: str
    surface: str
    agent: str
    scenario: str
    provenance: str
    outcome: str
    frames: int


class Matrix(Struct, frozen=True):
    """Everything under `matrix/`: the cells, the native and the canonical coverage."""

    cassettes: list[CassetteEntry]
    unusable: list[str]
    rows: dict[str, dict[str, Cell]]
    native: dict[str, list[NativeKind]]
    canonical: dict[str, dict[str, dict[str, int]]]


_RANK = {"live": 3, "scripted": 2, "constructed": 1}


def build(project: Project) -> Matrix:
    """Compute the matrix of a project's cassettes. A cassette that does not load is listed."""
    coverages: list[Coverage] = []
    unusable: list[str] = []
    for path in project.cassette_paths():
        try:
            coverage = scan(path)
        except CassetteError as error:
            unusable.append(f"{project.cassette_id(path)}: line {error.line}: {error.problem}")
            continue
        own = project.cassette_id(path)
        if coverage.header.id != own:
            unusable.append(f"{own}: its header says {coverage.header.id}")
            continue
        if coverage.truncated:
            unusable.append(f"{project.cassette_id(path)}: truncated")
            continue
        coverages.append(coverage)
    by_surface = {name: [c for c in coverages if c.header.surface == name] for name in surfaces()}
    shows = {name: tuple(s.shows) for name, s in scenarios().items()}
    rows = {
        row.id: {
            provider: cell(row, _surfaces_of(provider), by_surface, shows) for provider in PROVIDERS
        }
        for row in ROWS
    }
    return Matrix(
        cassettes=[_entry(c) for c in coverages],
        unusable=unusable,
        rows=rows,
        native={name: _native(surfaces()[name], by_surface[name]) for name in sorted(by_surface)},
        canonical=_canonical(coverages),
    )


def to_json(matrix: Matrix) -> bytes:
    """Return `matrix.json`: the same bytes for the same cassettes."""
    return msgspec.json.format(msgspec.json.encode(matrix), indent=1) + b"\n"


def _surfaces_of(provider: str) -> list[Surface]:
    return [s for s in surfaces().values() if s.manifest.provider == provider]


def _entry(coverage: Coverage) -> CassetteEntry:
    header = coverage.header
    return CassetteEntry(
        header.id,
        header.surface,
        header.agent.id,
        header.scenario,
        header.provenance,
        coverage.outcome,
        coverage.frames,
    )


def _native(surface: Surface, coverages: Iterable[Coverage]) -> list[NativeKind]:
    counts: dict[str, int] = {}
    best: dict[str, tuple[str, tuple[str, int]]] = {}
    for coverage in coverages:
        provenance = coverage.header.provenance
        for kind, (frame, count) in coverage.native_kinds.items():
            counts[kind] = counts.get(kind, 0) + count
            if kind not in best or _RANK[provenance] > _RANK[best[kind][0]]:
                best[kind] = (provenance, (coverage.header.id, frame))
    known = surface.vocabulary.kinds
    entries = []
    for kind in [*known, *sorted(set(counts) - set(known))]:
        entry = known.get(kind)
        seen, first = best.get(kind, ("not seen", None))
        entries.append(
            NativeKind(
                kind,
                list(entry.to) if entry else [],
                entry.ignored if entry else "",
                entry.experimental if entry else False,
                seen,
                counts.get(kind, 0),
                first,
                entry is not None,
            )
        )
    return entries


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
