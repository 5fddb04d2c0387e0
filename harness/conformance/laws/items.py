"""`items` and `deltas`: an item starts once, closes once by the end of its turn, then is silent."""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import UNSET

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.conformance.law import Handler, Law, Place, Recent, Where, show


class Items(Law):
    """Keeps the open items of each turn; of the closed ones the last few thousand."""

    id = "items"
    statement = (
        "every item is started once and completed once, by the end of its turn (without a turn: "
        "by the end of the frames), and is updated only in between; all its events name the turn "
        "and the thread that its start names"
    )
    source = "EVENTS.md 1.2, DECISIONS.md 3 and 4"
    example = "a command that its turn leaves open has no item.completed"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.open: dict[str, tuple[Any, Where, Any]] = {}
        self.closed = Recent()
        self._by_turn: dict[Any, dict[str, None]] = {}

    def _started(self, event: EventBase) -> None:
        item = event.itemId
        if item is UNSET:
            self.fail("itemId", "the id of the item that starts", UNSET)
        elif item in self.open or item in self.closed:
            state = "open" if item in self.open else "completed"
            self.fail(
                "itemId",
                "an item that has not started before",
                f"{show(item)}, which is {state} already",
                "give a second item an id of its own, and start none twice",
            )
        else:
            self.open[item] = (event.turnId, self.place.now(), event.threadId)
            self._by_turn.setdefault(event.turnId, {})[item] = None

    def _updated(self, event: EventBase) -> None:
        entry = self.open.get(event.itemId) if event.itemId is not UNSET else None
        if entry is None:
            self._not_open(event.itemId, "updated")
        else:
            self._elsewhere(event, entry)

    def _elsewhere(self, event: EventBase, entry: tuple[Any, Where, Any]) -> None:
        turn, _, thread = entry
        if event.turnId != turn:
            self.fail("turnId", f"the turn of {show(event.itemId)}, {show(turn)}", event.turnId)
        # A thread may be known only later; it is not unlearnt.
        if thread is not UNSET and event.threadId != thread:
            expected = f"the thread of {show(event.itemId)}, {show(thread)}"
            self.fail("threadId", expected, event.threadId)

    def _completed(self, event: EventBase) -> None:
        item = event.itemId
        entry = self.open.pop(item, None) if item is not UNSET else None
        if entry is None:
            self._not_open(item, "completed")
            return
        self._elsewhere(event, entry)
        of_turn = self._by_turn[entry[0]]
        del of_turn[item]  # type: ignore[arg-type]
        if not of_turn:
            del self._by_turn[entry[0]]
        self.closed.add(item)

    def _not_open(self, item: Any, what: str) -> None:
        if item is UNSET:
            self.fail("itemId", f"the id of the item that is {what}", UNSET)
            return
        state = "was completed before" if item in self.closed else "has not started"
        self.fail("itemId", f"an open item that is {what}", f"{show(item)}, which {state}")

    def _turn_ended(self, event: EventBase) -> None:
        if event.turnId is not UNSET:
            self._left_open(event.turnId, f"by the end of {show(event.turnId)}")

    def _left_open(self, turn: Any, when: str) -> None:
        for item in self._by_turn.pop(turn, ()):
            where = self.open.pop(item)[1]
            # A late completion is then one finding, not two.
            self.closed.add(item)
            self.fail(
                "itemId",
                f"an item that is completed {when}",
                f"{show(item)} is still open",
                "complete what a turn leaves open just before its end (DECISIONS.md 4)",
                where,
            )

    def end(self) -> None:
        """Whatever is open now stays open."""
        # Items of turns that never end are the `turns` law's finding, and theirs too.
        for turn in list(self._by_turn):
            self._left_open(turn, "by the end of the frames")

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.ItemStarted: _started,
        ev.ItemUpdated: _updated,
        ev.ItemCompleted: _completed,
        ev.TurnCompleted: _turn_ended,
        ev.TurnAborted: _turn_ended,
    }


class Deltas(Law):
    """Looks at the items that `items` keeps."""

    id = "deltas"
    statement = "a content.delta that names an item names one that is open"
    source = "EVENTS.md 1.2, DECISIONS.md 3"
    example = "content.delta for a message after its item.completed"

    def __init__(self, place: Place, items: Items) -> None:
        super().__init__(place)
        self._open = items.open
        self._closed = items.closed

    def _delta(self, event: EventBase) -> None:
        item = event.itemId
        # EVENTS.md 1.6: an id that is not known at emit time is left out.
        if item in self._open or item is UNSET:
            return
        state = "was completed before" if item in self._closed else "has not started"
        self.fail("itemId", "an item that is open", f"{show(item)}, which {state}")

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {ev.ContentDelta: _delta}
