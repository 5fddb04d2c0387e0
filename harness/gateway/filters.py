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
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "Bearer": r"(?i:\bbearer) +[A-Za-z0-9._~+/=-]{16,}",
}
"""The forms of well-known keys."""

ACCOUNT_FORMS: Final[Mapping[str, str]] = {
    "organization": r"\borg-[A-Za-z0-9]{12,}",
    "project": r"\bproj_[A-Za-z0-9]{12,}",
    "user": r"\buser-[A-Za-z0-9]{12,}",
    "account": r"\bacct_[A-Za-z0-9]{12,}",
    "request": r"\breq_[A-Za-z0-9]{16,}",
    "e-mail": r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?:com|org|net|io|dev|ai)\b",
}
"""The forms of what names an account, or a request of it."""

MEMBERS: Final = (
    r"(?:(?:chatgpt_)?account|organi[sz]ation|org|project|user|customer|tenant|workspace"
    r"|subscription|billing|request|cf_ray)(?:[_-]?(?:id|uuid|key|name|email))"
    r"|organization|safety_identifier|api[_-]?key|x-api-key|authorization|secret|password"
    r"|(?:access|refresh|session|auth|id|csrf)[_-]?token|(?:set-)?cookie|client_secret|email"
    r"|accountId|organizationId|orgId|projectId|projectNumber|userId|requestId|apiKey"
)
"""The members whose texts are an account's, whatever their form."""

_MEMBER: Final = re.compile(
    rf"""(?i)(\\*["'](?:{MEMBERS})\\*["']\s*:\s*\\*["'])([^"'\\]+)"""
    rf"""|((?<![A-Za-z0-9_-])(?:{MEMBERS})=)([^&\s"'\\]+)"""
)


def zeros(text: str) -> str:
    """Return a text of the same length and punctuation that says nothing."""
    return re.sub(r"[A-Za-z0-9]", "0", text)


def is_zeros(text: str) -> bool:
    """Say whether that is all that is left of a text, but for a prefix that its kind has."""
    return "0" * 8 in text and not re.search(r"[1-9]", text)


def masked(match: re.Match[str]) -> str:
    """Return what stands for a key: its first four characters, and zeros."""
    return match[0][:4] + zeros(match[0][4:])


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
    """Return the filters of an answer, by name, in their order."""
    return {
        "response encoding": decode_response,
        "response status": _status,
        "response headers": _response_headers,
        "response members": _members,
        "response keys": _response_forms(KEY_FORMS),
        "response accounts": _response_forms(ACCOUNT_FORMS),
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


def _response_forms(forms: Mapping[str, str]) -> ResponseFilter:
    pattern = joined(forms)

    def mask(response: dict[str, Any]) -> dict[str, Any]:
        headers = {
            name: [pattern.sub(masked, value) for value in values]
            for name, values in response["headers"].items()
        }
        return {**response, "headers": headers} | _body(response, pattern, masked)

    return mask


def _members(response: dict[str, Any]) -> dict[str, Any]:
    return {**response} | _body(response, _MEMBER, _masked_member)


def _masked_member(match: re.Match[str]) -> str:
    before, text = (match[1], match[2]) if match[1] else (match[3], match[4])
    return before + zeros(text)


def _status(response: dict[str, Any]) -> dict[str, Any]:
    return {**response, "status": {"code": response["status"]["code"], "message": ""}}


def _response_headers(response: dict[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in response["headers"].items() if k.lower() in RESPONSE_HEADERS}
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
