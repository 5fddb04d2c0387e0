"""`replay`: history that is restored is marked apart from what is new."""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import UNSET

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.conformance.law import Handler, Law, Place, show

_MARK = "mark what is restored with data.replay (DECISIONS.md 35), and nothing else"


class Replay(Law):
    """Keeps the mark of each open item."""

    id = "replay"
    statement = (
        "restored history is marked apart from new output: an item with data.replay is in no turn "
        "(but for a user's message that the agent echoes), and all its events that carry data "
        "have the mark; a user's message that is in no turn, and so no prompt, has it, or is "
        "marked as data.synthetic where the agent speaks for the user"
    )
    source = "DECISIONS.md 22, 35, 54 and 64"
    example = "session/load tells old messages, and they come as new ones"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._marks: dict[Any, bool] = {}

    def _started(self, event: EventBase) -> None:
        payload = event.payload
        marked = _mark(payload.data)
        self._marks[event.itemId] = bool(marked)
        if marked:
            if event.turnId is not UNSET and payload.itemType != "user_message":
                self.fail(
                    "turnId", "absent: what is restored is in no turn", show(event.turnId), _MARK
                )
        elif event.turnId is UNSET and payload.itemType == "user_message":
            data = payload.data
            if not (isinstance(data, dict) and data.get("synthetic") is True):
                self.fail("payload.data.replay", "true: it is in no turn", marked, _MARK)

    def _told(self, event: EventBase) -> None:
        marked = _mark(event.payload.data)
        before = self._marks.get(event.itemId)
        if marked is not None and before is not None and marked != before:
            expected = "true, as in item.started" if before else "absent, as in item.started"
            self.fail("payload.data.replay", expected, marked, _MARK)

    def _completed(self, event: EventBase) -> None:
        self._told(event)
        self._marks.pop(event.itemId, None)

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.ItemStarted: _started,
        ev.ItemUpdated: _told,
        ev.ItemCompleted: _completed,
    }


def _mark(data: Any) -> bool | None:
    """Whether an item's data has the mark; None where there is no data to have it."""
    return data.get("replay") is True if isinstance(data, dict) else None
