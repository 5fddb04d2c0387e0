"""The payload of each event type: EVENTS.md section 1.5, field for field.

`X | UnsetType` is TypeScript's `x?: X`: absent, never null. `X | UnsetType | None` is
`x?: X | null`. `Any` is `unknown`: any JSON value.
"""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from harness.canonical.names import (
    CanonicalItemType,
    CanonicalRequestType,
    ContentStreamKind,
    ExitKind,
    HookOutcome,
    ItemStatus,
    PlanStepStatus,
    RuntimeErrorClass,
    SessionState,
    TaskStatus,
    ThreadState,
    TurnState,
)

# gc=False: payloads are frozen trees of JSON values and cannot form cycles.
# Trimmed and not empty: the pattern is in the schema, the `ids` law checks the trimming.
Id = Annotated[str, Meta(min_length=1, extra_json_schema={"pattern": r"^\S(.*\S)?$"})]
Count = Annotated[int, Meta(ge=0)]


class Payload(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """Base of every payload: immutable, strict, absent fields left out."""


class SessionStartedPayload(Payload, frozen=True):
    message: str | UnsetType = UNSET
    resume: Any = UNSET


class SessionConfiguredPayload(Payload, frozen=True):
    config: dict[str, Any]


class SessionStateChangedPayload(Payload, frozen=True):
    state: SessionState
    reason: str | UnsetType = UNSET
    detail: str | UnsetType = UNSET


class SessionExitedPayload(Payload, frozen=True):
    reason: str | UnsetType = UNSET
    recoverable: bool | UnsetType = UNSET
    exitKind: ExitKind | UnsetType = UNSET


class ThreadStartedPayload(Payload, frozen=True):
    providerThreadId: Id | UnsetType = UNSET


class ThreadStateChangedPayload(Payload, frozen=True):
    state: ThreadState
    detail: Any = UNSET


class ThreadMetadataUpdatedPayload(Payload, frozen=True):
    name: str | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET


class ThreadTokenUsageUpdatedPayload(Payload, frozen=True):
    usage: Any


class ThreadRealtimeStartedPayload(Payload, frozen=True):
    realtimeSessionId: str | UnsetType = UNSET


class ThreadRealtimeItemAddedPayload(Payload, frozen=True):
    item: Any


class ThreadRealtimeAudioDeltaPayload(Payload, frozen=True):
    audio: Any


class ThreadRealtimeErrorPayload(Payload, frozen=True):
    message: str


class ThreadRealtimeClosedPayload(Payload, frozen=True):
    reason: str | UnsetType = UNSET


class TurnStartedPayload(Payload, frozen=True):
    model: str | UnsetType = UNSET
    effort: str | UnsetType = UNSET


class TurnCompletedPayload(Payload, frozen=True):
    """`state`, where EVENTS.md's mapping tables write `status` (DECISIONS.md 1)."""

    state: TurnState
    stopReason: str | UnsetType | None = UNSET
    usage: Any = UNSET
    modelUsage: dict[str, Any] | UnsetType = UNSET
    totalCostUsd: float | UnsetType = UNSET
    errorMessage: str | UnsetType = UNSET


class TurnAbortedPayload(Payload, frozen=True):
    reason: str


class PlanStep(Payload, frozen=True):
    step: str
    status: PlanStepStatus


class TurnPlanUpdatedPayload(Payload, frozen=True):
    plan: list[PlanStep]
    explanation: str | UnsetType | None = UNSET


class TurnDiffUpdatedPayload(Payload, frozen=True):
    unifiedDiff: str


class ItemLifecyclePayload(Payload, frozen=True):
    """`ItemLifecyclePayload`: shared by item.started, item.updated and item.completed."""

    itemType: CanonicalItemType
    status: ItemStatus | UnsetType = UNSET
    title: str | UnsetType = UNSET
    detail: str | UnsetType = UNSET
    data: Any = UNSET


class ContentDeltaPayload(Payload, frozen=True):
    streamKind: ContentStreamKind
    delta: str
    contentIndex: Count | UnsetType = UNSET
    summaryIndex: Count | UnsetType = UNSET


class RequestOpenedPayload(Payload, frozen=True):
    requestType: CanonicalRequestType
    detail: str | UnsetType = UNSET
    args: Any = UNSET


class RequestResolvedPayload(Payload, frozen=True):
    requestType: CanonicalRequestType
    decision: str | UnsetType = UNSET
    resolution: Any = UNSET


class UserInputRequestedPayload(Payload, frozen=True):
    questions: Any


class UserInputResolvedPayload(Payload, frozen=True):
    answers: Any


class TaskStartedPayload(Payload, frozen=True):
    taskId: Id
    description: str | UnsetType = UNSET
    taskType: str | UnsetType = UNSET


class TaskProgressPayload(Payload, frozen=True):
    taskId: Id
    description: str
    usage: Any = UNSET
    lastToolName: str | UnsetType = UNSET


class TaskCompletedPayload(Payload, frozen=True):
    taskId: Id
    status: TaskStatus
    summary: str | UnsetType = UNSET
    usage: Any = UNSET


class HookStartedPayload(Payload, frozen=True):
    hookId: str
    hookName: str
    hookEvent: str


class HookProgressPayload(Payload, frozen=True):
    hookId: str
    output: str | UnsetType = UNSET
    stdout: str | UnsetType = UNSET
    stderr: str | UnsetType = UNSET


class HookCompletedPayload(Payload, frozen=True):
    hookId: str
    outcome: HookOutcome
    output: str | UnsetType = UNSET
    stdout: str | UnsetType = UNSET
    stderr: str | UnsetType = UNSET
    exitCode: int | UnsetType = UNSET


class ToolProgressPayload(Payload, frozen=True):
    toolUseId: str | UnsetType = UNSET
    toolName: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    elapsedSeconds: float | UnsetType = UNSET


class ToolSummaryPayload(Payload, frozen=True):
    summary: str
    precedingToolUseIds: list[str] | UnsetType = UNSET


class AuthStatusPayload(Payload, frozen=True):
    isAuthenticating: bool | UnsetType = UNSET
    output: list[str] | UnsetType = UNSET
    error: str | UnsetType = UNSET


class AccountUpdatedPayload(Payload, frozen=True):
    account: Any


class AccountRateLimitsUpdatedPayload(Payload, frozen=True):
    rateLimits: Any


class McpStatusUpdatedPayload(Payload, frozen=True):
    status: Any


class McpOauthCompletedPayload(Payload, frozen=True):
    success: bool
    name: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


class ModelReroutedPayload(Payload, frozen=True):
    fromModel: str
    toModel: str
    reason: str


class ConfigWarningPayload(Payload, frozen=True):
    summary: str
    details: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    range: Any = UNSET


class DeprecationNoticePayload(Payload, frozen=True):
    summary: str
    details: str | UnsetType = UNSET


class PersistedFile(Payload, frozen=True):
    filename: str
    fileId: str


class FailedFile(Payload, frozen=True):
    filename: str
    error: str


class FilesPersistedPayload(Payload, frozen=True):
    files: list[PersistedFile]
    failed: list[FailedFile] | UnsetType = UNSET


class RuntimeWarningPayload(Payload, frozen=True):
    message: str
    detail: Any = UNSET


class RuntimeErrorPayload(Payload, frozen=True, rename={"error_class": "class"}):
    """EVENTS.md's `class` is a Python keyword: `error_class` here, `class` on the wire."""

    message: str
    error_class: RuntimeErrorClass | UnsetType = UNSET
    detail: Any = UNSET
