"""Reading a cassette as a stream: memory does not grow with the file."""

import hashlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import msgspec
from msgspec import UNSET

from harness.cassette.errors import CassetteError
from harness.cassette.format import FORMAT_VERSION, Footer, Frame, Header, ending
from harness.regular import NotRegularError, open_regular

_BLOCK = 1 << 18
_BUT_ONE = 2  # of the three fields for a frame's content, how many are absent
_FOOTER_START = b'{"frames":'
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)
_RE_RECORD = "record it again with `harness record`"

_BROKEN = (msgspec.MsgspecError, UnicodeError, RecursionError)
"""What decoding a line raises; RecursionError for JSON that is nested too deeply."""

_headers = msgspec.json.Decoder(Header)
_frames = msgspec.json.Decoder(Frame)
_footers = msgspec.json.Decoder(Footer)


class _Version(msgspec.Struct):
    cassette: int


_versions = msgspec.json.Decoder(_Version)


class CassetteReader:
    """An open cassette: `header` at once, frames by iterating, `footer` after the last frame.

    `truncated` says, once the frames are read, that the conversation is not whole: there is no
    footer, since the recorder was killed, or the footer says so itself; `why` says which. `tail`
    is the start of the line that was being written, if any. `size` is the file's, in bytes, when
    it was opened.

    Raises CassetteError, with the line, for a file that is not a cassette, for a format
    version that is not known, for frames out of order, and for a footer that does not fit.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = path if isinstance(path, Path) else Path(path)
        self.footer: Footer | None = None
        self.truncated = False
        self.why = ""
        self.tail = b""
        self._hash = hashlib.sha256()
        try:
            self._file: BinaryIO = open_regular(self.path)
            self.size = os.fstat(self._file.fileno()).st_size
        except NotRegularError as error:
            hint = "see `harness list cassettes`"
            raise CassetteError(path, 0, "not a regular file", hint) from error
        except OSError as error:
            raise CassetteError(
                path, 0, f"could not be read: {error.strerror}", "see `harness list cassettes`"
            ) from error
        try:
            self.header = self._read_header()
        except BaseException:
            self._file.close()
            raise

    def __iter__(self) -> Iterator[Frame]:
        seq = at = 0
        end: Any = None
        for frame in self._decoded():
            seq += 1
            if frame.channel == "exit":
                end = frame.data
            if frame.seq != seq:
                raise self._error(seq + 1, f"frame {frame.seq} where {seq} was due")
            if frame.at < at:
                raise self._error(seq + 1, f"`at` goes back from {at} to {frame.at}")
            at = frame.at
            if at > self._at_most:
                raise self._error(seq + 1, f"`at` is {at}, and no time has a year of five digits")
            if (frame.data is UNSET) + (frame.text is UNSET) + (frame.b64 is UNSET) != _BUT_ONE:
                raise self._error(seq + 1, "a frame has exactly one of data, text and b64")
            yield frame
        self._end(seq, end)

    def close(self) -> None:
        """Close the file; the reader gives no more frames."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _end(self, seq: int, end: Any) -> None:
        """Judge how the file ends; `end` is the last exit frame's data. Raises CassetteError."""
        if self.footer is None:
            self.truncated, self.why = True, "it has no footer, so its recorder was killed"
            return
        if self.footer.frames != seq:
            raise self._error(seq + 2, f"the footer counts {self.footer.frames} frames, not {seq}")
        if self.footer.checksum != f"sha256:{self._hash.hexdigest()}":
            raise self._error(seq + 2, "the checksum does not fit: the file was changed")
        # The footer is not under its own checksum: it is held to what the frames say.
        told, due = (self.footer.exit_code, self.footer.signal), ending(end)
        if due is not None and due != told:
            how = f"{_ended(*told)}, and the last exit frame {_ended(*due)}"
            raise self._error(seq + 2, f"the footer says {how}")
        if not self.footer.complete:
            self.truncated, self.why = True, "its footer says that it is not complete"

    def _read_header(self) -> Header:
        line = self._file.readline()
        if not line:
            raise self._error(1, "not a cassette: the file is empty")
        try:
            version = _versions.decode(line).cassette
        except _BROKEN as error:
            raise self._error(
                1,
                f"not a cassette: its first line is no header ({error})",
                "see `harness list cassettes`",
            ) from error
        if version != FORMAT_VERSION:
            raise self._error(
                1,
                f"cassette format {version}, and this harness reads {FORMAT_VERSION}",
                "use the harness version that wrote it, or record it again",
            )
        try:
            header = _headers.decode(line)
        except _BROKEN as error:
            raise self._error(1, f"a broken header: {error}") from error
        try:
            began = datetime.fromisoformat(header.recorded)
            began = (began if began.tzinfo else began.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise self._error(1, f"a broken header: `recorded` is no time: {error}") from error
        self._at_most = (_LATEST - began) // timedelta(milliseconds=1)
        self._hash.update(line)
        return header

    def _decoded(self) -> Iterator[Frame]:
        """Decode block by block. A block is hashed once it is known not to hold the footer."""
        lines, block, rest = 1, b"", b""
        while chunk := self._file.read(_BLOCK):
            parts = [rest, chunk]
            # A line longer than a block: join its parts once, at its end.
            while b"\n" not in parts[-1] and (chunk := self._file.read(_BLOCK)):
                parts.append(chunk)
            data = b"".join(parts)
            cut = data.rfind(b"\n") + 1
            if cut:
                self._hash.update(block)
                yield from self._frames_of(block, lines)
                lines += block.count(b"\n")
                block = data[:cut]
            rest = data[cut:]
        self.tail = rest
        last = block.rfind(b"\n", 0, -1) + 1
        if block.startswith(_FOOTER_START, last):
            if rest:
                raise self._error(lines + block.count(b"\n") + 1, "something follows the footer")
            try:
                self.footer = _footers.decode(block[last:])
            except _BROKEN as error:
                raise self._error(
                    lines + block.count(b"\n"), f"a broken footer: {error}"
                ) from error
            block = block[:last]
        self._hash.update(block)
        yield from self._frames_of(block, lines)

    def _frames_of(self, block: bytes, before: int) -> list[Frame]:
        if not block:
            return []
        try:
            return _frames.decode_lines(block)
        except _BROKEN:
            # Once more, line by line, to say which one it is.
            for number, line in enumerate(block.split(b"\n"), before + 1):
                try:
                    _frames.decode(line)
                except _BROKEN as error:
                    raise self._error(number, f"not a frame: {error}") from error
            raise

    def _error(self, line: int, problem: str, hint: str = _RE_RECORD) -> CassetteError:
        return CassetteError(self.path, line, problem, hint)


def _ended(code: Any, signal: Any) -> str:
    said = [f"exit code {code!r}"] if code is not None else []
    return " and ".join(said + ([f"signal {signal!r}"] if signal is not None else [])) or "neither"


def open_cassette(path: Path | str) -> CassetteReader:
    """Open a cassette for streaming; it is a context manager, and iterating gives its frames."""
    return CassetteReader(path)
