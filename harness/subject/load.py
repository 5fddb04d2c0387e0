"""Finding a normalizer by name: `--normalizer package.module:name`."""

import importlib
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from harness.ending import ENDS
from harness.subject.base import SubjectError, told
from harness.subject.faults import Limits
from harness.subject.inprocess import InProcess
from harness.subject.protocol import LEVELS
from harness.subject.stdio import Stdio

_FORM = (
    "write it as package.module:name, such as mypackage.codex:Normalizer, or as a command, such "
    "as 'node dist/normalizer.js'"
)


def is_command(spec: str) -> bool:
    """Whether a spec is a command: all that has not exactly the form `package.module:name`.

    Both parts are Python names with dots between them, so one word with one colon.
    """
    module, colon, name = spec.partition(":")
    return not (
        colon and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))
    )


def load_command(spec: str, limits: Limits | None = None) -> Stdio:
    """Start the subject behind a command, which is split as a shell would, and run without one.

    It has the environment and the working folder of this process. Raises SubjectError.
    """
    try:
        words = shlex.split(spec)
    except ValueError as error:
        raise SubjectError(f"could not load the normalizer {spec!r}: {error}; {_FORM}") from error
    if not words or shutil.which(words[0]) is None:
        said = f"there is no program {words[0]!r}" if words else "it is empty"
        more = (
            "; no shell reads it: write `env NAME=VALUE COMMAND`"
            if "=" in (words or [""])[0]
            else ""
        )
        raise SubjectError(f"could not load the normalizer {spec!r}: {said}{more}; {_FORM}")
    subject = Stdio(spec, limits)
    subject.begin()
    return subject


def load_subject(spec: str) -> InProcess:
    """Return the subject that `package.module:name` names; `name` may have dots.

    The name is a class or a function that takes a cassette's header and gives an object with
    `feed(frame)` and `close()`. It runs in this process: one that ends it at once in C code, or
    in a replay writes to descriptor 1 itself, is out of reach, so a pass is exit code 0 together
    with a report that is whole. The current folder is looked into as well,
    as `python -m` does. Raises SubjectError (exit code 5), saying what is missing.
    """
    try:
        return _loaded(spec)
    except (SubjectError, *ENDS):
        raise
    except BaseException as error:
        # Of what is foreign a mere look may raise anything.
        raise SubjectError(
            f"could not load the normalizer {spec!r}: looking at it raised "
            f"{type(error).__name__}: {told(error)}"
        ) from error


def _loaded(spec: str) -> InProcess:
    module_name, colon, name = spec.partition(":")
    if not (colon and module_name and name) or not all(
        part.isidentifier() for part in (*module_name.split("."), *name.split("."))
    ):
        raise SubjectError(f"could not load the normalizer {spec!r}: {_FORM}")
    value: Any = _module(spec, module_name)
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            names = getattr(value, "__dict__", {}).items()
            offered = [n for n, v in names if callable(v) and not n.startswith("_")]
            raise SubjectError(
                f"could not load the normalizer {spec!r}: {module_name} has no {name}; "
                f"it has {', '.join(sorted(offered)[:8]) or 'nothing that can be called'}"
            ) from None
    if not callable(value):
        raise SubjectError(
            f"could not load the normalizer {spec!r}: {name} is a {type(value).__name__}, "
            "not something that takes a header and gives a normalizer"
        )
    if isinstance(value, type):
        missing = [m for m in ("feed", "close") if not callable(getattr(value, m, None))]
        if missing:
            raise SubjectError(
                f"could not load the normalizer {spec!r}: it has no {' and no '.join(missing)}; "
                "a normalizer has feed(frame) and close()"
            )
    subject = InProcess(value, spec)
    levels = subject.claims.levels
    if levels is not None and not (levels and set(levels) <= set(LEVELS)):
        raise SubjectError(
            f"could not load the normalizer {spec!r}: it claims the levels "
            f"{', '.join(levels) or '(none)'}; there are {', '.join(LEVELS)}"
        )
    return subject


def _module(spec: str, name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise SubjectError(
                f"could not load the normalizer {spec!r}: there is no module {error.name}; "
                "install it, or run the command in the folder that holds it"
            ) from error
        raise SubjectError(
            f"could not load the normalizer {spec!r}: {name} needs {error.name}, "
            "which is not installed"
        ) from error
    except ENDS:
        raise
    # SystemExit among them: a module that ends the process must not end it as a pass.
    except BaseException as error:
        raise SubjectError(
            f"could not load the normalizer {spec!r}: importing {name} raised "
            f"{type(error).__name__}: {told(error)}"
        ) from error
