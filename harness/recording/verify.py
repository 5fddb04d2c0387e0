"""Whether two recordings of one scenario are the same but for what may differ.

`at`, `recorded` and the checksum always may. A manifest's `volatile` adds, for a native kind,
how its frames may differ: its text begins with one of these ways and a colon.

- `presence`: frames of the kind may come or not, anywhere, with any content;
- `order`: they may stand elsewhere among the others, in the same number with the same content
  (ids are numbered by first appearance, so they are numbered anew in each part);
- `chunks FIELD`: they may stand elsewhere, and the text under the key FIELD may be split
  otherwise among those that are the same but for it: joined it is the same.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness.cassette import CassetteReader, Frame, open_cassette
from harness.cassette.ids import Ids
from harness.surfaces import SurfaceError, surface

_WAY = re.compile(r"(presence|order|chunks \w+):")
_SHOWN = 300
_PLAYED = ("provenance", "sources", "scrub", "volatile")


def volatile(declared: dict[str, str]) -> dict[str, str]:
    """Return for each kind that may differ how it may. Raises SurfaceError."""
    ways = {}
    for kind, text in declared.items():
        match = _WAY.match(text)
        if match is None:
            raise SurfaceError(
                f"volatile: {kind}: begins with none of `presence:`, `order:`, `chunks FIELD:`"
            )
        ways[kind] = match[1]
    return ways


def differences(first: Path, second: Path, *, played: bool = False) -> list[str]:
    """Return what of two cassettes of one surface differs though it must not; empty is right.

    `played`: the second was recorded of an agent that was played back from the first. Where such
    a one comes from, and how it was scrubbed, is then not compared.

    Raises CassetteError for a file that cannot be read, SurfaceError for a broken manifest.
    """
    apart = _PLAYED if played else ()
    one, other = _load(first, apart), _load(second, apart)
    found: list[str] = []
    for part in one:
        if one[part] != other.get(part, []):
            found.extend(_explain(part, one[part], other.get(part, [])))
    found += [f"{part}: only in {second}" for part in other if part not in one]
    return found


def _load(path: Path, apart: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the comparable parts: `header`, `frames` and `end`, and each volatile kind apart."""
    with open_cassette(path) as cassette:
        room = surface(cassette.header.surface)
        of = cassette.header
        ways = volatile(room.manifest.volatile_for(of.agent.name, of.scenario))
        kinds = room.kinds()
        header = msgspec.to_builtins(cassette.header)
        header.pop("recorded")
        for field in apart:
            header.pop(field, None)
        joined: dict[str, dict[str, str]] = {}
        parts: dict[str, list[str]] = {"header": [_line(header)], "frames": []}
        for frame in cassette:
            kind = kinds.of(frame)
            way = ways.get(kind)
            if way is None:
                parts["frames"].append(_line(_plain(frame)))
            elif way == "order":
                parts.setdefault(kind, []).append(_line(_plain(frame)))
            elif way != "presence":
                rest, text = _without(_plain(frame), way.removeprefix("chunks "))
                texts = joined.setdefault(kind, {})
                texts[_line(rest)] = texts.get(_line(rest), "") + text
        for kind, texts in joined.items():
            parts[kind] = [_line(pair) for pair in texts.items()]
        parts["end"] = [_line(_end(cassette))]
    return {name: _renumbered(lines) for name, lines in parts.items()}


def _renumbered(lines: list[str]) -> list[str]:
    """Rename the ids of a part by first appearance in it: elsewhere is another number."""
    ids = Ids(0, "")
    return [ids.rename(line) for line in lines]


def _end(cassette: CassetteReader) -> dict[str, Any]:
    footer = cassette.footer
    if footer is None:
        return {"truncated": True}
    return {"complete": footer.complete, "exit": footer.exit_code, "signal": footer.signal}


def _plain(frame: Frame) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(frame)
    del plain["seq"], plain["at"]
    return plain


def _without(value: Any, field: str) -> tuple[Any, str]:
    """Return a value without what stands under a key, and the texts that stood there, joined."""
    if isinstance(value, dict):
        taken = value.get(field, "")
        parts = {k: _without(v, field) for k, v in value.items() if k != field}
        text = "".join(part[1] for part in parts.values())
        rest = {k: part[0] for k, part in parts.items()}
        return rest, (taken if isinstance(taken, str) else _line(taken)) + text
    return value, ""


def _line(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _explain(part: str, one: list[str], other: list[str]) -> Iterator[str]:
    """Yield the first line that differs, as it is in the one and in the other."""
    number = next(
        (n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    yield f"{part}, number {number + 1} (of {len(one)} and of {len(other)}):"
    for name, lines in (("first ", one), ("second", other)):
        shown = lines[number] if number < len(lines) else "(nothing)"
        yield f"  {name} {_around(shown, one, other, number)}"


def _around(shown: str, one: list[str], other: list[str], number: int) -> str:
    """Cut a long line to the neighbourhood of the first difference."""
    if len(shown) <= _SHOWN or number >= min(len(one), len(other)):
        return shown[:_SHOWN]
    pairs = enumerate(zip(one[number], other[number], strict=False))
    at = next((n for n, (a, b) in pairs if a != b), 0)
    start = max(0, at - _SHOWN // 3)
    return f"…{shown[start : start + _SHOWN]}"
