"""Which of `data`, `text` and `b64` holds a line, so that nothing of it is lost."""

import base64
import json
from typing import Any, NoReturn

import msgspec

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def classify(line: bytes) -> tuple[str, Any]:
    """Return the content field for a line (its line feed already taken off) and its value.

    `data` only where writing the value again gives the same JSON: same keys in the same order,
    none twice, same numbers to the digit. White space between tokens and the choice of string
    escapes are not content; a carriage return at the end is, since some readers trip on it.
    Everything else is `text`, or `b64` where it is not UTF-8.
    """
    if line.endswith(b"\r"):
        return _as_text(line)
    try:
        value = _decoder.decode(line)
        again = _encoder.encode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _as_text(line)
    if again == line or _tokens(line) == _tokens(again):
        return "data", value
    return _as_text(line)


def restore(field: str, value: Any) -> bytes:
    """Return the bytes of a line from its content field: the inverse of `classify`.

    Raises ValueError for `b64` that is not base64.
    """
    if field == "data":
        return _encoder.encode(value)
    if field == "text":
        return str(value).encode()
    return base64.b64decode(value, validate=True)


def _as_text(line: bytes) -> tuple[str, str]:
    try:
        return "text", line.decode()
    except UnicodeDecodeError:
        return "b64", base64.b64encode(line).decode()


class _Pairs(list[tuple[str, Any]]):
    """An object as its key and value pairs, told apart from an array."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pairs) and list.__eq__(self, other)

    __hash__ = None  # a mutable list has no hash


def _refuse(token: str) -> NoReturn:
    raise ValueError(token)


def _tokens(line: bytes) -> Any:
    """The JSON value with numbers as their digits, objects as ordered pairs; None if not JSON."""
    try:
        return json.loads(
            line,
            parse_int=lambda digits: ("number", digits),
            parse_float=lambda digits: ("number", digits),
            parse_constant=_refuse,
            object_pairs_hook=_unique_pairs,
        )
    except (ValueError, RecursionError):
        # msgspec read it, the strict reader did not: an object that equals nothing.
        return object()


def _unique_pairs(pairs: list[tuple[str, Any]]) -> _Pairs:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("duplicate key")
    return _Pairs(pairs)
