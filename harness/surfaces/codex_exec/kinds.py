"""Names the native kind of each frame of `codex exec --json`, in its three wire generations.

1. `{id, msg: {type}}`, the core's EventMsg, before 0.44: `msg/TYPE`.
2. `item.item_type` and `assistant_message`, 0.44 alone: `item.completed/assistant_message`.
3. `item.type` and `agent_message`, since: `item.completed/agent_message`.
"""

from typing import Any

from harness.cassette import Frame
from harness.surfaces import lenient
from harness.surfaces.codex_eventmsg import kind_of
from harness.surfaces.codex_exec.names import ITEM_EVENTS, PREFIX, is_heading


class Kinds:
    """See `harness.surfaces.base.Kinds`. Nothing is sent to the agent, so there are no answers."""

    def of(self, frame: Frame) -> str:
        """Return the frame's kind."""
        channel = frame.channel
        if channel == "stdout":
            messages = lenient.read(frame).messages
            return kind(messages[0]) if messages else "noise"
        return "client noise" if channel == "stdin" else channel


def kind(message: dict[str, Any]) -> str:
    """Return the kind of a message."""
    msg = message.get("msg")
    if isinstance(msg, dict):
        return f"{PREFIX}{kind_of(msg)}"
    type_ = message.get("type")
    if not isinstance(type_, str):
        if not is_heading(message):
            return "noise"
        return "prompt" if "prompt" in message else "config"
    if type_ in ITEM_EVENTS:
        item = message.get("item")
        if isinstance(item, dict):
            return f"{type_}/{item.get('type') or item.get('item_type')}"
    return type_
