"""What the page is given: the template's variables, and what its script unpacks."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from harness.conformance import LAWS
from harness.conformance.levels import level_of
from harness.matrix.model import (
    ICONS,
    MEANINGS,
    PROVIDERS,
    CassetteEntry,
    Cell,
    Matrix,
    NativeKind,
    Table,
)
from harness.matrix.page.pack import Bundle
from harness.matrix.render import TITLES


def context(matrix: Matrix) -> dict[str, Any]:
    """Return the template's variables. Nothing in them is markup."""
    entries = matrix.cassettes
    return {
        "tables": matrix.tables,
        "claims": [_claims(table) for table in matrix.tables],
        "providers": [(p, TITLES[p]) for p in PROVIDERS],
        "titles": TITLES,
        "icons": ICONS,
        "meanings": MEANINGS,
        "cassettes": entries,
        "unusable": matrix.unusable,
        "native": {surface: (_senders(kinds), kinds) for surface, kinds in matrix.native.items()},
        "surface_provider": {e.surface: e.provider for e in entries},
        "canonical": matrix.canonical,
        "scenarios": _scenarios(entries),
        "laws": _laws(),
        "agents": sorted({(e.surface, e.agent) for e in entries}),
        "choices": {
            "provider": [(p, TITLES[p]) for p in PROVIDERS],
            "surface": _choices(e.surface for e in entries),
            "provenance": _choices(e.provenance for e in entries),
            "outcome": _choices(e.outcome for e in entries),
        },
    }


def index(matrix: Matrix, packed: Iterable[Bundle]) -> bytes:
    """Return the JSON that the page's script starts from: cassettes, and the cells' evidence.

    Each cassette has its bundle's number beside what matrix.json has of it; each cell is by
    `ROW/PROVIDER`, with its titles, and names cassettes by their place in the list.
    """
    bundle_of = {i: n for n, bundle in enumerate(packed) for i in bundle.ids}
    number = {e.id: n for n, e in enumerate(matrix.cassettes)}
    cells = {
        f"{row.id}/{provider}": {
            "row": row.id,
            "provider": TITLES[provider],
            "icon": ICONS[cell.value],
            **_cell(cell, number),
        }
        for table in matrix.tables
        for row in table.rows
        for provider, cell in row.cells.items()
    }
    cassettes = [{**msgspec.to_builtins(e), "bundle": bundle_of[e.id]} for e in matrix.cassettes]
    return _json({"cassettes": cassettes, "cells": cells, "icons": ICONS})


def sides(matrix: Matrix) -> bytes:
    """Return the scenarios side by side as JSON: by id, as matrix.json has them."""
    return _json({view.id: msgspec.to_builtins(view) for view in matrix.scenarios})


def _cell(cell: Cell, number: dict[str, int]) -> dict[str, Any]:
    value: dict[str, Any] = msgspec.to_builtins(cell)
    for piece in value["evidence"]:
        piece["cassette"] = number[piece["cassette"]]
    for state in value["states"]:
        state["silent"] = [number[c] for c in state["silent"]]
    if value["claim"]:
        value["claim"]["icon"] = ICONS[value["claim"]["value"]]
        value["claim"]["against"] = [number[c] for c in value["claim"]["against"]]
    return value


def _laws() -> list[dict[str, str]]:
    return [
        {
            "id": law.id,
            "statement": law.statement,
            "example": law.example,
            "level": level_of(law.id),
            "source": law.source,
        }
        for law in LAWS
    ]


def _claims(table: Table) -> dict[str, Any]:
    """Count how the seed's claims stand, and list those that the cassettes contradict."""
    found = [
        (row, provider, cell)
        for row in table.rows
        for provider, cell in row.cells.items()
        if cell.claim is not None
    ]
    standing = [cell.claim.agreement for _, _, cell in found if cell.claim]
    return {
        "counts": {name: standing.count(name) for name in ("agrees", "disagrees", "open")},
        "against": [c for c in found if c[2].claim and c[2].claim.agreement == "disagrees"],
    }


def _senders(kinds: Iterable[NativeKind]) -> list[str]:
    return sorted({agent for kind in kinds for agent in kind.agents})


def _scenarios(entries: Iterable[CassetteEntry]) -> dict[str, dict[tuple[str, str], CassetteEntry]]:
    found: dict[str, dict[tuple[str, str], CassetteEntry]] = {}
    for entry in entries:
        found.setdefault(entry.scenario, {})[entry.surface, entry.agent] = entry
    return dict(sorted(found.items()))


def _choices(values: Iterable[str]) -> list[tuple[str, str]]:
    return [(v, v) for v in sorted(set(values))]


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
