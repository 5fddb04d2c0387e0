"""A cassette as a timeline that a person can read: both directions, one frame a line."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from harness.cassette.format import Frame, Header
from harness.cassette.reader import CassetteReader

_ARROWS = {"in": "<-", "out": "->"}
_NAMES = ("method", "type", "sessionUpdate", "subtype")


def timeline(cassette: CassetteReader, width: int = 0) -> Iterator[str]:
    """Yield a heading, a line for each frame, and how it ended.

    `width` is in columns; 0 cuts nothing. Control and bidirectional characters of the frames
    are shown as escapes, so that no frame can draw on the terminal.
    """
    yield from _heading(cassette.header)
    for frame in cassette:
        line = f"{frame.seq:>5} {frame.at / 1000:>8.3f}s {_ARROWS[frame.dir]} {frame.channel:<6} "
        line += summary(frame)
        yield line if not width or len(line) <= width else line[: width - 1] + "…"
    if cassette.truncated and cassette.footer is None:
        yield "truncated: there is no footer, the recorder was killed"
        return
    footer = cassette.footer
    if footer is not None:
        ended = (
            f"signal {printable(footer.signal)}"
            if footer.signal
            else f"exit code {footer.exit_code}"
        )
        state = "complete" if footer.complete else "not complete"
        yield f"{footer.frames} frames, {ended}, {state}"


def summary(frame: Frame) -> str:
    """Return what a frame says in one line: the names in it first, then its content."""
    if frame.data is UNSET:
        return printable(str(frame.content))
    try:
        text = printable(msgspec.json.encode(frame.data).decode())
    except RecursionError:
        # What is just not too deep to be read may be so to be written.
        text = "(nested too deeply to be shown)"
    name = _exchange(frame.data) if frame.channel == "http" else _name(frame)
    return f"{printable(name)}  {text}" if name else text


def printable(text: str) -> str:
    """Return `text` with every character that a terminal would act on written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _heading(header: Header) -> Iterator[str]:
    yield printable(f"{header.id}  ({header.provenance}, {header.recorded})")
    if header.command:
        yield f"      $ {printable(' '.join(header.command))}"


def _exchange(data: Any) -> str:
    if not isinstance(data, dict):
        return ""
    if "method" in data:
        return f"{data['method']} {data.get('path')}"
    return f"{data.get('status')} to request {data.get('request')}"


def _name(frame: Frame) -> str:
    data = frame.data
    if not isinstance(data, dict):
        return ""
    names = [str(data[key]) for key in _NAMES if isinstance(data.get(key), str)]
    for inner in ("params", "event", "item", "request", "response"):
        part = data.get(inner)
        if isinstance(part, dict):
            part = part.get("item", part) if isinstance(part.get("item"), dict) else part
            names += [str(part[key]) for key in _NAMES[1:] if isinstance(part.get(key), str)]
    if "id" in data and "method" not in data and frame.channel != "sse":
        names.append(f"answer to {data['id']}")
    return " ".join(names)
