"""A folder that is written whole or not at all: a new one, or an empty one."""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.output import UsageError


def free(folder: Path, doing: str) -> None:
    """Make sure that a folder can be filled. Raises UsageError where it is none, or not empty."""
    if folder.is_dir():
        if any(folder.iterdir()):
            raise UsageError(f"{doing}: the folder is not empty; name a new one")
    elif folder.exists() or folder.is_symlink():
        raise UsageError(f"{doing}: there is something of that name that is no folder")
    elif not folder.parent.is_dir():
        raise UsageError(f"{doing}: there is no folder {folder.parent}; make it first")


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """Give a new folder beside `folder` whose files are its own once the block ends well."""
    target = folder.resolve()
    part = target.parent / f".{target.name}.{uuid.uuid4().hex[:8]}.part"
    part.mkdir()
    try:
        yield part
        if target.is_dir():
            _move(part, target)
        else:
            part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _move(part: Path, target: Path) -> None:
    """Move files into a folder that is there already (it may be where the user stands), or none."""
    moved: list[Path] = []
    made: list[Path] = []
    try:
        for each in sorted(part.rglob("*")):
            place = target / each.relative_to(part)
            if each.is_dir():
                place.mkdir()
                made.append(place)
            else:
                # Not over a file that somebody has put there meanwhile.
                os.link(each, place)
                moved.append(place)
    except BaseException:
        for each in moved:
            with suppress(OSError):
                each.unlink()
        for each in reversed(made):
            with suppress(OSError):
                each.rmdir()
        raise
