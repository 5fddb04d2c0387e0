"""The real agents take the server for a model: they do what the script says, and no more."""

import asyncio
import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness.model_server import ModelServer
from harness.recording.agents import Found, find_agent
from harness.recording.errors import RecordError
from harness.scenarios import scenario
from harness.surfaces import surface

pytestmark = pytest.mark.agents

FILES = {"command": {}, "file-edit": {"greeting.txt": "Dear reader,\ngood evening.\n"}}

SAID = {"command": "It printed hi.", "file-edit": "The file says good evening."}

CONFIG = """\
model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[features]
plugins = false
apps = false
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
"""


def places(folder: Path) -> tuple[Path, Path]:
    home, workspace = folder / "home", folder / "workspace"
    (home / ".codex").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    return home, workspace


def written(workspace: Path) -> dict[str, str]:
    return {p.name: p.read_text("utf-8") for p in workspace.iterdir() if p.is_file()}


def from_npm(name: str) -> Found:
    """Return an agent from npm, or skip the test."""
    try:
        return find_agent(surface("acp"), name=name)
    except RecordError as error:
        pytest.skip(str(error))


async def output(
    command: tuple[Any, ...],
    workspace: Path,
    environment: dict[str, str],
    search: tuple[str, ...] = (),
) -> bytes:
    """Run an agent to its end; return its stdout. `search` are folders to have in PATH."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=workspace,
        env={"PATH": os.pathsep.join([*search, os.environ["PATH"]]), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), 60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return out


@pytest.mark.parametrize("name", FILES)
def test_codex(name: str, tmp_path: Path) -> None:
    codex = pytest.importorskip("codex_cli_bin", reason="install the extra `agents`")
    program = Path(codex.__file__).parent / "bin" / "codex"
    home, workspace = places(tmp_path)
    prompt = scenario(name).turns[0].prompt

    async def run() -> Any:
        async with ModelServer(scenario(name), str(workspace)) as server:
            config = CONFIG.format(port=server.port)
            (home / ".codex" / "config.toml").write_text(config, "utf-8")
            out = await output(
                (program, "exec", "--json", "--skip-git-repo-check", prompt),
                workspace,
                {"HOME": str(home), "CODEX_HOME": str(home / ".codex"), "SCRIPTED_KEY": "fake"},
            )
            assert (server.problems, server.unused()) == ([], [])
            return [json.loads(line) for line in out.splitlines()]

    events = asyncio.run(run())
    said = [e["item"]["text"] for e in events if e.get("item", {}).get("type") == "agent_message"]
    assert said[-1] == SAID[name]
    assert events[-1]["type"] == "turn.completed"
    assert written(workspace) == FILES[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_opencode(name: str, tmp_path: Path) -> None:
    program = from_npm("opencode")
    home, workspace = places(tmp_path)

    async def run() -> Any:
        async with ModelServer(scenario(name), str(workspace)) as server:
            model = {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"http://127.0.0.1:{server.port}/v1", "apiKey": "fake"},
                "models": {"scripted": {"name": "Scripted"}},
            }
            names = dict.fromkeys(("model", "small_model"), "scripted/scripted")
            config = {**names, "autoupdate": False, "provider": {"scripted": model}}
            (home / "config.json").write_text(json.dumps(config), "utf-8")
            out = await output(
                (program.path, "run", "--format", "json", scenario(name).turns[0].prompt),
                workspace,
                {
                    "HOME": str(home),
                    "OPENCODE_CONFIG": str(home / "config.json"),
                    "OPENCODE_DISABLE_MODELS_FETCH": "1",
                    "OPENCODE_DISABLE_AUTOUPDATE": "1",
                    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
                    "npm_config_registry": "http://127.0.0.1:9/",
                },
                program.search,
            )
            assert (server.problems, server.unused()) == ([], [])
            assert [r.kind for r in server.requests].count("side") == 1  # the title
            return [json.loads(line) for line in out.splitlines()]

    events = asyncio.run(run())
    said = [e["part"]["text"] for e in events if e["type"] == "text"]
    assert said[-1] == SAID[name]
    assert events[-1]["part"]["reason"] == "stop"
    assert written(workspace) == FILES[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_gemini(name: str, tmp_path: Path) -> None:
    program = from_npm("gemini-cli")
    home, workspace = places(tmp_path)
    (home / ".gemini").mkdir()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
    }
    (home / ".gemini/settings.json").write_text(json.dumps(settings), "utf-8")
    options = ("-m", "gemini-2.5-pro", "--yolo", "-o", "stream-json")

    async def run() -> Any:
        async with ModelServer(scenario(name), str(workspace)) as server:
            out = await output(
                (program.path, *options, "-p", scenario(name).turns[0].prompt),
                workspace,
                {
                    "HOME": str(home),
                    "GEMINI_API_KEY": "fake",
                    "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{server.port}",
                    "GEMINI_CLI_TRUST_WORKSPACE": "true",
                },
                program.search,
            )
            assert (server.problems, server.unused()) == ([], [])
            return [json.loads(line) for line in out.splitlines()]

    events = asyncio.run(run())
    said = [e["content"] for e in events if e["type"] == "message" and e["role"] == "assistant"]
    assert "".join(said).endswith(SAID[name])
    assert events[-1]["status"] == "success"
    assert written(workspace) == FILES[name]


@pytest.mark.parametrize("name", FILES)
def test_claude(name: str, tmp_path: Path) -> None:
    sdk = pytest.importorskip("claude_agent_sdk", reason="install the extra `agents`")
    home, workspace = places(tmp_path)

    async def run() -> Any:
        async with ModelServer(scenario(name), str(workspace)) as server:
            options = sdk.ClaudeAgentOptions(
                cwd=str(workspace),
                permission_mode="bypassPermissions",
                setting_sources=[],
                env={
                    "HOME": str(home),
                    "CLAUDE_CONFIG_DIR": str(home / ".claude"),
                    "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.port}",
                    "ANTHROPIC_API_KEY": "fake",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                    "DISABLE_TELEMETRY": "1",
                    "DISABLE_ERROR_REPORTING": "1",
                    "DISABLE_AUTOUPDATER": "1",
                    "IS_SANDBOX": "1",
                },
            )
            async with asyncio.timeout(60), sdk.ClaudeSDKClient(options) as client:
                await client.query(scenario(name).turns[0].prompt)
                messages = [m async for m in client.receive_response()]
            assert (server.problems, server.unused()) == ([], [])
            return messages[-1]

    result = asyncio.run(run())
    assert (result.subtype, result.is_error) == ("success", False)
    assert result.result == SAID[name]
    assert written(workspace) == FILES[name]
