"""From stories to cassettes: `harness/constructed/<surface>/<name>.yaml` to `cassettes/`.

A story has its `sources`, what it is `about`, and `frames`: direction, channel, content field and
content of each, in order. Its cassette's agent is `documents`: no program that could be run, so
that the matrix, which tells what agents do, leaves it out.
"""

import argparse
import json
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import yaml
from msgspec import Struct

from harness import output as out
from harness.cassette import FORMAT_VERSION, Agent, CassetteWriter, Channel, Header
from harness.project import Project
from harness.regular import read_text
from harness.surfaces import surface, surfaces

STORIES: Final = Path(__file__).parent
AGENT: Final = Agent("documents", "1")
RECORDED: Final = "2026-01-01T00:00:00Z"
STEP: Final = 10
"""Milliseconds between frames."""

Entry = tuple[Literal["in", "out"], Channel, Literal["data", "text", "b64"], Any]


class StoryError(Exception):
    """A story cannot be used. Exit code 4."""


class Story(Struct, frozen=True, forbid_unknown_fields=True):
    """One story."""

    about: str
    sources: list[str]
    frames: list[Entry]


def read(path: Path) -> Story:
    """Read a story. Raises StoryError, naming the file."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        story = msgspec.convert(yaml.load(read_text(path), loader), Story)  # noqa: S506
    except OSError as error:
        raise StoryError(f"{path}: {error.strerror}") from error
    except (UnicodeError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise StoryError(f"{path}: {error}") from error
    if not story.sources or not story.frames:
        raise StoryError(f"{path}: a story has its sources, and frames")
    return story


def write(path: Path, into: Path) -> Path:
    """Write a story's cassette under `into`; return its path. Raises StoryError, CassetteError."""
    story = read(path)
    name = path.parent.name
    header = Header(
        cassette=FORMAT_VERSION,
        surface=name,
        provider=surface(name).manifest.provider,
        agent=AGENT,
        scenario=path.stem,
        provenance="constructed",
        recorded=RECORDED,
        sources=story.sources,
    )
    made = into / f"{header.id}.jsonl"
    with CassetteWriter(made, header) as writer:
        for number, (direction, channel, field, content) in enumerate(story.frames):
            writer.frame(number * STEP, direction, channel, field, content)
        ends = [content for _, channel, _, content in story.frames if channel == "exit"]
        last: dict[str, Any] = ends[-1] if ends else {}
        writer.finish(complete=True, exit_code=last.get("code"), signal=last.get("signal"))
    return made


def dump(story: Story) -> str:
    """Return a story as its file has it: a frame a line."""
    lines = [f"about: {json.dumps(story.about, ensure_ascii=False)}", "sources:"]
    lines += [f"- {json.dumps(source, ensure_ascii=False)}" for source in story.sources]
    lines.append("frames:")
    lines += [f"- {json.dumps(list(frame))}" for frame in story.frames]
    return "\n".join(lines) + "\n"


def stories() -> list[Path]:
    """Return the files of all stories, sorted."""
    return sorted(p for p in STORIES.glob("*/*.yaml") if p.parent.name in surfaces())


def construct_command(project: Project, arguments: argparse.Namespace) -> int:
    """Write the cassettes of the stories; return the exit code. Raises SurfaceError."""
    if arguments.surface is not None:
        surface(arguments.surface)
    wanted = [p for p in stories() if arguments.surface in {None, p.parent.name}]
    if not wanted:
        out.note("harness construct: there is no such story")
        return out.NOTHING_RUN
    made = [write(path, arguments.into or project.cassettes) for path in wanted]
    if arguments.json:
        out.say_json([str(path) for path in made])
    else:
        for path in made:
            out.say(str(path))
    return out.OK
