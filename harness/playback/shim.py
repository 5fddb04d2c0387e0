"""A program of the agent's own name that is `harness play`: to stand in PATH in its place."""

import contextlib
import os
import shlex
import sys
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from harness.cassette import Header, Provenance
from harness.playback.errors import PlayError

_MARK: Final = "# harness play: "
_HEAD: Final = 4096

RECORDING: Final = "HARNESS_RECORDING"
"""What each process of a recording has in its environment; see `harness.recording.strays`."""

PLAYED: Final = "HARNESS_PLAYED"
"""Set by a recorder that knows its agent to be a played one."""


class Played(Struct, frozen=True):
    """The cassette that a shim plays, and how that one came to be."""

    cassette: str
    provenance: Provenance


def write_shim(folder: Path, cassette: Path, header: Header, *, pace: bool) -> Path:
    """Write the shim into a folder, which is made, and return its path.

    Raises PlayError (2) where another program has its name there, OSError where it cannot be
    written.
    """
    name = os.path.basename(header.command[0] if header.command else header.agent.name)  # noqa: PTH119 - a name, not a file of this machine
    if not name or name in {".", ".."}:
        raise PlayError(2, f"{header.id}: its command line has no program's name")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if path.exists() and played(path) is None:
        raise PlayError(
            2, f"{path} is another program: it stays as it is; choose another folder for --shim"
        )
    mark = msgspec.json.encode(Played(header.id, header.provenance)).decode()
    command = [sys.executable, "-P", "-m", "harness.cli", "play", str(cassette.resolve())]
    command += ["--pace"] if pace else []
    state = folder.resolve() / f".{name}.starts"
    state.unlink(missing_ok=True)
    command += ["--state", str(state)]
    part = folder / f".{name}.part"
    part.write_text(f'#!/bin/sh\n{_MARK}{mark}\nexec {shlex.join(command)} -- "$@"\n', "utf-8")
    part.chmod(0o755)
    part.replace(path)
    return path


def played(program: Path | str) -> Played | None:
    """Return what a program plays, or None where it is no shim."""
    with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
        with Path(program).open("rb") as file:
            lines = file.read(_HEAD).decode(errors="replace").splitlines()
        if len(lines) > 1 and lines[1].startswith(_MARK):
            return msgspec.json.decode(lines[1].removeprefix(_MARK), type=Played)
    return None
