"""What a waiting file changes, as rows: a native frame, and beside it its events.

Equal beginnings are passed over; from the first difference on, `STRETCH` lines of both sides are
aligned. Nothing here raises for what is in a file: what cannot be read is said in a note.
"""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from harness.cassette import CassetteError, Frame, open_cassette
from harness.cassette.ids import Ids
from harness.cassette.show import summary
from harness.conformance.check import canonical_lines
from harness.conformance.expected import STRETCH
from harness.conformance.explain import explain
from harness.conformance.law import show
from harness.pending import settled
from harness.regular import read_bytes
from harness.review.waiting import Waiting

_ARROWS = {"in": "<-", "out": "->"}
_EXCHANGE = b"\n- request:"
"""How an exchange begins in vcrpy's file."""

Marked = tuple[str, str]
"""A mark (`-` gone, `+` new, `~` changed, or a space) and a text."""


class Row(Struct):
    """A frame with its mark, and its events with theirs."""

    mark: str
    frame: str
    events: list[Marked]


class Changes(Struct):
    """All that is shown of a waiting file: sentences, then rows."""

    notes: list[str] = []
    rows: list[Row] = []


def changes(item: Waiting) -> Changes:
    """Return what a waiting file changes."""
    return _of_cassette(item) if item.kind == "cassette" else _of_expected(item)


def _of_expected(item: Waiting) -> Changes:
    made = Changes()
    old = _lines(item.old, made.notes) if not item.isnew else []
    new = _lines(item.path, made.notes)
    first, due, got = _stretch(old, new)
    try:
        found = list(explain(due, got, first + 1))
    except (msgspec.MsgspecError, UnicodeError) as error:
        made.notes.append(f"could not be compared: {error}")
        return made
    if not found:
        made.notes.append("the same events, written otherwise" if old else "no events")
    by_frame: dict[int, dict[int, list[Marked]]] = {}
    for one in found:
        lines = by_frame.setdefault(one.where.frame, {}).setdefault(one.where.event, [])
        if one.path:
            lines += [("-", f"{one.path}: {one.expected}"), ("+", f"{one.path}: {one.got}")]
        elif one.got == "no such event":
            lines.append(("-", one.expected))
        else:
            lines.append(("+", one.got))
    counts = f"{len(found)} differences in {len(by_frame)} frames, from event {first + 1} on"
    if found:
        made.notes.append(counts)
    frames = _frames(item.cassette, made.notes)
    kept = _events(got, first + 1)
    for number in _around(by_frame, len(frames)):
        events = dict(kept.get(number, {}))
        changed = by_frame.get(number, {})
        row = Row("~" if changed else " ", _named(frames, number), [])
        for event in sorted(events.keys() | changed.keys()):
            lines = changed.get(event, [])
            whole = any(mark == "+" and text == events.get(event) for mark, text in lines)
            if event in events and not whole:
                row.events.append(("~" if lines else " ", f"{event} {events[event]}"))
            row.events += lines
        made.rows.append(row)
    return made


def _of_cassette(item: Waiting) -> Changes:
    made = Changes()
    if item.tape is not None:
        made.notes.append(f"a real model's answers wait with it: {_exchanges(item.tape)}")
    new, new_header = _cassette(item.path, made.notes)
    old, old_header = ([], {}) if item.isnew else _cassette(item.old, made.notes)
    for key in sorted(old_header.keys() | new_header.keys()) if old_header else []:
        if key != "recorded" and old_header.get(key) != new_header.get(key):
            made.notes.append(
                f"header {key}: {show(old_header.get(key))} -> {show(new_header.get(key))}"
            )
    plain_old, plain_new = _plain(old), _plain(new)
    first, due, got = _stretch(plain_old, plain_new)
    of_old = {} if item.isnew else _given(item.old, made.notes)
    of_new = _given(item.path, made.notes)
    gone = come = 0
    matcher = SequenceMatcher(None, due, got, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            # The one after the last change, and the one before the next.
            made.rows += [_row(" ", new[first + n], of_new) for n in sorted({c, d - 1})]
            continue
        gone, come = gone + b - a, come + d - c
        paired = b - a if b - a == d - c else 0
        for n in range(paired):
            row = _row("~", new[first + c + n], of_new)
            row.events = [*_fields(old[first + a + n], new[first + c + n]), *row.events]
            made.rows.append(row)
        made.rows += [_row("-", old[first + n], of_old) for n in range(a + paired, b)]
        made.rows += [_row("+", new[first + n], of_new) for n in range(c + paired, d)]
    if gone or come:
        made.notes.append(f"{gone} frames gone, {come} come, from frame {first + 1} on")
        if first:
            made.rows.insert(0, _row(" ", new[first - 1], of_new))
    elif old_header:
        made.notes.append("the same frames in the same order")
    return made


def _row(mark: str, frame: Frame, events: dict[int, dict[int, str]]) -> Row:
    told = events.get(frame.seq, {})
    return Row(mark, _text(frame), [(mark, f"{n} {text}") for n, text in told.items()])


def _fields(old: Frame, new: Frame) -> list[Marked]:
    """What differs between two frames that stand in one place, field by field."""
    from deepdiff import DeepDiff  # noqa: PLC0415 - start-up: only a difference needs it

    due, got = (msgspec.to_builtins(frame) for frame in (old, new))
    for side in (due, got):
        del side["seq"], side["at"]
    lines: list[Marked] = []
    diff = DeepDiff(due, got, view="tree", ignore_numeric_type_changes=False, verbose_level=2)
    for changed in diff.values():
        for change in changed:
            path = ".".join(str(part) for part in change.path(output_format="list"))
            for mark, value in (("-", change.t1), ("+", change.t2)):
                if type(value).__name__ != "NotPresent":
                    lines.append((mark, f"{path}: {show(value)}"))
    return lines


def _text(frame: Frame) -> str:
    return f"{frame.seq} {_ARROWS[frame.dir]} {frame.channel} {summary(frame)}"


def _named(frames: dict[int, str], number: int) -> str:
    return frames.get(number, f"{number} (no such frame)") if number else "(no frame)"


def _around(numbers: Iterable[int], last: int) -> list[int]:
    """The frames that changed, each with the one before and the one after it."""
    near = {m for n in numbers for m in ((n - 1, n, n + 1) if n else (n,))}
    return sorted(n for n in near if n in set(numbers) or 1 <= n <= last)


def _stretch(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[int, list[bytes], list[bytes]]:
    """The first line (from 0) that differs, and what follows of both, as much as is aligned."""
    first = next(
        (n for n, (a, b) in enumerate(zip_longest(old, new)) if a != b), min(len(old), len(new))
    )
    return first, list(old[first : first + STRETCH]), list(new[first : first + STRETCH])


def _lines(path: Path, notes: list[str]) -> list[bytes]:
    try:
        return read_bytes(path).splitlines()
    except OSError as error:
        notes.append(f"{path}: could not be read: {error.strerror}")
        return []


def _events(lines: Iterable[bytes], first: int) -> dict[int, dict[int, str]]:
    """The events by frame and number, in words."""
    found: dict[int, dict[int, str]] = {}
    for number, line in enumerate(lines, first):
        event = msgspec.json.decode(line)
        raw = event.get("raw") or {}
        ids = " ".join(str(event[f]) for f in ("turnId", "itemId", "requestId") if f in event)
        text = f"{event.get('type')} {ids} {show(event.get('payload'))}".replace("  ", " ")
        found.setdefault(int(raw.get("frame") or 0), {})[number] = text
    return found


def _given(path: Path, notes: list[str]) -> dict[int, dict[int, str]]:
    """The events that the reference normalizer makes of a cassette."""
    try:
        return _events(canonical_lines(path).splitlines(), 1)
    except CassetteError as error:
        notes.append(f"{path.name}: no events: {error.problem}")
        return {}


def _frames(path: Path, notes: list[str]) -> dict[int, str]:
    frames, _ = _cassette(path, notes)
    return {frame.seq: _text(frame) for frame in frames}


def _cassette(path: Path, notes: list[str]) -> tuple[list[Frame], dict[str, Any]]:
    """The frames and the header; what cannot be read is noted."""
    frames: list[Frame] = []
    header: dict[str, Any] = {}
    try:
        with open_cassette(path) as cassette:
            header = msgspec.to_builtins(cassette.header)
            frames.extend(cassette)
            if cassette.truncated:
                notes.append(f"{path.name}: truncated: it has no footer")
    except CassetteError as error:
        notes.append(f"{path.name}: {error.problem}")
    return frames, header


def _exchanges(tape: Path) -> str:
    """Say how many exchanges with its model a waiting tape has, and the older one."""
    said = []
    for path in (tape, settled(tape)):
        try:
            said.append(f"{path.name}, {path.read_bytes().count(_EXCHANGE)} exchanges")
        except OSError:
            said.append(f"no {path.name}")
    return " (before: ".join(said) + ")"


def _plain(frames: Iterable[Frame]) -> list[bytes]:
    return list(_comparable(frames))


def _comparable(frames: Iterable[Frame]) -> Iterator[bytes]:
    """Frames without their times and numbers, and with ids by first appearance."""
    for frame in frames:
        plain = msgspec.to_builtins(frame)
        del plain["seq"], plain["at"]
        # Numbered anew in each frame: one id more does not make all frames after it others.
        yield Ids(0, "").rename(msgspec.json.encode(plain).decode()).encode()
