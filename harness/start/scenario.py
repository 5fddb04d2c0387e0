"""`harness new scenario`: a file that loads, and that any agent can be recorded with, as it is."""

import os
import uuid
from importlib.resources import files
from pathlib import Path

from harness import output as out
from harness.recording.terminable import unwinding
from harness.scenarios import scenario
from harness.start.places import ROOT, checkout, free, slug


def scenario_command(name: str, source: str | None, *, json: bool) -> int:
    """Write a scenario and say what comes next; return the exit code. See `new_scenario`."""
    path = new_scenario(name, source)
    if json:
        out.say_json({"scenario": name, "files": [str(path)]})
    else:
        out.say(str(path))
        out.say(
            f"now: harness record --surface SURFACE --scenario {name} --into DIR; "
            "`harness list surfaces` gives them"
        )
    return out.OK


def new_scenario(name: str, source: str | None = None, root: Path = ROOT) -> Path:
    """Write `harness/scenarios/NAME.yaml`, with what the scenario `source` does if one is named.

    Return its path. Raises UsageError for a name that is bad or taken, and where there is no
    checkout; ScenarioError for an unknown source.
    """
    doing = f"writing the scenario {name!r}"
    slug(name, doing)
    path = checkout(root, doing) / "harness" / "scenarios" / f"{name}.yaml"
    free(path, doing)
    texts = files("harness.start").joinpath("templates", "scenario")
    fields = texts.joinpath("fields.txt").read_text(encoding="utf-8")
    if source is None:
        story = texts.joinpath("start.yaml").read_text(encoding="utf-8")
    else:
        story = Path(scenario(source).path).read_text(encoding="utf-8")
    part = path.with_name(f".{name}.{uuid.uuid4().hex[:8]}.part")
    with unwinding():
        try:
            part.write_text(f"{fields}\n{_own(story)}", encoding="utf-8", newline="\n")
            # Not over a file that somebody has put there meanwhile.
            os.link(part, path)
        except FileExistsError:
            free(path, doing)
            raise
        finally:
            part.unlink(missing_ok=True)
    return path


def _own(story: str) -> str:
    """A scenario's text without the heading that it was itself begun with."""
    heading = files("harness.start").joinpath("templates", "scenario", "fields.txt")
    return story.removeprefix(heading.read_text(encoding="utf-8")).lstrip("\n")
