"""Writing a cassette: each frame is on disk before the next is handled, the file appears whole."""

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from harness.cassette.errors import CassetteError
from harness.cassette.format import Channel, Direction, Footer, Frame, Header, ending

PART_SUFFIX = ".part"

_USUAL = "free the disk or choose another folder with --into"
_ADVICE = dict.fromkeys(
    (errno.EROFS, errno.EACCES, errno.EPERM), "choose a folder that may be written with --into"
)

_encoder = msgspec.json.Encoder()


def _alone(part: Path) -> int:
    """Open a file to be written by nobody else meanwhile, empty. Raises OSError."""
    fd = os.open(part, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        # A lock ends with its process, however that ends.
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(fd, 0)
    except BlockingIOError as error:
        os.close(fd)
        raise OSError(error.errno, f"{part.name} is being written by another recording") from error
    except OSError:
        os.close(fd)
        raise
    return fd


class CassetteWriter:
    """Writes `path`, by way of `path.part`; `finish` puts it in place at once.

    A killed process leaves the `.part` file, which reads as a truncated cassette; leaving the
    `with` block without `finish` removes it, and the old file stays as it was.

    Raises CassetteError when the folder or the disk does not take the file.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.header = header
        self.frames = 0
        self._part = path.with_name(path.name + PART_SUFFIX)
        self._hash = hashlib.sha256()
        self._fd = -1
        self._exit: Any = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = _alone(self._part)
            self._write(_encoder.encode(header))
        except OSError as error:
            raise self._failed("begin", error) from error

    def frame(
        self, at: int, direction: Direction, channel: Channel, field: str, value: Any
    ) -> Frame:
        """Append a frame and return it. `at` is in milliseconds; `field` is the content field."""
        frame = Frame(self.frames + 1, at, direction, channel, **{field: value})
        try:
            self._write(_encoder.encode(frame))
        except OSError as error:
            raise self._failed(f"write frame {frame.seq} of", error) from error
        self.frames += 1
        if channel == "exit":
            self._exit = frame.data
        return frame

    def finish(
        self,
        *,
        complete: bool,
        exit_code: int | None = None,
        signal: str | None = None,
        place: Callable[[Path], Path | None] | None = None,
    ) -> Footer:
        """Write the footer, and put the file in place of an older one in a single step.

        How the process ended is, where it is not given, what the last exit frame says.
        `place` is asked where to put it, given the whole file: None removes it. Then `path` says
        where it is.
        """
        if exit_code is None and signal is None:
            exit_code, signal = ending(self._exit) or (None, None)
        footer = Footer(
            frames=self.frames,
            complete=complete,
            checksum=f"sha256:{self._hash.hexdigest()}",
            exit_code=exit_code,
            signal=signal,
        )
        try:
            self._write(_encoder.encode(footer))
            os.fsync(self._fd)
            self._close()
            self._put(place(self._part) if place else self.path)
        except OSError as error:
            raise self._failed("finish", error) from error
        return footer

    def _put(self, target: Path | None) -> None:
        if target is None:
            self._part.unlink()
        else:
            self._part.replace(target)
            self.path = target

    @property
    def part(self) -> Path:
        """Where the frames are until `finish`: a truncated cassette to whoever reads it."""
        return self._part

    def abort(self) -> None:
        """Remove what was written; an older cassette in its place stays."""
        self._close()
        self._part.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._fd >= 0:
            self.abort()

    def _write(self, line: bytes) -> None:
        line += b"\n"
        self._hash.update(line)
        view = memoryview(line)
        while view:
            view = view[os.write(self._fd, view) :]

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _failed(self, doing: str, error: OSError) -> CassetteError:
        if self._fd >= 0 and stat.S_ISREG(os.fstat(self._fd).st_mode):
            self.abort()
        return CassetteError(
            self.path,
            0,
            f"could not {doing} the cassette: {error.strerror or error}",
            f"{_ADVICE.get(error.errno or 0, _USUAL)}; nothing was changed",
        )
