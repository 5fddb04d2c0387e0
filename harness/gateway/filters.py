"""What of an exchange is written: a list of what may be, and a look for what must not be.

vcrpy runs these as its own hooks. Its filters by name (`filter_headers`, ...) drop what somebody
has thought of; these keep what is known to be harmless, and drop the rest. In what is kept, keys
and the names of accounts become zeros of the same length, in bodies of any kind and depth.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from vcr.filters import decode_response, remove_headers, replace_query_parameters
from vcr.request import Request

from harness.gateway.reduce import Reducer

RequestFilter: TypeAlias = Callable[[Request], Request]
ResponseFilter: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]

HOST: Final = "model.invalid"
"""Stands for every provider, and says that a request has been filtered."""

REQUEST_HEADERS: Final = frozenset({"content-type", "accept", "anthropic-version"})
RESPONSE_HEADERS: Final = frozenset({"content-type", "retry-after", "x-should-retry"})
_LIMIT: Final = re.compile(r"(?:anthropic-|x-)ratelimit-[a-z-]{1,40}")
_AMOUNT: Final = re.compile(r"[\dhms.]{1,15}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|allowed|rejected")
"""How much is left of what an account may ask, and until when: agents tell of it."""

QUERY: Final = frozenset({"alt", "beta"})

KEY_FORMS: Final[Mapping[str, str]] = {
    "OpenAI or Anthropic": r"\bsk-[A-Za-z0-9_-]{20,}",
    "Google": r"\bAIza[A-Za-z0-9_-]{30,}",
    "Google OAuth": r"\bya29\.[A-Za-z0-9_-]{20,}",
    "GitHub": r"\bgh[opsur]_[A-Za-z0-9]{30,}",
    "GitHub, fine-grained": r"\bgithub_pat_[A-Za-z0-9_]{30,}",
    "GitLab": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "AWS": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "Slack": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "Stripe": r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "Hugging Face": r"\bhf_[A-Za-z0-9]{30,}",
    "Groq": r"\bgsk_[A-Za-z0-9]{30,}",
    "xAI": r"\bxai-[A-Za-z0-9_-]{30,}",
    "Perplexity": r"\bpplx-[A-Za-z0-9]{30,}",
    "npm": r"\bnpm_[A-Za-z0-9]{30,}",
    "JWT": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    # To its end, or, where that is missing, as far as it may be one.
    "private key": (
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
        r"(?:(?:[A-Za-z0-9+/=\s:,-]|\\+[nr])*?-----END [A-Z ]*PRIVATE KEY-----"
        r"|(?:[A-Za-z0-9+/=\s:,-]|\\+[nr])*)"
    ),
    "Bearer": r"\b(?:Bearer|bearer|BEARER) +[A-Za-z0-9._~+/=-]{16,}",
}
"""The forms of well-known keys."""

_CHANCE: Final = r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{12,}"
ACCOUNT_FORMS: Final[Mapping[str, str]] = {
    "organization": rf"\borg-{_CHANCE}",
    "project": rf"\bproj_{_CHANCE}",
    "user": rf"\buser-{_CHANCE}",
    "account": rf"\bacct_{_CHANCE}",
    "request": rf"\breq_{_CHANCE}",
}
"""The forms of what names an account, or a request of it."""

MEMBERS: Final = (
    r"(?:(?:chatgpt_)?account|organi[sz]ation|org|project|user|customer|tenant|subscription"
    r"|billing|request)[_-]?(?:u?u?id|email)"
    r"|organization|safety_identifier|prompt_cache_key|api[_-]?key|x-api-key|authorization|secret|password"
    r"|(?:access|refresh|session|auth|id|csrf)[_-]?token|(?:set-)?cookie|client_secret|email"
    r"|project_?number|cf[_-]ray"
)
"""The members whose texts are an account's, whatever their form."""

_MEMBER: Final = re.compile(
    rf"""(?i)(["'](?:{MEMBERS})\\{{0,16}}["']\s{{0,8}}:\s{{0,8}}\\{{0,16}}["'])([^"'\\]+)"""
    rf"""|((?<![A-Za-z0-9_-])(?:{MEMBERS})=)([^&\s"'\\]+)"""
)


_PREFIX: Final = re.compile(r"[A-Za-z]{2,12}[_-](?=[A-Za-z0-9]{8,}$)")


_KEPT: Final = re.compile(
    r"(?i:bearer) +|-----BEGIN [A-Z ]*PRIVATE KEY-----|github_pat_|glpat-|[rs]k_(?:live|test)_"
    r"|[\s\S]{4}"
)
"""What a masked key begins with: its form, so that a part in a later event is still seen."""

_TOKEN: Final = re.compile(r"(\\+[a-z]|\beyJ|-----END [A-Z ]*PRIVATE KEY-----)|[A-Za-z0-9]")


def zeros(text: str) -> str:
    """Return a text of the same length and punctuation that says nothing."""
    return _TOKEN.sub(lambda match: match[1] or "0", text)


def is_masked(text: str) -> bool:
    """Say whether that is all that is left of a key or a name, but for what it begins with."""
    kept = _KEPT.match(text)
    rest = _TOKEN.sub(lambda m: "" if m[1] else m[0], text[kept.end() :] if kept else text)
    return re.fullmatch(r"0*\d{0,4}", re.sub(r"[^A-Za-z0-9]", "", rest)) is not None


def masked(match: re.Match[str]) -> str:
    """Return what stands for a key: its form, and zeros."""
    kept = _KEPT.match(match[0])
    end = kept.end() if kept else 0
    return match[0][:end] + zeros(match[0][end:])


class Names:
    """Masks what names an account or a request: one name is one, and two are two.

    An agent that was told two ids is told two when it is driven again. What was masked before is
    masked the same again, in the same order.
    """

    def __init__(self) -> None:
        self._masked: dict[str, str] = {}
        self._number = 0

    def mask(self, text: str) -> str:
        """Return what stands for a name: zeros and a number, in its form and length."""
        if text in self._masked:
            return self._masked[text]
        prefix = match[0] if (match := _PREFIX.match(text)) else ""
        rest = zeros(text[len(prefix) :])
        self._number += 1
        number = str(self._number)
        if rest.endswith("0" * (len(number) + 6)):
            rest = rest[: -len(number)] + number
        self._masked[text] = prefix + rest
        self._masked[prefix + rest] = prefix + rest
        return prefix + rest


def request_filters(reducer: Reducer) -> dict[str, RequestFilter]:
    """Return the filters of a request, by name, in their order. Each may be run again."""

    def body(request: Request) -> Request:
        if not is_filtered(request):
            kind = str(request.headers.get("content-type", ""))
            request.body = reducer.body(request.body or b"", kind)
        return request

    return {
        "request body": body,
        "request headers": _request_headers,
        "request query": _query,
        "request keys": _request_forms(KEY_FORMS),
        "request accounts": _request_forms(ACCOUNT_FORMS),
        # Last: it says that the others have been run.
        "request address": _address,
    }


def response_filters() -> dict[str, ResponseFilter]:
    """Return the filters of the answers of one cassette, by name, in their order."""
    names = Names()

    def member(match: re.Match[str]) -> str:
        before, text = (match[1], match[2]) if match[1] else (match[3], match[4])
        return str(before) + names.mask(text)

    return {
        "response encoding": decode_response,
        "response status": _status,
        "response headers": _response_headers,
        "response members": lambda response: {**response} | _body(response, _MEMBER, member),
        "response keys": _response_forms(KEY_FORMS, masked),
        "response accounts": _response_forms(ACCOUNT_FORMS, lambda match: names.mask(match[0])),
    }


def is_filtered(request: Request) -> bool:
    """Say whether a request is as it is in a file."""
    return bool(request.host == HOST)


def _request_headers(request: Request) -> Request:
    names = [name for name in request.headers if name.lower() not in REQUEST_HEADERS]
    return remove_headers(request, names)


def _query(request: Request) -> Request:
    names = [(name, None) for name, _ in request.query if name not in QUERY]
    return replace_query_parameters(request, names)


def _address(request: Request) -> Request:
    parts = urlsplit(request.uri)
    request.uri = parts._replace(scheme="https", netloc=HOST, fragment="").geturl()
    return request


def _request_forms(forms: Mapping[str, str]) -> RequestFilter:
    pattern = joined(forms)

    def mask(request: Request) -> Request:
        request.uri = pattern.sub(masked, request.uri)
        request.headers = {k: pattern.sub(masked, v) for k, v in request.headers.items()}
        if request.body:
            request.body = _in_bytes(pattern, request.body, "")
        return request

    return mask


def _response_forms(
    forms: Mapping[str, str], instead: Callable[[re.Match[str]], str]
) -> ResponseFilter:
    pattern = joined(forms)

    def mask(response: dict[str, Any]) -> dict[str, Any]:
        headers = {
            name: [pattern.sub(instead, value) for value in values]
            for name, values in response["headers"].items()
        }
        return {**response, "headers": headers} | _body(response, pattern, instead)

    return mask


def _status(response: dict[str, Any]) -> dict[str, Any]:
    return {**response, "status": {"code": response["status"]["code"], "message": ""}}


def _response_headers(response: dict[str, Any]) -> dict[str, Any]:
    kept = {
        name: values
        for name, values in response["headers"].items()
        if name.lower() in RESPONSE_HEADERS
        or (_LIMIT.fullmatch(name.lower()) and all(map(_AMOUNT.fullmatch, values)))
    }
    return {**response, "headers": kept}


def _body(
    response: dict[str, Any], pattern: re.Pattern[str], mask: Callable[[re.Match[str]], str]
) -> dict[str, Any]:
    body = response["body"]["string"]
    kind = next((v[0] for k, v in response["headers"].items() if k.lower() == "content-type"), "")
    return {"body": {"string": _in_bytes(pattern, body, kind, mask)}}


def _in_bytes(
    pattern: re.Pattern[str],
    body: bytes,
    content_type: str,
    mask: Callable[[re.Match[str]], str] = masked,
) -> bytes:
    """Mask in a body, whose length stays. In another character set, read as that one."""
    match = re.search(r"charset=\"?([\w.:-]+)", content_type, re.IGNORECASE)
    try:
        charset = match[1] if match else "utf-8"
        text = body.decode(charset)
        if text.encode(charset) != body:
            charset = "latin-1"
    except (UnicodeError, LookupError):
        charset = "latin-1"
    return pattern.sub(mask, body.decode(charset)).encode(charset)


def joined(forms: Mapping[str, str]) -> re.Pattern[str]:
    """Return one pattern for all forms."""
    return re.compile("|".join(f"(?:{form})" for form in forms.values()))
