"""`outcome` and `cancelled`: what failed, was declined or was cut off is told as just that."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from msgspec import UNSET

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.conformance.law import Handler, Law, Place, Recent, Where, show

REFUSAL: Final = re.compile(r"(declin|den(y|ied)|reject|refus|cancel|abort)", re.IGNORECASE)
"""How a decision begins that is none to go on, whatever the provider calls it."""

_CUT_OFF: Final = frozenset({"interrupted", "cancelled"})


class Outcome(Law):
    """Keeps the requests that are open with the item of each, and what was refused of late."""

    id = "outcome"
    statement = (
        "status is never `completed` for what failed or was declined: an item whose data has an "
        "exitCode that is not 0, or whose request was refused; a turn with a runtime.error or an "
        "errorMessage; and a hook with such an exitCode has no outcome `success`"
    )
    source = "EVENTS.md 1.3, DECISIONS.md 9 and 34"
    example = "exit code 3, and item.completed with status `completed`"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._items: dict[Any, Any] = {}
        self._refused = Recent()
        self._failed = Recent()

    def _opened(self, event: EventBase) -> None:
        if event.itemId is not UNSET:
            self._items[event.requestId] = event.itemId

    def _resolved(self, event: EventBase) -> None:
        item = self._items.pop(event.requestId, None)
        decision = event.payload.decision
        if item is None or not isinstance(decision, str):
            return
        if REFUSAL.match(decision):
            self._refused.add(item)
        else:
            # Asked again: the last answer counts.
            self._refused.pop(item, None)

    def _item(self, event: EventBase) -> None:
        payload = event.payload
        if payload.status != "completed":
            return
        code = payload.data.get("exitCode") if isinstance(payload.data, dict) else None
        if _failed(code):
            self._wrong("payload.status", "failed", f"exit code {code}")
        if event.itemId in self._refused:
            self._wrong("payload.status", "declined", "the refusal of its request")

    def _error(self, event: EventBase) -> None:
        if event.turnId is not UNSET:
            self._failed.add(event.turnId)

    def _turn(self, event: EventBase) -> None:
        payload = event.payload
        if payload.state != "completed":
            return
        if event.turnId in self._failed:
            self._wrong("payload.state", "failed", "its runtime.error")
        elif payload.errorMessage is not UNSET:
            self._wrong("payload.state", "failed", "its errorMessage")

    def _hook(self, event: EventBase) -> None:
        payload = event.payload
        if payload.outcome == "success" and _failed(payload.exitCode):
            self._wrong("payload.outcome", "error", f"exit code {payload.exitCode}")

    def _wrong(self, path: str, expected: str, why: str) -> None:
        self.fail(path, f"{expected}, after {why}", "completed", "tell what came of it")

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.RequestOpened: _opened,
        ev.RequestResolved: _resolved,
        ev.ItemCompleted: _item,
        ev.RuntimeError: _error,
        ev.TurnCompleted: _turn,
        ev.HookCompleted: _hook,
    }


class Cancelled(Law):
    """Keeps the requests of each open turn that the frame being fed has resolved."""

    id = "cancelled"
    statement = (
        "a turn that ends as interrupted or cancelled, or is aborted, settles its open requests "
        "as cancelled: what its last frame resolves has the decision `cancelled`"
    )
    source = "DECISIONS.md 4"
    example = "a question that the interrupt leaves open is resolved as `decline`"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._resolved: list[tuple[Any, Any, Where]] = []
        self._fed = (0, False)

    def _is_new(self) -> bool:
        """Whether another frame is fed than before, or the end."""
        before, self._fed = self._fed, (self.place.frame, self.place.closing)
        return before != self._fed

    def _request(self, event: EventBase) -> None:
        if self._is_new():
            self._resolved.clear()
        self._resolved.append((event.turnId, event.payload.decision, self.place.now()))

    def _completed(self, event: EventBase) -> None:
        if event.payload.state in _CUT_OFF:
            self._aborted(event)

    def _aborted(self, event: EventBase) -> None:
        if self._is_new():
            self._resolved.clear()
        for turn, decision, where in self._resolved:
            if turn == event.turnId and turn is not UNSET and decision != "cancelled":
                self.fail(
                    "payload.decision",
                    "cancelled: nobody has answered it",
                    show(decision),
                    "resolve what an interrupt leaves open as cancelled (DECISIONS.md 4)",
                    where,
                )
        self._resolved.clear()

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.RequestResolved: _request,
        ev.TurnCompleted: _completed,
        ev.TurnAborted: _aborted,
    }


def _failed(code: Any) -> bool:
    return isinstance(code, int) and not isinstance(code, bool) and code != 0
