"""Which of the seed's interface additions the chat events of a conversation show.

PROVIDER-COMPATIBILITY-MATRIX.md, "Interface Additions": ten rows. Each rule here is one sentence:
what a chat event must have to show the addition, and when that counts as native. Computed from
chat events alone; their `eventId` leads to the canonical event, whose `raw` is the native frame.
"""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import UNSET, Struct, field

from harness.projection.chat_event import ChatEvent, Field


class Shown(Struct):
    """How one addition shows: the chat events that show it, in order, by `sequence`.

    `native` are those in which the provider states all of it, `partial` those in which it states
    some of the fields, `synthesized` those in which the adapter makes up all of them. `events`
    are the canonical events behind each, by `sequence`: their `raw` is the frame.
    """

    id: str
    native: list[int] = field(default_factory=list)
    partial: list[int] = field(default_factory=list)
    synthesized: list[int] = field(default_factory=list)
    events: dict[int, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many chat events show it."""
        return len(self.native) + len(self.partial) + len(self.synthesized)


# How many of a rule's fields an event has natively, and how many it has; None: shows nothing.
Rule = Callable[[ChatEvent], tuple[int, int] | None]


def _fields(*names: Field) -> Rule:
    """Shown by an event that has one of the fields; native where none of those is made up."""

    def rule(event: ChatEvent) -> tuple[int, int] | None:
        had = [name for name in names if getattr(event, name) is not UNSET]
        native = [name for name in had if name not in event.synthesized]
        return (len(native), len(had)) if had else None

    return rule


def _identity(event: ChatEvent) -> tuple[int, int]:
    """Every event has both; the provider's name is never on the wire."""
    return (0 if "sessionId" in event.synthesized else 1, 2)


def _sequence(_event: ChatEvent) -> tuple[int, int]:
    """Every event has it, and it is numbered here."""
    return (0, 1)


def _permission(event: ChatEvent) -> tuple[int, int] | None:
    """Shown by a request: its id, what it is about, its choices and its reply.

    A request is judged by what it asks with; a reply only has to say which decision it was.
    """
    asked = event.permission
    if asked is UNSET or event.phase not in {"started", "completed"}:
        return None
    if asked.state == "resolved":
        return (0 if asked.decision is UNSET or "phase" in event.synthesized else 1, 1)
    has = (
        event.requestId is not UNSET and "partId" not in event.synthesized,
        event.toolCallId is not UNSET and "toolCallId" not in event.synthesized,
        asked.choices is not UNSET,
    )
    return (sum(has), len(has))


def _diff(event: ChatEvent) -> tuple[int, int] | None:
    """Shown by a diff: the file, what its contents become, and the hunks; scope, source.

    The canonical event gives scope and source; the file, a unified diff or the new text, and the
    hunks are native. Hunks that would have to be computed from two texts are not.
    """
    diff = event.diff
    if diff is UNSET or not diff.files:
        return None
    whole = diff.unifiedDiff is not UNSET
    whole = whole or all(f.diff is not UNSET or f.newText is not UNSET for f in diff.files)
    hunks = all(f.hunks is not UNSET for f in diff.files)
    return (1 + whole + hunks, 3)


def _child(event: ChatEvent) -> tuple[int, int] | None:
    """Shown by a task: its own id, and the child thread that it runs in.

    A child whose link to its parent the adapter made up is no native child.
    """
    task = event.task
    if task is UNSET:
        return None
    linked = task.childThreadId is not UNSET and "parentId" not in event.synthesized
    child = linked or task.childProviderIds is not UNSET
    if task.taskId is UNSET and not child and task.childThreadId is UNSET:
        return None
    return (sum((task.taskId is not UNSET, child)), 2)


RULES: Final[dict[str, Rule]] = {
    "provider and session identity": _identity,
    "turnId and runId": _fields("turnId"),
    "messageId, stepId, partId, blockId": _fields("messageId", "stepId", "partId", "blockId"),
    "toolCallId": _fields("toolCallId"),
    "Monotonic sequence": _sequence,
    "Lifecycle phase": _fields("phase"),
    "parentId": _fields("parentId"),
    "Permission request fields": _permission,
    "Diff metadata": _diff,
    "Task child session fields": _child,
}
"""The seed's ten additions, by its names and in its order."""


def additions(events: Iterable[ChatEvent]) -> dict[str, Shown]:
    """Return what of the additions these chat events show; every addition has an entry."""
    found = {name: Shown(name) for name in RULES}
    for event in events:
        for name, rule in RULES.items():
            told = rule(event)
            if told is None:
                continue
            native, of = told
            shown = found[name]
            into = shown.native if native == of else shown.partial if native else shown.synthesized
            into.append(event.sequence)
            if event.eventId is not UNSET:
                shown.events[event.sequence] = event.eventId
    return found
