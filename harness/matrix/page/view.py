"""What the page's templates are given: the matrix, and where each cassette is packed."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from harness.matrix.build import PROVIDERS, CassetteEntry, Matrix
from harness.matrix.cells import ICONS, Cell
from harness.matrix.page.pack import Bundle, Tape
from harness.matrix.render import TITLES
from harness.matrix.rows import ROWS

MEANINGS = {
    "direct": "every base surface of the provider shows it by a native frame",
    "partial": "shown, but not on every base surface, or only by synthesis",
    "optional": "shown only by experimental surfaces or kinds",
    "not core": "a scenario that would show it ran, nothing did, and no native kind is for it",
    "not seen": "a scenario that would show it ran and nothing did, though there is a kind for it",
    "not tried": "no cassette could have shown it",
}
"""The legend, in the order of ICONS."""


class TableRow(Struct, frozen=True):
    """A row of a table: `cells` by provider."""

    id: str
    note: str
    cells: dict[str, Cell]


class Table(Struct, frozen=True):
    """A table of the matrix: `note` is the heading of the column beside the cells."""

    id: str
    title: str
    head: str
    note: str
    rows: list[TableRow]


def tables(matrix: Matrix) -> list[Table]:
    """Return the tables that the page shows, in their order."""
    rows = [TableRow(row.id, row.value, matrix.rows[row.id]) for row in ROWS]
    return [Table("kinds", "Event kinds", "chat_event kind", "Interface value", rows)]


def context(matrix: Matrix, tapes: Mapping[str, Tape]) -> dict[str, Any]:
    """Return the template's variables. Nothing in them is markup."""
    entries = matrix.cassettes
    return {
        "tables": tables(matrix),
        "providers": [(p, TITLES[p]) for p in PROVIDERS],
        "provider_of": {i: t.provider for i, t in tapes.items()},
        "icons": ICONS,
        "meanings": MEANINGS,
        "cassettes": entries,
        "events_of": {i: t.events for i, t in tapes.items()},
        "unusable": matrix.unusable,
        "native": matrix.native,
        "surface_provider": {e.surface: tapes[e.id].provider for e in entries},
        "canonical": matrix.canonical,
        "scenarios": _scenarios(entries),
        "agents": sorted({(e.surface, e.agent) for e in entries}),
        "choices": {
            "provider": [(p, TITLES[p]) for p in PROVIDERS],
            "surface": _choices(e.surface for e in entries),
            "provenance": _choices(e.provenance for e in entries),
            "outcome": _choices(e.outcome for e in entries),
        },
    }


def index(matrix: Matrix, tapes: Mapping[str, Tape], packed: Iterable[Bundle]) -> bytes:
    """Return the JSON that the page's script starts from: cassettes, and the cells' evidence.

    A cassette is `[id, surface, agent, scenario, provider, provenance, outcome, frames, events,
    bundle]`, a piece of evidence `[cassette's index, frame, count, native, kinds]`.
    """
    bundle_of = {i: n for n, bundle in enumerate(packed) for i in bundle.ids}
    number = {e.id: n for n, e in enumerate(matrix.cassettes)}
    cells = {
        f"{row.id}/{provider}": {
            "table": table.title,
            "row": row.id,
            "provider": TITLES[provider],
            "value": cell.value,
            "icon": ICONS[cell.value],
            "reason": cell.reason,
            "constructed": cell.constructed_only,
            "evidence": [
                [number[s.cassette], s.frame, s.count, s.native, s.kinds] for s in cell.evidence
            ],
        }
        for table in tables(matrix)
        for row in table.rows
        for provider, cell in row.cells.items()
    }
    cassettes = [
        [
            *(e.id, e.surface, e.agent, e.scenario, tapes[e.id].provider),
            *(e.provenance, e.outcome, e.frames, tapes[e.id].events, bundle_of[e.id]),
        ]
        for e in matrix.cassettes
    ]
    value = {"cassettes": cassettes, "cells": cells}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _scenarios(entries: Iterable[CassetteEntry]) -> dict[str, dict[tuple[str, str], CassetteEntry]]:
    found: dict[str, dict[tuple[str, str], CassetteEntry]] = {}
    for entry in entries:
        found.setdefault(entry.scenario, {})[entry.surface, entry.agent] = entry
    return dict(sorted(found.items()))


def _choices(values: Iterable[str]) -> list[tuple[str, str]]:
    return [(v, v) for v in sorted(set(values))]
