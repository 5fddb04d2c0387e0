"""What a mutation run says: a score for each module and surface, and every survivor."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, field

from harness.mutation.run import Outcome
from harness.mutation.sites import Module, Mutant


class Row(Struct):
    """Counts of one module, or of all. `timeouts` are among the caught."""

    name: str
    mutants: int = 0
    caught: int = 0
    timeouts: int = 0
    survived: int = 0
    not_run: int = 0
    equivalent: int = 0
    by_laws: int = 0

    @property
    def score(self) -> float:
        """Percent of those that are not equivalent."""
        judged = self.mutants - self.equivalent
        return 100.0 * self.caught / judged if judged else 100.0


class Survivor(Struct, frozen=True):
    """A mutant that nothing caught. `cassettes` counts those that run its lines."""

    id: str
    where: str
    operator: str
    before: str
    after: str
    cassettes: int


class Score(Struct):
    """The whole result. `stale` says what is wrong with the equivalents."""

    total: Row
    rooms: list[Row]
    modules: list[Row]
    survivors: list[Survivor] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)


def score(
    modules: Iterable[Module],
    mutants: Iterable[Mutant],
    outcomes: Mapping[str, Outcome],
    equivalents: Mapping[str, str],
) -> Score:
    """Count the outcomes of mutants; one without an outcome was not asked for."""
    by_file = {m.file: m for m in modules}
    found = Score(Row("all"), [], [])
    rows: dict[str, Row] = {}
    rooms: dict[str, Row] = {}
    for mutant in mutants:
        outcome = outcomes.get(mutant.id)
        if outcome is None:
            continue
        of = [
            found.total,
            rows.setdefault(mutant.file, Row(mutant.file)),
            rooms.setdefault(room(mutant.file), Row(room(mutant.file))),
        ]
        equivalent = mutant.id in equivalents and outcome.status == "survived"
        for row in of:
            _count(row, outcome, equivalent=equivalent)
        if outcome.status == "survived" and not equivalent:
            before, after = by_file[mutant.file].difference(mutant.id)
            where = f"{mutant.file}:{mutant.line}"
            found.survivors.append(
                Survivor(mutant.id, where, mutant.operator, before, after, outcome.ran)
            )
    found.modules = [rows[name] for name in sorted(rows)]
    found.rooms = [rooms[name] for name in sorted(rooms)]
    found.survivors.sort(key=lambda s: (s.id.split("::")[0], int(s.where.rpartition(":")[2]), s.id))
    return found


def room(file: str) -> str:
    """The folder of a module's file; what several surfaces share is `shared`."""
    folder = file.rpartition("/")[0].rpartition("/")[2]
    return "shared" if folder in {"surfaces", ""} else folder.replace("_", "-")


def _count(row: Row, outcome: Outcome, *, equivalent: bool) -> None:
    row.mutants += 1
    row.equivalent += equivalent
    if outcome.status == "survived":
        row.survived += not equivalent
        row.not_run += not equivalent and outcome.ran == 0
        return
    row.caught += 1
    row.timeouts += outcome.status == "timeout"
    row.by_laws += any(c != "expected" for c in outcome.checks)


def render(found: Score, *, shown: bool) -> str:
    """Return the result in words: a table, then the survivors with their difference."""
    from tabulate import tabulate  # noqa: PLC0415 - beside its one use

    lines = []
    for survivor in found.survivors if shown else ():
        reach = f"{survivor.cassettes} cassettes" if survivor.cassettes else "no cassette"
        lines += [
            f"{survivor.where}  {survivor.operator}  ({reach} run it)",
            f"  {survivor.id}",
            *(f"  - {line}" for line in survivor.before.splitlines()),
            *(f"  + {line}" for line in survivor.after.splitlines()),
        ]
    heads = ["", "mutants", "caught", "by a law", "survived", "never run", "equivalent", "score"]
    lines.append(
        tabulate([_cells(r) for r in [*found.rooms, found.total]], heads, disable_numparse=True)
    )
    lines += [f"equivalents.toml: {problem}" for problem in found.stale]
    return "\n".join(lines)


def _cells(row: Row) -> list[str]:
    numbers = (row.mutants, row.caught, row.by_laws, row.survived, row.not_run, row.equivalent)
    return [row.name, *(f"{n:,}" for n in numbers), f"{row.score:.1f} %"]


def as_json(found: Score) -> dict[str, object]:
    """Return the result as JSON values, each row with its score."""
    value: dict[str, object] = msgspec.to_builtins(found)
    value["total"] = _row(found.total)
    value["rooms"] = [_row(r) for r in found.rooms]
    value["modules"] = [_row(r) for r in found.modules]
    return value


def _row(row: Row) -> dict[str, object]:
    return {**msgspec.to_builtins(row), "score": round(row.score, 2)}


class Kept:
    """Outcomes on disk, one JSON value a line, the last of a mutant counting: runs go on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: dict[str, Outcome] = {}
        if path.is_file():
            for line in path.read_bytes().splitlines():
                try:
                    outcome = msgspec.json.decode(line, type=Outcome)
                except (msgspec.DecodeError, msgspec.ValidationError):
                    continue  # A line that a stop has cut off.
                self.outcomes[outcome.id] = outcome

    def add(self, outcome: Outcome) -> None:
        """Append an outcome."""
        self.outcomes[outcome.id] = outcome
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(msgspec.to_builtins(outcome)) + "\n")
