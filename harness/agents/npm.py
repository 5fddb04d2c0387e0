"""Puts a pinned package from npm into the cache: whole, or not at all."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.agents.cache import filling, npm_folder
from harness.agents.errors import AgentError
from harness.agents.node import Node, get_node
from harness.surfaces.base import Program

_PATIENCE = 1800.0
_SHOWN = 4
_KEPT = ("npm_config_", "NPM_CONFIG_")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
            "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR")  # fmt: skip
_UNREACHED = ("ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "ECONNRESET", "ENETUNREACH",
              "EHOSTUNREACH", "ERR_SOCKET_TIMEOUT")  # fmt: skip


def installed(program: Program) -> str:
    """Return the path of an agent's program in the cache, or an empty text."""
    path = _bin(npm_folder(program.npm, program.npm_version), program)
    return str(path) if path.exists() else ""


def install(program: Program) -> str:
    """Put an agent into the cache, unless it is there; return its program's path.

    Install scripts run with an empty HOME of their own. Raises AgentError; then nothing of
    it is left.
    """
    if path := installed(program):
        return path
    node = get_node(program.node)
    folder = npm_folder(program.npm, program.npm_version)
    with filling(folder) as part:
        _npm(node, program, part)
        if not _bin(part, program).exists():
            raise AgentError(
                f"installing {program.agent}: {_spec(program)} has no program "
                f"{program.command!r}; correct `command` in the manifest's entry",
            )
    return installed(program)


def _bin(folder: Path, program: Program) -> Path:
    return folder / "node_modules" / ".bin" / program.command


def _spec(program: Program) -> str:
    return f"{program.npm}@{program.npm_version}"


def _npm(node: Node, program: Program, into: Path) -> None:
    doing = f"installing {program.agent} ({_spec(program)})"
    command = [*node.npm, "install", "--prefix", str(into), "--no-audit", "--no-fund",
               "--no-update-notifier", "--no-package-lock", "--engine-strict",
               "--loglevel=error", "--global=false", _spec(program)]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True) as home:
        try:
            code, said = _run(command, _environment(node, home), into)
        except subprocess.TimeoutExpired as error:
            raise AgentError(f"{doing}: no end in {_PATIENCE:.0f} s") from error
        except OSError as error:
            raise AgentError(f"{doing}: npm did not start: {error.strerror}") from error
    if code:
        raise AgentError(f"{doing}: {_why(said, node)}")


def _run(command: list[str], environment: dict[str, str], cwd: Path) -> tuple[int, str]:
    """Run npm to its end; return its exit code and what it said. It leaves no script running."""
    with subprocess.Popen(
        command,
        env=environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=sys.platform != "win32",
    ) as process:
        try:
            out, err = process.communicate(timeout=_PATIENCE)
        finally:
            with contextlib.suppress(OSError):
                if sys.platform != "win32":
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
    return process.returncode, (err + out).decode(errors="replace")


def _environment(node: Node, home: str) -> dict[str, str]:
    """Return npm's environment: an empty home, and the user's own settings of where to fetch.

    npm reads the user's `.npmrc` by its path, for registries and their credentials; nothing
    is written beside it, and npm's own cache is gone with the home.
    """
    environment = {name: value for name, value in os.environ.items() if name in _PROXIES}
    settings = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_KEPT) and not name.lower().endswith(("prefix", "_cache"))
    }
    real = Path("~/.npmrc").expanduser()
    known = {name.lower() for name in settings}
    if real.is_file() and "npm_config_userconfig" not in known:
        settings["npm_config_userconfig"] = str(real)
    if "npm_config_fetch_retries" not in known:
        settings["npm_config_fetch_retries"] = "1"
        settings["npm_config_fetch_retry_mintimeout"] = "1000"
    path = os.pathsep.join([node.folder, os.environ.get("PATH", os.defpath)])
    folders = {"HOME": home, "XDG_CONFIG_HOME": f"{home}/.config", "TMPDIR": home,
               "XDG_CACHE_HOME": f"{home}/.cache", "XDG_DATA_HOME": f"{home}/.local/share",
               "npm_config_cache": f"{home}/.npm"}  # fmt: skip
    return {**environment, **settings, **folders, "PATH": path, "LANG": "C.UTF-8", "CI": "1"}


def _why(said: str, node: Node) -> str:
    lines = [line for line in said.splitlines() if line.startswith("npm error")] or (
        said.strip().splitlines() or ["nothing"]
    )
    shown = "".join(f"\n  | {line}" for line in lines[:_SHOWN])
    for code in _UNREACHED:
        if code in said:
            return (
                f"the registry could not be reached ({code}); allow it, or name another with "
                f"`npm config set registry URL`. npm said:{shown}"
            )
    if "E404" in said or "ETARGET" in said:
        return f"the registry has no such package at this version. npm said:{shown}"
    if "EBADENGINE" in said:
        return (
            f"it does not run on Node {node.version}: raise `node` in the manifest's entry. "
            f"npm said:{shown}"
        )
    return f"npm failed. It said:{shown}"
