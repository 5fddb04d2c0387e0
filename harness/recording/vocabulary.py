"""`harness vocabulary`: the pinned kinds of a surface against what its installed agent declares.

A surface whose agent can be asked has `declared.py`: `declared(program)` gives each kind and
whether it is experimental, `COMPLETE` says whether what is not in it is gone, and `BEYOND`
matches the kinds that the agent's own list does not speak of.
"""

import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import Struct, field

from harness import output as out
from harness.cassette.show import printable
from harness.recording.agents import find_agent
from harness.recording.errors import RecordError
from harness.surfaces import Surface, surface, surfaces

_NEW = "new in {version}: not mapped yet"


class Comparison(Struct, frozen=True):
    """A surface's vocabulary beside its installed agent.

    `new` are kinds that the agent declares and the vocabulary lacks, with whether each is
    experimental; `gone` are pinned ones that it no longer declares. `problem` says why there is
    nothing to compare, and `code` is then 0 (no agent writes such a list) or 5.
    """

    surface: str
    pinned: str
    installed: str = ""
    kinds: int = 0
    declared: int = 0
    new: dict[str, bool] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    problem: str = ""
    code: int = 0


def compare(room: Surface) -> Comparison:
    """Ask the installed agent for its kinds and compare. Raises SurfaceError."""
    pinned = room.vocabulary
    base = Comparison(room.name, pinned.version, kinds=len(pinned.kinds))
    source = room.declared
    if source is None:
        return _with(base, problem=f"its agent writes no list of its kinds; from {pinned.source}")
    try:
        agent = find_agent(room)
        found: dict[str, bool] = source.declared(agent.path)
    except RecordError as error:
        return _with(base, problem=str(error), code=out.NOT_STARTED)
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
        problem = f"{room.name}: the agent failed to write its schema: {printable(said[0])}"
        return _with(base, problem=problem, code=out.NOT_STARTED)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, SyntaxError) as error:
        problem = f"{room.name}: what the agent declares could not be read: {error}"
        return _with(base, problem=problem, code=out.NOT_STARTED)
    beyond = re.compile(source.BEYOND)
    gone = [k for k in pinned.kinds if k not in found and not beyond.fullmatch(k)]
    return _with(
        base,
        installed=agent.version,
        declared=len(found),
        new={k: x for k, x in found.items() if k not in pinned.kinds},
        gone=gone if source.COMPLETE else [],
    )


def write(room: Surface, comparison: Comparison) -> Path:
    """Add the new kinds to `vocabulary.yaml`, as what they now give, and name the version.

    A kind that the normalizer does not know gives a `runtime.warning`. What is gone stays: older
    agents send it. The file is put in place at once.
    """
    path = room.folder / "vocabulary.yaml"
    text = path.read_text("utf-8").rstrip("\n") + "\n"
    version = yaml.safe_dump(comparison.installed, width=1000).splitlines()[0]
    text = re.sub(r"(?m)^version: .*$", f"version: {version}", text, count=1)
    if comparison.new:
        text += f"  # {_NEW.format(version=comparison.installed)}\n"
    for kind, experimental in comparison.new.items():
        entry: dict[str, Any] = {
            "to": ["runtime.warning"],
            "note": _NEW.format(version=comparison.installed),
        }
        if experimental:
            entry["experimental"] = True
        line = yaml.safe_dump({kind: entry}, default_flow_style=True, width=10_000).strip()
        text += f"  {line[1:-1]}\n"
    part = path.with_name(path.name + ".part")
    part.write_text(text, "utf-8")
    part.replace(path)
    return path


def vocabulary_command(names: list[str], *, write_them: bool, json: bool) -> int:
    """Run the command; return 0 where all is as pinned, 1 where not, 5 where no agent answered.

    Raises SurfaceError.
    """
    rooms = [surface(name) for name in names] or list(surfaces().values())
    results = [compare(room) for room in rooms]
    if json:
        out.say_json(results)
    else:
        for result in results:
            for line in _lines(result):
                out.say(line)
    if write_them:
        for room, result in zip(rooms, results, strict=True):
            if result.new or (result.installed and result.installed != result.pinned):
                out.note(f"wrote {write(room, result)}")
        results = [_with(result, new={}) for result in results]
    if any(result.new or result.gone for result in results):
        return out.NOT_CONFORMING
    return max(result.code for result in results)


def _lines(result: Comparison) -> list[str]:
    if result.problem:
        return [f"{result.surface}: {result.problem}"]
    counts = f"{len(result.new)} new, {len(result.gone)} gone"
    pinned = f"{result.kinds} kinds pinned from {result.pinned}"
    lines = [
        f"{result.surface}: {pinned}, {result.declared} declared by {result.installed}: {counts}"
    ]
    lines += [f"  new   {printable(k)}{' (experimental)' * x}" for k, x in result.new.items()]
    return lines + [f"  gone  {printable(kind)}" for kind in result.gone]


def _with(comparison: Comparison, **changes: Any) -> Comparison:
    return msgspec.structs.replace(comparison, **changes)
