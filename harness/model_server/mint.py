"""Ids and events in the forms of the real APIs, the same at each run."""

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

CREATED = 1_735_689_600
"""Every answer's time, in seconds: 2025-01-01T00:00:00Z. A clock would differ at each run."""

_DIGITS = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


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


def event(data: dict[str, Any]) -> bytes:
    """Return a server-sent event; its name is the data's `type`."""
    name = str(data["type"]).encode()
    return b"event: " + name + b"\ndata: " + msgspec.json.encode(data) + b"\n\n"


def pieces(text: str, count: int = 3) -> Iterator[str]:
    """Yield a text in up to `count` pieces that join to it."""
    size = max(1, -(-len(text) // count))
    for start in range(0, len(text), size):
        yield text[start : start + size]
