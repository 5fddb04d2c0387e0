"""A recording with a real model's answers: where it works, what is written, what is checked."""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from harness.cassette.format import Header
from harness.cassette.leaks import Secret
from harness.gateway.base import Served
from harness.gateway.checks import key_form, removed, tape_leaks
from harness.gateway.live import Gateway
from harness.gateway.reduce import Normal, Reducer
from harness.gateway.tape import (
    FORMAT,
    Meta,
    UnusableError,
    cassette_config,
    load_tape,
    read_interactions,
    save_tape,
)
from harness.gateway.taped import PlayedModel
from harness.gateway.upstream import Upstream
from harness.pending import TAPE, tape_of
from harness.recording.errors import RecordError
from harness.recording.models import Live, Model, Taped
from harness.scenarios import Scenario

_FOLDER: Final = re.compile(r"(?:/private)?/tmp/harness-[0-9a-f]{12}")
_LEAKS_SHOWN: Final = 3


class RealModel:
    """One recording's. `folder` is where the agent works: the same whenever it is played."""

    def __init__(self, choice: Live | Taped, id_: str, into: Path) -> None:
        """Check all that can be checked before an agent is started. Raises RecordError."""
        self.choice = choice
        self.path = tape_of(into / f"{id_}.jsonl")
        self.upstream: Upstream | None = None
        self.keys: list[str] = []
        self.taken: list[Secret] = []
        self.moments: list[float] = []
        """When the model said what it says, where that was not now: seconds since 1970."""
        self._id = id_
        if isinstance(choice, Live):
            self.upstream = Upstream(choice, os.environ)
            self.keys = self.upstream.keys
            self.folder = _folder(id_)
            self.tape = self.path
            if self.path.exists():
                # It is replaced once the new one is whole: but never what is no such file.
                load_tape(self.path, cassette_config((), ()))
        else:
            self.tape = choice.path or tape_of((choice.corpus or into) / f"{id_}.jsonl")
            if not self.tape.exists():
                raise RecordError(4, _none(self.tape))
            _, self.meta = load_tape(self.tape, cassette_config((), ()))
            self.folder = Path(self.meta.folder)
            self.moments = [_seconds(self.tape, self.meta.recorded)]
            if not _FOLDER.fullmatch(self.meta.folder):
                raise UnusableError(self.tape, f"{self.meta.folder!r} is no folder of a recording")

    def serve(
        self, story: Scenario, normal: Callable[[], Normal], listener: socket.socket
    ) -> Served:
        """Return what listens for the agent. Raises RecordError (4)."""
        reducer = Reducer(lambda: [turn.prompt for turn in story.turns], normal)
        if self.upstream is not None:
            return Gateway(self.upstream, reducer, [listener])
        return PlayedModel(self.tape, reducer, [listener], self._id.split("/")[1])

    @property
    def sources(self) -> list[str]:
        """What the agent cassette's header says of its model: the same when it is played."""
        return [f"a real model's answers, in {self.path.name}"]

    form = staticmethod(key_form)
    """Names the form of a key that a text holds."""

    def write(self, model: Model, header: Header, secrets: list[Secret]) -> Path | None:
        """Write a live model's cassette beside its place, checked; return where it waits.

        Raises RecordError: (1) where something is in it that must not be, (4) where it cannot
        be written.
        """
        if not isinstance(model, Gateway):
            return None
        cassette, exchanges = model.cassette()
        for kept in model.kept:
            self.taken += removed(kept.headers)
        meta = Meta(
            format=FORMAT,
            agent=header.agent,
            surface=header.surface,
            scenario=header.scenario,
            recorded=header.recorded,
            folder=str(self.folder),
            exchanges=exchanges,
        )
        part = self.path.with_name(f"{self.path.name}.part")
        try:
            save_tape(part, cassette, meta)
            leaks = tape_leaks(read_interactions(part), [*secrets, *self.taken])
            load_tape(part, cassette_config((), ()))
        except OSError as error:
            part.unlink(missing_ok=True)
            raise RecordError(
                4, f"writing the model's cassette {self.path}: {error.strerror}; free the disk"
            ) from error
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        if leaks:
            part.unlink(missing_ok=True)
            shown = "\n  ".join(leaks[:_LEAKS_SHOWN])
            raise RecordError(
                1,
                f"{len(leaks)} places of the model's cassette hold what must not be in it; nothing "
                f"was written:\n  {shown}",
            )
        return part


def _folder(id_: str) -> Path:
    """Return where a recording works: named after it, since a model repeats what it is told."""
    name = f"harness-{hashlib.sha256(id_.encode()).hexdigest()[:12]}"
    return Path(os.path.realpath("/tmp"), name)  # noqa: S108 - the same on each machine: see `held_folder`


def _seconds(path: Path, when: str) -> float:
    try:
        return datetime.fromisoformat(when).timestamp()
    except ValueError as error:
        raise UnusableError(path, f"{when!r} is no time") from error


def _none(path: Path) -> str:
    """Say that there is no such file, and which there are of other versions."""
    folders = path.parent.parent.glob(f"*/{path.name}")
    others = ", ".join(sorted(str(other) for other in folders))
    there = (
        f"there are {others}: name one with --model-cassette FILE"
        if others
        else (f"record one with --live (its name ends in {TAPE})")
    )
    return f"the model's cassette {path}: no such file; {there}"


@contextlib.contextmanager
def held_folder(root: Path) -> Iterator[None]:
    """Hold a folder of a fixed name for one recording; what a killed one left is removed.

    Raises RecordError (4) where it is in use, or somebody else's.
    """
    lock = root.with_name(f"{root.name}.lock")
    try:
        fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RecordError(4, f"making {root}: {lock}: {error.strerror}; remove it") from error
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise RecordError(
                4, f"{root} is in use by another recording of the same; wait for its end"
            ) from error
        _clear(root)
        try:
            root.mkdir(mode=0o700)
        except OSError as error:
            raise RecordError(4, f"making {root}: {error.strerror}; remove it") from error
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
    finally:
        os.close(fd)


def _clear(root: Path) -> None:
    try:
        status = root.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise RecordError(4, f"{root} is not this user's folder; remove it")
    shutil.rmtree(root, ignore_errors=True)
