"""Levels: which checks a subject is held to, and on which surfaces."""

from collections.abc import Collection
from typing import Final

from msgspec import Struct

from harness.conformance.report import CheckResult
from harness.subject import Claims, Subject
from harness.subject.protocol import LEVELS, Level

_OF: Final[dict[str, Level]] = {
    "schema": "schema",
    "expected": "expected",
    "accounted": "coverage",
}
"""Check to level; the others are laws."""

ALWAYS: Final = "subject"
"""The check that is part of every level."""


class Held(Struct, frozen=True):
    """What a subject is held to, and what says so. `surfaces` is all of them where None."""

    levels: tuple[Level, ...] = LEVELS
    by: str = ""
    surfaces: frozenset[str] | None = None

    def to(self, check: str) -> bool:
        """Whether a check counts."""
        return check == ALWAYS or level_of(check) in self.levels

    def of(self, checks: list[CheckResult]) -> list[CheckResult]:
        """Return the checks that count."""
        return [c for c in checks if self.to(c.id)]


def level_of(check: str) -> Level:
    """Return the level that a check belongs to."""
    return _OF.get(check, "laws")


def held_to(
    subject: Subject,
    asked: Collection[str] | None = None,
    by: str = "--level",
    surfaces: Collection[str] | None = None,
) -> Held:
    """Return what a subject is held to: what was asked for, else what it claims, else all."""
    claims: Claims = getattr(subject, "claims", Claims())
    chosen, source = asked, by
    if chosen is None:
        chosen, source = claims.levels, "claimed"
    if chosen is None:
        chosen, source = LEVELS, ""
    return Held(
        tuple(level for level in LEVELS if level in chosen),
        source,
        _set(claims.surfaces if surfaces is None else surfaces),
    )


def _set(names: Collection[str] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(names)
