"""`harness copy`: the shipped corpus as files of one's own."""

import shlex
import shutil
from pathlib import Path

from harness import output as out
from harness.folders import filling, free
from harness.project import Project, ProjectError
from harness.recording.terminable import unwinding


def copy_command(project: Project, folder: Path, *, json: bool) -> int:
    """Copy a corpus and say so; return the exit code. See `copy_corpus`."""
    cassettes, expected = copy_corpus(project, folder)
    if json:
        out.say_json({"folder": str(folder), "cassettes": cassettes, "expected": expected})
    else:
        out.say(f"wrote {cassettes} cassettes and {expected} expected files into {folder}")
        out.say(f"now: cd {shlex.quote(str(folder))} && harness check")
    return out.OK


def copy_corpus(project: Project, folder: Path) -> tuple[int, int]:
    """Copy `cassettes/` and `expected/` into a new or an empty folder, all or nothing.

    Return how many files each has. Raises UsageError for a folder that is none or is not empty,
    ProjectError where there is nothing to copy.
    """
    if not project.cassette_paths():
        raise ProjectError(f"{project.cassettes} holds no cassette")
    free(folder, f"copying the corpus into {folder}")
    counts = []
    with unwinding(), filling(folder) as part:
        for source in (project.cassettes, project.expected):
            counts.append(0)
            for path in sorted(source.glob("*/*/*.jsonl")):
                copy = part / path.relative_to(project.root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                # The contents alone: what is installed may be read-only.
                shutil.copyfile(path, copy)
                counts[-1] += 1
    return counts[0], counts[1]
