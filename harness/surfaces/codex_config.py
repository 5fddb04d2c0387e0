"""What both surfaces of the Codex program share: how it is found, set up, and scrubbed."""

from collections.abc import Mapping
from pathlib import Path

from harness.cassette.scrub import Rules
from harness.surfaces.base import Program, Setup

PROGRAM = Program(agent="codex", command="codex", package="codex_cli_bin", inside="bin/codex")
MODEL = "gpt-5.5"
"""A model that the program knows: it offers `apply_patch`, and warns of nothing."""

_CONFIG = """\
model = "{model}"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
[features]
plugins = false
apps = false
[projects."{workspace}"]
trust_level = "trusted"
"""

RULES = Rules(
    constants={"serverName": "localhost"},  # remoteControl/status/changed: the host's name
    patterns=((r"\([A-Z][^;()]*; (x86_64|aarch64|arm64)\)", "(Linux 6.0.0; x86_64)"),),
)


def prepare(setup: Setup) -> Mapping[str, str]:
    """Write `CODEX_HOME/config.toml`; return the variables that Codex needs."""
    folder = Path(setup.home) / ".codex"
    folder.mkdir(exist_ok=True)
    text = _CONFIG.format(model=MODEL, port=setup.port, workspace=setup.workspace)
    (folder / "config.toml").write_text(text, "utf-8")
    return {"CODEX_HOME": str(folder), "SCRIPTED_KEY": setup.key}
