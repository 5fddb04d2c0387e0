"""The last look at what a live recording writes: no key, and nothing that was filtered out.

The filters know places; this looks for the things, in each form, also where a text is split over
several events, and wherever one is found nothing is written.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from harness.cassette.format import Frame
from harness.cassette.leaks import LeakFinder, Secret
from harness.gateway.filters import ACCOUNT_FORMS, KEY_FORMS, is_masked, joined

_FORMS: Final = {
    **{f"a key in the form of {name}": re.compile(f) for name, f in KEY_FORMS.items()},
    **{f"the id of a provider's {n}": re.compile(f) for n, f in ACCOUNT_FORMS.items()},
}
_PARTS: Final = (
    *("sk-", "AIza", "ya29.", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-"),
    *("AKIA", "ASIA", "xox", "k_live_", "k_test_", "hf_", "gsk_", "xai-", "pplx-", "npm_", "eyJ"),
    *("PRIVATE KEY", "earer", "EARER", "org-", "proj_", "user-", "acct_", "req_"),
)
"""Each form has one of these."""

_SHORT: Final = 256
_ANY: Final = joined({**KEY_FORMS, **ACCOUNT_FORMS})
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_TELLING: Final = re.compile(
    r"(?i)key|token|secret|auth|cookie|credential|account|organi[sz]ation|org-|project|tenant"
    r"|customer|user-id|request-id|cf-ray|session"
)
_HARMLESS: Final = re.compile(r"(?i)ratelimit")
_SHORTEST: Final = 12
_DATA: Final = re.compile(r"^data:[ ]?(.*?)\r?$", re.MULTILINE)


def key_form(text: str, before: str = "") -> str | None:
    """Return what a text holds that has the form of a key or an account's id; else None.

    `before` is what stood in its place before. What begins as a key does goes on with nothing.
    """
    if not before:
        return _of_short(text) if len(text) < _SHORT else _of(text)
    return None if _ANY.match(text) else _of(before + text)


@lru_cache(4096)
def _of_short(text: str) -> str | None:
    return _of(text)


def _of(text: str) -> str | None:
    if found := _plain(text):
        return found
    if "%" in text and (found := _plain(unquote(text))):
        return f"{found} (URL)"
    for match in _BASE64.finditer(text):
        for inner in _decoded(match[0]):
            if found := _plain(inner):
                return f"{found} (base64)"
    return None


def _plain(text: str) -> str | None:
    # To look for a few letters is a hundred times as quick as to try all the forms.
    if not any(part in text for part in _PARTS):
        return None
    for match in _ANY.finditer(text):
        if not is_masked(match[0]):
            return next(rule for rule, form in _FORMS.items() if form.match(match[0]))
    return None


def _decoded(text: str) -> Iterator[str]:
    raw = text.rstrip("=").replace("-", "+").replace("_", "/")
    # A key that stands within a longer run may begin at any of its characters.
    for skip in range(4):
        part = raw[skip:]
        part = part[: len(part) - (len(part) % 4 == 1)]
        with_end = part + "=" * (-len(part) % 4)
        try:
            yield base64.b64decode(with_end).decode("latin-1")
        except (binascii.Error, ValueError):
            continue


def removed(headers: Iterable[tuple[str, str]]) -> Iterator[Secret]:
    """Yield what headers that are not written say of a key, an account or a request."""
    for name, value in headers:
        if _TELLING.search(name) and not _HARMLESS.search(name):
            for piece in re.split(r"[\s;,=]+", value):
                if len(piece) >= _SHORTEST and re.search(r"\d", piece):
                    yield Secret(f"the {name.lower()} of the provider's answer", piece)


def tape_leaks(interactions: list[dict[str, Any]], secrets: Iterable[Secret]) -> list[str]:
    """Return what is found in the interactions of a model's cassette, as its file has them."""
    finder = LeakFinder(secrets, key_form)
    found = []
    for number, pair in enumerate(interactions, 1):
        for content in _contents(pair):
            frame = Frame(number, 0, "in", "http", content)
            found += [f"exchange {number}: {leak.rule}" for leak in finder.frame(frame)]
    return list(dict.fromkeys(found))


def _contents(pair: dict[str, Any]) -> Iterator[Any]:
    """Yield an interaction as it is written, then its bodies as JSON, event by event."""
    request, response = pair["request"], pair["response"]
    yield {"request": {**request, "body": _text(request["body"])}}
    body = _text(response["body"]["string"])
    yield {"response": {**response, "body": body}}
    for text in (_text(request["body"]), body):
        if isinstance(value := _json(text), (dict, list)):
            yield value
    for match in _DATA.finditer(body):
        if isinstance(event := _json(match[1]), (dict, list)):
            yield event


def _text(body: Any) -> str:
    if isinstance(body, bytes):
        try:
            return body.decode()
        except UnicodeDecodeError:
            return _other(body)
    return str(body or "")


def _other(body: bytes) -> str:
    """Return bytes that are no UTF-8 as text; what is UTF-16 has a zero beside each letter."""
    return body.decode("latin-1").replace("\0", "")


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
