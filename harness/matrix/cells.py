"""The cell rules: what a row of the matrix says of a provider, from what the cassettes showed.

The rules, in this order:

1. *not tried*: nothing shows the row, and no scenario that would was recorded from an agent.
2. *optional*: shown, but only on surfaces or by kinds that are experimental.
3. *direct*: every base surface of the provider shows it by a native frame.
4. *partial*: shown, but not natively, or not on every base surface.
5. *not seen*: a scenario that would show it ran and nothing did, though the surface's
   vocabulary has kinds that may show it and never came. It is not a no.
6. *not core*: the same, and the vocabulary of no surface has such a kind: those of the row's
   canonical types all came, and none showed it.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from harness.matrix.coverage import Coverage, Sighting
from harness.matrix.rows import Row
from harness.surfaces import Surface

Value = Literal["direct", "partial", "optional", "not core", "not seen", "not tried"]

ICONS: dict[Value, str] = {
    "direct": "✓",
    "partial": "◐",
    "optional": "◇",
    "not core": "×",
    "not seen": "?",
    "not tried": "–",
}


class Cell(Struct, frozen=True):
    """One cell: its value, why, and the cassettes and frames that show it."""

    value: Value
    reason: str
    evidence: list[Sighting]
    constructed_only: bool = False


def cell(
    row: Row,
    surfaces: Iterable[Surface],
    coverages: Mapping[str, list[Coverage]],
    shows: Mapping[str, Iterable[str]],
) -> Cell:
    """Compute a row's cell for one provider.

    `surfaces` are the provider's, `coverages` the cassettes by surface, `shows` the rows that
    each scenario would show.
    """
    own = [s for s in surfaces if coverages.get(s.name)]
    evidence = [
        sighting
        for s in own
        for coverage in coverages[s.name]
        if (sighting := coverage.rows.get(row.id)) is not None
    ]
    # What was written from documents shows only what those tell: its silence is none.
    tried = any(
        coverage.header.provenance != "constructed"
        and row.id in shows.get(coverage.header.scenario, ())
        for s in own
        for coverage in coverages[s.name]
    )
    if not evidence:
        return _without_evidence(row, own, coverages, tried=tried)
    value, reason = _with_evidence(row, own, coverages)
    constructed = {
        coverage.header.id
        for s in own
        for coverage in coverages[s.name]
        if coverage.header.provenance == "constructed"
    }
    return Cell(value, reason, evidence, all(e.cassette in constructed for e in evidence))


def _with_evidence(
    row: Row, own: list[Surface], coverages: Mapping[str, list[Coverage]]
) -> tuple[Value, str]:
    native: dict[str, bool] = {}
    kinds: set[tuple[str, str]] = set()
    for s in own:
        for coverage in coverages[s.name]:
            sighting = coverage.rows.get(row.id)
            if sighting is not None:
                native[s.name] = native.get(s.name, False) or sighting.native
                kinds |= {(s.name, kind) for kind in sighting.kinds}
    by_name = {s.name: s for s in own}
    if all(_experimental(by_name[name], kind) for name, kind in kinds):
        return "optional", "only on experimental surfaces or by experimental kinds"
    base = [s.name for s in own if s.manifest.tier == "base"]
    where = ", ".join(name for name in native if native[name])
    if base and all(native.get(name) for name in base):
        return "direct", f"native on {where}"
    missing = [name for name in base if not native.get(name)]
    if not where:
        return "partial", "only by synthesis"
    return "partial", f"native on {where}, not shown on {', '.join(missing) or 'a base surface'}"


def _without_evidence(
    row: Row, own: list[Surface], coverages: Mapping[str, list[Coverage]], *, tried: bool
) -> Cell:
    if not tried:
        return Cell("not tried", "no recorded scenario would show it", [])
    came = {(s.name, kind) for s in own for c in coverages[s.name] for kind in c.native_kinds}
    named = [
        f"{s.name}: {kind}"
        for s in own
        for kind, entry in s.vocabulary.kinds.items()
        if not set(entry.to).isdisjoint(row.types) and (s.name, kind) not in came
    ]
    if named:
        return Cell("not seen", f"its kinds never came: {', '.join(named[:3])}", [])
    return Cell("not core", "a scenario that would show it ran, and no kind is for it", [])


def _experimental(surface: Surface, kind: str) -> bool:
    if surface.manifest.tier == "experimental":
        return True
    entry = surface.vocabulary.kinds.get(kind)
    return entry is not None and entry.experimental
