"""The cell rules: what a row says of a provider, from what the cassettes showed. See RULES.md.

A *unit* is one agent on one surface. A row's cell follows from the states of its units.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from harness.matrix.coverage import Coverage
from harness.matrix.model import Cell, Evidence, State, SurfaceState, Value
from harness.matrix.rows import Row
from harness.scenarios import Scenario
from harness.surfaces import Surface

_OF_CLIENT: Final = ("client ", "client-response ", "response ", "error ")
"""Kinds that the client causes by an act of its own: they are for no row by their name alone."""

_NAMED: Final = 4
"""How many names a reason gives before it says how many more there are."""


class Unit(Struct):
    """One agent on one surface: what it showed of a row, and which scenarios would have."""

    surface: Surface
    agent: str
    evidence: list[Evidence] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    tried: bool = False
    excluded: str = ""
    whole: bool = False

    @property
    def state(self) -> State:
        """The first that holds: native, synthesized, switched, silent, excluded, not tried."""
        plain = [e for e in self.evidence if not e.switch]
        if plain:
            # Of an event kind one native event is enough; a field has to be native throughout.
            enough = all if self.whole else any
            return "native" if enough(e.native for e in plain) else "synthesized"
        if self.evidence:
            return "switched"
        if self.tried:
            return "silent"
        return "excluded" if self.excluded else "not tried"

    @property
    def base(self) -> bool:
        """Whether it is on a base surface."""
        return self.surface.manifest.tier == "base"


def units(
    row: Row,
    surfaces: Iterable[Surface],
    coverages: Mapping[str, Sequence[Coverage]],
    scenarios: Mapping[str, Scenario],
    *,
    whole: bool,
) -> list[Unit]:
    """Return the units that were recorded, sorted, with what each says of the row."""
    would = {s.id for s in scenarios.values() if _would(row, s, whole=whole)}
    found: dict[tuple[str, str], Unit] = {}
    for surface in surfaces:
        for coverage in coverages.get(surface.name, ()):
            header = coverage.header
            key = (surface.name, header.agent.id)
            unit = found.get(key)
            if unit is None:
                manifest = surface.manifest
                reasons = manifest.excluded_for(header.agent.name)
                none = bool(would) and would <= set(reasons)
                reason = reasons[min(would)] if none else ""
                unit = Unit(surface, header.agent.id, excluded=reason, whole=whole)
                found[key] = unit
            evidence = coverage.evidence(row.id)
            if evidence is not None:
                switch = _switch(row, surface, evidence, scenarios.get(header.scenario))
                unit.evidence.append(_with(evidence, switch))
            # What was written from documents shows only what those tell: its silence is none.
            if header.provenance != "constructed" and header.scenario in would:
                unit.tried = True
                if evidence is None:
                    unit.silent.append(header.id)
    return [found[key] for key in sorted(found)]


def cell(
    row: Row,
    surfaces: Iterable[Surface],
    coverages: Mapping[str, Sequence[Coverage]],
    scenarios: Mapping[str, Scenario],
    *,
    whole: bool = False,
) -> Cell:
    """Compute a row's cell for one provider.

    `surfaces` are the provider's, `coverages` the cassettes by surface, `scenarios` those that
    could be recorded. `whole`: the row is an interface addition, which is native on a surface
    only where nothing of it is made up.
    """
    own = list(surfaces)
    all_units = units(row, own, coverages, scenarios, whole=whole)
    evidence = [e for unit in all_units for e in unit.evidence]
    note = ""
    if evidence:
        value, reason = _with_evidence(all_units)
    else:
        value, reason = _without_evidence(row, all_units, coverages)
        if value == "not tried":
            note = _wanted(row, own, coverages, scenarios, whole=whole)
    constructed = bool(evidence) and all(e.provenance == "constructed" for e in evidence)
    states = [
        SurfaceState(
            u.surface.name, u.agent, u.surface.manifest.tier, u.state, u.excluded, u.silent
        )
        for u in all_units
    ]
    return Cell(value, reason, note, evidence, states, constructed)


def _with_evidence(all_units: Sequence[Unit]) -> tuple[Value, str]:
    by_state: dict[State, list[Unit]] = {}
    for unit in all_units:
        by_state.setdefault(unit.state, []).append(unit)

    def names(*states: State) -> str:
        return _names(all_units, [u for s in states for u in by_state.get(s, ())])

    if not by_state.get("native") and not by_state.get("synthesized"):
        switches = dict.fromkeys(e.switch for u in all_units for e in u.evidence)
        return "optional", f"only with {', '.join(switches)}"
    parts = []
    if by_state.get("native"):
        parts.append(f"native on {names('native')}")
    if by_state.get("synthesized"):
        parts.append(f"made up, wholly or in part, on {names('synthesized')}")
    if by_state.get("switched"):
        parts.append(f"only with a switch on {names('switched')}")
    base = {u.surface.name for u in all_units if u.base}
    native_on = {u.surface.name for u in by_state.get("native", ()) if u.base}
    against = [u for u in all_units if u.base and u.state not in {"native", "not tried"}]
    if base and native_on == base and not against:
        return "direct", "; ".join(parts)
    missing = names("silent", "excluded")
    untold = [n for n in sorted(base - native_on) if all(u.surface.name != n for u in against)]
    missing = ", ".join(filter(None, [missing, *untold]))
    if missing:
        parts.append(f"not shown on {missing}")
    if not base:
        parts.append("no base surface is recorded")
    return "partial", "; ".join(parts)


def _names(all_units: Sequence[Unit], chosen: Sequence[Unit]) -> str:
    """Return the names of units: their surface's alone where all of its units are chosen."""
    names: dict[str, None] = {}
    for unit in chosen:
        name = unit.surface.name
        whole = all(u in chosen for u in all_units if u.surface is unit.surface)
        names[name if whole else f"{name} ({unit.agent})"] = None
    return ", ".join(names)


def _without_evidence(
    row: Row, all_units: Sequence[Unit], coverages: Mapping[str, Sequence[Coverage]]
) -> tuple[Value, str]:
    if not any(unit.tried for unit in all_units):
        return "not tried", "no recorded scenario would show it"
    own = {u.surface.name: u.surface for u in all_units}
    came = {(name, kind) for name in own for c in coverages[name] for kind in c.native_kinds}
    never = [
        f"{name}: {kind}"
        for name, surface in own.items()
        for kind in kinds_for(row, surface)
        if (name, kind) not in came
    ]
    if never:
        return "not tried", f"the native kinds for it never came: {_some(never)}"
    return "not core", "a scenario that would show it ran, and no native kind is for it"


def kinds_for(row: Row, surface: Surface) -> list[str]:
    """Return the native kinds that are for a row: by their canonical types, or by their names."""
    return [
        kind
        for kind, entry in surface.vocabulary.kinds.items()
        if not set(entry.to).isdisjoint(row.types)
        or (not kind.startswith(_OF_CLIENT) and any(word in kind.lower() for word in row.words))
    ]


def _wanted(
    row: Row,
    own: Sequence[Surface],
    coverages: Mapping[str, Sequence[Coverage]],
    scenarios: Mapping[str, Scenario],
    *,
    whole: bool,
) -> str:
    """Say what would show a row that was not tried."""
    if not own:
        return "a surface of the provider"
    would = sorted(s.id for s in scenarios.values() if _would(row, s, whole=whole))
    words = []
    for surface in own:
        names = sorted({c.header.agent.name for c in coverages.get(surface.name, ())})
        known = [a.name for a in surface.manifest.agents]
        for name in names or known:
            recorded = {
                c.header.scenario
                for c in coverages.get(surface.name, ())
                if c.header.agent.name == name and c.header.provenance != "constructed"
            }
            reasons = surface.manifest.excluded_for(name)
            left = [s for s in would if s not in recorded and s not in reasons]
            where = f"{surface.name} ({name})"
            if left:
                words.append(f"{_some(left)} on {where}")
            elif recorded.isdisjoint(would) and (
                why := next((reasons[s] for s in would if s in reasons), "")
            ):
                words.append(f"none on {where}: {why}")
    return "; ".join(words)


def _would(row: Row, scenario: Scenario, *, whole: bool) -> bool:
    asks = row.asks if whole else row.id
    return not asks or asks in scenario.shows


def _switch(row: Row, surface: Surface, evidence: Evidence, scenario: Scenario | None) -> str:
    """Name what the client turned on for this to come; empty where nothing was needed."""
    if surface.manifest.tier == "experimental":
        return "an experimental surface"
    entries = [surface.vocabulary.kinds.get(kind) for kind in evidence.kinds]
    if entries and all(entry is not None and entry.experimental for entry in entries):
        return "an experimental kind"
    if scenario is not None and scenario.capabilities:
        return f"the client's capability {'and '.join(scenario.capabilities)}"
    if scenario is not None and row.id != "mode" and any(t.client.mode for t in scenario.turns):
        return "a mode that the client sets"
    return ""


def _with(evidence: Evidence, switch: str) -> Evidence:
    return Evidence(
        evidence.cassette,
        evidence.frame,
        evidence.kind,
        evidence.native,
        evidence.count,
        evidence.made,
        evidence.kinds,
        evidence.provenance,
        switch,
    )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
