"""What the scripted model answers to one request, in neutral terms, and its minted ids."""

import base64
import hashlib
import string
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from harness.scenarios import Disconnect, Hold, Pause, Usage

_ALPHABET = string.digits + string.ascii_letters

DEFAULT_USAGE = Usage(input=100, output=10)
"""What a response reports where its scenario does not say."""


class Thought(Struct, frozen=True):
    """Reasoning, in deltas."""

    chunks: tuple[str, ...]


class Text(Struct, frozen=True):
    """A message, in deltas."""

    chunks: tuple[str, ...]


class Call(Struct, frozen=True):
    """A call of one of the agent's tools.

    `arguments` is a JSON object for `function`, one text for `custom`, and the command as a list
    of words for `local_shell`, the one tool that the OpenAI API knows by its type.
    """

    kind: Literal["function", "custom", "local_shell"]
    name: str
    arguments: Any


Part: TypeAlias = Thought | Text | Call
Control: TypeAlias = Pause | Hold | Disconnect
"""What happens to the connection between two parts; the server does it."""


class Answer(Struct, frozen=True):
    """One model response. All its ids are minted from `key`, and its calls' from `call_key`.

    A second attempt is a new response with the same calls.
    """

    key: str
    call_key: str
    parts: tuple[Part | Control, ...]
    usage: Usage = DEFAULT_USAGE
    used: Callable[[Any], None] | None = None

    @property
    def calls(self) -> list[Call]:
        """The tool calls, in order."""
        return [part for part in self.parts if isinstance(part, Call)]


def mint(prefix: str, key: str, length: int = 24) -> str:
    """Return `prefix` and `length` letters and digits that `key` determines."""
    number = int.from_bytes(hashlib.sha256(f"{prefix}{key}".encode()).digest(), "big")
    found = prefix
    for _ in range(length):
        number, index = divmod(number, len(_ALPHABET))
        found += _ALPHABET[index]
    return found


def signature(key: str) -> str:
    """Return base64 of 48 bytes that `key` determines: an opaque signature."""
    return base64.b64encode(hashlib.sha384(key.encode()).digest()).decode()


def pieces(text: str, most: int = 4) -> list[str]:
    """Split a text into at most `most` deltas of about the same length; joined, they are it."""
    size = max(8, -(-len(text) // most))
    return [text[i : i + size] for i in range(0, len(text), size)]
