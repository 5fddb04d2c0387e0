"""What the handlers of Codex's `EventMsg` share: names, and the turn that an event is of."""

from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.surfaces.codex_items import view
from harness.surfaces.codex_state import Conversation, Thread, TurnState

Msg = dict[str, Any]

RENAMED: Final = {"turn_started": "task_started", "turn_complete": "task_complete"}
"""Types that have two names."""

_PLAN_STATUS: Final = {
    "pending": "pending",
    "in_progress": "inProgress",
    "inProgress": "inProgress",
    "completed": "completed",
}


def kind_of(msg: Msg) -> str:
    """Return the type of an EventMsg under its first name; a plan's end under its own."""
    type_ = msg.get("type")
    if not isinstance(type_, str):
        return ""
    if type_ == "item_completed":
        item = msg.get("item")
        if isinstance(item, dict) and item.get("type") == "Plan":
            return "item_completed/Plan"
    return RENAMED.get(type_, type_)


def plan_payload(plan: Any, explanation: Any) -> tuple[pl.TurnPlanUpdatedPayload, str]:
    """Return a plan, and what of it is not known: a step of unknown status is left `pending`."""
    steps: list[pl.PlanStep] = []
    odd = ""
    for entry in plan if isinstance(plan, list) else []:
        step = entry if isinstance(entry, dict) else {"step": str(entry)}
        said = step.get("status", "pending")
        status = _PLAN_STATUS.get(said) if isinstance(said, str) else None
        if status is None:
            odd = f"plan status {said} is not known"
        steps.append(pl.PlanStep(str(step.get("step", "")), status or "pending"))  # type: ignore[arg-type]
    words = explanation if isinstance(explanation, str) or explanation is None else UNSET
    return pl.TurnPlanUpdatedPayload(steps, words), odd


class Handlers:
    """Handlers of EventMsgs of one conversation."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.ledger = conversation.ledger

    def _state(self, thread: Thread, turn: str) -> TurnState | None:
        state = thread.open.get(turn) or thread.only()
        return state or self.conversation.turn(thread, turn)

    def _within(self, thread: Thread, turn: str, msg: Msg) -> TurnState | None:
        """Return the turn that the event is of; None, with a warning, where it has ended."""
        state = self._state(thread, turn)
        if state is None:
            self.conversation.warn(f"{kind_of(msg)} came after its turn had ended", thread=thread)
        return state

    def _emit(self, state: TurnState, kind: type[ev.EventBase], payload: pl.Payload) -> None:
        turn = state.turn
        self.ledger.emit(kind, payload, thread=turn.thread, turn=turn.id, refs=turn.refs)

    def _complete(self, state: TurnState, native: str, item: dict[str, Any], msg: Msg) -> None:
        self.conversation.complete_item(state, native, view(item, ended=True), kind_of(msg))


def without_type(msg: Msg) -> dict[str, Any]:
    """Return what an EventMsg says beside its type."""
    return {k: v for k, v in msg.items() if k != "type"}


def index(value: Any) -> int | UnsetType:
    """Return a content or summary index, where there is one."""
    return value if isinstance(value, int) and value >= 0 else UNSET
