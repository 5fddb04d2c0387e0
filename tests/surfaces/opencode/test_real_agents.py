"""The real server, against the scripted model, where it is installed; and what the corpus shows."""

from pathlib import Path

import pytest

from harness.cassette import open_cassette
from harness.conformance.judge import Judge, Rules
from harness.project import find_project
from harness.recording import RecordError, record
from harness.recording.agents import find_agent
from harness.subject.inprocess import InProcess
from harness.surfaces import surface

OPENCODE = surface("opencode")
CORPUS = [p for p in find_project(Path(__file__)).recorded_paths() if "/opencode/" in p.as_posix()]


def missing() -> str:
    try:
        find_agent(OPENCODE)
    except RecordError as error:
        return str(error)
    return ""


@pytest.mark.agents
@pytest.mark.parametrize(
    ("story", "isolate"),
    [
        ("text", False),
        pytest.param("command-declined", None, marks=pytest.mark.slow),
        pytest.param("interrupt-command", None, marks=pytest.mark.slow),
    ],
)
def test_a_recording_obeys_the_laws(tmp_path: Path, story: str, isolate: bool | None) -> None:
    if why := missing():
        pytest.skip(why)
    done = record("opencode", story, tmp_path, isolate=isolate)
    assert done.unhandled == []
    with open_cassette(done.path) as cassette:
        judge = Judge(
            InProcess(OPENCODE.normalizer, "opencode"),
            cassette,
            "-",
            Rules(OPENCODE.kinds(), OPENCODE.ignored),
        )
        judge.run(cassette)
        judge.finish(truncated=False)
    assert [v.got for law in judge.laws for v in law.result.violations] == []
    assert cassette.footer is not None
    assert cassette.footer.signal == "SIGTERM"


def test_the_corpus_shows_at_least_25_types_of_events() -> None:
    seen: set[str] = set()
    for path in CORPUS:
        with open_cassette(path) as cassette:
            assert cassette.header.provenance == "scripted"
            seen |= {frame.data["type"] for frame in cassette if frame.channel == "sse"}
    declared = {kind.partition(" ")[0] for kind in OPENCODE.vocabulary.kinds if "." in kind}
    assert seen <= declared
    assert len(seen) >= 25
