"""What every command shares: errors as exit codes, JSON results, colour, progress."""

import os
import sys
from collections.abc import Callable
from typing import Any

OK = 0
NOT_CONFORMING = 1
USAGE = 2
NOTHING_RUN = 3
UNUSABLE = 4
NOT_STARTED = 5
INTERRUPTED = 130


def exit_code(error: Exception) -> int | None:
    """Return the exit code of an error that a command may end in; None for a fault of ours."""
    # By name, since most commands never import the rooms that the errors come from.
    codes: dict[str, int] = {
        "ScenarioError": USAGE,
        "SurfaceError": USAGE,
        "UsageError": USAGE,
        "ProjectError": NOTHING_RUN,
        "CassetteError": UNUSABLE,
        "ExpectedError": UNUSABLE,
        "ReportError": UNUSABLE,
        "EquivalentsError": UNUSABLE,
        "ReviewError": UNUSABLE,
        "MatrixError": UNUSABLE,
        "SeedError": UNUSABLE,
        "StoryError": UNUSABLE,
        "SubjectError": NOT_STARTED,
        "AgentError": NOT_STARTED,
    }
    own = getattr(error, "code", None)
    with_own = type(error).__name__ in {"RecordError", "PlayError", "MismatchError", "KnownError"}
    if with_own and isinstance(own, int):
        return own
    if isinstance(error, OSError):
        return UNUSABLE
    return codes.get(type(error).__name__)


class UsageError(Exception):
    """The command was called in a way that means nothing. Exit code 2."""


def text_of(error: Exception) -> str:
    """Return an error in words: the system's own name no errno, and often no file."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'writing the output'}: {error.strerror}"
    return str(error)


def say(text: str) -> None:
    """Print a line of the result, whatever the terminal's encoding can show of it."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))


def say_json(value: Any) -> None:
    """Print a result as JSON: one value, indented."""
    import msgspec  # noqa: PLC0415 - start-up: `--help` needs none of it

    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def note(text: str) -> None:
    """Print a line beside the result, to stderr."""
    print(text, file=sys.stderr)


def progress() -> Callable[[str], None]:
    """Return what shows a line of progress: on a terminal, one line over itself; else nothing."""
    if not sys.stderr.isatty():
        return lambda _text: None

    def show(text: str) -> None:
        width = 79
        print(f"\r{text[:width]:<{width}}", end="" if text else "\r", file=sys.stderr, flush=True)

    return show


def colour() -> bool:
    """Say whether the result may have colours: a terminal, and no NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
