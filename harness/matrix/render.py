"""The matrix as files: `matrix.json`, and markdown tables ready to include in documentation."""

from collections.abc import Iterable, Sequence
from typing import Final

from tabulate import tabulate

from harness.cassette.show import printable
from harness.matrix.build import to_json
from harness.matrix.markdown import Ready, escape, page, table
from harness.matrix.model import (
    ICONS,
    MEANINGS,
    PROVIDERS,
    VALUES,
    Cell,
    Matrix,
    NativeKind,
    Table,
)
from harness.matrix.scenarios import scenarios_page
from harness.matrix.seed import SEED, disagreements, rebuilt

TITLES: Final = {
    "acp": "ACP",
    "cursor": "Cursor",
    "opencode": "Opencode",
    "codex": "Codex",
    "claude": "Claude",
}
_MANY: Final = 3
"""How many cassettes are named before it says how many more there are."""


def files(matrix: Matrix) -> dict[str, bytes]:
    """Return the content of each file under `matrix/`, by name."""
    return {
        "matrix.json": to_json(matrix),
        "README.md": page("Compatibility matrix", _readme(matrix)),
        "native.md": page("Native kinds", [_native(n, k) for n, k in matrix.native.items()]),
        "canonical.md": page(
            "Canonical coverage",
            [_canonical(name, rows) for name, rows in matrix.canonical.items()],
        ),
        "scenarios.md": scenarios_page(matrix),
        SEED.name: _document(matrix),
    }


def counts(matrix: Matrix) -> str:
    """Return how many cells there are of each value, in words."""
    cells = [c for t in matrix.tables for row in t.rows for c in row.cells.values()]
    return f"{len(cells)} cells: " + ", ".join(
        f"{sum(c.value == v for c in cells)} {v}" for v in VALUES
    )


def not_tried(matrix: Matrix) -> list[tuple[str, str, str]]:
    """Return each cell that was not tried: its row, its provider, what would show it."""
    return [
        (row.id, provider, "; ".join(filter(None, (cell.reason, cell.note))))
        for t in matrix.tables
        for row in t.rows
        for provider, cell in row.cells.items()
        if cell.value == "not tried"
    ]


def terminal(matrix: Matrix) -> str:
    """Return both tables for a terminal: icons and values alone."""
    parts = []
    for each in matrix.tables:
        body = [
            [row.id, *(f"{ICONS[c.value]} {c.value}" for c in map(row.cells.get, PROVIDERS) if c)]
            for row in each.rows
        ]
        head = [each.title, *(TITLES[p] for p in PROVIDERS)]
        parts.append(tabulate(body, head, tablefmt="simple", disable_numparse=True))
    return "\n\n".join(parts)


def grid(each: Table) -> str:
    """Return a table of the matrix, a cell with its value and its first evidence."""
    head = [each.head, *(TITLES[p] for p in PROVIDERS), each.note]
    body = [[row.id, *(_cell(row.cells[p]) for p in PROVIDERS), row.note] for row in each.rows]
    return f"## {each.title}\n\n" + table(head, body)


def _readme(matrix: Matrix) -> list[str]:
    return [
        _legend(),
        f"{counts(matrix)}. The rules: harness/matrix/RULES.md.\n",
        *map(grid, matrix.tables),
        _open(matrix),
        _against(matrix),
        _basis(matrix),
    ]


def _legend() -> str:
    rows = [[ICONS[v], v, MEANINGS[v]] for v in VALUES]
    return table(["Icon", "Value", "Meaning"], rows)


def _word(cell: Cell) -> str:
    text = f"{ICONS[cell.value]} {cell.value}"
    if cell.value in {"partial", "optional"}:
        text += f": {cell.reason}"
    return text


def _link(cassette: str, frame: int = 0) -> Ready:
    name = escape(f"{cassette} #{frame}" if frame else cassette)
    return Ready(f"[{name}](../cassettes/{escape(cassette)}.jsonl)")


def _links(cassettes: Sequence[str]) -> str:
    text = ", ".join(_link(c) for c in cassettes[:_MANY])
    more = len(cassettes) - _MANY
    return text if more <= 0 else f"{text} and {more} more"


def _cell(cell: Cell) -> Ready:
    text = escape(_word(cell))
    if cell.evidence:
        first = max(cell.evidence, key=lambda e: e.native and not e.switch)
        text += f" ({_link(first.cassette, first.frame)})"
    return Ready(text + (" (constructed)" if cell.constructed_only else ""))


def _open(matrix: Matrix) -> str:
    body = [[row, TITLES[provider], why] for row, provider, why in not_tried(matrix)]
    text = f"## Not tried\n\n{len(body)} cells were not tried.\n"
    if body:
        text += "\n" + table(["Row", "Provider", "What would show it"], body)
    return text


def _against(matrix: Matrix) -> str:
    claims = [
        c.claim for t in matrix.tables for row in t.rows for c in row.cells.values() if c.claim
    ]
    told = ", ".join(
        f"{sum(c.agreement == word for c in claims)} {what}"
        for word, what in (
            ("agrees", "agree"),
            ("disagrees", "disagree"),
            ("open", "are open, since nothing that could contradict them was tried"),
        )
    )
    body = [
        [
            row.id,
            TITLES[provider],
            f"{ICONS[cell.claim.value]} {cell.claim.value}: {cell.claim.words}",
            f"{ICONS[cell.value]} {cell.value}",
            cell.claim.reason or cell.reason,
            Ready(_links(cell.claim.against)),
        ]
        for row, provider, cell in disagreements(matrix.tables)
        if cell.claim
    ]
    text = f"## Against the seed document\n\nOf its {len(claims)} claims {told}.\n"
    if body:
        head = ["Row", "Provider", "It claims", "Seen", "What the cassettes show", "Cassettes"]
        text += "\n" + table(head, body)
    return text


def _basis(matrix: Matrix) -> str:
    body = [
        [c.surface, c.agent, c.scenario, c.provenance, c.outcome, c.frames, c.events]
        for c in matrix.cassettes
    ]
    text = "## The cassettes it rests on\n\n" + table(
        ["Surface", "Agent", "Scenario", "Provenance", "Outcome", "Frames", "Events"], body
    )
    if matrix.unusable:
        text += "\nNot usable, and so not counted:\n\n"
        text += "".join(f"- {escape(str(one))}\n" for one in matrix.unusable)
    return text


def _native(surface: str, kinds: Sequence[NativeKind]) -> str:
    seen = sum(k.count > 0 for k in kinds if k.in_vocabulary)
    known = sum(k.in_vocabulary for k in kinds)
    agents = sorted({agent for k in kinds for agent in k.agents})
    body = [
        [
            Ready(_code(k.kind) + (" (experimental)" if k.experimental else "")),
            ", ".join(k.to) if k.to else f"ignored: {k.ignored}" if k.ignored else "unknown",
            *((k.agents[a].seen if a in k.agents else "not seen") for a in agents or ["x"]),
            k.count,
            f"{k.first[0]} #{k.first[1]}" if k.first else "",
        ]
        for k in kinds
    ]
    head = ["Native kind", "Canonical", *(agents or ["Seen"]), "Frames", "First"]
    by = {word: sum(k.seen == word for k in kinds if k.in_vocabulary) for word in _SEEN}
    told = ", ".join(f"{n} {word}" for word, n in by.items())
    mapped = sum(bool(k.to) for k in kinds)
    ignored = sum(bool(k.ignored) for k in kinds)
    return (
        f"## {surface}\n\n{seen} of {known} kinds of the vocabulary were seen ({told}); "
        f"{mapped} are mapped, {ignored} ignored.\n\n" + table(head, body)
    )


_SEEN: Final = ("live", "scripted", "constructed", "not seen")


def _canonical(name: str, rows: dict[str, dict[str, int]]) -> str:
    seen = sum(bool(n) for n in rows.values())
    body = [[_code(r), *(by.get(p) or "not seen" for p in PROVIDERS)] for r, by in rows.items()]
    title = name.capitalize()
    return f"## {title}\n\n{seen} of {len(rows)} were seen.\n\n" + table(
        [title, *(TITLES[p] for p in PROVIDERS)], body
    )


def _code(text: str) -> Ready:
    """Return a name as code; one that would end the code span is only escaped."""
    shown = printable(text)
    if any(mark in shown for mark in "`|<["):
        return Ready(escape(text))
    return Ready(f"`{shown}`")


def _document(matrix: Matrix) -> bytes:
    basis = [
        [surface, agent, n, TITLES[provider]]
        for (provider, surface, agent), n in _corpus(matrix).items()
    ]
    blocks: dict[str, str] = {t.id: _plain(t) for t in matrix.tables}
    blocks["legend"] = _legend()
    blocks["basis"] = table(["Surface", "Agent", "Cassettes", "Provider"], basis)
    text = rebuilt(blocks)
    return f"<!-- Generated by `harness matrix` from the cassettes. -->\n\n{text}".encode()


def _plain(each: Table) -> str:
    """Return a table as the seed has it: values and words, no links."""
    head = [each.head, *(TITLES[p] for p in PROVIDERS), each.note]
    body = [[row.id, *(_bare(row.cells[p]) for p in PROVIDERS), row.note] for row in each.rows]
    return table(head, body)


def _bare(cell: Cell) -> str:
    return _word(cell) + (" (constructed)" if cell.constructed_only else "")


def _corpus(matrix: Matrix) -> dict[tuple[str, str, str], int]:
    found: dict[tuple[str, str, str], int] = {}
    for c in matrix.cassettes:
        key = (c.provider, c.surface, c.agent)
        found[key] = found.get(key, 0) + 1
    return dict(sorted(found.items()))


def summary(matrix: Matrix) -> Iterable[str]:
    """Yield what `harness matrix` prints under its tables: counts, and what was not tried."""
    yield counts(matrix)
    for row, provider, why in not_tried(matrix):
        yield f"  not tried: {row}, {TITLES[provider]}: {why}"
