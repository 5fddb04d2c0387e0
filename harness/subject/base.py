"""The seam between the judge and a normalizer, wherever the normalizer runs.

A subject may be foreign: what it gives is an event struct, a JSON object, or JSON text. The
judge takes all three, and what is none of them becomes a `Junk`, which is a finding, never a
crash.
"""

import io
import sys
from collections.abc import Iterable
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from harness.canonical import EVENT_CLASSES, Event, EventBase, decode_event
from harness.cassette import Frame, Header
from harness.cassette.show import printable
from harness.ending import ENDS
from harness.subject.faults import FaultError

SHOWN = 200
"""How many characters of a foreign value are shown."""

Given = EventBase | dict[str, Any] | bytes | str
"""One event, as a subject may give it: a struct, a JSON object, or JSON text."""


class SubjectError(Exception):
    """A normalizer that could not be found, loaded or started. Exit code 5."""


class Claims(Struct, frozen=True):
    """What a subject says of itself. `surfaces` and `levels` are all of them where None."""

    name: str = ""
    version: str = ""
    language: str = ""
    surfaces: tuple[str, ...] | None = None
    levels: tuple[str, ...] | None = None


class Session(Protocol):
    """One conversation of a subject. Its methods may raise whatever the normalizer raises."""

    def feed(self, frame: Frame, /) -> Iterable[Given]:
        """Return the events that this frame causes; `listed` makes sure of what it is."""

    def close(self) -> Iterable[Given]:
        """Return the events that the end of the frames causes."""


class Subject(Protocol):
    """A normalizer under test; `name` is how reports call it.

    One that says that it is `trusted` changes no frame that it was fed, nor an event that it
    returned: it is judged without copies.
    """

    name: str

    def open(self, header: Header) -> Session:
        """Begin a conversation: a session knows nothing of those before it."""


class Junk(Struct, frozen=True):
    """Something that a subject gave for an event, and what is wrong with it.

    `type` is the event type that it claims, or empty; `problem` names the path.
    """

    type: str
    problem: str
    shown: str


def listed(events: Any) -> list[Any]:
    """Return what `feed` or `close` gave as a list. Raises what a lazy subject raises.

    Raises TypeError for what is no list of events: text and objects can be iterated too.
    """
    if events is None or isinstance(events, str | bytes | dict):
        raise TypeError(f"a list of events was due, not {type(events).__name__}")
    return list(events)


_plain = msgspec.json.Decoder()
_events = frozenset(EVENT_CLASSES.values())


def coerce(given: Any) -> EventBase | Junk:
    """Return the event that a foreign subject gave, or what is wrong with it."""
    if isinstance(given, EventBase):
        if type(given) in _events:
            return given
        return Junk("", f"{type(given).__name__} is no event of EVENTS.md", _show(given))
    try:
        if isinstance(given, bytes | str):
            return decode_event(given)
        if isinstance(given, dict):
            event: EventBase = msgspec.convert(given, Event)
            return event
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        return Junk(_claimed(given), str(error), _show(given))
    problem = f"an event, a JSON object or JSON text was due, not {type(given).__name__}"
    return Junk("", problem, _show(given))


def _claimed(given: Any) -> str:
    """The event type that a broken event claims to be, or nothing."""
    if not isinstance(given, dict):
        try:
            given = _plain.decode(given)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return ""
    kind = given.get("type") if isinstance(given, dict) else None
    return kind if isinstance(kind, str) and kind in EVENT_CLASSES else ""


def _show(given: Any) -> str:
    try:
        return repr(given)[:SHOWN]
    except ENDS:
        raise
    except BaseException:  # noqa: BLE001 - whatever a foreign normalizer raises
        return f"<{type(given).__name__}>"


def told(error: BaseException) -> str:
    """Return what a foreign error says, which may itself fail to say it."""
    try:
        return printable(str(error))
    except ENDS:
        raise
    except BaseException:  # noqa: BLE001 - whatever a foreign normalizer raises
        return "it cannot say what"


def said(error: BaseException) -> str:
    """Return an error with its type, as a finding has it; a fault says its own kind."""
    if isinstance(error, FaultError):
        return told(error)
    return f"{type(error).__name__}: {told(error)}"


class Aside(io.TextIOBase):
    """Takes what a subject prints to where errors go: the result's stream is the harness's.

    A subject that closes it has closed nothing.
    """

    def write(self, text: str) -> int:
        """Write to stderr."""
        return sys.stderr.write(text)

    def close(self) -> None:
        """Do nothing."""
