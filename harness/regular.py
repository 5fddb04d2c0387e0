"""Reads files that are files: a pipe or a device would be waited for, or read without end."""

import os
import stat
from errno import EINVAL, EISDIR
from pathlib import Path
from typing import BinaryIO


class NotRegularError(OSError):
    """A path that is read as a file, and is a folder, a pipe, a device or a socket."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raises OSError, NotRegularError among them."""
    # Looked at once it is open, so that nothing else can have taken its place; and not waited for.
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _refuse(os.fstat(file).st_mode, path)
        return os.fdopen(file, "rb")
    except BaseException:
        os.close(file)
        raise


def _refuse(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise NotRegularError(EISDIR, os.strerror(EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise NotRegularError(EINVAL, "not a regular file", str(path))


def read_bytes(path: Path) -> bytes:
    """Return what is in a regular file. Raises OSError."""
    with open_regular(path) as file:
        return file.read()


def read_text(path: Path) -> str:
    """As `read_bytes`, of a text in UTF-8. Raises OSError, UnicodeError."""
    return read_bytes(path).decode("utf-8")


def is_absent(path: Path) -> bool:
    """Whether nothing has that name: what cannot be read is not absent. Raises nothing."""
    return not os.path.lexists(path)
