"""Where canonical events belong: the parts of sessions, threads and turns, and steps."""

from typing import Any

from msgspec import UNSET, Struct, to_builtins

from harness.canonical.events import EventBase
from harness.projection.chat_event import ChatKind
from harness.projection.parts import Board, Part, Place


class Step:
    """One round of the model in a turn: over once a tool of it has run, and none still runs."""

    __slots__ = ("id", "ran", "running")

    def __init__(self, id_: str) -> None:
        self.id = id_
        self.running: set[str] = set()
        self.ran = False


class Places:
    """The containers of the parts. An event that presupposes one opens it, as synthesized."""

    def __init__(self) -> None:
        self.board = Board()
        self.steps: dict[str, Step] = {}

    def place(self, event: EventBase) -> Place:
        """Return the ids of the envelope, and which of them are not the provider's."""
        refs = event.providerRefs
        place = Place(event.sessionId)
        place.thread = event.threadId
        place.turn = event.turnId
        place.request = event.requestId
        if refs is UNSET or (refs.providerSessionId is UNSET and refs.providerThreadId is UNSET):
            place.made.add("sessionId")
        if event.turnId is not UNSET and (refs is UNSET or refs.providerTurnId is UNSET):
            place.made.add("turnId")
        place.made.add("partId")
        return place

    @staticmethod
    def _thread_id(event: EventBase) -> str:
        return "" if event.threadId is UNSET else event.threadId

    @staticmethod
    def _turn_id(event: EventBase) -> str:
        """A turn's id; events with none share one that no id can be."""
        return "" if event.turnId is UNSET else event.turnId

    def session(self, event: EventBase, *, made: bool = True, data: Any = UNSET) -> Part:
        """Return the open part of the event's session."""
        key = ("session", event.sessionId)
        part = self.board.open.get(key)
        if part is None:
            place = self.place(event)
            # The container's ids are its own: not those of what is in it.
            place.turn = place.request = place.thread = UNSET
            place.made.discard("turnId")
            part = self.board.start(key, "status", None, place, made=made, data=data)
        return part

    def thread(self, event: EventBase, *, made: bool = True, data: Any = UNSET) -> Part:
        """Return the open part of the event's thread; of its session where it names none."""
        if event.threadId is UNSET and made:
            return self.session(event)
        key = ("thread", event.sessionId, self._thread_id(event))
        part = self.board.open.get(key)
        if part is None:
            above = self.session(event)
            place = self.place(event)
            place.turn = place.request = UNSET
            place.made.discard("turnId")
            if event.providerRefs is not UNSET and event.providerRefs.providerThreadId is not UNSET:
                place.made.discard("partId")
            part = self.board.start(key, "status", above, place, made=made, data=data)
        return part

    def turn(self, event: EventBase, *, made: bool = True, data: Any = UNSET) -> Part:
        """Return the open part of the event's turn."""
        key = ("turn", self._turn_id(event))
        part = self.board.open.get(key)
        if part is None:
            above = self.thread(event)
            place = self.place(event)
            place.request = UNSET
            if event.providerRefs is not UNSET and event.providerRefs.providerTurnId is not UNSET:
                place.made.discard("partId")
            part = self.board.start(key, "status", above, place, made=made, data=data)
        return part

    def holder(self, event: EventBase) -> Part:
        """Return the innermost container that the event names and that is open, or its thread.

        What comes late for a turn does not open it again.
        """
        if event.turnId is not UNSET:
            part = self.board.open.get(("turn", event.turnId))
            if part is not None:
                return part
        return self.thread(event)

    def step(self, event: EventBase) -> Step:
        """Return the step that something the model begins now belongs to."""
        turn = self._turn_id(event)
        step = self.steps.get(turn)
        if step is None or (step.ran and not step.running):
            step = self.steps[turn] = Step(self.board.mint("stp"))
        return step

    def _subject(
        self, event: EventBase, subject: str, kind: ChatKind, above: Part, **fields: Any
    ) -> None:
        """Tell the newest of what is told again and again: one part, updated each time."""
        key = ("subject", subject, above.id)
        part = self.board.open.get(key)
        if part is None:
            place = self.place(event)
            # It is told again in later turns: it is in what it is told of, not in this turn.
            place.thread = above.place.thread
            place.turn = above.place.turn
            place.request = UNSET
            if place.turn is UNSET:
                place.made.discard("turnId")
            # Its part opens because something is told for the first time: nobody announced it.
            self.board.start(key, kind, above, place, made=True, **fields)
        else:
            self.board.emit(part, "updated", **fields)

    def _single(
        self,
        event: EventBase,
        kind: ChatKind,
        above: Part,
        *,
        failed: bool = False,
        native_parent: bool = False,
        **fields: Any,
    ) -> None:
        """Tell what is told once: a part that starts and ends with the event."""
        key = ("single", event.type, above.id)
        place = self.place(event)
        place.linked = native_parent
        part = self.board.start(key, kind, above, place, made=True, **fields)
        self.board.end(part, failed=failed, made=True)


def plain(event: EventBase) -> dict[str, Any]:
    """Return an event's payload as data, with the event's type: status has no shape of its own."""
    payload = event.payload
    data: dict[str, Any] = {"event": event.type}
    for name, wire in zip(payload.__struct_fields__, payload.__struct_encode_fields__, strict=True):
        value = getattr(payload, name)
        if value is not UNSET:
            steps = isinstance(value, list) and value and isinstance(value[0], Struct)
            data[wire] = to_builtins(value) if steps else value
    return data
