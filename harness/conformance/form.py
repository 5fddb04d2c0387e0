"""The canonical form of an event: what is compared, and what `expected/` holds.

It is the event with its ids renamed by first appearance (`evt-1`, `ses-1`, `thr-1`, `trn-1`,
`itm-1`, `req-1`, `tsk-1`, `hok-1`), without `createdAt` (the `clock` law covers it), and with
`raw` naming its frame by number instead of repeating its content. The bytes are compact JSON
with object keys sorted, so that the order in which a normalizer built an object says nothing.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, Union, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType

from harness.canonical import EVENT_CLASSES, EventBase, ProviderRefs
from harness.canonical import events as ev
from harness.canonical.names import ProviderKind, RawSource
from harness.canonical.payloads import Id
from harness.subject import Junk

BATCH: Final = 256
"""How many events are encoded, validated and compared at a time."""

KNOWN: Final = 4096
"""How many ids a renamer remembers where it can do without: memory does not grow with them."""


class Cause(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """`raw` in the canonical form: `frame` is the number of the native frame, 0 for none."""

    source: RawSource
    frame: int
    method: str | UnsetType = UNSET
    messageType: str | UnsetType = UNSET


class Line(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """The canonical form of an event: the fields that all types share."""

    eventId: Id
    provider: ProviderKind
    sessionId: Id
    payload: Any
    raw: Cause | UnsetType = UNSET
    threadId: Id | UnsetType = UNSET
    turnId: Id | UnsetType = UNSET
    itemId: Id | UnsetType = UNSET
    requestId: Id | UnsetType = UNSET
    providerRefs: ProviderRefs | UnsetType = UNSET


MALFORMED: Final = Junk("", "malformed", "")
"""Stands for an event struct whose parts are not of their types."""


class JunkLine(Struct, frozen=True, gc=False):
    """Stands for something that is no event; nothing pinned ever equals it."""

    type: str
    problem: str


def _line_class(tag: str, event: type[EventBase], payload: Any) -> Any:
    return msgspec.defstruct(
        f"{event.__name__}Line",
        [("payload", payload)],
        bases=(Line,),
        module=__name__,
        tag_field="type",
        tag=tag,
        frozen=True,
        gc=False,
        omit_defaults=True,
        forbid_unknown_fields=True,
    )


def _payloads() -> Iterator[tuple[str, type[EventBase], Any]]:
    """Each event's type, struct and payload struct."""
    for tag, event in EVENT_CLASSES.items():
        yield tag, event, get_type_hints(event)["payload"]


def _unread(payload: Any) -> Any:
    """A struct as strict as a payload's, which leaves alone the values that may be any JSON."""
    fields = msgspec.structs.fields(payload)
    kinds = {f.name: _UNREAD.get(f.type, f.type) for f in fields}
    if all(kinds[f.name] is f.type for f in fields):
        return payload
    return msgspec.defstruct(
        payload.__name__,
        [
            (f.name, kinds[f.name], UNSET if f.default is UNSET else msgspec.NODEFAULT)
            for f in fields
        ],
        rename={f.name: f.encode_name for f in fields},
        forbid_unknown_fields=True,
        gc=False,
    )


_UNREAD: Final[dict[Any, Any]] = {
    Any: msgspec.Raw | UnsetType,
    dict[str, Any]: dict[str, msgspec.Raw],
    dict[str, Any] | UnsetType: dict[str, msgspec.Raw] | UnsetType,
}

LINE_CLASSES: dict[type[EventBase], Any] = {
    event: _line_class(tag, event, _unread(payload)) for tag, event, payload in _payloads()
}
"""Event struct to the struct of its canonical form."""

encoder = msgspec.json.Encoder(order="deterministic")
decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(
    Union[tuple(LINE_CLASSES.values())]  # noqa: UP007 - the union of a computed tuple
)
"""Strict: a line that it takes is valid after EVENTS.md. Values of any JSON stay bytes."""


@cache
def _reader() -> msgspec.json.Decoder[Line]:
    """As `decoder`, with all values read. Made when it is needed: seldom, and it takes time."""
    classes = tuple(_line_class(*each) for each in _payloads())
    return msgspec.json.Decoder(Union[classes])  # noqa: UP007 - as above


def settle(line: bytes) -> bytes:
    """Return the one canonical spelling of a valid line: keys sorted, numbers as typed.

    Raises msgspec.MsgspecError, with the path, for a line that is not valid.
    """
    return encoder.encode(_reader().decode(line))


OnNew = Callable[[str, str], None]
"""Called with a field and the id in it."""


class Names(dict[Any, Any]):
    """Ids of one family to their canonical names, by first appearance: `itm-1`, `itm-2`.

    While the ids are these names already, as those of the reference normalizers are, the
    number of the last one is all that has to be kept. `on_new(field, id)` is called for an id
    that is met for the first time (and may be called again for one long forgotten).
    """

    __slots__ = ("_field", "_on_new", "_own", "last", "prefix")

    def __init__(self, prefix: str, on_new: OnNew | None = None, field: str = "") -> None:
        self[UNSET] = UNSET
        self.prefix = prefix
        self.last = 0
        self._own = 0
        self._on_new = on_new
        self._field = field

    def __missing__(self, id_: Any) -> Any:
        if not isinstance(id_, str):
            raise TypeError(f"an id is text, not {type(id_).__name__}")
        if self._on_new is not None:
            self._on_new(self._field, id_)
        if id_ == f"{self.prefix}{self.last + 1}" and self._own == self.last:
            if len(self) > KNOWN:
                self.clear()
                self[UNSET] = UNSET
            self.last += 1
            self._own = self.last
            name = id_
        elif self._is_own(id_):
            name = id_
        else:
            self.last += 1
            name = f"{self.prefix}{self.last}"
        self[id_] = name
        return name

    def _is_own(self, id_: str) -> bool:
        """Whether it is one of the first ids, which were canonical names, and forgotten."""
        if not id_.startswith(self.prefix):
            return False
        number = id_[len(self.prefix) :]
        return (
            number.isascii() and number.isdigit() and number[0] != "0" and int(number) <= self._own
        )


_DELTA = LINE_CLASSES[ev.ContentDelta]
_IN_PAYLOAD: Final = {
    ev.TaskStarted: ("taskId", "tsk-"),
    ev.TaskProgress: ("taskId", "tsk-"),
    ev.TaskCompleted: ("taskId", "tsk-"),
    ev.HookStarted: ("hookId", "hok-"),
    ev.HookProgress: ("hookId", "hok-"),
    ev.HookCompleted: ("hookId", "hok-"),
}
"""The ids that stand in a payload, and the names that they are given, by event type."""


class Renamer:
    """Makes the canonical form of the events of one run, in order."""

    def __init__(self, on_new: OnNew | None = None) -> None:
        self.count = 0
        self._before: Line
        self._on_new = on_new
        self._sessions = Names("ses-", on_new, "sessionId")
        self._threads = Names("thr-", on_new, "threadId")
        self._turns = Names("trn-", on_new, "turnId")
        self._items = Names("itm-", on_new, "itemId")
        self._requests = Names("req-", on_new, "requestId")
        self._in_payload: dict[str, Names] = {}

    def line(self, event: EventBase, cause: Any) -> Line:
        """Return the event's canonical form; `cause` is its `Cause`, or UNSET."""
        self.count = count = self.count + 1
        payload = event.payload
        kind = type(event)
        if kind in _IN_PAYLOAD:
            payload = self._named(payload, *_IN_PAYLOAD[kind])
        line: Line = LINE_CLASSES[kind](
            f"evt-{count}",
            event.provider,
            self._sessions[event.sessionId],
            payload,
            cause,
            self._threads[event.threadId],
            self._turns[event.turnId],
            self._items[event.itemId],
            self._requests[event.requestId],
            event.providerRefs,
        )
        self._before = line
        return line

    def again(self, event: EventBase, cause: Any) -> Line:
        """Return the form of a `content.delta` with the same ids as the event before it."""
        self.count = count = self.count + 1
        before = self._before
        line: Line = _DELTA(
            f"evt-{count}",
            event.provider,
            before.sessionId,
            event.payload,
            cause,
            before.threadId,
            before.turnId,
            before.itemId,
            before.requestId,
            event.providerRefs,
        )
        return line

    def junk(self, junk: Junk) -> JunkLine:
        """Return what stands for something that is no event."""
        self.count += 1
        return JunkLine(junk.type, junk.problem)

    def _named(self, payload: Any, field: str, prefix: str) -> Any:
        old = getattr(payload, field, None)
        # A payload of the wrong class, or an id that is no text, is the `schema` law's finding.
        if not isinstance(old, str):
            return payload
        names = self._in_payload.get(field)
        if names is None:
            # EVENTS.md 1.5: a hookId is a string, not a branded id; it may be the provider's.
            on_new = self._on_new if field == "taskId" else None
            names = self._in_payload[field] = Names(prefix, on_new, f"payload.{field}")
        new = names[old]
        return payload if new == old else msgspec.structs.replace(payload, **{field: new})
