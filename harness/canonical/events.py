"""The canonical event: EVENTS.md section 1's `ProviderRuntimeEventV2`, one struct per type.

`Event` is the tagged union; `decode_event` is strict and names the path of what is wrong.
"""

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from harness.canonical import payloads as p
from harness.canonical.names import ProviderKind, RawSource
from harness.canonical.payloads import Id


class Raw(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """The native frame that caused the event: `RuntimeEventRaw`, EVENTS.md 1.1.

    `payload` is the frame's content as the cassette holds it: its JSON value where it has
    `data`, its string where it has `text` or `b64`.
    """

    source: RawSource
    payload: Any
    method: str | UnsetType = UNSET
    messageType: str | UnsetType = UNSET


class ProviderRefs(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """The provider's own ids, kept for correlation alone: EVENTS.md 1.1 and 1.6."""

    providerSessionId: Id | UnsetType = UNSET
    providerThreadId: Id | UnsetType = UNSET
    providerTurnId: Id | UnsetType = UNSET
    providerItemId: Id | UnsetType = UNSET
    providerRequestId: Id | UnsetType = UNSET


class EventBase(
    Struct,
    frozen=True,
    gc=False,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
    tag="",
):
    """The envelope: `RuntimeEventBase`, EVENTS.md 1.1. Ids are minted, never a provider's."""

    eventId: Id
    provider: ProviderKind
    sessionId: Id
    createdAt: Id
    payload: Any
    raw: Raw | UnsetType = UNSET
    threadId: Id | UnsetType = UNSET
    turnId: Id | UnsetType = UNSET
    itemId: Id | UnsetType = UNSET
    requestId: Id | UnsetType = UNSET
    providerRefs: ProviderRefs | UnsetType = UNSET

    @property
    def type(self) -> str:
        """The event type, such as `content.delta`."""
        return str(self.__struct_config__.tag)


class SessionStarted(EventBase, frozen=True, tag="session.started"):
    payload: p.SessionStartedPayload


class SessionConfigured(EventBase, frozen=True, tag="session.configured"):
    payload: p.SessionConfiguredPayload


class SessionStateChanged(EventBase, frozen=True, tag="session.state.changed"):
    payload: p.SessionStateChangedPayload


class SessionExited(EventBase, frozen=True, tag="session.exited"):
    payload: p.SessionExitedPayload


class ThreadStarted(EventBase, frozen=True, tag="thread.started"):
    payload: p.ThreadStartedPayload


class ThreadStateChanged(EventBase, frozen=True, tag="thread.state.changed"):
    payload: p.ThreadStateChangedPayload


class ThreadMetadataUpdated(EventBase, frozen=True, tag="thread.metadata.updated"):
    payload: p.ThreadMetadataUpdatedPayload


class ThreadTokenUsageUpdated(EventBase, frozen=True, tag="thread.token-usage.updated"):
    payload: p.ThreadTokenUsageUpdatedPayload


class ThreadRealtimeStarted(EventBase, frozen=True, tag="thread.realtime.started"):
    payload: p.ThreadRealtimeStartedPayload


class ThreadRealtimeItemAdded(EventBase, frozen=True, tag="thread.realtime.item-added"):
    payload: p.ThreadRealtimeItemAddedPayload


class ThreadRealtimeAudioDelta(EventBase, frozen=True, tag="thread.realtime.audio.delta"):
    payload: p.ThreadRealtimeAudioDeltaPayload


class ThreadRealtimeError(EventBase, frozen=True, tag="thread.realtime.error"):
    payload: p.ThreadRealtimeErrorPayload


class ThreadRealtimeClosed(EventBase, frozen=True, tag="thread.realtime.closed"):
    payload: p.ThreadRealtimeClosedPayload


class TurnStarted(EventBase, frozen=True, tag="turn.started"):
    payload: p.TurnStartedPayload


class TurnCompleted(EventBase, frozen=True, tag="turn.completed"):
    payload: p.TurnCompletedPayload


class TurnAborted(EventBase, frozen=True, tag="turn.aborted"):
    payload: p.TurnAbortedPayload


class TurnPlanUpdated(EventBase, frozen=True, tag="turn.plan.updated"):
    payload: p.TurnPlanUpdatedPayload


class TurnDiffUpdated(EventBase, frozen=True, tag="turn.diff.updated"):
    payload: p.TurnDiffUpdatedPayload


class ItemStarted(EventBase, frozen=True, tag="item.started"):
    payload: p.ItemLifecyclePayload


class ItemUpdated(EventBase, frozen=True, tag="item.updated"):
    payload: p.ItemLifecyclePayload


class ItemCompleted(EventBase, frozen=True, tag="item.completed"):
    payload: p.ItemLifecyclePayload


class ContentDelta(EventBase, frozen=True, tag="content.delta"):
    payload: p.ContentDeltaPayload


class RequestOpened(EventBase, frozen=True, tag="request.opened"):
    payload: p.RequestOpenedPayload


class RequestResolved(EventBase, frozen=True, tag="request.resolved"):
    payload: p.RequestResolvedPayload


class UserInputRequested(EventBase, frozen=True, tag="user-input.requested"):
    payload: p.UserInputRequestedPayload


class UserInputResolved(EventBase, frozen=True, tag="user-input.resolved"):
    payload: p.UserInputResolvedPayload


class TaskStarted(EventBase, frozen=True, tag="task.started"):
    payload: p.TaskStartedPayload


class TaskProgress(EventBase, frozen=True, tag="task.progress"):
    payload: p.TaskProgressPayload


class TaskCompleted(EventBase, frozen=True, tag="task.completed"):
    payload: p.TaskCompletedPayload


class HookStarted(EventBase, frozen=True, tag="hook.started"):
    payload: p.HookStartedPayload


class HookProgress(EventBase, frozen=True, tag="hook.progress"):
    payload: p.HookProgressPayload


class HookCompleted(EventBase, frozen=True, tag="hook.completed"):
    payload: p.HookCompletedPayload


class ToolProgress(EventBase, frozen=True, tag="tool.progress"):
    payload: p.ToolProgressPayload


class ToolSummary(EventBase, frozen=True, tag="tool.summary"):
    payload: p.ToolSummaryPayload


class AuthStatus(EventBase, frozen=True, tag="auth.status"):
    payload: p.AuthStatusPayload


class AccountUpdated(EventBase, frozen=True, tag="account.updated"):
    payload: p.AccountUpdatedPayload


class AccountRateLimitsUpdated(EventBase, frozen=True, tag="account.rate-limits.updated"):
    payload: p.AccountRateLimitsUpdatedPayload


class McpStatusUpdated(EventBase, frozen=True, tag="mcp.status.updated"):
    payload: p.McpStatusUpdatedPayload


class McpOauthCompleted(EventBase, frozen=True, tag="mcp.oauth.completed"):
    payload: p.McpOauthCompletedPayload


class ModelRerouted(EventBase, frozen=True, tag="model.rerouted"):
    payload: p.ModelReroutedPayload


class ConfigWarning(EventBase, frozen=True, tag="config.warning"):
    payload: p.ConfigWarningPayload


class DeprecationNotice(EventBase, frozen=True, tag="deprecation.notice"):
    payload: p.DeprecationNoticePayload


class FilesPersisted(EventBase, frozen=True, tag="files.persisted"):
    payload: p.FilesPersistedPayload


class RuntimeWarning(EventBase, frozen=True, tag="runtime.warning"):
    payload: p.RuntimeWarningPayload


class RuntimeError(EventBase, frozen=True, tag="runtime.error"):
    payload: p.RuntimeErrorPayload


Event = (
    SessionStarted
    | SessionConfigured
    | SessionStateChanged
    | SessionExited
    | ThreadStarted
    | ThreadStateChanged
    | ThreadMetadataUpdated
    | ThreadTokenUsageUpdated
    | ThreadRealtimeStarted
    | ThreadRealtimeItemAdded
    | ThreadRealtimeAudioDelta
    | ThreadRealtimeError
    | ThreadRealtimeClosed
    | TurnStarted
    | TurnCompleted
    | TurnAborted
    | TurnPlanUpdated
    | TurnDiffUpdated
    | ItemStarted
    | ItemUpdated
    | ItemCompleted
    | ContentDelta
    | RequestOpened
    | RequestResolved
    | UserInputRequested
    | UserInputResolved
    | TaskStarted
    | TaskProgress
    | TaskCompleted
    | HookStarted
    | HookProgress
    | HookCompleted
    | ToolProgress
    | ToolSummary
    | AuthStatus
    | AccountUpdated
    | AccountRateLimitsUpdated
    | McpStatusUpdated
    | McpOauthCompleted
    | ModelRerouted
    | ConfigWarning
    | DeprecationNotice
    | FilesPersisted
    | RuntimeWarning
    | RuntimeError
)
"""Any canonical event; `type` is the tag."""

EVENT_CLASSES: dict[str, type[EventBase]] = {
    str(c.__struct_config__.tag): c for c in EventBase.__subclasses__()
}
"""Event type to struct, in EVENTS.md's order."""

_decoder = msgspec.json.Decoder(Event)
_encoder = msgspec.json.Encoder()


def decode_event(line: bytes | str) -> EventBase:
    """Decode one canonical event strictly.

    Raises msgspec.ValidationError, with the path in its text (`at `$.payload.state``), for
    an unknown type, field or value, and msgspec.DecodeError for what is not JSON.
    """
    return _decoder.decode(line)


def encode_event(event: EventBase) -> bytes:
    """Encode one canonical event as compact JSON, fields in EVENTS.md's order."""
    return _encoder.encode(event)
