"""Chat events into the state that a client shows: one accumulator for live and for history.

What was streamed and what a snapshot restores come as the same events (a snapshot's text is one
delta), so nothing here asks which it was.
"""

from typing import Any

from msgspec import UNSET, Struct, UnsetType, field

from harness.canonical.names import CanonicalItemType, ContentStreamKind, ItemStatus
from harness.projection.chat_event import (
    ENDS,
    ChatEvent,
    ChatKind,
    Diff,
    Permission,
    Phase,
    Question,
    Role,
    Task,
)

_LATEST = (
    "itemType",
    "status",
    "title",
    "detail",
    "permission",
    "question",
    "diff",
    "task",
    "data",
    "threadId",
    "turnId",
    "messageId",
    "stepId",
    "toolCallId",
    "requestId",
    "role",
)
"""What the newest event that says it holds for the part."""


class SequenceError(ValueError):
    """The events are not those of one projection in order: which one, and what is wrong."""


class Block(Struct):
    """A block of text: its stream and its pieces, in order."""

    stream: ContentStreamKind | UnsetType
    chunks: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.chunks)


class PartState(Struct):
    """A part as it stands: `phase` is that of its latest event."""

    partId: str
    kind: ChatKind
    phase: Phase
    parentId: str | UnsetType = UNSET
    threadId: str | UnsetType = UNSET
    turnId: str | UnsetType = UNSET
    messageId: str | UnsetType = UNSET
    stepId: str | UnsetType = UNSET
    toolCallId: str | UnsetType = UNSET
    requestId: str | UnsetType = UNSET
    role: Role | UnsetType = UNSET
    itemType: CanonicalItemType | UnsetType = UNSET
    status: ItemStatus | UnsetType = UNSET
    title: str | UnsetType = UNSET
    detail: str | UnsetType = UNSET
    restored: bool = False
    permission: Permission | UnsetType = UNSET
    question: Question | UnsetType = UNSET
    diff: Diff | UnsetType = UNSET
    task: Task | UnsetType = UNSET
    data: Any = UNSET
    blocks: dict[str, Block] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All of the part's text, block after block."""
        return "".join(block.text for block in self.blocks.values())

    @property
    def over(self) -> bool:
        """Whether the part has ended."""
        return self.phase in ENDS


class Message(Struct):
    """A message: whose it is, and its parts in order of appearance."""

    messageId: str
    role: Role
    parts: list[PartState]

    @property
    def text(self) -> str:
        """What it says, without the thinking."""
        return "".join(part.text for part in self.parts if part.kind == "text")


class Accumulator:
    """The state of one conversation: `add` each chat event, in order."""

    def __init__(self) -> None:
        self.sequence = 0
        self.parts: dict[str, PartState] = {}
        """Every part, by `partId`, in order of appearance."""

    def add(self, event: ChatEvent) -> PartState:
        """Take one chat event; return the part that it changed.

        Raises SequenceError for a gap, a repetition, a part that nothing started or that is
        over, and a parent that nothing announced.
        """
        self._check(event)
        part = self.parts.get(event.partId)
        if part is None:
            part = PartState(event.partId, event.kind, event.phase, event.parentId)
            self.parts[event.partId] = part
        self.sequence = event.sequence
        part.phase = event.phase
        part.restored |= event.restored
        for name in _LATEST:
            value = getattr(event, name)
            if value is not UNSET:
                setattr(part, name, value)
        if event.phase in ENDS and event.status is UNSET:
            part.status = UNSET  # `inProgress` no more, and nobody said how it ended
        if event.text is not UNSET and event.blockId is not UNSET:
            self._text(part, event, event.text, event.blockId)
        return part

    @staticmethod
    def _text(part: PartState, event: ChatEvent, text: str, id_: str) -> None:
        if event.replaces:
            gone = [key for key, block in part.blocks.items() if block.stream == event.stream]
            for key in gone:
                del part.blocks[key]
        part.blocks.setdefault(id_, Block(event.stream)).chunks.append(text)

    def _check(self, event: ChatEvent) -> None:
        where = f"chat event {event.sequence}"
        if event.sequence != self.sequence + 1:
            raise SequenceError(f"{where}: number {self.sequence + 1} was due")
        part = self.parts.get(event.partId)
        if (part is None) != (event.phase == "started"):
            what = "starts again" if part else f"is {event.phase}, and nothing started it"
            raise SequenceError(f"{where}: the part {event.partId} {what}")
        if part is not None and part.over:
            raise SequenceError(f"{where}: the part {event.partId} has ended")
        if part is not None and part.kind != event.kind:
            raise SequenceError(f"{where}: the part {event.partId} is {part.kind}")
        if event.parentId is not UNSET and event.parentId not in self.parts:
            raise SequenceError(f"{where}: nothing announced its parent {event.parentId}")

    def messages(self) -> list[Message]:
        """Return the messages, each where it began."""
        found: dict[str, Message] = {}
        for part in self.parts.values():
            if part.kind in {"text", "thinking"} and part.messageId is not UNSET:
                role: Role = "assistant" if part.role is UNSET else part.role
                message = found.setdefault(part.messageId, Message(part.messageId, role, []))
                message.parts.append(part)
        return list(found.values())

    def tools(self) -> dict[str, PartState]:
        """Return the tool calls by `toolCallId`, each as it stands."""
        return {
            part.toolCallId: part
            for part in self.parts.values()
            if part.kind == "tool" and part.toolCallId is not UNSET
        }

    def inside(self, part_id: str) -> list[PartState]:
        """Return the parts that stand within a part: a tool's output, diff and permissions."""
        return [part for part in self.parts.values() if part.parentId == part_id]
