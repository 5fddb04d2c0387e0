"""Names the native kind of each frame of `codex exec --json`, in its three wire generations.

1. `{id, msg: {type}}`, the core's EventMsg, before 0.44: `msg/TYPE`.
2. `item.item_type` and `assistant_message`, 0.44 alone: `item.completed/assistant_message`.
3. `item.type` and `agent_message`, since: `item.completed/agent_message`.
"""

from typing import Any, Final

from harness.cassette import Frame
from harness.surfaces import lenient
from harness.surfaces.codex_eventmsg import kind_of

ITEM_EVENTS: Final = frozenset({"item.started", "item.updated", "item.completed"})
PREFIX: Final = "msg/"


class Kinds:
    """See `harness.surfaces.base.Kinds`. Nothing is sent to the agent, so there are no answers."""

    def of(self, frame: Frame) -> str:
        """Return the frame's kind."""
        channel = frame.channel
        if channel == "stdout":
            messages = lenient.read(frame).messages
            return kind(messages[0]) if messages else "noise"
        return "client noise" if channel == "stdin" else channel


def generation(message: dict[str, Any]) -> int:
    """Return the wire generation that a line is of: 1, 2 or 3; 0 where it is of none.

    Generation 2 is told from 3 by its items and by `session.created`; what they share is 3.
    """
    if isinstance(message.get("msg"), dict):
        return 1
    if isinstance(message.get("type"), str):
        item = message.get("item")
        older = isinstance(item, dict) and "item_type" in item and "type" not in item
        return 2 if older or message["type"] == "session.created" else 3
    return 1 if _is_heading(message) else 0


def kind(message: dict[str, Any]) -> str:
    """Return the kind of a message."""
    msg = message.get("msg")
    if isinstance(msg, dict):
        return f"{PREFIX}{kind_of(msg)}"
    type_ = message.get("type")
    if not isinstance(type_, str):
        if not _is_heading(message):
            return "noise"
        return "prompt" if "prompt" in message else "config"
    if type_ in ITEM_EVENTS:
        item = message.get("item")
        if isinstance(item, dict):
            return f"{type_}/{item.get('type') or item.get('item_type')}"
    return type_


def _is_heading(message: dict[str, Any]) -> bool:
    """Generation 1 begins with its configuration and its prompt, each an object of texts."""
    return "prompt" in message or {"model", "provider"} <= message.keys()
