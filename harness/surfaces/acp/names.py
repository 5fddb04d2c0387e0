"""The names of protocol version 1, and what is read from any value: texts, ids, references.

Names are facts of the official schema (agent methods, client methods, session updates).
"""

from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.cassette import Frame
from harness.surfaces import lenient

Message = dict[str, Any]

OPENS: Final = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
"""The client's requests whose answer opens a session."""

CONFIGURES: Final = frozenset(
    {"session/set_mode", "session/set_model", "session/set_config_option"}
)
"""The client's requests whose answer says how the session is set up from now on."""

SERVED: Final = frozenset(
    {
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
        "terminal/wait_for_exit",
        "terminal/kill",
        "terminal/release",
    }
)
"""The agent's requests that use the client as its hands; no person is asked."""

QUIET: Final = frozenset({"session/list", "session/delete", "session/cancel"})
"""The client's requests whose answer says nothing of a conversation."""

CLIENT: Final = (
    OPENS
    | CONFIGURES
    | QUIET
    | {"initialize", "authenticate", "logout", "session/prompt", "session/close"}
)
"""What the client sends."""

_IDS: Final = frozenset({str, int, bool})


def read(frame: Frame) -> lenient.Reading:
    """Return the messages of a line; ACP has no batches, yet one holds messages all the same."""
    data = frame.data
    if isinstance(data, list) and data and all(type(part) is dict for part in data):
        return lenient.Reading(data, f"a batch was read as {len(data)} messages")
    return lenient.read(frame)


def key(id_: Any) -> Any:
    """1, "1" and true are three ids of JSON-RPC, and one dictionary key of Python."""
    kind = type(id_)
    return (kind.__name__, id_) if kind in _IDS else ("", repr(id_))


def ref(value: Any) -> str | UnsetType:
    """Return a native id for `providerRefs`, which are trimmed and not empty."""
    text = value if isinstance(value, str) else str(value) if type(value) is int else ""
    return text.strip() or UNSET


def text(value: Any) -> str | UnsetType:
    """Return a text that says something."""
    return value if isinstance(value, str) and value else UNSET


def table(value: Any) -> Message:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def is_response(message: Message) -> bool:
    """Whether a message answers a request."""
    return "id" in message and ("result" in message or "error" in message)


def words(error: Any) -> str:
    """What an error says, in words."""
    fields = table(error)
    said = fields.get("message")
    data = fields.get("data")
    detail = table(data).get("details", table(data).get("message", data))
    if isinstance(detail, str) and detail and isinstance(said, str) and said:
        return f"{said}: {detail}"
    return said if isinstance(said, str) and said else f"error {fields.get('code', error)!r}"
