"""Ids and events in the forms of the real APIs, the same at each run."""

import hashlib
import re
from collections.abc import Iterator
from typing import Any

import msgspec

CREATED = 1_735_689_600
"""Every answer's time, in seconds: 2025-01-01T00:00:00Z. A clock would differ at each run."""

_DIGITS = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


_TOKEN = re.compile(r"[^\s\"]+[\s\"]*|[\s\"]+")


def letters(length: int, *key: object) -> str:
    """Return `length` letters and digits that depend on the key alone."""
    number = int.from_bytes(hashlib.sha512("/".join(map(str, key)).encode()).digest())
    found: list[str] = []
    for _ in range(length):
        number, rest = divmod(number, len(_DIGITS))
        found.append(_DIGITS[rest])
    return "".join(found)


def hexadecimal(length: int, *key: object) -> str:
    """Return `length` (up to 128) hexadecimal digits that depend on the key alone."""
    return hashlib.sha512("/".join(map(str, key)).encode()).hexdigest()[:length]


def event(value: dict[str, Any]) -> bytes:
    """Return a server-sent event; its name is the value's `type`."""
    return b"event: " + str(value["type"]).encode() + b"\n" + data(value)


def data(value: dict[str, Any], end: bytes = b"\n") -> bytes:
    """Return a server-sent event that has no name; `end` is how its lines end."""
    return b"data: " + msgspec.json.encode(value) + end + end


def pieces(text: str, count: int = 3) -> Iterator[str]:
    """Yield a text in up to `count` pieces that join to it.

    A piece ends after a quotation mark or white space alone, so that a path within the text
    stays whole: it can be scrubbed, and its length does not move the ends of the pieces.
    """
    tokens = _TOKEN.findall(text) or [""]
    size = -(-len(tokens) // count)
    for start in range(0, len(tokens), size):
        yield "".join(tokens[start : start + size])
