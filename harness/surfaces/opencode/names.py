"""Names on opencode's wire: routes, where an event's session stands, what a tool is."""

from typing import Any, Final

from harness.canonical.names import CanonicalItemType, CanonicalRequestType
from harness.cassette import Frame

Message = dict[str, Any]

_WITH_ID: Final = frozenset(
    {"session", "permission", "permissions", "question", "message", "part", "pty"}
)
_FIXED: Final = frozenset({"status"})

TOOLS: Final[dict[str, CanonicalItemType]] = {
    "bash": "command_execution",
    "shell": "command_execution",
    "edit": "file_change",
    "write": "file_change",
    "multiedit": "file_change",
    "patch": "file_change",
    "apply_patch": "file_change",
    "task": "collab_agent_tool_call",
    "websearch": "web_search",
    "webfetch": "web_search",
}
"""A built-in tool's name to its item type; any other is a `dynamic_tool_call`."""

REQUESTS: Final[dict[str, CanonicalRequestType]] = {
    "bash": "command_execution_approval",
    "shell": "command_execution_approval",
    "edit": "file_change_approval",
    "write": "file_change_approval",
    "patch": "file_change_approval",
}
"""A permission's name to the request's type; any other is `unknown`."""


class Told:
    """The ids of the parts that the process has told of: what of a history is not new."""

    def __init__(self) -> None:
        self.parts: set[str] = set()

    def part(self, part: Message) -> None:
        """Take note of a part."""
        self.parts.add(text(part.get("id")))

    def history(self, body: Any) -> bool:
        """Whether a history has parts, and all of them were told before; now they are."""
        lists = [table(m).get("parts") for m in (body if isinstance(body, list) else [])]
        parts = {
            text(table(part).get("id"))
            for found in lists
            for part in (found if isinstance(found, list) else [])
        }
        told = bool(parts) and self.parts.issuperset(parts)
        self.parts |= parts
        return told


def table(value: Any) -> Message:
    """Return the object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """Return the string, or an empty one for anything else."""
    return value if isinstance(value, str) else ""


def ident(value: Any) -> str:
    """Return the id, as it came. Raises TypeError for what can be none."""
    if not isinstance(value, str) or not value or value != value.strip():
        raise TypeError(f"an id is a word, not {value!r:.60}")
    return value


def unwrap(data: Any) -> Message:
    """Return the event of a frame: `/global/event` wraps it in `{directory, payload}`."""
    message = table(data)
    return table(message["payload"]) if "payload" in message and "type" not in message else message


def route(method: Any, path: Any) -> str:
    """Return `POST /session/{id}/abort` for a request: no query, ids as `{id}`."""
    parts = text(path).partition("?")[0].strip("/").split("/")
    named = [
        "{id}" if at and parts[at - 1] in _WITH_ID and part not in _FIXED else part
        for at, part in enumerate(parts)
    ]
    return f"{text(method).upper()} /{'/'.join(named)}"


def subject(path: Any) -> str:
    """Return the id of the session in a path, or an empty text."""
    parts = text(path).partition("?")[0].strip("/").split("/")
    return parts[1] if len(parts) > 1 and parts[0] == "session" else ""


def changed_files(info: Message) -> list[Message]:
    """Return what a user's message says of the files that its turn has changed so far."""
    diffs = table(info.get("summary")).get("diffs")
    return [table(diff) for diff in diffs] if isinstance(diffs, list) else []


def grows(part: Message) -> bool:
    """Whether a part is a tool that runs, and has put out something."""
    state = table(part.get("state"))
    return state.get("status") == "running" and bool(table(state.get("metadata")).get("output"))


def session_of(kind: str, properties: Message) -> str:
    """Return the id of the session that an event is of, wherever it stands; empty for none."""
    info = table(properties.get("info"))
    for place in (properties, table(properties.get("part")), info):
        if isinstance(place.get("sessionID"), str):
            return str(place["sessionID"])
    return text(info.get("id")) if kind.startswith("session.") else ""


def flawed(frame: Frame) -> str:
    """Name what of the stream is no event: a comment, a rest without its end, or noise."""
    words = text(frame.text)
    if words.startswith((":", "event:", "id:", "retry:")) and "\ndata" not in words:
        return "comment"
    return "incomplete" if words.startswith(("data", "event", "id")) else "noise"
