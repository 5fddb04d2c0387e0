"""What a waiting file changes, as lines of a terminal: frames beside events, or above them."""

import textwrap
import unicodedata
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from harness.cassette.show import printable
from harness.review.changes import Changes, Marked, Row
from harness.review.waiting import Waiting

BESIDE: Final = 100
"""Columns from which on events stand beside their frame, not below it."""

_LINES: Final = 4
"""Lines that one frame or one event may take."""

_COLOURS: Final = {"-": "31", "+": "32", "~": "33"}


def heading(item: Waiting, number: int, total: int, width: int) -> list[str]:
    """Return the lines above a file's changes."""
    kind = "cassette" if item.kind == "cassette" else "expected file"
    what = f"{'new' if item.isnew else 'changed'} {kind}"
    return ["-" * width, *_wrapped(f"[{number}/{total}] {what}: {item.id}", width)]


def body(made: Changes, width: int, *, colour: bool = False) -> list[str]:
    """Return the lines of a file's changes, none wider than `width` columns."""
    lines = [line for note in made.notes for line in _wrapped(note, width)]
    for row in made.rows:
        lines += _beside(row, width, colour) if width >= BESIDE else _below(row, width, colour)
    return lines


def pages(lines: list[str], height: int) -> list[list[str]]:
    """Cut lines into pages of so many lines; there is always one."""
    height = max(height, 3)
    return [lines[n : n + height] for n in range(0, len(lines), height)] or [[]]


def _below(row: Row, width: int, colour: bool) -> Iterator[str]:  # noqa: FBT001
    for line in _marked((row.mark, row.frame), width, "", _LINES // 2):
        yield _coloured(line, row.mark, colour)
    for event in row.events:
        for line in _marked(event, width, "    ", _LINES):
            yield _coloured(line, event[0], colour)


def _beside(row: Row, width: int, colour: bool) -> Iterator[str]:  # noqa: FBT001
    left = width * 2 // 5
    right = width - left - 3
    events = [(line, e[0]) for e in row.events for line in _marked(e, right, "", _LINES)]
    frame = _marked((row.mark, row.frame), left, "", max(1, min(_LINES, len(events))))
    for one, pair in zip_longest(frame, events):
        space = " " * (left - columns(one or ""))
        told = _coloured(pair[0], pair[1], colour) if pair else ""
        yield f"{_coloured(one or '', row.mark, colour)}{space} | {told}".rstrip()


def _marked(marked: Marked, width: int, indent: str, most: int) -> list[str]:
    mark, text = marked
    lines = _wrapped(text, width - len(indent) - 2)
    if len(lines) > most:
        lines = lines[:most]
        lines[-1] = cut(lines[-1] + "…", width - len(indent) - 2)
    return [f"{indent}{mark if n == 0 else ' '} {line}" for n, line in enumerate(lines)]


def columns(text: str) -> int:
    """Return how many columns a terminal takes for a printable text."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """Return a printable text, cut with an ellipsis where it is wider."""
    if columns(text) <= width:
        return text
    while text and columns(text) > width - 1:
        text = text[:-1]
    return text.rstrip("…") + "…"


def _wrapped(text: str, width: int) -> list[str]:
    """A text as lines, with all that a terminal would act on as escapes."""
    text = printable(text)
    if text.isascii():
        return textwrap.wrap(text, width, break_on_hyphens=False) or [""]
    lines, line, taken = [], "", 0
    for character in text:
        if taken + _columns(character) > width:
            lines.append(line)
            line, taken = "", 0
        line += character
        taken += _columns(character)
    return [*lines, line]


def _coloured(line: str, mark: str, colour: bool) -> str:  # noqa: FBT001
    code = _COLOURS.get(mark)
    return f"\x1b[{code}m{line}\x1b[0m" if colour and code else line
