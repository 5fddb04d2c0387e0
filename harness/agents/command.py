"""`harness agents install`: agents from npm, put into the cache by their names."""

import difflib

from harness import output as out
from harness.agents.errors import AgentError
from harness.agents.npm import install
from harness.recording.agents import find_agent, wrong_version
from harness.surfaces import Surface, surfaces
from harness.surfaces.base import Program


def install_command(names: list[str], *, json: bool) -> int:
    """Install agents by name; return the exit code: 0, or 5 where one could not be installed.

    All names are looked at before anything is fetched.
    """
    wanted = [one for name in names for one in _named(name)]
    rows = []
    show = out.progress()
    for surface, program in wanted:
        show(f"installing {program.agent} {program.npm_version}")
        try:
            install(program)
            found = find_agent(surface, name=program.agent)
        finally:
            show("")
        notice = wrong_version(surface, found, program.agent)
        rows.append(
            {
                "agent": program.agent,
                "version": found.version,
                "path": found.path,
                "source": f"npm {program.npm}@{program.npm_version}",
                "problem": notice,
            }
        )
        if not json:
            out.say(f"{program.agent} {found.version}: {found.path}")
        if notice:
            out.note(f"harness agents: {program.agent}: {notice}")
    if json:
        out.say_json(rows)
    return out.OK


def _named(name: str) -> list[tuple[Surface, Program]]:
    """Return the programs of an agent: one for each pinned version.

    Raises UsageError for a name that no agent has, AgentError for one that is not from npm.
    """
    known: dict[str, str] = {}
    found: dict[tuple[str, str], tuple[Surface, Program]] = {}
    for surface in surfaces().values():
        for source in surface.manifest.agents:
            known[source.name] = source.how
            if source.name == name and source.program is not None and source.program.npm:
                program = surface.program(name)
                found[program.npm, program.npm_version] = (surface, program)
    if found:
        return list(found.values())
    if name in known:
        raise AgentError(f"installing {name}: it is not from npm; {known[name]}")
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
    raise out.UsageError(f"installing {name}: no agent is called that; {hint}")
