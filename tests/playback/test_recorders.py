"""Our own recorders against played agents: each gives the cassette back."""

import asyncio
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.cassette import open_cassette
from harness.cli import main
from harness.playback.shim import write_shim
from harness.project import find_project
from harness.recording import RecordError, record
from harness.recording.verify import differences
from harness.scenarios import scenario_ids
from harness.surfaces.cursor_acp.construct import story

PROJECT = find_project(Path(__file__))
ALL = [PROJECT.cassette_id(path) for path in PROJECT.recorded_paths()]
# The package has a function of the module's name.
module: Any = sys.modules["harness.recording.record"]

FEW = (
    "codex-exec/interrupt-command",
    "codex-exec/multi-turn",
    "codex-app-server/command-approved",
    "codex-app-server/interrupt-text",
    "claude-sdk/file-edit-approved",
    "acp/multi-turn",
    "opencode/session-load",
    "cursor-acp/command-declined",
    "cursor-acp/cursor-plan",
    "cursor-acp/cursor-question",
    "cursor-acp/interrupt-text",
)
REFUSES = "cursor-plan-refused"
"""What a client does that knows nothing of Cursor's methods; the recorder knows them."""


def chosen(name: str) -> bool:
    """Whether the default run has it: of each agent (of Codex the newer) one, of each way one."""
    surface, agent, scenario = name.split("/")
    if surface == "acp" and scenario == "multi-turn":
        return agent.startswith("opencode")
    if agent.startswith("codex-cli"):
        return False
    return scenario == "text" or f"{surface}/{scenario}" in FEW


def played(folder: Path, name: str) -> str:
    path = PROJECT.cassettes / f"{name}.jsonl"
    with open_cassette(path) as cassette:
        return str(write_shim(folder / "bin", path, cassette.header, pace=False))


def record_again(folder: Path, name: str, scenario: str = "", into: str = "out") -> Path:
    """Record the played agent of a cassette; return the recording."""
    surface, agent, told = name.split("/")
    if surface == "claude-sdk" and importlib.util.find_spec("claude_agent_sdk") is None:
        pytest.skip("the Claude Agent SDK is not installed")
    program = played(folder, name)
    recording = record(
        surface,
        scenario or told,
        folder / into,
        agent=agent.rpartition("-")[0],
        agent_path=program,
    )
    return recording.path


def params() -> list[Any]:
    names = [name for name in ALL if not name.endswith(REFUSES)]
    return [
        pytest.param(name, marks=() if chosen(name) else pytest.mark.slow, id=name)
        for name in names
    ]


@pytest.mark.parametrize("name", params())
def test_recording_a_played_cassette_gives_the_cassette_back(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name.split("/")[2] not in scenario_ids():
        monkeypatch.setattr(module, "scenario", story)
    path = record_again(tmp_path, name)
    assert differences(PROJECT.cassettes / f"{name}.jsonl", path, played=True) == []


def test_the_default_run_has_every_surface_that_can_be_played() -> None:
    assert {name.split("/")[0] for name in ALL if chosen(name)} >= {
        "acp",
        "claude-sdk",
        "codex-app-server",
        "codex-exec",
        "cursor-acp",
        "opencode",
    }
    assert len({name.split("/")[1] for name in ALL if chosen(name)}) >= 7


def test_another_scenario_is_not_what_was_recorded(tmp_path: Path) -> None:
    with pytest.raises(RecordError) as caught:
        record_again(tmp_path, "acp/gemini-cli-0.61.0/text", "unicode")
    assert caught.value.code == 5
    assert "differs:  params.prompt[0].text: recorded" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_recording_of_a_played_agent_says_so_and_takes_no_real_ones_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "codex-exec/codex-0.163.0/text"
    path = record_again(tmp_path, name)
    with open_cassette(path) as cassette:
        header = cassette.header
    assert header.provenance == "constructed"
    assert header.sources == [f"played back: {name} (scripted)"]
    assert record_again(tmp_path, name) == path
    real = (PROJECT.cassettes / f"{name}.jsonl").read_bytes()
    path.write_bytes(real)
    with pytest.raises(RecordError, match="is no recording of a played-back agent") as caught:
        record_again(tmp_path, name)
    assert (caught.value.code, path.read_bytes()) == (2, real)
    path.write_bytes(b"x")
    with pytest.raises(RecordError, match="is no recording of a played-back agent"):
        record_again(tmp_path, name)
    program = played(tmp_path, name)
    root = tmp_path / "root"
    (root / "cassettes").mkdir(parents=True)
    where = ["--surface", "codex-exec", "--agent", "codex", "--scenario", "text"]
    arguments = [*where, "--agent-path", program]
    assert main(["--root", str(root), "record", *arguments]) == 2
    assert "what is recorded of it is none for cassettes/" in capsys.readouterr().err
    assert list((root / "cassettes").iterdir()) == []


def test_the_claude_sdk_with_its_own_transport(tmp_path: Path) -> None:
    """A client that is none of ours, and starts the program itself."""
    sdk = pytest.importorskip("claude_agent_sdk")
    program = played(tmp_path, "claude-sdk/claude-code-2.1.332/text")
    options = sdk.ClaudeAgentOptions(
        cwd=str(tmp_path),
        cli_path=program,
        setting_sources=[],
        include_partial_messages=True,
        permission_mode="bypassPermissions",
    )

    async def talk(prompt: str) -> list[str]:
        async with sdk.ClaudeSDKClient(options) as client:
            await client.query(prompt)
            messages = [message async for message in client.receive_response()]
        blocks = [m.content for m in messages if isinstance(m, sdk.AssistantMessage)]
        return [block.text for content in blocks for block in content]

    assert asyncio.run(talk("Say hello to the world.")) == ["Hello, world."]
    with pytest.raises(sdk.ProcessError):
        asyncio.run(talk("Say hello."))
