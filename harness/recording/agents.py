"""Finds the agents' programs, and asks each for the version that it reports of itself."""

import contextlib
import importlib.util
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from harness.agents.errors import AgentError
from harness.agents.node import find_node
from harness.agents.npm import installed
from harness.cassette.show import printable
from harness.playback.shim import Played, played
from harness.recording.errors import RecordError
from harness.surfaces import Surface, SurfaceError, surfaces
from harness.surfaces.base import Program

_PATIENCE = 30.0


class Found(Struct, frozen=True):
    """An agent's program and its version; `folder` is the package that it came with, if any.

    `search` are the folders that it needs in PATH: Node's, for an agent from npm. `played` is
    the cassette, where it is no agent but one that is played back.
    """

    path: str
    version: str
    folder: str = ""
    search: tuple[str, ...] = ()
    played: Played | None = None


def find_agent(surface: Surface, agent_path: str | None = None, name: str = "") -> Found:
    """Return the program that speaks the surface; of several, the one of that name, or the first.

    Raises RecordError (5), saying how to get it, and SurfaceError for a name that is not known.
    """
    program = surface.program(name)
    try:
        return _found(surface, program, agent_path)
    except AgentError as error:
        raise RecordError(5, str(error)) from error


def _found(surface: Surface, program: Program, agent_path: str | None) -> Found:
    path, folder = agent_path, ""
    if path is None:
        path, folder = (
            _in_package(program) or _in_cache(program) or (shutil.which(program.command) or "", "")
        )
    elif os.sep not in path:
        path = shutil.which(path) or path
    if not path:
        cached = ", in the cache" if program.npm else ""
        raise RecordError(
            5,
            f"looking for the agent of {surface.name}: no {program.command!r} in this "
            f"environment{cached} or on PATH; {_how(surface, program)}, or name one with "
            "--agent-path",
            missing=True,
        )
    path = str(Path(path).absolute())
    if (shim := played(path)) is not None:
        return Found(path, _version(path, program, ()), played=shim)
    node = find_node(program.node) if program.npm else None
    search = (node.folder,) if node else ()
    if program.package and program.inside.endswith(".py"):
        # It is of this interpreter's environment, and is run by no other.
        search = (str(Path(sys.executable).parent),)
    return Found(path, _version(path, program, search), folder or _modules(path), search)


def wrong_version(surface: Surface, found: Found, name: str = "") -> str:
    """Return a notice where the agent is not at the version that is pinned.

    That is the one of its manifest's entry, else the one that the vocabulary was made from.
    """
    source = surface.manifest.agent(name)
    if source is not None and source.program is not None:
        pinned = source.program.npm_version
        if pinned in {"", found.version}:
            return ""
        return f"the agent is at {found.version}, the manifest's entry pins {pinned}"
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
    """Return a row for each agent of each surface that can be recorded: it, or how to get it."""
    rows = []
    for surface in surfaces().values():
        if surface.recorder is None:
            continue
        for source in surface.manifest.agents:
            program = surface.program(source.name)
            row: dict[str, Any] = {"surface": surface.name, "agent": program.agent}
            try:
                found = find_agent(surface, name=source.name)
            except RecordError as error:
                row |= {"found": False, "version": "", "path": "", "problem": str(error)}
            else:
                notice = wrong_version(surface, found, source.name)
                if found.played:
                    notice = f"no agent: played back from {found.played.cassette}"
                row |= {"found": True, "version": found.version, "path": found.path}
                row |= {"problem": notice}
            rows.append(row | {"source": _source(program), "install": _how(surface, program)})
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


def _in_cache(program: Program) -> tuple[str, str] | None:
    path = installed(program) if program.npm and program.npm_version else ""
    return (path, "") if path else None


def _modules(path: str) -> str:
    """Return the `node_modules` folder that a program is in, or an empty text."""
    for folder in (*Path(path).parents, *Path(os.path.realpath(path)).parents):
        if folder.name == "node_modules":
            outer = [f for f in folder.parents if f.name == "node_modules"]
            return str(outer[-1] if outer else folder)
    return ""


def _source(program: Program) -> str:
    """Return where an agent comes from."""
    if program.npm:
        return f"npm {program.npm}@{program.npm_version}".rstrip("@")
    return f"PyPI, as {program.package}" if program.package else f"{program.command} on PATH"


def _how(surface: Surface, program: Program) -> str:
    source = surface.manifest.agent(program.agent)
    return source.how if source else "install it"


def _version(path: str, program: Program, search: tuple[str, ...]) -> str:
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError as error:
        raise RecordError(
            5, f"looking for the agent {path}: {error.strerror}; name another with --agent-path"
        ) from error
    return _asked(path, changed, program.ask, program.version, program.say, search)


@cache
def _asked(
    path: str,
    _changed: int,
    ask: tuple[str, ...],
    pattern: str,
    say: str,
    search: tuple[str, ...],
) -> str:
    """Ask a program for its version; it gets a home of its own, for some write even then."""
    doing = f"asking the agent {path} for its version"
    with tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True) as home:
        environment = {
            "HOME": home,
            "PATH": os.pathsep.join([*search, os.defpath]),
            "LANG": "C.UTF-8",
        }
        try:
            said, code = _answer([path, *ask], environment, say, pattern)
        except subprocess.TimeoutExpired as error:
            raise RecordError(5, f"{doing}: no answer in {_PATIENCE:.0f} s") from error
        except OSError as error:
            raise RecordError(5, f"{doing}: {error.strerror}; try it by hand") from error
    found = re.search(pattern, said)
    if found is None:
        first = said.strip().splitlines()[:1] or ["nothing"]
        raise RecordError(
            5, f"{doing}: {code}, and no version in what it said: {printable(first[0])}"
        )
    return found[1]


def _answer(
    command: list[str], environment: dict[str, str], say: str, pattern: str
) -> tuple[str, str]:
    """Return what a program says, and how it ended; of one that goes on, until it has answered."""
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=environment["HOME"],
        stdin=subprocess.PIPE if say else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if say else subprocess.PIPE,
        start_new_session=sys.platform != "win32",
    )
    with process:
        try:
            if not say:
                out, err = process.communicate(timeout=_PATIENCE)
                return (out + err).decode(errors="replace"), f"exit code {process.returncode}"
            return _until(process, say, pattern), "it went on"
        finally:
            _end(process)


def _until(process: subprocess.Popen[bytes], say: str, pattern: str) -> str:
    """Say a line and read until the pattern is there, the output ends, or it takes too long."""
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    assert process.stdout is not None  # noqa: S101
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(f"{say}\n".encode())
        process.stdin.flush()
    end = time.monotonic() + _PATIENCE
    said = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not re.search(pattern, said.decode(errors="replace")):
            left = end - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise subprocess.TimeoutExpired(process.args, _PATIENCE)
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            said += data
    return said.decode(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and what it has started: it was asked a question, no more."""
    with contextlib.suppress(OSError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
