"""Comparison with `expected/<surface>/<agent>/<scenario>.jsonl`, as a stream of bytes.

Equality is decided on bytes, a chunk at a time; the file is never loaded. From the first
difference on, a stretch of both sides is kept to be aligned and explained.
"""

from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from harness.conformance.explain import explain
from harness.conformance.form import settle
from harness.conformance.law import Law, Place
from harness.regular import open_regular

STRETCH: Final = 1000
"""How many events after the first difference are aligned and explained."""

_AGAIN = "`harness accept` pins the output anew, once it is right"


class ExpectedError(Exception):
    """An expected file that cannot be used: which line (1-based), why, what to do. Exit code 4."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}; {_AGAIN}" if line else f"{path}: {problem}")


class Expected(Law):
    """Equality with the pinned output. Raises ExpectedError where the file is unusable."""

    id = "expected"
    statement = "the events, in canonical form, are those that are pinned under expected/"
    source = "harness/README.md 'Events and comparison'"
    example = "a title is missing that the reference normalizer gives"

    def __init__(self, place: Place, path: Path) -> None:
        super().__init__(place)
        self.path = path
        try:
            self._file: BinaryIO = open_regular(path)
        except OSError as error:
            raise ExpectedError(path, 0, f"could not be read: {error.strerror}") from error
        self._lines = 0
        self._at = 0
        self._differ = False
        self._got: list[bytes] = []
        self._due: list[bytes] = []

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def batch(self, chunk: bytes, count: int) -> None:
        """Compare the next `count` lines, given as one chunk."""
        if not self._differ:
            if self._file.read(len(chunk)) == chunk:
                self._at += len(chunk)
                self._lines += count
                return
            self._file.seek(self._at)
        self._by_line(chunk)

    def _by_line(self, chunk: bytes) -> None:
        for line in chunk.splitlines():
            if self._differ:
                if len(self._got) >= STRETCH:
                    return
                self._got.append(line)
                continue
            due = self._file.readline()
            # A file whose last line lacks its line feed, or whose keys stand in another order,
            # still says the same.
            if due.rstrip(b"\n") == line or self._same(due, line):
                self._lines += 1
                self._at += len(due)
                continue
            self._differ = True
            self._file.seek(self._at)
            self._got.append(line)

    def _same(self, due: bytes, line: bytes) -> bool:
        try:
            return bool(due) and settle(due) == settle(line)
        except (msgspec.MsgspecError, UnicodeError):
            # The side that is broken is named where the difference is explained.
            return False

    def end(self) -> None:
        """Explain the difference, if there is one. Raises ExpectedError."""
        for line in self._file:
            if len(self._due) >= STRETCH:
                break
            self._due.append(self._checked(line))
        if not self._got and not self._due:
            return
        first = self._lines + 1
        for found in explain(self._due, self._got, first):
            self.fail(found.path, found.expected, found.got, found.hint, found.where)
        if not self.result.violations:
            self.fail("", f"event {first:,} and those after it as they are pinned", "other bytes")
        if max(len(self._got), len(self._due)) >= STRETCH:
            self.result.note = f"explained for {STRETCH:,} events from event {first:,} on"

    def _checked(self, line: bytes) -> bytes:
        try:
            return settle(line)
        except (msgspec.MsgspecError, UnicodeError) as error:
            number = self._lines + len(self._due) + 1
            raise ExpectedError(self.path, number, f"not a canonical event: {error}") from error
