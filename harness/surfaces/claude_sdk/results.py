"""`result`: how a turn ended. EVENTS.md 4.1 and 4.2, DECISIONS.md 4, 9 and 10."""

from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import RuntimeErrorClass, TurnState
from harness.surfaces.claude_sdk.names import Message
from harness.surfaces.claude_sdk.state import State
from harness.surfaces.usage import flaw

_REFUSED: Final = frozenset({401, 403})


class Results:
    """Handles `result`, whatever its subtype."""

    def __init__(self, state: State) -> None:
        self.state = state

    def result(self, message: Message) -> bool:
        """End the turn that the result is of; False where no open turn ended with it."""
        state = self.state
        uuid = message.get("uuid")
        if state.turn is None and not state.queued and uuid and uuid == state.last_result:
            state.warn("a result is told again")
            return False
        state.last_result = uuid
        if self._is_of_another(message):
            self._beside(message)
            return False
        turn_state = self._state(message)
        state.need_turn()
        if turn_state == "failed":
            self._error(message)
        state.end_turn(_payload(state, message, turn_state))
        return True

    def _is_of_another(self, message: Message) -> bool:
        """Whether it ends a turn of the agent's own, beside the one that the client prompted."""
        origin = message.get("origin")
        kind = origin.get("kind") if isinstance(origin, dict) else None
        return kind not in {None, "human"} and self.state.turn is not None and self.state.prompted

    def _beside(self, message: Message) -> None:
        """A turn that nothing but its result told of (DECISIONS.md 20)."""
        state = self.state
        turn = state.ledger.start_turn("", state.thread, state.refs, synthesized=True)
        turn_state = self._state(message, interruptible=False)
        if turn_state == "failed":
            self._error(message, turn.id)
        state.ledger.end_turn(turn, _payload(state, message, turn_state))

    def _state(self, message: Message, *, interruptible: bool = True) -> TurnState:
        subtype = message.get("subtype")
        if subtype == "success" and message.get("is_error") is not True:
            return "completed"
        # The diagnostic of an interrupt is no error; without one on record it is.
        return "interrupted" if interruptible and self.state.interrupted else "failed"

    def _error(self, message: Message, turn: str | UnsetType = UNSET) -> None:
        state = self.state
        detail: dict[str, Any] = {"subtype": message.get("subtype")}
        for key in ("errors", "terminal_reason", "api_error_status", "api_error"):
            if message.get(key) is not None:
                detail[key] = message[key]
        open_turn = state.turn
        state.ledger.emit(
            ev.RuntimeError,
            pl.RuntimeErrorPayload(error_text(message), _class(message), detail),
            thread=state.thread,
            turn=open_turn.id if turn is UNSET and open_turn else turn,
            refs=state.refs,
        )


def _payload(state: State, message: Message, outcome: TurnState) -> pl.TurnCompletedPayload:
    stop = message.get("stop_reason", UNSET)
    usage = counted(state, message, "usage")
    cost = message.get("total_cost_usd")
    if isinstance(cost, bool) or not isinstance(cost, int | float) or cost < 0:
        if cost is not None:
            state.warn("total_cost_usd is no cost", cost)
        cost = None
    return pl.TurnCompletedPayload(
        outcome,
        stop if stop is None or isinstance(stop, str) else UNSET,
        UNSET if usage is UNSET else {"scope": "turn", "tokens": usage},
        counted(state, message, "modelUsage"),
        UNSET if cost is None else cost,
        error_text(message) if outcome == "failed" else UNSET,
    )


def counted(state: State, message: Message, field: str) -> Any:
    """Return the usage in a field of a message; UNSET, with a warning, for what is none."""
    usage = message.get(field)
    if usage is None:
        return UNSET
    if said := flaw(usage):
        state.warn(f"{field}: {said}", usage)
        return UNSET
    return usage


def error_text(message: Message) -> str:
    """Return what went wrong, in the best words that the result has."""
    errors = message.get("errors")
    said = [e for e in errors if isinstance(e, str) and e] if isinstance(errors, list) else []
    result = message.get("result")
    if isinstance(result, str) and result:
        said = said or [result]
    return "; ".join(said) or str(message.get("subtype"))


def _class(message: Message) -> RuntimeErrorClass:
    if message.get("api_error_status") in _REFUSED:
        return "permission_error"
    if message.get("api_error") == "connection_failed":
        return "transport_error"
    if message.get("terminal_reason") == "api_error" or message.get("api_error_status"):
        return "provider_error"
    return "unknown"
