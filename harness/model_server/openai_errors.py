"""The HTTP failures of OpenAI's APIs, the same for all of them."""

from typing import Any

_FAILURES = {429: ("requests", "rate_limit_exceeded"), 401: ("invalid_request_error", None)}
_SERVER_ERROR = 500


def failure(status: int, message: str) -> dict[str, Any]:
    """Return `{"error": {"message", "type", "param", "code"}}`."""
    default = ("server_error" if status >= _SERVER_ERROR else "invalid_request_error", None)
    kind, code = _FAILURES.get(status, default)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
