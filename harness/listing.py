"""`harness list` and `harness doctor`: everything that a script may want to know of the corpus."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tabulate import tabulate

from harness import output as out
from harness.cassette import CassetteError
from harness.cassette.show import printable
from harness.pending import settled, tape_of, waiting, waiting_under
from harness.project import Project
from harness.scenarios import scenarios
from harness.surfaces import surfaces

Rows = list[dict[str, Any]]

_WIDTH = 36
"""Columns of the widest cell of a list: more is wrapped."""


def list_command(what: str, project: Project | None, *, json: bool) -> int:
    """Run `harness list`; return its exit code: 4 where a cassette does not load."""
    if what == "cassettes":
        assert project is not None  # noqa: S101 - the command line gives it for this list
        rows = _cassettes(project)
    else:
        rows = _LISTS[what]()
    if json:
        out.say_json(rows)
    else:
        table = [{k: _short(v) for k, v in row.items()} for row in rows]
        out.say(tabulate(table, "keys", tablefmt="simple", disable_numparse=True))
    broken = what == "cassettes" and any(row.get("problem") for row in rows)
    return out.UNUSABLE if broken else out.OK


def doctor_command(*, json: bool) -> int:
    """Run `harness doctor`; return 5 where no agent at all was found."""
    rows = _agents()
    if json:
        out.say_json(rows)
    else:
        for row in rows:
            whence = f"({row['surface']}; {row['source']})"
            if row["found"]:
                out.say(f"found    {row['agent']} {row['version']}  {whence}: {row['path']}")
            else:
                out.say(f"missing  {row['agent']}  {whence}: {row['install']}")
            if row["found"] and row["problem"]:
                out.say(f"         {printable(row['problem'])}")
    return out.OK if any(row["found"] for row in rows) else out.NOT_STARTED


def _surfaces() -> Rows:
    return [
        {
            "surface": s.name,
            "provider": s.manifest.provider,
            "tier": s.manifest.tier,
            "tier_reason": s.manifest.tier_reason,
            "title": s.manifest.title,
            "agents": [agent.name for agent in s.manifest.agents],
            "recordable": s.recorder is not None,
            "kinds": len(s.vocabulary.kinds),
            "excluded": s.manifest.excluded
            | {
                f"{agent.name}/{scenario}": reason
                for agent in s.manifest.agents
                for scenario, reason in agent.excluded.items()
            },
            "volatile": s.manifest.volatile,
        }
        for s in surfaces().values()
    ]


def _scenarios() -> Rows:
    return [
        {
            "scenario": name,
            "title": scenario.title,
            "permissions": scenario.permissions,
            "turns": len(scenario.turns),
            "shows": list(scenario.shows),
            "excluded": {
                s.name: s.manifest.excluded[name]
                for s in surfaces().values()
                if name in s.manifest.excluded
            }
            | {
                f"{s.name}/{agent.name}": agent.excluded[name]
                for s in surfaces().values()
                for agent in s.manifest.agents
                if name in agent.excluded
            },
        }
        for name, scenario in scenarios().items()
    ]


def _cassettes(project: Project) -> Rows:
    from harness.matrix.coverage import scan  # noqa: PLC0415 - only this list replays cassettes

    rows: Rows = []
    for path in project.cassette_paths():
        row: dict[str, Any] = {"id": project.cassette_id(path)}
        try:
            coverage = scan(path)
        except CassetteError as error:
            row |= {"problem": f"line {error.line}: {error.problem}"}
        else:
            header = coverage.header
            row |= {
                "surface": header.surface,
                "agent": header.agent.id,
                "scenario": header.scenario,
                "provenance": header.provenance,
                "outcome": coverage.outcome,
                "frames": coverage.frames,
            }
            if coverage.truncated:
                row["problem"] = "truncated"
        if waits := _waits(project, path):
            row["waits"] = waits
        rows.append(row)
    for new in waiting_under(project.cassettes):
        if not (old := settled(new)).exists():
            rows.append({"id": project.cassette_id(old), "waits": _waits(project, old)})
    return rows


def _waits(project: Project, cassette: Path) -> list[str]:
    """Return what of a cassette's files waits for `harness review`."""
    files = {
        "cassette": cassette,
        "model": tape_of(cassette),
        "expected": project.expected / f"{project.cassette_id(cassette)}.jsonl",
    }
    return [name for name, file in files.items() if waiting(file).exists()]


def _agents() -> Rows:
    from harness.recording.agents import find_agents  # noqa: PLC0415 - only these look for them

    return find_agents()


def _laws() -> Rows:
    from harness.conformance import LAWS  # noqa: PLC0415 - only this list needs them

    return [
        {"law": x.id, "statement": x.statement, "source": x.source, "example": x.example}
        for x in LAWS
    ]


_LISTS: dict[str, Callable[[], Rows]] = {
    "surfaces": _surfaces,
    "scenarios": _scenarios,
    "agents": _agents,
    "laws": _laws,
}


def _short(value: Any) -> str:
    """Return a value for a table: a line for each entry, control characters as escapes."""
    if isinstance(value, dict):
        entries = [f"{k}: {v}" for k, v in value.items()]
    else:
        entries = [", ".join(map(str, value)) if isinstance(value, list) else str(value)]
    # Wrapped here: tabulate's own wrapping takes the text "False" for a true value.
    lines = [textwrap.wrap(printable(entry), _WIDTH) for entry in entries]
    return "\n".join(line for wrapped in lines for line in wrapped)
