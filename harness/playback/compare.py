"""A client's line against the recorded one: the same JSON but for what may differ."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from harness.cassette.show import printable
from harness.playback.paths import Paths
from harness.surfaces import SurfaceError

Way = Literal["any", "path", "minted"]
Places = tuple[tuple[tuple[str, ...], Way], ...]
"""Where a line may differ, and how: keys from the outside in, `*` for any."""

_WAYS: Final[tuple[Way, ...]] = ("any", "path", "minted")
SHOWN: Final = 200
"""Characters of a value that an error shows."""


class Absent:
    """What stands where nothing is."""


ABSENT: Final = Absent()


class Difference(Struct, frozen=True):
    """Where two lines differ: the place, what was recorded there and what came."""

    place: str
    recorded: Any
    came: Any

    def __str__(self) -> str:
        return f"{self.place or 'the line'}: recorded {shown(self.recorded)}, came " + shown(
            self.came
        )


class Change(Struct, frozen=True):
    """A difference that is allowed, in a text: what was recorded, and what the client has."""

    way: Way
    recorded: str
    came: str


def places(may_differ: Mapping[str, str]) -> Places:
    """Return the places of a manifest's `may_differ`. Raises SurfaceError."""
    found: list[tuple[tuple[str, ...], Way]] = []
    for place, text in may_differ.items():
        way = next((way for way in _WAYS if text.startswith(f"{way}:")), None)
        if way is None:
            raise SurfaceError(
                f"playback: may_differ: {place}: begins with none of `any:`, `path:`, `minted:`"
            )
        found.append((tuple(place.split(".")), way))
    return tuple(found)


def compare(
    recorded: Any, came: Any, places: Places, paths: Paths
) -> tuple[Difference | None, list[Change]]:
    """Return the first place where the client's value is not the recorded one, and what may differ.

    Numbers are equal by value, keys have no order, and a path of the client's folders equals the
    recorded one in their place. JSON may be nested as deeply as it can be read.
    """
    changes: list[Change] = []
    left: list[tuple[Any, Any, Places, tuple[str | int, ...]]] = [(recorded, came, places, ())]
    while left:
        old, new, inner, place = left.pop()
        parts = list(_parts(old, new))
        if not parts and not _same(old, new, paths):
            return Difference(_dotted(place), old, new), changes
        for key, mine, other in reversed(parts):
            below = tuple((w[1:], way) for w, way in inner if w[0] in {str(key), "*"})
            way = next((way for where, way in below if not where), None)
            change = _change(way, mine, other)
            if change is None:
                left.append((mine, other, tuple(b for b in below if b[0]), (*place, key)))
            elif isinstance(change, Change):
                changes.append(change)
    return None, changes


def _parts(old: Any, new: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """Yield the members of two objects, or of two arrays, side by side."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in (*old, *(key for key in new if key not in old)):
            yield key, old.get(key, ABSENT), new.get(key, ABSENT)
    elif isinstance(old, list) and isinstance(new, list):
        for number, (mine, other) in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            yield number, mine, other


def _change(way: Way | None, recorded: Any, came: Any) -> Change | Literal["any"] | None:
    """Return what may differ at a place with this way to differ; None where nothing may."""
    if way == "any":
        return "any"
    texts = isinstance(recorded, str) and isinstance(came, str)
    if way == "path" and texts and recorded.startswith("/") and came.startswith("/"):
        return Change(way, recorded, came)
    if way == "minted":
        if texts:
            return Change(way, recorded, came)
        if (recorded is ABSENT or came is ABSENT) and (
            isinstance(recorded, str) or isinstance(came, str)
        ):
            return "any"  # one client gives an id, another leaves it to the agent
    return None


def _same(recorded: Any, came: Any, paths: Paths) -> bool:
    if isinstance(recorded, bool) or isinstance(came, bool):
        return recorded is came
    if isinstance(recorded, str) and isinstance(came, str):
        return recorded == came or recorded == paths.recorded(came)
    if isinstance(recorded, (dict, list)):
        return type(recorded) is type(came)  # both are empty: else their parts were looked at
    return bool(recorded == came)


def _dotted(place: tuple[str | int, ...]) -> str:
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)
    return text.removeprefix(".")


def shown(value: Any) -> str:
    """Return a value as short text for a person."""
    if value is ABSENT:
        return "nothing"
    try:
        text = printable(msgspec.json.encode(value).decode())
    except RecursionError:
        return "something nested too deeply"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
