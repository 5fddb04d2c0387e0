"""The rows of the matrix: the 13 chat_event kinds, and which canonical events show each.

PROVIDER-COMPATIBILITY-MATRIX.md, "Event Kind Compatibility".
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from harness.canonical import EventBase
from harness.canonical import payloads as pl

TOOL_ITEMS = frozenset(
    {
        "command_execution",
        "file_change",
        "mcp_tool_call",
        "dynamic_tool_call",
        "collab_agent_tool_call",
        "web_search",
        "image_view",
    }
)
APPROVALS = frozenset(
    {
        "command_execution_approval",
        "file_change_approval",
        "apply_patch_approval",
        "exec_command_approval",
    }
)
_MODE_KEYS = frozenset(
    {"permissionMode", "approvalPolicy", "sandbox", "modes", "currentModeId", "collaborationMode"}
)
_LIFECYCLE = ("session.state.changed", "thread.state.changed", "turn.", "item.")


class Row(Struct, frozen=True):
    """One row: its id, what it is worth to a client, and the rule that says an event shows it.

    The rule is given the event and the native kind of the frame that caused it.
    """

    id: str
    value: str
    shown_by: Callable[[EventBase, str], bool]
    types: tuple[str, ...]


def _stream(*kinds: str) -> Callable[[EventBase, str], bool]:
    def shows(event: EventBase, _kind: str) -> bool:
        payload = event.payload
        return isinstance(payload, pl.ContentDeltaPayload) and payload.streamKind in kinds

    return shows


def _item(event: EventBase, types: frozenset[str]) -> bool:
    payload = event.payload
    return isinstance(payload, pl.ItemLifecyclePayload) and payload.itemType in types


def _text(event: EventBase, kind: str) -> bool:
    return _stream("assistant_text")(event, kind) or _item(event, frozenset({"assistant_message"}))


def _thinking(event: EventBase, kind: str) -> bool:
    streams = _stream("reasoning_text", "reasoning_summary_text")
    return streams(event, kind) or _item(event, frozenset({"reasoning"}))


def _diff(event: EventBase, _kind: str) -> bool:
    return event.type == "turn.diff.updated" or _item(event, frozenset({"file_change"}))


def _permission(event: EventBase, _kind: str) -> bool:
    payload = event.payload
    return isinstance(payload, pl.RequestOpenedPayload) and payload.requestType in APPROVALS


def _question(event: EventBase, _kind: str) -> bool:
    return event.type == "user-input.requested"


def _todo(event: EventBase, kind: str) -> bool:
    return event.type == "turn.plan.updated" and "todo" in kind.lower()


def _plan(event: EventBase, kind: str) -> bool:
    if event.type == "turn.plan.updated":
        return not _todo(event, kind)
    return _stream("plan_text")(event, kind)


def _task(event: EventBase, _kind: str) -> bool:
    return event.type.startswith("task.") or _item(event, frozenset({"collab_agent_tool_call"}))


def _usage(event: EventBase, _kind: str) -> bool:
    if event.type == "thread.token-usage.updated":
        return True
    payload = event.payload
    return isinstance(payload, pl.TurnCompletedPayload) and isinstance(payload.usage, dict)


def _mode(event: EventBase, _kind: str) -> bool:
    payload = event.payload
    if not isinstance(payload, pl.SessionConfiguredPayload):
        return False
    config: dict[str, Any] = payload.config
    return not _MODE_KEYS.isdisjoint(config)


def _status(event: EventBase, _kind: str) -> bool:
    return event.type.startswith(_LIFECYCLE)


ROWS: tuple[Row, ...] = (
    Row(
        "text",
        "Replaces raw append-only text merging with block-scoped deltas.",
        _text,
        ("content.delta",),
    ),
    Row(
        "thinking",
        "Keeps reasoning separate from final answer text.",
        _thinking,
        ("content.delta",),
    ),
    Row(
        "tool",
        "Adds stable toolCallId, lifecycle phase, and result state.",
        lambda event, _kind: _item(event, TOOL_ITEMS),
        ("item.started", "item.completed"),
    ),
    Row(
        "diff",
        "Makes file changes first-class instead of reconstructing them from tool text.",
        _diff,
        ("turn.diff.updated",),
    ),
    Row(
        "terminal",
        "Preserves terminal output as a stream/reference instead of a giant text block.",
        _stream("command_output"),
        ("content.delta",),
    ),
    Row(
        "permission",
        "Preserves provider request IDs, choices, and reply state.",
        _permission,
        ("request.opened",),
    ),
    Row(
        "question",
        "Lets providers ask the user without faking a tool call.",
        _question,
        ("user-input.requested",),
    ),
    Row(
        "plan",
        "Gives planning UI a shared structure across providers.",
        _plan,
        ("turn.plan.updated",),
    ),
    Row("todo", "Avoids provider-specific todo rendering.", _todo, ("turn.plan.updated",)),
    Row(
        "task",
        "Preserves child session/task identity without polluting root history.",
        _task,
        ("task.started",),
    ),
    Row(
        "usage",
        "Gives usage/cost UI one normalized source.",
        _usage,
        ("thread.token-usage.updated", "turn.completed"),
    ),
    Row(
        "mode",
        "Makes mode changes explicit instead of hidden in provider config.",
        _mode,
        ("session.configured",),
    ),
    Row(
        "status",
        "Provides one lifecycle model for running, idle, completed, and failed states.",
        _status,
        ("thread.state.changed", "turn.completed"),
    ),
)
"""In the order of the seed document."""
