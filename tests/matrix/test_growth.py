"""How long it takes to build the matrix: five seconds at most, and linear in the cassettes."""

import time
from pathlib import Path

import msgspec
import pytest

from harness.cassette import Agent, CassetteWriter, open_cassette
from harness.matrix.build import build
from harness.matrix.render import files
from harness.project import Project, find_project

CORPUS = find_project(Path(__file__))
LIMIT = 5.0
"""Seconds for the present corpus; it is CPU time, so that a busy machine does not fail."""


def seconds(project: Project) -> float:
    began = time.process_time()
    files(build(project))
    return time.process_time() - began


def grown(folder: Path, times: int) -> Project:
    """Return a project with the agents of `codex-exec` and `claude-sdk` so many times over."""
    for path in sorted(CORPUS.cassettes.glob("c*-[es]*/*/*.jsonl")):
        for n in range(times):
            with open_cassette(path) as cassette:
                agent = Agent(cassette.header.agent.name, f"{cassette.header.agent.version}.{n}")
                head = msgspec.structs.replace(cassette.header, agent=agent)
                target = folder / "cassettes" / f"{head.id}.jsonl"
                target.parent.mkdir(parents=True, exist_ok=True)
                with CassetteWriter(target, head) as writer:
                    for f in cassette:
                        kind = "data" if f.data is not msgspec.UNSET else "text"
                        writer.frame(f.at, f.dir, f.channel, kind, f.content)
                    writer.finish(complete=True, exit_code=0)
    return Project(folder)


def test_the_corpus_is_built_in_five_seconds() -> None:
    assert seconds(CORPUS) < LIMIT


@pytest.mark.slow
def test_eight_times_the_cassettes_take_eight_times_as_long(tmp_path: Path) -> None:
    few = grown(tmp_path / "few", 2)
    many = grown(tmp_path / "many", 16)
    assert len(many.cassette_paths()) == 8 * len(few.cassette_paths())
    seconds(few)  # imports, and what is read once
    # Half as much again for what a machine does beside: what is quadratic takes 64 times as long.
    assert seconds(many) < 12 * min(seconds(few) for _ in range(3))
