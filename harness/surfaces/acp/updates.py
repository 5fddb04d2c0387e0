"""The kinds of `session/update`: EVENTS.md 5.2."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalItemType, PlanStepStatus
from harness.surfaces.acp import tools
from harness.surfaces.acp.names import Message, text
from harness.surfaces.acp.state import Session
from harness.surfaces.usage import verify

STEPS: Final[dict[str, PlanStepStatus]] = {
    "pending": "pending",
    "in_progress": "inProgress",
    "completed": "completed",
}

Handler = Callable[[Session, Message], None]


def _chunk(role: CanonicalItemType) -> Handler:
    def handle(session: Session, update: Message) -> None:
        session.speak(role, update.get("messageId"), update.get("content"))

    return handle


def _tool(by: str) -> Handler:
    def handle(session: Session, update: Message) -> None:
        tools.call(session, update, by=by)

    return handle


def steps(entries: Any) -> list[pl.PlanStep]:
    """Return a plan's steps. Raises KeyError, TypeError for what is none: it is told whole."""
    return [pl.PlanStep(_words(e["content"]), STEPS[e["status"]]) for e in entries]


def _words(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a step's content is not a text")
    return value


def plan(session: Session, entries: Any, explanation: Any = UNSET) -> None:
    """Emit a plan; it replaces the one before."""
    payload = pl.TurnPlanUpdatedPayload(plan=steps(entries), explanation=explanation)
    session.ledger.emit(ev.TurnPlanUpdated, payload, **session.place)


def _plan(session: Session, update: Message) -> None:
    plan(session, update["entries"])


def _configured(*fields: str) -> Handler:
    def handle(session: Session, update: Message) -> None:
        config = {field: update[field] for field in fields}
        session.ledger.emit(
            ev.SessionConfigured, pl.SessionConfiguredPayload(config), **session.place
        )

    return handle


def _info(session: Session, update: Message) -> None:
    rest = {k: v for k, v in update.items() if k not in {"sessionUpdate", "title"}}
    payload = pl.ThreadMetadataUpdatedPayload(text(update.get("title")), rest or UNSET)
    session.ledger.emit(ev.ThreadMetadataUpdated, payload, **session.place)


def _usage(session: Session, update: Message) -> None:
    for field in ("used", "size"):
        # More used than there is room for is news, not an error.
        if type(update[field]) is not int or update[field] < 0:
            raise TypeError(f"{field} is not a count: {update[field]!r}")
    tokens = {k: v for k, v in update.items() if k != "sessionUpdate"}
    payload = pl.ThreadTokenUsageUpdatedPayload({"scope": "thread", "tokens": verify(tokens)})
    session.ledger.emit(ev.ThreadTokenUsageUpdated, payload, **session.place)


HANDLERS: Final[dict[str, Handler]] = {
    "user_message_chunk": _chunk("user_message"),
    "agent_message_chunk": _chunk("assistant_message"),
    "agent_thought_chunk": _chunk("reasoning"),
    "tool_call": _tool("tool_call"),
    "tool_call_update": _tool("tool_call_update"),
    "plan": _plan,
    "available_commands_update": _configured("availableCommands"),
    "current_mode_update": _configured("currentModeId"),
    "config_option_update": _configured("configOptions"),
    "session_info_update": _info,
    "usage_update": _usage,
}
