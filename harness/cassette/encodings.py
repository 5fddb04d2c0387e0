"""The forms in which a path, a name or a secret can stand in what an agent writes."""

import base64
import json
import re
from collections.abc import Iterator
from urllib.parse import quote

_SHORTEST = 6
"""Characters below which an encoded form is too common to say anything."""


def path_forms(path: str) -> Iterator[str]:
    """Yield the path as agents write it: plain, JSON- and URL-encoded, joined with dashes.

    Always as many forms in the same order, so that two paths' forms can be paired.
    """
    yield path
    yield from json_forms(path)
    yield quote(path)
    yield quote(path, safe="")
    yield quote(path, safe="").lower()
    yield dashed(path)


def json_forms(text: str) -> Iterator[str]:
    """Yield the text as it stands within a JSON string, which may itself stand in one."""
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]
        yield once.replace("/", "\\/")


def dashed(path: str) -> str:
    """Return the path as Claude names a project's folder: all but letters and digits a dash."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def secret_forms(secret: str) -> Iterator[tuple[str, str]]:
    """Yield `(name of the form, the form)` for each in which a secret could stand in a file."""
    yield "plain", secret
    for form in json_forms(secret):
        yield "JSON", form
    yield "URL", quote(secret)
    yield "URL", quote(secret, safe="")
    yield "URL", quote(secret, safe="").lower()
    if len(secret) >= _SHORTEST:
        yield "dashed", dashed(secret)
        raw = secret.encode()
        yield "hex", raw.hex()
        yield "hex", raw.hex().upper()
        for form in base64_forms(raw):
            yield "base64", form


def base64_forms(raw: bytes) -> Iterator[str]:
    """Yield what of the bytes' base64 is the same whatever stands around them.

    One for each of the three ways in which they can lie across the groups of three bytes,
    in both alphabets.
    """
    for before in range(3):
        text = base64.b64encode(b"\0" * before + raw).decode()
        first = -(-before * 4 // 3)  # characters that also hold bits of what stands before
        whole = (before + len(raw)) * 8 // 6
        form = text[first:whole]
        yield form
        yield form.replace("+", "-").replace("/", "_")
