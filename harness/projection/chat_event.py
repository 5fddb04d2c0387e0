"""The chat event: what a client renders, and what PROVIDER-COMPATIBILITY-MATRIX.md compares.

The seed document names the fields, the 13 kinds and the five phases; its words on each stand in
`ChatEvent`. A chat event belongs to a *part*: one text, one tool call, one request, one turn.
A part is `started` once, then has any number of `delta` and `updated`, then ends once, as
`completed` or `failed`.
"""

from typing import Any, Final, Literal, get_args

from msgspec import UNSET, Struct, UnsetType

from harness.canonical.names import (
    CanonicalItemType,
    CanonicalRequestType,
    ContentStreamKind,
    ItemStatus,
    ProviderKind,
)
from harness.canonical.payloads import Id

ChatKind = Literal[
    "text",
    "thinking",
    "tool",
    "diff",
    "terminal",
    "permission",
    "question",
    "plan",
    "todo",
    "task",
    "usage",
    "mode",
    "status",
]
"""The rows of the seed's "Event Kind Compatibility", in its order."""

Phase = Literal["started", "delta", "updated", "completed", "failed"]
"""The seed's lifecycle phases: "Normalizes started, delta, updated, completed, and failed"."""

Role = Literal["user", "assistant"]
Field = Literal[
    "phase",
    "parentId",
    "sessionId",
    "turnId",
    "messageId",
    "stepId",
    "partId",
    "blockId",
    "toolCallId",
]

KINDS: Final[tuple[str, ...]] = get_args(ChatKind)
ENDS: Final = frozenset({"completed", "failed"})


class _Value(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """Base of what a chat event is made of: immutable, strict, absent fields left out."""


class Permission(_Value, frozen=True):
    """The seed's "Permission request fields": request ID, action and tool, choices, reply state.

    `choices` are the provider's own, as they came; absent where the request names none.
    """

    action: CanonicalRequestType
    state: Literal["pending", "resolved"]
    tool: str | UnsetType = UNSET
    choices: list[Any] | UnsetType = UNSET
    decision: str | UnsetType = UNSET
    resolution: Any = UNSET


class Question(_Value, frozen=True):
    """What the agent asks its user, and the answers once they are there (native values)."""

    state: Literal["pending", "answered"]
    questions: Any = UNSET
    answers: Any = UNSET


class FileDiff(_Value, frozen=True):
    """One file of a diff. `hunks` are the `@@` lines; texts only as the provider gives them."""

    path: str
    kind: str | UnsetType = UNSET
    movePath: str | UnsetType = UNSET
    hunks: list[str] | UnsetType = UNSET
    diff: str | UnsetType = UNSET
    oldText: str | UnsetType | None = UNSET
    newText: str | UnsetType = UNSET


class Diff(_Value, frozen=True):
    """The seed's "Diff metadata": file identity, scope, source, hunks.

    `scope` is what the diff covers: one tool call, or the turn as a whole. `source` is the
    canonical event that told it.
    """

    scope: Literal["call", "turn"]
    source: Literal["file_change", "turn.diff.updated"]
    files: list[FileDiff]
    unifiedDiff: str | UnsetType = UNSET


class Task(_Value, frozen=True):
    """The seed's "Task child session fields": a task, and the child it runs in.

    `childThreadId` is canonical; `childProviderIds` are the children that only the provider's
    ids name.
    """

    taskId: Id | UnsetType = UNSET
    description: str | UnsetType = UNSET
    taskType: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    lastToolName: str | UnsetType = UNSET
    usage: Any = UNSET
    childThreadId: Id | UnsetType = UNSET
    childProviderIds: list[str] | UnsetType = UNSET


class ChatEvent(_Value, frozen=True):
    """One event for a client that renders a conversation.

    - `sequence`: 1, 2, 3, ... with no gap: "Makes replay deterministic".
    - `phase`, `kind`: the lifecycle and what it is of. A part keeps its kind.
    - `partId`: the part that the event belongs to. `parentId`: the part that it is nested in,
      announced earlier; only a session's own part has none.
    - `messageId`: the message of a text or thinking part; parts of one native message share it.
    - `stepId`: one round of the model in a turn: it ends when its tools have run.
    - `blockId`: a run of streamed text in a part, with its `stream`. `text` is appended to it;
      with `replaces` it stands for all that this stream of the part has had so far.
    - `toolCallId`: the tool call, on its own part and on all that belongs to it.
    - `eventId`: the canonical event that caused it; that event's `raw` is the native frame.
      Absent where the end of the events did.
    - `restored`: told from history, not as it happened.
    - `data`: what the canonical event has beyond the named fields.
    - `synthesized`: those of the event's fields that no native frame states, made up by the
      normalizer or here. `sequence` and `provider` always are, and so not listed.

    Ids of sessions, threads, turns, requests and tool calls are the canonical ones, the others
    are minted here; none is a provider's (EVENTS.md 1.6).
    """

    sequence: int
    phase: Phase
    kind: ChatKind
    provider: ProviderKind
    sessionId: Id
    partId: Id
    eventId: Id | UnsetType = UNSET
    parentId: Id | UnsetType = UNSET
    threadId: Id | UnsetType = UNSET
    turnId: Id | UnsetType = UNSET
    messageId: Id | UnsetType = UNSET
    stepId: Id | UnsetType = UNSET
    blockId: Id | UnsetType = UNSET
    toolCallId: Id | UnsetType = UNSET
    requestId: Id | UnsetType = UNSET
    role: Role | UnsetType = UNSET
    itemType: CanonicalItemType | UnsetType = UNSET
    status: ItemStatus | UnsetType = UNSET
    title: str | UnsetType = UNSET
    detail: str | UnsetType = UNSET
    stream: ContentStreamKind | UnsetType = UNSET
    text: str | UnsetType = UNSET
    replaces: bool = False
    restored: bool = False
    permission: Permission | UnsetType = UNSET
    question: Question | UnsetType = UNSET
    diff: Diff | UnsetType = UNSET
    task: Task | UnsetType = UNSET
    data: Any = UNSET
    synthesized: tuple[Field, ...] = ()
