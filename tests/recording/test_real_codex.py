"""The real Codex, on both surfaces, against the scripted model."""

from pathlib import Path

import pytest

from harness.cassette import open_cassette
from harness.recording import RecordError, record
from harness.recording.agents import find_agent
from harness.recording.verify import differences, volatile
from harness.scenarios import scenario_ids
from harness.surfaces import surface

SURFACES = ("codex-app-server", "codex-exec")
QUICK = {"text", "command-approved", "subagent"}
CASES = [
    pytest.param(
        name,
        agent,
        story,
        marks=[] if agent == "codex" and story in QUICK else [pytest.mark.slow],
    )
    for name in SURFACES
    for agent in ("codex", "codex-cli")
    for story in scenario_ids()
    if story not in surface(name).manifest.excluded_for(agent)
]


def missing(agent: str = "codex") -> str:
    try:
        find_agent(surface(SURFACES[0]), name=agent)
    except RecordError as error:
        return str(error)
    return ""


pytestmark = [pytest.mark.agents, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]


@pytest.mark.parametrize(("name", "agent", "story"), CASES)
def test_recorded_twice_it_is_the_same(tmp_path: Path, name: str, agent: str, story: str) -> None:
    if why := missing(agent):
        pytest.skip(why)
    one, other = (record(name, story, tmp_path / folder, agent=agent) for folder in "ab")
    assert differences(one.path, other.path) == []
    assert one.unhandled == []
    assert [n for n in one.notices if not n.startswith("not isolated")] == []
    assert one.refused_connections in (0, None)
    with open_cassette(one.path) as cassette:
        frames = list(cassette)
    assert cassette.footer is not None
    assert cassette.footer.complete
    assert frames[0].channel == "start"
    assert frames[-1].channel == "exit"
    assert frames[-1].data.keys() <= {"code"}  # it ended by itself


@pytest.mark.parametrize("name", SURFACES)
def test_what_a_manifest_says(name: str) -> None:
    manifest = surface(name).manifest
    assert set(manifest.excluded) <= set(scenario_ids())
    assert volatile(manifest.volatile)["stderr"] == "presence"
