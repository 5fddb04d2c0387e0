"""`harness new surface`: a room with its tests, recorded and judged from the first day.

A stand-in speaks in its agent's place until there is one; what is recorded of it is `constructed`.
"""

import re
import shutil
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from harness import output as out
from harness.folders import filling
from harness.recording.terminable import unwinding
from harness.scenarios import scenario_ids
from harness.start.places import ROOT, checkout, free, module, slug

_NAME, _MODULE, _PROVIDER = "my-surface", "my_surface", "provider: acp"
"""Stand in the templates for the surface's name, its package, and its provider."""

_PLACES: Final = re.compile("|".join(map(re.escape, (_NAME, _MODULE, _PROVIDER))))
RECORDED: Final = ("text",)
"""The scenarios that the stand-in can play."""


def surface_command(name: str, provider: str, *, json: bool) -> int:
    """Write a surface and say what comes next; return the exit code. See `new_surface`."""
    written = new_surface(name, provider)
    if json:
        out.say_json({"surface": name, "files": [str(path) for path in written]})
    else:
        for path in written:
            out.say(str(path))
        out.say(f"now: harness record --surface {name} --scenario text --into DIR")
    return out.OK


def new_surface(name: str, provider: str = "acp", root: Path = ROOT) -> list[Path]:
    """Write `harness/surfaces/NAME/` and `tests/surfaces/NAME/`, both or neither.

    Return the paths of their files. Raises UsageError for a name that is bad or taken, and where
    there is no checkout.
    """
    doing = f"writing the surface {name!r}"
    package = module(slug(name, doing), doing)
    root = checkout(root, doing)
    room, tests = (root / part / "surfaces" / package for part in ("harness", "tests"))
    # A package would hide the module of that name.
    for taken in (room, room.with_suffix(".py"), tests, tests.with_suffix(".py")):
        free(taken, doing)
    own = {_NAME: name, _MODULE: package, _PROVIDER: f"provider: {provider}"}
    templates = files("harness.start").joinpath("templates", "surface")
    alone = False
    with unwinding():
        try:
            with filling(room) as part:
                written = [room / each for each in _fill(part, templates / "room", own)]
                (part / "stand_in.py").chmod(0o755)
                with filling(tests) as beside:
                    written += [tests / each for each in _fill(beside, templates / "tests", own)]
                alone = True
        except BaseException:
            if alone:
                shutil.rmtree(tests, ignore_errors=True)
            raise
    return written


def _fill(folder: Path, source: Traversable, own: dict[str, str]) -> list[str]:
    """Write the templates of a folder; return the names of the files, sorted."""
    names = []
    for each in source.iterdir():
        if each.is_file() and not each.name.endswith(".pyc"):
            text = _PLACES.sub(lambda found: own[found[0]], each.read_text(encoding="utf-8"))
            if each.name == "manifest.yaml":
                text += _excluded()
            name = each.name.replace(_MODULE, own[_MODULE])
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
            names.append(name)
    return sorted(names)


def _excluded() -> str:
    """The scenarios that nobody has recorded yet, as lines of the manifest."""
    return "".join(
        f"  {id_}: not recorded yet, since the stand-in answers in text alone\n"
        for id_ in scenario_ids()
        if id_ not in RECORDED
    )
