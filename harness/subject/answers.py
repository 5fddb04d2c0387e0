"""Reading a subject's events: what `raw` repeats of a frame is compared as bytes, and not read.

Most of an answer is the frames' own content, once in each event. So events are decoded with
`raw.payload` left as JSON, and get the very object that the judge has where that is a recent
frame's, byte for byte. Anything else is read, and the judge compares it value by value.
"""

from collections import deque
from typing import Any, Final, Union, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType

from harness.canonical import EVENT_CLASSES, EventBase, ProviderRefs, Raw
from harness.canonical.names import ProviderKind, RawSource
from harness.canonical.payloads import Id
from harness.subject.coded import Content
from harness.subject.faults import FaultError

BROKEN: Final = (msgspec.MsgspecError, UnicodeError, RecursionError)
"""What decoding raises."""

BACK: Final = 256
"""How many frames an event's `raw` may point back."""


class _Raw(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """As `Raw`, unread."""

    source: RawSource
    payload: msgspec.Raw
    method: str | UnsetType = UNSET
    messageType: str | UnsetType = UNSET


class _Unread(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """As `EventBase`, its `raw` unread."""

    eventId: Id
    provider: ProviderKind
    sessionId: Id
    createdAt: Id
    payload: Any
    raw: _Raw | UnsetType = UNSET
    threadId: Id | UnsetType = UNSET
    turnId: Id | UnsetType = UNSET
    itemId: Id | UnsetType = UNSET
    requestId: Id | UnsetType = UNSET
    providerRefs: ProviderRefs | UnsetType = UNSET


def _unread(tag: str, event: type[EventBase]) -> Any:
    return msgspec.defstruct(
        f"{event.__name__}Unread",
        [("payload", get_type_hints(event)["payload"])],
        bases=(_Unread,),
        module=__name__,
        tag_field="type",
        tag=tag,
        frozen=True,
        gc=False,
        omit_defaults=True,
        forbid_unknown_fields=True,
    )


_CLASSES: Final[dict[Any, Any]] = {
    _unread(tag, event): event for tag, event in EVENT_CLASSES.items()
}
"""Struct of an unread event to that of the event."""

_UNREAD: Final = Union[tuple(_CLASSES)]  # noqa: UP007 - the union of a computed tuple
_EVENT: Any = msgspec.json.Decoder(_UNREAD)
_LIST: Any = msgspec.json.Decoder(list[_UNREAD])  # type: ignore[valid-type]
_LISTS: Any = msgspec.json.Decoder(list[list[_UNREAD]])  # type: ignore[valid-type]
_JSON: Final = msgspec.json.Decoder(list[msgspec.Raw])
_JSONS: Final = msgspec.json.Decoder(list[list[msgspec.Raw]])
_any: Final = msgspec.json.Decoder().decode


class Reader:
    """Reads the events of one conversation, and remembers the last frames."""

    def __init__(self) -> None:
        self._recent: deque[Content] = deque(maxlen=BACK)

    def frames(self, answer: Any, frames: list[Content]) -> list[list[Any]]:
        """Return each frame's events. `frames` are their contents, and these as JSON.

        Raises FaultError for what is not a list of lists, one for each frame.
        """
        given = _read(_LISTS, _JSONS, answer, "frames")
        if len(given) != len(frames):
            raise FaultError(
                "wrong-shape", f"{len(given)} lists of events for {len(frames)} frames"
            )
        out = []
        for known, events in zip(frames, given, strict=True):
            self._recent.append(known)
            out.append([self._event(event) for event in events] if events else events)
        return out

    def last(self, answer: Any) -> list[Any]:
        """Return the events of the end. Raises FaultError for what is no list."""
        return [self._event(event) for event in _read(_LIST, _JSON, answer, "close")]

    def _event(self, unread: Any) -> Any:
        """Return an event, or JSON of what is none: that is judged by itself."""
        if type(unread) is msgspec.Raw:
            # Beside something that is no event.
            try:
                unread = _EVENT.decode(unread)
            except BROKEN:
                return _text(bytes(unread))
        raw = unread.raw
        if raw is not UNSET:
            key = bytes(raw.payload)
            # The last frame with that content, as the judge has it: nearly always this one.
            for known, its in reversed(self._recent):
                if its == key:
                    content = known
                    break
            else:
                try:
                    content = _any(key)
                except BROKEN:
                    return _text(msgspec.json.encode(unread))
            raw = Raw(raw.source, content, raw.method, raw.messageType)
        return _CLASSES[type(unread)](
            unread.eventId,
            unread.provider,
            unread.sessionId,
            unread.createdAt,
            unread.payload,
            raw,
            unread.threadId,
            unread.turnId,
            unread.itemId,
            unread.requestId,
            unread.providerRefs,
        )


def _text(event: bytes) -> str | bytes:
    """Return JSON as text, which is easier to read where it is shown, if it is text."""
    try:
        return event.decode()
    except UnicodeDecodeError:
        return event


def _read(decoder: Any, loose: Any, events: Any, of: str) -> Any:
    """Decode events, each by itself where some are none. Raises FaultError."""
    try:
        return decoder.decode(events)
    except BROKEN:
        try:
            return loose.decode(events)
        except BROKEN as error:
            raise FaultError("wrong-shape", f"`events` in the answer to `{of}`: {error}") from error


def json_of_each(answer: Any) -> list[Any]:
    """Return the JSON of each frame's events. Raises what decoding does."""
    return _JSON.decode(answer)
