"""Where a start of the project's own goes: the checkout, and a name that is free in it."""

import keyword
import re
from pathlib import Path
from typing import Final

from harness.output import UsageError

ROOT: Final = Path(__file__).resolve().parent.parent.parent
"""The folder that this package lies in: of a checkout its root, else where packages are."""

_SLUG: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST: Final = 32


def checkout(root: Path, doing: str) -> Path:
    """Return the root of a checkout. Raises UsageError where the package is an installed one."""
    if (root / "pyproject.toml").is_file() and (root / "tests" / "surfaces").is_dir():
        return root
    raise UsageError(
        f"{doing}: it is a part of the project, and {root / 'harness'} is an installed package; "
        "get a checkout of the project, `pip install -e .` in it, and run this there"
    )


def slug(name: str, doing: str) -> str:
    """Return a name that fits. Raises UsageError for one that does not."""
    if not _SLUG.fullmatch(name):
        raise UsageError(
            f"{doing}: a name is small letters and digits, in words with one hyphen between them, "
            "and begins with a letter, such as my-name"
        )
    if len(name) > _LONGEST:
        raise UsageError(f"{doing}: {len(name)} characters; a name has {_LONGEST} at most")
    return name


def module(name: str, doing: str) -> str:
    """Return the name of the Python package for such a name. Raises UsageError for a keyword."""
    if keyword.iskeyword(name):
        raise UsageError(f"{doing}: it is a word of Python's own; choose another name")
    return name.replace("-", "_")


def free(path: Path, doing: str) -> None:
    """Make sure that nothing is there. Raises UsageError."""
    if path.exists() or path.is_symlink():
        raise UsageError(f"{doing}: {path} is there already; choose another name")
