"""Scrubbing at record time: what differs from run to run gets a constant of the same form."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field


class Rules(Struct, frozen=True):
    """What of one wire is scrubbed beyond what is scrubbed on every wire.

    `durations` are the keys whose numbers say how long something took, `processes` the keys
    whose values are ids of processes. `constants` gives for a key the value that takes the
    place of any other of the same JSON type. `patterns` are regular expressions with their
    replacements, applied to each string.
    """

    durations: frozenset[str] = frozenset()
    processes: frozenset[str] = frozenset()
    constants: Mapping[str, Any] = field(default_factory=dict)
    patterns: tuple[tuple[str, str], ...] = ()
