"""What tells the three wire generations of `codex exec --json` apart: see `kinds.py`."""

from typing import Any, Final

ITEM_EVENTS: Final = frozenset({"item.started", "item.updated", "item.completed"})
PREFIX: Final = "msg/"


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
    return 1 if is_heading(message) else 0


def is_heading(message: dict[str, Any]) -> bool:
    """Generation 1 begins with its configuration and its prompt, each an object of texts."""
    return "prompt" in message or {"model", "provider"} <= message.keys()
