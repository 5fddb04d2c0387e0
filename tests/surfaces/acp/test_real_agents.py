"""The real agents that speak ACP, against the scripted model, each where it is installed."""

from pathlib import Path

import pytest

from harness.cassette import open_cassette
from harness.conformance.judge import Judge, Rules
from harness.recording import RecordError, record
from harness.recording.agents import find_agent
from harness.subject.inprocess import InProcess
from harness.surfaces import surface

ACP = surface("acp")
STORIES = ("command-declined", "interrupt-command", "mode-change")
QUICK = {("codex-acp", "command-declined"), ("codex-acp", "session-load")}
PAIRS = [(source.name, story) for source in ACP.manifest.agents for story in STORIES]
PAIRS += [("gemini-cli", "client-files"), ("claude-code-acp", "client-terminal")]
PAIRS += [
    ("codex-acp", "session-load"),
    ("claude-agent-acp", "session-load"),
    ("claude-agent-acp", "question"),
]
CASES = [pytest.param(*pair, marks=[] if pair in QUICK else [pytest.mark.slow]) for pair in PAIRS]


def missing(name: str) -> str:
    try:
        find_agent(ACP, name=name)
    except RecordError as error:
        return str(error)
    return ""


@pytest.mark.agents
@pytest.mark.parametrize(("name", "story"), CASES)
def test_a_recording_obeys_the_laws(tmp_path: Path, name: str, story: str) -> None:
    if why := missing(name) or ACP.manifest.excluded_for(name).get(story):
        pytest.skip(why)
    done = record("acp", story, tmp_path, agent=name)
    assert done.unhandled == []
    with open_cassette(done.path) as cassette:
        judge = Judge(
            InProcess(ACP.normalizer, "acp"), cassette, "-", Rules(ACP.kinds(), ACP.ignored)
        )
        judge.run(cassette)
        judge.finish(truncated=False)
    assert [v.got for law in judge.laws for v in law.result.violations] == []
