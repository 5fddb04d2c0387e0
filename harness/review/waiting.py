"""The files that wait, and what may be done with one: each decision is one step, or nothing."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from harness.cassette import CassetteError, open_cassette
from harness.conformance.form import settle
from harness.pending import NEW, settled, tape_of, waiting, waiting_under
from harness.project import Project, ProjectError
from harness.recording.errors import RecordError

Kind = Literal["cassette", "expected"]


class ReviewError(Exception):
    """A waiting file that cannot be accepted: what is wrong, what to do. Exit code 4."""


class Waiting(Struct, frozen=True):
    """A file that waits: what it is of, where it is, and what it was when it was found.

    `cassette` is the cassette that an expected file is of, or the waiting cassette itself; `tape`
    are a real model's answers that wait with it, and go where it goes.
    """

    kind: Kind
    id: str
    path: Path
    cassette: Path
    stamp: tuple[int, int, int]
    tape: Path | None = None
    tape_stamp: tuple[int, int, int] = (0, 0, 0)

    @property
    def old(self) -> Path:
        """The file that it is to replace, whether that is there or not."""
        return settled(self.path)

    @property
    def isnew(self) -> bool:
        """Whether there is no older file."""
        return not self.old.exists()

    def accept(self) -> None:
        """Put it in the place of the old file. Raises ReviewError and OSError; then all is as was.

        Only a whole file is taken, and only the one that was found: what has been written since,
        nobody has seen.
        """
        if (why := self.problem()) is not None:
            raise ReviewError(f"accepting {self.path}: {why}; reject it, or record or check again")
        self._same("accepting")
        if self.tape is not None:
            # First: stopped in between, the cassette waits still, and is accepted later.
            self.tape.replace(settled(self.tape))
        self.path.replace(self.old)

    def reject(self) -> None:
        """Remove it; the old file stays. Raises ReviewError and OSError."""
        self._same("rejecting")
        if self.tape is not None:
            self.tape.unlink()
        self.path.unlink()

    def problem(self) -> str | None:  # noqa: PLR0911 - one for each way to be unusable
        """Say why it cannot be accepted; None where it can."""
        try:
            if not stat.S_ISREG(self.path.lstat().st_mode):
                return "not a regular file"
            if self.kind == "cassette":
                return self._cassette() or self._tape()
            if not self.path.stat().st_size:
                return "empty: no cassette gives no events"
            with self.path.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    try:
                        settle(line)
                    except (msgspec.MsgspecError, UnicodeError) as error:
                        return f"line {number}: not a canonical event: {error}"
            if not self.cassette.exists():
                return f"its cassette {self.cassette} is gone"
        except OSError as error:
            return f"could not be read: {error.strerror}"
        return None

    def _cassette(self) -> str | None:
        try:
            with open_cassette(self.path) as cassette:
                for _ in cassette:
                    pass
                if cassette.truncated:
                    return "truncated: it has no footer"
                if not self.id.endswith(cassette.header.id):
                    return f"its header says {cassette.header.id}"
        except CassetteError as error:
            return f"line {error.line}: {error.problem}" if error.line else error.problem
        return None

    def _tape(self) -> str | None:
        if self.tape is None:
            return None
        if not stat.S_ISREG(self.tape.lstat().st_mode):
            return f"{self.tape.name} is not a regular file"
        try:
            from harness.gateway.tape import (  # noqa: PLC0415 - an extra of its own
                cassette_config,
                load_tape,
            )
        except ImportError:
            return None
        try:
            load_tape(self.tape, cassette_config((), ()))
        except RecordError as error:
            return str(error)
        return None

    def _same(self, doing: str) -> None:
        of_tape = _stamp(self.tape) if self.tape is not None else self.tape_stamp
        if _stamp(self.path) != self.stamp or of_tape != self.tape_stamp:
            raise ReviewError(
                f"{doing} {self.path}: it was changed or removed meanwhile; run `harness review` "
                "again to see what it is now"
            )


def find(
    project: Project, names: Sequence[str], surface: str | None, scenario: str | None
) -> list[Waiting]:
    """Return what waits, cassettes first, each sorted by id. Raises ProjectError.

    A name is a waiting file, the file it is to replace, a folder, or the id of a cassette, whose
    expected file is meant too. An id that nothing waits for is an error, never a pass.
    """
    paths: dict[Path, None] = {}
    for name in names:
        found = _named(project, name)
        if not found:
            raise ProjectError(f"nothing waits for {name!r}; `harness review --list` gives all")
        paths |= dict.fromkeys(found)
    if not names:
        paths = dict.fromkeys(waiting_under(project.cassettes, project.expected))
    items = [_waiting(project, path) for path in paths]
    items = [i for i in items if _wanted(i.id, surface, scenario)]
    return sorted(items, key=lambda item: (item.kind != "cassette", item.id))


def _named(project: Project, name: str) -> list[Path]:
    path = Path(name)
    if path.is_dir():
        return waiting_under(path)
    if name.endswith(NEW):
        return [path] if os.path.lexists(path) else []
    ids = [folder / f"{name}.jsonl" for folder in (project.cassettes, project.expected)]
    return [waiting(p) for p in (path, *ids) if os.path.lexists(waiting(p))]


def _waiting(project: Project, path: Path) -> Waiting:
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow a link
    expected = project.expected.resolve()
    if whole.is_relative_to(expected):
        id_ = _id(whole.relative_to(expected))
        cassette = project.cassettes / f"{id_}.jsonl"
        return Waiting("expected", id_, path, cassette, _stamp(path))
    inside = whole.is_relative_to(project.cassettes.resolve())
    id_ = _id(whole.relative_to(project.cassettes.resolve()) if inside else path)
    tape = waiting(tape_of(settled(path)))
    if not os.path.lexists(tape):
        return Waiting("cassette", id_, path, path, _stamp(path))
    return Waiting("cassette", id_, path, path, _stamp(path), tape, _stamp(tape))


def _id(path: Path) -> str:
    return path.as_posix().removesuffix(NEW).removesuffix(".jsonl")


def _wanted(id_: str, surface: str | None, scenario: str | None) -> bool:
    parts = id_.split("/")
    of = parts[-3] if len(parts) > 2 else ""  # noqa: PLR2004 - surface, agent, scenario
    return surface in {None, of} and scenario in {None, parts[-1]}


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        status = path.lstat()
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_mtime_ns, status.st_size)
