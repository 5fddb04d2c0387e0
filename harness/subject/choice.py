"""Which normalizer runs, and what it is held to: from the command line, else from `harness.toml`.

```toml
[subject]
normalizer = "node dist/normalizer.js"   # as --normalizer
surfaces = ["codex-exec"]                # in place of those that it claims
levels = ["schema", "laws"]              # as --level
time-limit = 10                          # seconds, as --time-limit
memory-limit = 2048                      # MB, as --memory-limit
documents = true                         # as --documents
```
"""

import argparse
import math
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from harness.output import UsageError
from harness.recording.terminable import unwinding
from harness.regular import is_absent, read_bytes
from harness.subject.base import Aside, Subject
from harness.subject.faults import Limits
from harness.subject.inprocess import Reference, exits_held
from harness.subject.load import is_command, load_command, load_subject
from harness.subject.protocol import Levels

CONFIG: Final = "harness.toml"


class _Table(Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """The table `subject` of `harness.toml`."""

    normalizer: str | None = None
    surfaces: list[str] | None = None
    levels: Levels | None = None
    time_limit: Annotated[float, Meta(gt=0)] | None = None
    memory_limit: Annotated[int, Meta(ge=0)] | None = None
    documents: bool | None = None


class Choice(_Table, frozen=True):
    """What is chosen: what the command line makes of the table."""

    levels_by: str = "--level"

    @property
    def all_of_them(self) -> bool:
        """Whether it is judged on conversations that were written by hand, not recorded.

        They pin what the reference normalizers make of frames that no agent was seen to send, so
        that another is only held to them where it says so.
        """
        return self.documents is True or self.normalizer is None

    @property
    def limits(self) -> Limits:
        """What a normalizer behind a command may take."""
        given: dict[str, Any] = {}
        if self.time_limit is not None:
            given["seconds"] = self.time_limit
        if self.memory_limit is not None:
            given["memory"] = self.memory_limit << 20
        return Limits(**given)


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    subject: _Table = _Table()


def choices(arguments: argparse.Namespace) -> Choice:
    """Return what the command line says, and else `harness.toml` in the working folder.

    Raises UsageError for a file that is not understood.
    """
    chosen = _read(Path(CONFIG))
    given: dict[str, Any] = {
        "normalizer": arguments.normalizer,
        "levels": getattr(arguments, "level", None) or None,
        "time_limit": arguments.time_limit,
        "memory_limit": arguments.memory_limit,
        "documents": getattr(arguments, "documents", None) or None,
    }
    given = {name: value for name, value in given.items() if value is not None}
    return msgspec.structs.replace(
        chosen, **given, **({"levels_by": "--level"} if "levels" in given else {})
    )


def _read(path: Path) -> Choice:
    if is_absent(path):
        return Choice()
    try:
        found = msgspec.toml.decode(read_bytes(path), type=_File).subject
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; mend it, or take it away") from error
    except (msgspec.MsgspecError, tomllib.TOMLDecodeError, UnicodeError) as error:
        keys = ", ".join(f.encode_name for f in msgspec.structs.fields(_Table))
        raise UsageError(f"{path}: {error}; it has one table, [subject], of {keys}") from error
    return Choice(**msgspec.structs.asdict(found), levels_by=CONFIG)


@contextmanager
def running(choice: Choice) -> Iterator[Subject]:
    """Load the subject that was chosen, the reference normalizers if none; end it whatever happens.

    Raises SubjectError where it cannot be found or started, UsageError for an empty name.
    """
    spec = choice.normalizer
    if spec is None:
        yield Reference()
        return
    if not spec.strip():
        # An empty shell variable, most likely: nothing was asked for.
        raise UsageError("--normalizer is empty: write it as package.module:name, or as a command")
    if not is_command(spec):
        with redirect_stdout(Aside()), exits_held():
            subject = load_subject(spec)
        yield subject
        return
    with unwinding():
        command = load_command(spec, choice.limits)
        try:
            yield command
        finally:
            command.end()


def stopped(subject: Subject) -> str:
    """End a subject as the protocol has it; return what is wrong with how it ends, or nothing."""
    stop = getattr(subject, "stop", None)
    return "" if stop is None else str(stop())


def seconds(text: str) -> float:
    """Read a time limit. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: a number of seconds above 0 is needed")
    return value


def megabytes(text: str) -> int:
    """Read a memory limit. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r}: a number of MB is needed, or 0 for no limit")
    return int(text)
