"""The agent's own texts, where a provider says them again: Responses answers with the whole prompt.

Such an echo is taken out of what is kept. Where the texts stand in an answer in any other way,
nothing is kept: they are the property of whoever made the agent.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from harness.gateway.reduce import OWN, decoded

_SHORTEST: Final = 60
"""Characters of a line below which it may be anybody's."""

_DATA: Final = re.compile(rb"^(data:[ ]?)(.*?)(\r?)$", re.MULTILINE)
_ECHOES: Final[dict[str, Any]] = {"instructions": None, "tools": []}
"""What an answer repeats of its request, and what stands in its place."""


def without_echo(event: bytes) -> bytes:
    """Return an event, or an answer that is not streamed, without what its request said."""
    if not any(f'"{name}"'.encode() in event for name in _ECHOES):
        return event
    if event.lstrip()[:1] == b"{":
        return _taken_out(event)
    return _DATA.sub(lambda match: match[1] + _taken_out(match[2]) + match[3], event)


def _taken_out(text: bytes) -> bytes:
    value = _json(text)
    if not isinstance(value, dict):
        return text
    changed = False
    for inner in (value, value.get("response")):
        for name, instead in _ECHOES.items():
            if isinstance(inner, dict) and inner.get(name):
                inner[name] = instead
                changed = True
    return msgspec.json.encode(value) if changed else text


def own_lines(body: bytes, content_type: str) -> set[str]:
    """Return the lines of a request's system prompts and tools, those that are long enough."""
    value = _json((decoded(body, content_type) or "").encode("utf-8", "replace"))
    return {line for text in _own(value) for line in _lines(text)}


def repeated(body: bytes, own: set[str]) -> bool:
    """Say whether an answer has one of those lines."""
    values = [_json(match[2]) for match in _DATA.finditer(body)] or [_json(body)]
    return any(line in own for text in _strings(values) for line in _lines(text))


def _own(value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    for name, inner in value.items():
        if name in OWN or name == "tools":
            yield from _strings(inner)
        elif isinstance(inner, list):
            for message in inner:
                if isinstance(message, dict) and message.get("role") in {"system", "developer"}:
                    yield from _strings(message)


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        stripped = line.strip()
        if len(stripped) >= _SHORTEST:
            yield stripped


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _json(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
