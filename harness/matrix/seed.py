"""The seed document: its claims as data, how the cassettes agree, and the document rebuilt.

The claims are read out of the document itself, so that none is retyped. `reasons.yaml` has one
line for each cell in which the cassettes contradict it.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from harness.matrix.model import (
    ICONS,
    VALUES,
    Agreement,
    Cell,
    Claim,
    Table,
    TableRow,
    Value,
)

SEED: Final = Path(__file__).with_name("PROVIDER-COMPATIBILITY-MATRIX.md")
REASONS: Final = Path(__file__).with_name("reasons.yaml")

HEADINGS: Final[dict[str, str]] = {
    "kinds": "## Event Kind Compatibility",
    "additions": "## Interface Additions",
}
_COLUMNS: Final = ("acp", "cursor", "opencode", "codex")
_BY_ICON: Final[dict[str, Value]] = {icon: value for value, icon in ICONS.items()}


class SeedError(Exception):
    """The seed document, or the reasons beside it, cannot be read. Exit code 4."""


class Declared(Struct, frozen=True):
    """One cell of the seed: its value, and its words without the icon."""

    value: Value
    words: str


class SeedTable(Struct, frozen=True):
    """A table of the seed: its rows in order, each with its cells by provider."""

    head: list[str]
    rows: dict[str, dict[str, Declared]]
    notes: dict[str, str]


def parse(text: str) -> dict[str, SeedTable]:
    """Return the seed's two tables, `kinds` and `additions`. Raises SeedError, with the line."""
    return {name: _table(text, heading) for name, heading in HEADINGS.items()}


def _table(text: str, heading: str) -> SeedTable:
    lines = text.splitlines()
    try:
        start = lines.index(heading) + 1
    except ValueError:
        raise SeedError(f"{SEED.name}: no line {heading!r}") from None
    head: list[str] = []
    rows: dict[str, dict[str, Declared]] = {}
    notes: dict[str, str] = {}
    for number, line in enumerate(lines[start:], start + 1):
        if line.startswith("## "):
            break
        if not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != len(_COLUMNS) + 2:
            raise SeedError(f"{SEED.name}:{number}: {len(cells)} cells where 6 were due")
        if not head:
            head = cells
        elif set(cells[1]) != {"-"}:
            rows[cells[0]] = {
                provider: _declared(cell, number)
                for provider, cell in zip(_COLUMNS, cells[1:-1], strict=True)
            }
            notes[cells[0]] = cells[-1]
    return SeedTable(head, rows, notes)


def _declared(cell: str, number: int) -> Declared:
    icon, _, words = cell.partition(" ")
    if icon not in _BY_ICON:
        raise SeedError(f"{SEED.name}:{number}: {icon!r} is no icon of the legend's")
    return Declared(_BY_ICON[icon], words.strip())


@cache
def seed() -> dict[str, SeedTable]:
    """Return the seed's tables. Raises SeedError."""
    return parse(_text())


def _text() -> str:
    try:
        return SEED.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise SeedError(f"{SEED}: {error}") from error


@cache
def reasons() -> dict[str, dict[str, str]]:
    """Return the reasons for disagreements, by row and provider. Raises SeedError."""
    import yaml  # noqa: PLC0415 - start-up: most commands read no YAML

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        content = yaml.load(REASONS.read_text("utf-8"), loader)  # noqa: S506 - a safe loader
        return msgspec.convert(content or {}, dict[str, dict[str, str]])
    except (OSError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise SeedError(f"{REASONS}: {error}") from error


def with_claim(table: str, row: str, provider: str, cell: Cell) -> Cell:
    """Return the cell with what the seed claims in it, if it claims anything there."""
    declared = seed()[table].rows.get(row, {}).get(provider)
    if declared is None:
        return cell
    claim = judge(declared, cell, reasons().get(row, {}).get(provider, ""))
    return msgspec.structs.replace(cell, claim=claim)


def judge(declared: Declared, cell: Cell, reason: str = "") -> Claim:
    """Compare a claim with what was computed.

    Open where nothing was tried, and where the seed says direct of base surfaces of which none
    is recorded: nothing contradicts either.
    """
    agreement: Agreement = "disagrees"
    if cell.value == declared.value:
        agreement = "agrees"
    elif cell.value == "not tried" or (
        declared.value == "direct" and not any(s.tier == "base" for s in cell.states)
    ):
        agreement = "open"
    if agreement != "disagrees":
        return Claim(declared.value, declared.words, agreement)
    return Claim(declared.value, declared.words, agreement, against(declared.value, cell), reason)


def against(claimed: Value, cell: Cell) -> list[str]:
    """Return the cassettes that contradict a claim.

    Where it claims more than was seen, those that do not show it natively; where it claims less,
    those that do.
    """
    silent = [cassette for state in cell.states for cassette in state.silent]
    if VALUES.index(claimed) < VALUES.index(cell.value):
        weak = {(s.surface, s.agent) for s in cell.states if s.state in {"synthesized", "switched"}}
        made = [
            e.cassette
            for e in cell.evidence
            if (e.made or e.switch) and tuple(e.cassette.split("/")[:2]) in weak
        ]
        mute = {(s.surface, s.agent) for s in cell.states if s.state == "silent"}
        quiet = [c for c in silent if tuple(c.split("/")[:2]) in mute]
        found = quiet + made
    else:
        found = [e.cassette for e in cell.evidence if e.native]
    return sorted(set(found)) or sorted({e.cassette for e in cell.evidence} | set(silent))


def disagreements(tables: tuple[Table, ...]) -> list[tuple[TableRow, str, Cell]]:
    """Return each cell that disagrees with the seed: its row, its provider, itself."""
    return [
        (row, provider, cell)
        for table in tables
        for row in table.rows
        for provider, cell in row.cells.items()
        if cell.claim is not None and cell.claim.agreement == "disagrees"
    ]


def rebuilt(blocks: Mapping[str, str]) -> str:
    """Return the seed document with the tables of `blocks` in the place of its own.

    `kinds` and `additions` are the matrix's tables, `legend` stands for the seed's legend and
    `basis` for its list of what was checked. All its other words stay as they are.
    """
    places = {heading: name for name, heading in HEADINGS.items()}
    places |= {"## Legend": "legend", "Primary evidence checked:": "basis"}
    out: list[str] = []
    dropped: tuple[str, ...] = ()
    for line in _text().splitlines():
        if line and not line.startswith(("|", "•")):
            dropped = ()
        if (dropped and line.startswith(dropped)) or (not line and not out[-1]):
            continue
        out.append(line)
        name = places.get(line)
        if name is not None:
            out += ["", blocks[name].rstrip("\n"), ""]
            dropped = ("•",) if name == "basis" else ("|",)
    return "\n".join(out) + "\n"
