"""`nesting` and `tasks`: what begins inside something else ends before it does."""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import UNSET

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.conformance.law import Handler, Law, Place, Recent, Where, show
from harness.conformance.laws.items import Items


class Nesting(Law):
    """Keeps the open requests of each item, and looks at the items that `items` keeps.

    A request that is never resolved is the `requests` law's finding.
    """

    id = "nesting"
    statement = (
        "what begins inside something ends before it: a request that names an item is opened "
        "while that item is open, in its turn, and resolved before the item is completed; "
        "user-input is asked and answered while its request is open"
    )
    source = "EVENTS.md 1.2 and 3.2, DECISIONS.md 4"
    example = "the command is completed, and then the question whether it may run is resolved"

    def __init__(self, place: Place, items: Items) -> None:
        super().__init__(place)
        self._items = items.open
        self._requests: dict[Any, Any] = {}
        self._of_item: dict[Any, dict[Any, None]] = {}
        self._late: dict[Any, Where] = {}

    def _opened(self, event: EventBase) -> None:
        item = event.itemId
        self._requests[event.requestId] = item
        if item is UNSET:
            return
        entry = self._items.get(item)
        if entry is None:
            self.fail("itemId", "an item that is open while it is asked about", show(item))
        elif event.turnId != entry[0]:
            self.fail("turnId", f"the turn of {show(item)}, {show(entry[0])}", event.turnId)
        self._of_item.setdefault(item, {})[event.requestId] = None

    def _resolved(self, event: EventBase) -> None:
        item = self._requests.pop(event.requestId, UNSET)
        where = self._late.pop(event.requestId, None)
        if where is not None:
            self.fail(
                "requestId",
                f"a request that is resolved before {show(item)} is completed",
                f"{show(event.requestId)} was still open then",
                "resolve it first: the item ends with what came of it",
                where,
            )
        if item is not UNSET and (inside := self._of_item.get(item)) is not None:
            inside.pop(event.requestId, None)
            if not inside:
                del self._of_item[item]

    def _completed(self, event: EventBase) -> None:
        if event.itemId in self._of_item:
            now = self.place.now()
            self._late |= dict.fromkeys(self._of_item.pop(event.itemId), now)

    def _input(self, event: EventBase) -> None:
        if event.requestId is not UNSET and event.requestId not in self._requests:
            self.fail("requestId", "a request that is open", show(event.requestId))

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.RequestOpened: _opened,
        ev.RequestResolved: _resolved,
        ev.ItemCompleted: _completed,
        ev.UserInputRequested: _input,
        ev.UserInputResolved: _input,
    }


class Tasks(Law):
    """Keeps the tasks and hooks that are open, and the last few thousand that have ended.

    Both may outlive the turn that starts them, and the conversation.
    """

    id = "tasks"
    statement = (
        "every task and every hook is started once, told of only after that, and completed at "
        "most once, with nothing told of it afterwards"
    )
    source = "EVENTS.md 1.5 and 4.3"
    example = "task.progress of a task that has completed"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._open: set[tuple[str, Any]] = set()
        self._ended = Recent()

    def _started(self, event: EventBase) -> None:
        key = _key(event)
        if key in self._open or key in self._ended:
            state = "open" if key in self._open else "over"
            self._wrong(key, f"a {key[0]} that has not started before", f"which is {state}")
            return
        self._open.add(key)

    def _told(self, event: EventBase) -> None:
        key = _key(event)
        if key not in self._open:
            self._not_open(key)

    def _completed(self, event: EventBase) -> None:
        key = _key(event)
        if key in self._open:
            self._open.remove(key)
            self._ended.add(key)
        else:
            self._not_open(key)

    def _not_open(self, key: tuple[str, Any]) -> None:
        state = "which has ended" if key in self._ended else "which has not started"
        self._wrong(key, f"a {key[0]} that is open", state)

    def _wrong(self, key: tuple[str, Any], expected: str, state: str) -> None:
        self.fail(f"payload.{key[0]}Id", expected, f"{show(key[1])}, {state}")

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.TaskStarted: _started,
        ev.TaskProgress: _told,
        ev.TaskCompleted: _completed,
        ev.HookStarted: _started,
        ev.HookProgress: _told,
        ev.HookCompleted: _completed,
    }


def _key(event: EventBase) -> tuple[str, Any]:
    """A task's id and a hook's are of two families."""
    payload = event.payload
    if event.type.startswith("task."):
        return "task", payload.taskId
    return "hook", payload.hookId
