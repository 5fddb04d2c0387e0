"""Finds the agents' programs, and asks each for the version that it reports of itself."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from harness.cassette.show import printable
from harness.recording.errors import RecordError
from harness.surfaces import Surface, SurfaceError, surfaces
from harness.surfaces.base import Program

_PATIENCE = 30.0


class Found(Struct, frozen=True):
    """An agent's program and its version; `folder` is the package that it came with, if any."""

    path: str
    version: str
    folder: str = ""


def find_agent(surface: Surface, agent_path: str | None = None) -> Found:
    """Return the program that speaks the surface. Raises RecordError (5), saying how to get it."""
    program: Program = surface.recorder.PROGRAM
    path, folder = agent_path, ""
    if path is None:
        path, folder = _in_package(program) or (shutil.which(program.command) or "", "")
    elif os.sep not in path:
        path = shutil.which(path) or path
    if not path:
        raise RecordError(
            5,
            f"looking for the agent of {surface.name}: no {program.command!r} in this "
            f"environment or on PATH; {_how(surface, program)}, or name one with --agent-path",
            missing=True,
        )
    path = str(Path(path).absolute())
    return Found(path, _version(path, program.ask, program.version), folder)


def wrong_version(surface: Surface, found: Found) -> str:
    """Return a notice where the agent is not at the version that the vocabulary was made for."""
    try:
        pinned = surface.vocabulary.version
    except SurfaceError:
        return ""
    if pinned == found.version:
        return ""
    return (
        f"the agent is at {found.version}, the vocabulary of {surface.name} was made from "
        f"{pinned}: kinds that it does not know are shown as such"
    )


def find_agents() -> list[dict[str, Any]]:
    """Return a row for each surface that can be recorded: its agent, or how to get it."""
    rows = []
    for surface in surfaces().values():
        if surface.recorder is None:
            continue
        program: Program = surface.recorder.PROGRAM
        row: dict[str, Any] = {"surface": surface.name, "agent": program.agent}
        try:
            found = find_agent(surface)
        except RecordError as error:
            row |= {"found": False, "version": "", "path": "", "problem": str(error)}
        else:
            notice = wrong_version(surface, found)
            row |= {"found": True, "version": found.version, "path": found.path, "problem": notice}
        rows.append(row | {"install": _how(surface, program)})
    return rows


def _in_package(program: Program) -> tuple[str, str] | None:
    if not program.package:
        return None
    try:
        spec = importlib.util.find_spec(program.package)
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or []) if spec else []:
        path = Path(place) / program.inside
        if path.is_file():
            return str(path), str(place)
    return None


def _how(surface: Surface, program: Program) -> str:
    ways = [a.install for a in surface.manifest.agents if a.name == program.agent]
    return ways[0] if ways else "install it"


def _version(path: str, ask: tuple[str, ...], pattern: str) -> str:
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError as error:
        raise RecordError(
            5, f"looking for the agent {path}: {error.strerror}; name another with --agent-path"
        ) from error
    return _asked(path, changed, ask, pattern)


@cache
def _asked(path: str, _changed: int, ask: tuple[str, ...], pattern: str) -> str:
    """Ask a program for its version; it gets a home of its own, for some write even then."""
    doing = f"asking the agent {path} for its version"
    with tempfile.TemporaryDirectory(prefix="harness-") as home:
        environment = {"HOME": home, "PATH": os.defpath, "LANG": "C.UTF-8"}
        try:
            answer = subprocess.run(
                [path, *ask],
                env=environment,
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE,
                check=False,
                start_new_session=sys.platform != "win32",
            )
        except subprocess.TimeoutExpired as error:
            raise RecordError(5, f"{doing}: no answer in {_PATIENCE:.0f} s") from error
        except OSError as error:
            raise RecordError(5, f"{doing}: {error.strerror}; try it by hand") from error
    said = (answer.stdout + answer.stderr).decode(errors="replace")
    found = re.search(pattern, said)
    if found is None:
        first = said.strip().splitlines()[:1] or ["nothing"]
        raise RecordError(
            5,
            f"{doing}: exit code {answer.returncode}, and no version in what it said: "
            f"{printable(first[0])}",
        )
    return found[1]
