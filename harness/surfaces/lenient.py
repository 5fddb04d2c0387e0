"""Reads a line that is almost a message: what is of the protocol in it is not lost.

A frame with `data` needs none of this. `text` and `b64` frames may still carry messages: with a
carriage return or a byte order mark, with a key twice, with NaN, with bytes that are not UTF-8,
or two on one line.
"""

import base64
import json
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from harness.cassette import Frame

_decode = msgspec.json.Decoder().decode


class Reading(Struct, frozen=True):
    """What a line holds: its JSON objects in order, and what is to be said of how it was read.

    No object: the line is not of the protocol. `flaw` is empty where nothing had to be guessed.
    """

    messages: list[dict[str, Any]]
    flaw: str = ""


_NOISE = Reading([])


def read(frame: Frame) -> Reading:
    """Return the messages of a frame on a channel of JSON lines.

    Two objects on one line are two messages. An object over several lines is none: each of its
    lines is noise, so that nothing after it is swallowed.
    """
    if frame.data is not UNSET:
        return Reading([frame.data]) if isinstance(frame.data, dict) else _NOISE
    flaws: list[str] = []
    if frame.text is not UNSET:
        text = str(frame.text)
    else:
        try:
            text = base64.b64decode(str(frame.b64)).decode("utf-8", "replace")
        except ValueError:
            return _NOISE
        flaws.append("bytes that are not UTF-8 were read as U+FFFD")
    text = text.removeprefix("\ufeff").strip()
    if not text.startswith("{"):
        return _NOISE
    try:
        value = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        messages = _several(text, flaws)
    else:
        messages = [value] if isinstance(value, dict) else []
    return Reading(messages, "; ".join(flaws)) if messages else _NOISE


def _several(text: str, flaws: list[str]) -> list[dict[str, Any]]:
    """Read objects that follow each other, with NaN and the infinities as null."""
    odd: list[str] = []

    def constant(token: str) -> None:
        odd.append(token)

    decoder = json.JSONDecoder(parse_constant=constant)
    messages: list[dict[str, Any]] = []
    at = 0
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            if not isinstance(value, dict):
                return []
            messages.append(value)
            while at < len(text) and text[at].isspace():
                at += 1
    except (ValueError, RecursionError):
        return []
    if odd:
        flaws.append(f"{', '.join(odd)}, which JSON does not have, was read as null")
    if len(messages) > 1:
        flaws.append(f"{len(messages)} objects on one line were read as {len(messages)} messages")
    return messages
