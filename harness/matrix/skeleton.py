"""The canonical skeleton of a conversation, and those of one scenario aligned side by side.

A skeleton is what is left of a conversation without its words: the steps (type, item type,
status) in their order, equal neighbours counted as one. Sessions, threads, accounts, usage and
warnings are left out: they come when each program likes.
"""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from msgspec import UNSET, Struct, field

from harness.canonical import EventBase
from harness.canonical import payloads as pl
from harness.matrix.model import ScenarioStep

LONGEST: Final = 200
"""Steps of a skeleton that are kept: to align is quadratic in them."""

_TOLD: Final = ("turn.", "item.", "content.", "request.", "user-input.", "task.", "session.exited")
_TOOLS: Final = frozenset(
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

Label = tuple[str, str, str]


class Step(Struct):
    """Equal neighbours of a skeleton: how many events, and how many of them were made up."""

    label: Label
    count: int = 0
    made: int = 0


class Skeleton(Struct):
    """The steps of one conversation, and the facts that its differences are named by."""

    steps: list[Step] = field(default_factory=list)
    facts: Counter[str] = field(default_factory=Counter)
    cut: int = 0

    def add(self, event: EventBase, *, native: bool) -> None:
        """Count one canonical event."""
        if not event.type.startswith(_TOLD):
            return
        label = _label(event)
        self._fact(label, native=native)
        if not self.steps or self.steps[-1].label != label:
            if len(self.steps) >= LONGEST:
                self.cut += 1
                return
            self.steps.append(Step(label))
        self.steps[-1].count += 1
        self.steps[-1].made += not native

    def _fact(self, label: Label, *, native: bool) -> None:
        type_, item, _status = label
        facts = self.facts
        if type_ == "content.delta":
            facts[f"{item} delta"] += 1
        elif type_ == "request.opened":
            facts["question" if item == "tool_user_input" else "approval"] += 1
        elif type_ == "item.completed" and item in _TOOLS:
            facts["tool"] += 1
            facts["tool closed by the turn's end"] += not native
        elif type_ == "turn.completed":
            facts["turn"] += 1
            facts["turn end made up"] += not native
        elif type_ == "turn.diff.updated":
            facts["diff of the turn"] += 1
        elif type_ == "turn.plan.updated":
            facts["plan"] += 1
        elif type_ == "item.started" and item == "reasoning":
            facts["reasoning"] += 1


def _label(event: EventBase) -> Label:
    payload = event.payload
    item = status = ""
    if isinstance(payload, pl.ItemLifecyclePayload):
        item = payload.itemType
        status = payload.status if payload.status is not UNSET else ""
    elif isinstance(payload, pl.ContentDeltaPayload):
        item = payload.streamKind
    elif isinstance(payload, pl.RequestOpenedPayload | pl.RequestResolvedPayload):
        item = payload.requestType
        decision = getattr(payload, "decision", UNSET)
        status = decision if isinstance(decision, str) else ""
    elif isinstance(payload, pl.TurnCompletedPayload):
        status = payload.state
    elif isinstance(payload, pl.TaskCompletedPayload):
        status = payload.status
    return (event.type, item, status)


def align(skeletons: Sequence[Skeleton]) -> list[ScenarioStep]:
    """Return the steps of all, each once in an order that fits every one, with their counts."""
    union: list[Label] = []
    for skeleton in skeletons:
        union = _merge(union, [step.label for step in skeleton.steps])
    width = len(skeletons)
    counts = [[0] * width for _ in union]
    made = [[False] * width for _ in union]
    for column, skeleton in enumerate(skeletons):
        at = 0
        for step in skeleton.steps:
            # Each skeleton is a subsequence of the union, so its next step is further down.
            at = union.index(step.label, at)
            counts[at][column] = step.count
            made[at][column] = step.made == step.count
            at += 1
    # A step that another place took, since it came earlier there, is left without a count.
    rows = zip(union, counts, made, strict=True)
    return [ScenarioStep(*label, of, by) for label, of, by in rows if any(of)]


def _merge(one: list[Label], two: list[Label]) -> list[Label]:
    """Return the shortest usual sequence that has both as subsequences."""
    merged: list[Label] = []
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    for _tag, i, i_end, j, j_end in matcher.get_opcodes():
        merged += one[i:i_end]
        if _tag != "equal":
            merged += two[j:j_end]
    return merged


NAMED: Final[dict[str, str]] = {
    "approval": "no approval",
    "question": "no question",
    "tool": "no tool call",
    "assistant_text delta": "no text delta",
    "reasoning": "no reasoning",
    "reasoning_text delta": "no reasoning delta",
    "command_output delta": "no output delta",
    "diff of the turn": "no diff of the turn",
    "plan": "no plan",
}
"""What is named where one conversation of a scenario lacks what another has."""


def differences(skeletons: Sequence[Skeleton], recorded: Sequence[bool]) -> list[list[str]]:
    """Name, for each conversation of one scenario, how it differs from the others.

    `recorded` says which came from an agent: what only a document tells, no other one lacks.
    """
    found: list[list[str]] = [[] for _ in skeletons]
    for fact, words in NAMED.items():
        has = [bool(s.facts[fact]) for s in skeletons]
        if any(there and real for there, real in zip(has, recorded, strict=True)):
            for one, there in zip(found, has, strict=True):
                if not there:
                    one.append(words)
    for one, skeleton in zip(found, skeletons, strict=True):
        facts = skeleton.facts
        if closed := facts["tool closed by the turn's end"]:
            one.append(f"{closed} of {facts['tool']} tools closed by the turn's end")
        if made := facts["turn end made up"]:
            one.append(f"{made} of {facts['turn']} turns without an end of the agent's own")
        if skeleton.cut:
            one.append(f"cut after {LONGEST} steps")
    return found
