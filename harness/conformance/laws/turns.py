"""`turns` and `requests`: a turn ends once and then is over; a request is resolved once."""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import UNSET

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.conformance.law import Handler, Law, Place, Recent, Where, show


class Turns(Law):
    """Keeps the turns that are open, and the last few thousand that have ended."""

    id = "turns"
    statement = (
        "every turn starts once and has one terminal event (turn.completed or turn.aborted), and "
        "an event that names a turn comes between the two"
    )
    source = "EVENTS.md 1.2, DECISIONS.md 4 and 9"
    example = "two turn.completed of one turn"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._open: dict[Any, Where] = {}
        self._ended = Recent()

    def _any(self, event: EventBase) -> None:
        turn = event.turnId
        if turn is UNSET or turn in self._open:
            return
        if turn in self._ended:
            self.fail(
                "turnId",
                "nothing of a turn after its terminal event",
                f"{show(turn)}, which has ended",
                "emit it before the turn's end, or without its id where it is not of the turn",
            )
        else:
            self.fail("turnId", "a turn that has started", f"{show(turn)}, which has not")

    def _started(self, event: EventBase) -> None:
        turn = event.turnId
        if turn is UNSET:
            self.fail("turnId", "the id of the turn that starts", UNSET)
        elif turn in self._open or turn in self._ended:
            state = "open" if turn in self._open else "over"
            self.fail(
                "turnId", "a turn that has not started before", f"{show(turn)}, which is {state}"
            )
        else:
            self._open[turn] = self.place.now()

    def _terminal(self, event: EventBase) -> None:
        turn = event.turnId
        if turn is UNSET:
            self.fail("turnId", "the id of the turn that ends", UNSET)
        elif self._open.pop(turn, None) is not None:
            self._ended.add(turn)
        elif turn in self._ended:
            self.fail(
                "turnId",
                "one terminal event for each turn",
                f"a second one for {show(turn)}",
                "end a turn once, however often the wire repeats its end (DECISIONS.md 9)",
            )
        else:
            self.fail("turnId", "a turn that has started", f"{show(turn)}, which has not")

    def end(self) -> None:
        """Whatever is open now stays open."""
        for turn, where in self._open.items():
            self.fail(
                "turnId",
                "a terminal event by the end of the frames",
                f"{show(turn)} is still open",
                "end it as interrupted, with stopReason missing-terminal (DECISIONS.md 4)",
                where,
            )

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.TurnStarted: _started,
        ev.TurnCompleted: _terminal,
        ev.TurnAborted: _terminal,
    }
    # Any event may name a turn.
    others: ClassVar[Handler | None] = _any


class Requests(Law):
    """Keeps the requests that are open."""

    id = "requests"
    statement = (
        "every request is opened once and resolved once, as the same requestType, by the end of "
        "its turn (without a turn: by the end of the frames)"
    )
    source = "EVENTS.md 1.2 and 3.2, DECISIONS.md 4"
    example = "a question that nobody answers, and no request.resolved when its turn ends"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._open: dict[Any, tuple[Any, Any, Where]] = {}
        self._resolved = Recent()

    def _opened(self, event: EventBase) -> None:
        request = event.requestId
        if request is UNSET:
            self.fail("requestId", "the id of the request that is opened", UNSET)
        elif request in self._open or request in self._resolved:
            state = "open" if request in self._open else "resolved"
            self.fail(
                "requestId",
                "a request that was not opened before",
                f"{show(request)}, which is {state}",
            )
        else:
            self._open[request] = (event.turnId, event.payload.requestType, self.place.now())

    def _closed(self, event: EventBase) -> None:
        request = event.requestId
        if request is UNSET:
            self.fail("requestId", "the id of the request that is resolved", UNSET)
            return
        entry = self._open.pop(request, None)
        if entry is None:
            state = "was resolved before" if request in self._resolved else "was never opened"
            self.fail("requestId", "an open request", f"{show(request)}, which {state}")
            return
        self._resolved.add(request)
        if event.payload.requestType != entry[1]:
            self.fail("payload.requestType", show(entry[1]), event.payload.requestType)

    def _turn_ended(self, event: EventBase) -> None:
        if self._open and event.turnId is not UNSET:
            left = [r for r, (turn, _, _) in self._open.items() if turn == event.turnId]
            self._left_open(left, f"by the end of {show(event.turnId)}")

    def _left_open(self, requests: list[Any], when: str) -> None:
        for request in requests:
            where = self._open.pop(request)[2]
            self._resolved.add(request)
            self.fail(
                "requestId",
                f"a request that is resolved {when}",
                f"{show(request)} is still open",
                "resolve what is left open as cancelled (DECISIONS.md 4)",
                where,
            )

    def end(self) -> None:
        """Whatever is open now stays open."""
        self._left_open(list(self._open), "by the end of the frames")

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.RequestOpened: _opened,
        ev.RequestResolved: _closed,
        ev.TurnCompleted: _turn_ended,
        ev.TurnAborted: _turn_ended,
    }
