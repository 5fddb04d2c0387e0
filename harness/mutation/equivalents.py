"""`equivalents.toml`: mutants that no run can tell from the original, each with its reason.

Strict both ways: an entry whose mutant is caught, or is none any more, is an error.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from harness.regular import is_absent, read_text

DEFAULT: Final = Path(__file__).parent / "equivalents.toml"


class EquivalentsError(Exception):
    """The file cannot be used. Exit code 4."""


class Group(Struct, forbid_unknown_fields=True):
    """Mutants that are equivalent for one reason."""

    reason: str
    mutants: list[str]


class _File(Struct, forbid_unknown_fields=True):
    equivalent: list[Group] = []


def load(path: Path) -> dict[str, str]:
    """Return the reason of each mutant that is listed; an absent file lists none.

    Raises EquivalentsError for what is no such file, an empty reason, an id that stands twice.
    """
    if is_absent(path):
        return {}
    try:
        groups = msgspec.convert(tomllib.loads(read_text(path)), _File).equivalent
    except OSError as error:
        raise EquivalentsError(f"{path}: {error.strerror}") from error
    except (UnicodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise EquivalentsError(f"{path}: {error}") from error
    found: dict[str, str] = {}
    for group in groups:
        if not group.reason.strip():
            raise EquivalentsError(f"{path}: {group.mutants}: a reason is needed for each")
        for id_ in group.mutants:
            if id_ in found:
                raise EquivalentsError(f"{path}: {id_} stands twice; keep one")
            found[id_] = group.reason
    return found


def stale(listed: Mapping[str, str], known: Iterable[str], caught: Mapping[str, str]) -> list[str]:
    """Say what is wrong with each entry: `known` are all mutants, `caught` id to what caught it."""
    every = set(known)
    wrong = [f"{id_} is no mutant any more: remove it" for id_ in listed if id_ not in every]
    wrong += [
        f"{id_} is not equivalent, {caught[id_]}: remove it" for id_ in listed if id_ in caught
    ]
    return wrong
