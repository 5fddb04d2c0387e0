"""What the app-server says of an error, and texts that a message must have."""

from collections.abc import Mapping
from typing import Any, Final

from harness.canonical.names import RuntimeErrorClass

_ERROR_CLASSES: Final[dict[str, RuntimeErrorClass]] = {
    "httpConnectionFailed": "transport_error",
    "responseStreamConnectionFailed": "transport_error",
    "responseStreamDisconnected": "transport_error",
    "unauthorized": "permission_error",
    "cyberPolicy": "permission_error",
    "misalignmentPolicyViolation": "permission_error",
    "sandboxError": "permission_error",
    "badRequest": "validation_error",
    "contextWindowExceeded": "validation_error",
    "activeTurnNotSteerable": "validation_error",
    "threadRollbackFailed": "validation_error",
    "other": "unknown",
}


def error_class(info: Any) -> RuntimeErrorClass:
    """Return the class of a `codexErrorInfo`: a name, or an object whose one key is the name."""
    name = next(iter(info), None) if isinstance(info, dict) else info
    if not isinstance(name, str):
        return "unknown"
    return _ERROR_CLASSES.get(name, "provider_error")


def required(params: Mapping[str, Any], field: str) -> str:
    """Return a text that a message must have. Raises TypeError and KeyError."""
    value = params[field]
    if not isinstance(value, str):
        raise TypeError(f"{field} is no text")
    return value


def message_of(error: Any) -> str:
    """Return the text of an error object, or of an error that is a text itself."""
    if isinstance(error, dict):
        message = error.get("message")
        return message if isinstance(message, str) else ""
    return error if isinstance(error, str) else ""
