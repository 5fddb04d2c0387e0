"""What a law is, and where it reports to.

A law sees the events of one run, one at a time, and keeps only what is still open. It says
which event types concern it, so that the others cost nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, NamedTuple

from msgspec import UNSET

from harness.canonical import EventBase
from harness.conformance.report import PER_LAW, CheckResult, Violation
from harness.ending import ENDS

SHOWN: Final = 160
"""How many characters of a value are shown in a violation."""

Handler = Callable[[Any, Any], None]
"""A method of a law, as its class has it: called with the law and an event."""


class Where(NamedTuple):
    """A place in a run: native frame and kind, event number and type."""

    frame: int
    kind: str
    event: int
    type: str


class Place:
    """Where the run is now: the frame being fed, the event being judged."""

    __slots__ = ("cassette", "closing", "event", "failures", "frame", "kind", "of")

    def __init__(self, cassette: str) -> None:
        self.cassette = cassette
        self.closing = False
        self.frame = 0
        self.kind = ""
        self.event = 0
        self.failures = 0
        self.of: Any = None

    def now(self) -> Where:
        """Return the place as it is now, to be named later."""
        type_ = self.of.type if isinstance(self.of, EventBase) else ""
        return Where(self.frame, self.kind, self.event, type_)


class Law:
    """A rule that every normalizer's output obeys, whatever its ids and wording.

    `source` is the section of EVENTS.md, the number in DECISIONS.md, or the part of
    `harness/README.md` that it comes from.
    """

    id: ClassVar[str]
    statement: ClassVar[str]
    source: ClassVar[str]
    example: ClassVar[str]
    """What breaks it, in a line."""
    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {}
    """What is to be called for each event of a type."""
    others: ClassVar[Handler | None] = None
    """What is to be called for the events of the types that `handlers` leaves out."""
    again: ClassVar[Handler | None] = None
    """What is to be called for a `content.delta` that is like the event before it.

    That is: the event before was a `content.delta` too, with the same ids, and no law found fault
    with it. Most events of a conversation are of this kind.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.result = CheckResult(self.id, self.statement, self.source)

    def end(self) -> None:
        """Judge what is still open. Not called for a cassette that is truncated."""

    def fail(
        self,
        path: str,
        expected: str,
        got: Any,
        hint: str = "",
        where: Where | None = None,
    ) -> None:
        """Report a violation, here or at an earlier place."""
        self.place.failures += 1
        result = self.result
        result.status = "fail"
        if len(result.violations) >= PER_LAW:
            result.more += 1
            return
        at = where or self.place.now()
        result.violations.append(
            Violation(
                self.id,
                self.place.cassette,
                at.frame,
                at.kind,
                at.event,
                at.type,
                path,
                _text(expected),
                _text(got if isinstance(got, str) else show(got)),
                hint,
            )
        )

    def not_judged(self, why: str) -> None:
        """Say why the law could not be judged to the end; what it found stays found."""
        if self.result.status == "pass":
            self.result.status = "not-judged"
        self.result.note = why


class Recent(dict[Any, None]):
    """The last few thousand of a kind of thing: a set whose memory is bounded."""

    def __init__(self, size: int = 4096) -> None:
        super().__init__()
        self._size = size

    def add(self, value: Any) -> None:
        """Remember a value, and forget the oldest where there are too many."""
        self[value] = None
        if len(self) > self._size:
            del self[next(iter(self))]


def _text(text: str) -> str:
    """The text as any file takes it: a foreign subject may give lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()


def show(value: Any) -> str:
    """Return a value as a violation shows it: short, absent named as such."""
    try:
        text = "absent" if value is UNSET else repr(value)
    except ENDS:
        raise
    except BaseException:  # noqa: BLE001 - whatever a foreign normalizer raises
        text = f"<{type(value).__name__}>"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text):,} characters)"
