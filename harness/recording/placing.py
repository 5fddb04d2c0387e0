"""Where a whole recording goes: nothing that is there is written over unasked."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from harness.cassette import CassetteError
from harness.pending import in_ci, waiting
from harness.recording.errors import RecordError
from harness.recording.verify import differences
from harness.surfaces import SurfaceError

Result = Literal["new", "unchanged", "waits", "replaced", "differs"]


class Placing:
    """What becomes of one recording.

    `result` is `new`; `unchanged`, and the cassette stays as it was; `waits` beside the cassette
    that it differs from; `replaced` that one; or `differs` and is not written, in CI. `changed`
    says how it differs.
    """

    def __init__(self, *, overwrite: bool) -> None:
        self.overwrite = overwrite
        self.result: Result = "new"
        self.changed: list[str] = []

    @property
    def written(self) -> bool:
        """Whether there is a new file of it."""
        return self.result not in {"unchanged", "differs"}

    def of(self, path: Path, part: Path) -> Path | None:
        """Say where a whole recording goes; None where nothing is to be written."""
        if not os.path.lexists(path):
            return path
        try:
            self.changed = differences(path, part)
        except (CassetteError, SurfaceError) as error:
            # Also what cannot be read is never recorded over.
            self.changed = [f"the cassette cannot be used: {error}"]
        if not self.changed:
            self.result = "unchanged"
            return None
        if self.overwrite:
            self.result = "replaced"
            return path
        self.result = "differs" if in_ci() else "waits"
        return None if in_ci() else waiting(path)

    @contextlib.contextmanager
    def with_tape(self, part: Path | None, path: Path, notices: list[str]) -> Iterator[None]:
        """Put a live model's cassette in place once its agent's is, which the body does.

        It goes with its agent's: the one without the other is of no use. Raises RecordError.
        """
        try:
            yield
            if part is None or self.result == "differs":
                return
            if self.result == "waits":
                aside = waiting(path)
                part.replace(aside)
                notices.append(f"the model's cassette waits too: {aside}")
            elif self.written or not path.exists():
                part.replace(path)
        except OSError as error:
            raise RecordError(
                4,
                f"putting the model's cassette {path} in place: {error.strerror}; its "
                "agent's is there, and of no use without it: record it again",
            ) from error
        finally:
            if part is not None:
                part.unlink(missing_ok=True)
