"""The rows of both tables, and the rules that say which events show each.

PROVIDER-COMPATIBILITY-MATRIX.md, "Event Kind Compatibility" and "Interface Additions". A row's
rule is given a canonical event and one chat event that it causes.
"""

from collections.abc import Callable
from typing import Final

from msgspec import UNSET, Struct

from harness.canonical import EventBase
from harness.canonical import payloads as pl
from harness.projection import ChatEvent

Rule = Callable[[EventBase, ChatEvent], bool]

APPROVALS: Final = frozenset(
    {
        "command_execution_approval",
        "file_change_approval",
        "apply_patch_approval",
        "exec_command_approval",
    }
)

_LIFECYCLE: Final = (
    "session.state.changed",
    "thread.state.changed",
    "turn.started",
    "turn.completed",
)


class Row(Struct, frozen=True):
    """A row: its id, what it is worth to a client, and what would show it.

    `types` are the canonical types that a native kind for it gives, `words` what the name of
    such a kind has in it where it gives no event. `asks` is the row whose scenarios would show it
    (a scenario's `shows`); empty: every scenario would.
    """

    id: str
    value: str
    types: tuple[str, ...]
    words: tuple[str, ...] = ()
    asks: str = ""


def _always(_event: EventBase, _chat: ChatEvent) -> bool:
    return True


def _said(_event: EventBase, chat: ChatEvent) -> bool:
    """Shown by what the agent says, not by the echo of the user's prompt."""
    return chat.role is UNSET or chat.role != "user"


def _diff(_event: EventBase, chat: ChatEvent) -> bool:
    """Shown by what changes (a unified diff, or a text): a file's name alone is no diff."""
    diff = chat.diff
    if diff is UNSET:
        return False
    return bool(diff.unifiedDiff) or any(
        bool(f.diff) or isinstance(f.newText, str) for f in diff.files
    )


def _permission(event: EventBase, _chat: ChatEvent) -> bool:
    """Shown by the request itself, for an act that the user may decline."""
    payload = event.payload
    return isinstance(payload, pl.RequestOpenedPayload) and payload.requestType in APPROVALS


def _question(event: EventBase, _chat: ChatEvent) -> bool:
    """Shown by the question itself: an answer alone tells nothing of the agent."""
    return event.type == "user-input.requested"


def _status(event: EventBase, _chat: ChatEvent) -> bool:
    return event.type in _LIFECYCLE


_RULES: Final[dict[str, Rule]] = {
    "text": _said,
    "thinking": _always,
    "tool": _always,
    "diff": _diff,
    "terminal": _always,
    "permission": _permission,
    "question": _question,
    "plan": _always,
    "todo": _always,
    "task": _always,
    "usage": _always,
    "mode": _always,
    "status": _status,
}


def shown(event: EventBase, chat: ChatEvent) -> tuple[str, ...]:
    """Return the ids of the event kinds that a chat event shows."""
    ids: tuple[str, ...] = (chat.kind,) if _RULES[chat.kind](event, chat) else ()
    payload = event.payload
    if chat.kind == "tool" and isinstance(payload, pl.ItemLifecyclePayload):
        # A call that gives a task to another agent is one, whether or not a task is told too.
        if payload.itemType == "collab_agent_tool_call":
            ids = (*ids, "task")
        if _refers_to_terminal(payload):
            ids = (*ids, "terminal")
    return ids


def made_up(row: str, event: EventBase) -> bool:
    """Whether a kind's event is a join of the adapter's though its frame is native.

    A terminal is a stream, or a reference to one: what is cut out of a tool's result is the
    adapter's.
    """
    return row == "terminal" and event.type != "content.delta" and not _refers(event)


def _refers(event: EventBase) -> bool:
    payload = event.payload
    return isinstance(payload, pl.ItemLifecyclePayload) and _refers_to_terminal(payload)


def _refers_to_terminal(payload: pl.ItemLifecyclePayload) -> bool:
    """Whether a tool's content names a terminal of the client's, in which its command runs."""
    content = payload.data.get("content") if isinstance(payload.data, dict) else None
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "terminal" for part in content
    )


def begins(event: EventBase) -> bool:
    """Whether an event says that the agent has begun to work."""
    return event.type == "turn.started" or getattr(event.payload, "state", "") in {
        "running",
        "active",
    }


ROWS: tuple[Row, ...] = (
    Row(
        "text",
        "Replaces raw append-only text merging with block-scoped deltas.",
        ("content.delta",),
    ),
    Row("thinking", "Keeps reasoning separate from final answer text.", ("content.delta",)),
    Row(
        "tool",
        "Adds stable toolCallId, lifecycle phase, and result state.",
        ("item.started", "item.completed"),
    ),
    Row(
        "diff",
        "Makes file changes first-class instead of reconstructing them from tool text.",
        ("turn.diff.updated",),
        ("diff",),
    ),
    Row(
        "terminal",
        "Preserves terminal output as a stream/reference instead of a giant text block.",
        ("content.delta",),
        ("terminal",),
    ),
    Row("permission", "Preserves provider request IDs, choices, and reply state.", ()),
    Row(
        "question",
        "Lets providers ask the user without faking a tool call.",
        ("user-input.requested",),
        ("elicitation",),
    ),
    Row(
        "plan",
        "Gives planning UI a shared structure across providers.",
        ("turn.plan.updated",),
        ("plan",),
    ),
    Row("todo", "Avoids provider-specific todo rendering.", ("turn.plan.updated",), ("todo",)),
    Row(
        "task",
        "Preserves child session/task identity without polluting root history.",
        ("task.started",),
        ("task", "subagent", "collab"),
    ),
    Row(
        "usage",
        "Gives usage/cost UI one normalized source.",
        ("thread.token-usage.updated",),
        ("usage",),
    ),
    Row("mode", "Makes mode changes explicit instead of hidden in provider config.", (), ("mode",)),
    Row(
        "status",
        "Provides one lifecycle model for running, idle, completed, and failed states.",
        ("thread.state.changed", "turn.completed"),
    ),
)
"""The 13 chat_event kinds, in the order of the seed document."""


def _like(kind: str) -> Row:
    return next(row for row in ROWS if row.id == kind)


def _addition(id_: str, value: str, asks: str = "") -> Row:
    like = _like(asks) if asks else None
    return Row(id_, value, like.types if like else (), like.words if like else (), asks)


ADDITIONS: tuple[Row, ...] = (
    _addition(
        "provider and session identity",
        "Required for routing, history lookup, event filtering, and replay.",
    ),
    _addition("turnId and runId", "Separates one user prompt from long-lived session history."),
    _addition(
        "messageId, stepId, partId, blockId",
        "Prevents post-hoc merging from reordering text, tools, and snapshots.",
        "text",
    ),
    _addition(
        "toolCallId",
        "Correlates tool start, updates, result, permissions, and UI cards.",
        "tool",
    ),
    _addition(
        "Monotonic sequence",
        "Makes replay deterministic and avoids timestamp-dependent rendering.",
    ),
    _addition("Lifecycle phase", "Normalizes started, delta, updated, completed, and failed."),
    _addition("parentId", "Preserves nesting without provider-specific frontend logic."),
    _addition(
        "Permission request fields",
        "Standardizes request ID, action/tool, choices, and reply state.",
        "permission",
    ),
    _addition(
        "Diff metadata",
        "Preserves file identity, scope, source, hunks, and restored-history reconstruction.",
        "diff",
    ),
    _addition(
        "Task child session fields",
        "Keeps child sessions linked without showing them as root history.",
        "task",
    ),
)
"""The 10 interface additions, in the order of the seed document."""
