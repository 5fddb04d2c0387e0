"""The older `ProviderRuntimeEvent`, out of the canonical events: EVENTS.md 2.1 and 2.2.

Those tables say which of the 13 older types goes on as what, and what V2 adds to each. Here they
are read backwards: an older event has what is left without the additions. EVENTS.md does not give
the older payloads in full; nothing is made up for them. What has no older counterpart is counted
with its reason, never dropped in silence.
"""

from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from harness.canonical.events import EventBase
from harness.canonical.names import CanonicalItemType, ProviderKind
from harness.canonical.payloads import Id

LegacyType = Literal[
    "session.started",
    "session.exited",
    "thread.started",
    "turn.started",
    "turn.completed",
    "message.delta",
    "message.completed",
    "tool.started",
    "tool.completed",
    "approval.requested",
    "approval.resolved",
    "checkpoint.captured",
    "runtime.error",
]
"""The types of EVENTS.md 2.1 and 2.2. `checkpoint.captured` has no canonical source: see there."""

TOOL_ITEMS: Final = frozenset(
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
"""The item types of `tool.started` and `tool.completed`: four are named in 2.2, "etc." the rest."""

APPROVALS: Final = frozenset(
    {
        "command_execution_approval",
        "file_change_approval",
        "apply_patch_approval",
        "exec_command_approval",
        "unknown",
    }
)
"""The requests that were approvals; a request of an unknown type is answered like one."""

_KEPT: Final[dict[str, tuple[str, ...]]] = {
    # 2.1 names what V2 adds (resume; reason, exitKind, recoverable; source; model, effort; usage,
    # stopReason, cost, modelUsage; class, provider error): these are the fields that are left.
    "session.started": ("message",),
    "session.exited": (),
    "thread.started": (),
    "turn.started": (),
    "turn.completed": ("state", "errorMessage"),
    "runtime.error": ("message",),
}
_NEW: Final = "new in V2 (EVENTS.md 2.3)"


class LegacyEvent(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """An event of the older model, with the ids and the time of the canonical one it stands for."""

    type: LegacyType
    eventId: Id
    provider: ProviderKind
    sessionId: Id
    createdAt: Id
    payload: dict[str, Any]
    threadId: Id | UnsetType = UNSET
    turnId: Id | UnsetType = UNSET
    itemId: Id | UnsetType = UNSET
    requestId: Id | UnsetType = UNSET


class Left(Struct):
    """What was not projected: its type (and which of them), why, and how many there were."""

    what: str
    reason: str
    count: int = 0


class LegacyProjection:
    """The older events of one conversation; `left` says what of it has no counterpart there."""

    def __init__(self) -> None:
        self._left: dict[str, Left] = {}

    @property
    def left(self) -> list[Left]:
        """What was not projected so far, in order of appearance."""
        return list(self._left.values())

    def feed(self, event: EventBase) -> list[LegacyEvent]:
        """Return the older event for a canonical one: one, or none and a count in `left`."""
        kept = _KEPT.get(event.type)
        if kept is not None:
            values = {name: getattr(event.payload, name) for name in kept}
            return [_legacy(event, event.type, values)]
        if event.type == "content.delta":
            return self._delta(event)
        if event.type in {"item.started", "item.completed"}:
            return self._item(event)
        if event.type in {"request.opened", "request.resolved"}:
            return self._request(event)
        return self._leave(event.type, _NEW)

    def close(self) -> list[LegacyEvent]:
        """Return nothing: the end of the events causes no older event."""
        return []

    def _delta(self, event: EventBase) -> list[LegacyEvent]:
        payload = event.payload
        if payload.streamKind == "assistant_text":
            return [_legacy(event, "message.delta", {"delta": payload.delta})]
        what = f"content.delta ({payload.streamKind})"
        return self._leave(what, "message.delta is one stream kind, assistant_text (EVENTS.md 2.1)")

    def _item(self, event: EventBase) -> list[LegacyEvent]:
        payload = event.payload
        type_: CanonicalItemType = payload.itemType
        if type_ in TOOL_ITEMS:
            values = {
                "itemType": type_,
                "status": payload.status,
                "title": payload.title,
                "detail": payload.detail,
            }
            return [_legacy(event, event.type.replace("item.", "tool."), values)]
        if type_ == "assistant_message" and event.type == "item.completed":
            text = payload.data.get("text") if isinstance(payload.data, dict) else None
            return [_legacy(event, "message.completed", {"text": UNSET if text is None else text})]
        reason = "of items, the older model has tools and complete messages alone (EVENTS.md 2.2)"
        return self._leave(f"{event.type} ({type_})", reason)

    def _request(self, event: EventBase) -> list[LegacyEvent]:
        payload = event.payload
        if payload.requestType not in APPROVALS:
            what = f"{event.type} ({payload.requestType})"
            return self._leave(what, "no approval, which is all that was asked (EVENTS.md 2.2)")
        if event.type == "request.opened":
            values = {"requestType": payload.requestType, "detail": payload.detail}
            return [_legacy(event, "approval.requested", values)]
        values = {"requestType": payload.requestType, "decision": payload.decision}
        return [_legacy(event, "approval.resolved", values)]

    def _leave(self, what: str, reason: str) -> list[LegacyEvent]:
        self._left.setdefault(what, Left(what, reason)).count += 1
        return []


def _legacy(event: EventBase, type_: Any, values: dict[str, Any]) -> LegacyEvent:
    return LegacyEvent(
        type_,
        event.eventId,
        event.provider,
        event.sessionId,
        event.createdAt,
        {name: value for name, value in values.items() if value is not UNSET},
        event.threadId,
        event.turnId,
        event.itemId,
        event.requestId,
    )
