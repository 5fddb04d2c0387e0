"""`provider`, `session` and `source`: whose events they are, of which process, of which wire."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.conformance.law import Handler, Law, Place, Recent, show
from harness.conformance.laws.frames import Accounted

_ONE: Final = "keep the id until session.exited, or for the whole conversation"


class Provider(Law):
    """Judged of each event; `again` is for those whose provider is the one before's."""

    id = "provider"
    statement = "the provider of every event is the cassette's"
    source = "EVENTS.md 1.1, harness/README.md 'Words'"
    example = "provider is `codex` on each wire"

    def __init__(self, place: Place, provider: str) -> None:
        super().__init__(place)
        self._provider = provider

    def _any(self, event: EventBase) -> None:
        if event.provider != self._provider:
            expected = f"{show(self._provider)}, as in the cassette's header"
            self.fail("provider", expected, event.provider)

    others: ClassVar[Handler] = _any


class Sessions(Law):
    """Keeps the session that is running, and the last ones that are over."""

    id = "session"
    statement = (
        "the sessionId stays the same, but for session.started and after session.exited: a session "
        "is one process (or the whole conversation), and one that was left does not come back. "
        "Frames that are to give events give at least one"
    )
    source = "EVENTS.md 1.1, DECISIONS.md 13"
    example = "each event has a sessionId of its own"

    def __init__(self, place: Place, accounted: Accounted) -> None:
        super().__init__(place)
        self._accounted = accounted
        self._unheard = True
        self._id: Any = None
        self._over = True
        self._left = Recent()

    def _any(self, event: EventBase) -> None:
        id_ = event.sessionId
        if id_ != self._id:
            self._other(id_, may=self._over)

    def _started(self, event: EventBase) -> None:
        if event.sessionId != self._id:
            self._other(event.sessionId, may=True)

    def _exited(self, event: EventBase) -> None:
        self._any(event)
        self._over = True

    def _other(self, id_: Any, *, may: bool) -> None:
        self._unheard = False
        if not may:
            self.fail("sessionId", f"{show(self._id)}, as of the event before", id_, _ONE)
        elif id_ in self._left:
            self.fail("sessionId", "an id of its own for a new session", id_, _ONE)
        if self._id is not None:
            self._left.add(self._id)
        self._id, self._over = id_, False

    def end(self) -> None:
        """Silence is no conversation."""
        accounted = self._accounted
        if self._unheard and (accounted.pending or accounted.result.status == "fail"):
            self.place.event, self.place.of = 0, None
            self.fail("", "events", "none at all", "give an event for each frame that tells of one")

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.SessionStarted: _started,
        ev.SessionExited: _exited,
    }
    others: ClassVar[Handler] = _any


class Source(Law):
    """Judged in the loop, where `raw` is looked at."""

    id = "source"
    statement = "raw.source is one of those that the surface's vocabulary has as its raw_sources"
    source = "EVENTS.md 1.1, DECISIONS.md 5 and 7"
    example = "a line of `codex exec` has the source `acp.notification`"

    def __init__(self, place: Place, sources: frozenset[str]) -> None:
        super().__init__(place)
        self._due = " or ".join(sorted(sources))
        if not sources:
            self.not_judged("the surface's vocabulary has no raw_sources")

    def wrong(self, source: Any) -> None:
        """Report a source that is none of the surface's."""
        self.fail("raw.source", self._due, source, "take the one of the wire that was recorded")
