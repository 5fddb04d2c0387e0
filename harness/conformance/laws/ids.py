"""`ids` and `event-ids`: canonical ids are minted, never a provider's, and event ids are unique."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import UNSET

from harness.canonical import ProviderRefs
from harness.conformance.law import Law, Place, Recent, show

_ID_KEY = re.compile(r"(?:^|_)(?:uu)?ids?$|(?:Id|ID|Uuid|UUID)s?$|^uuid$")
_DIGITS: Final = "0123456789"
_LONGEST: Final = 18
"""Digits of a counter: more of them are a random id."""

_LONGEST_KEY: Final = 64
"""Characters of a key that names an id: keys are content too."""
_MANY: Final = 64
"""Counters, and ranges of each: more of them are not counters but random ids."""
_SEARCHES: Final = 8
"""How many ids are searched in a frame's text before it is walked."""

_NO_JSON: Final = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)
"""What encoding raises for a value that is no JSON, which a subject may make of a frame."""

_MINT = "mint an id of your own, and keep the provider's in providerRefs"


class Ids(Law):
    """Judged where an id is first met, against what the providers' ids are known to be."""

    id = "ids"
    statement = (
        "every canonical id is minted: trimmed, not empty, and equal to no provider's id, neither "
        "one in providerRefs nor one in an id field of the native frame that it is first met with"
    )
    source = "EVENTS.md 1.6"
    example = "turnId is the id that the provider gave the turn"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.frame: Any = None
        self.payload = PayloadIds(place)
        self._native = Recent()
        self._minted = Recent()
        self._refs: Any = UNSET
        self._frame_ids: FrameIds | None = None

    def new(self, field: str, id_: str) -> None:
        """Judge a canonical id that is met for the first time, before its event's refs."""
        if field.startswith("payload."):
            self._judge(self.payload, field, id_)
        else:
            self._judge(self, field, id_)
        self._minted.add(id_)

    def _judge(self, law: Law, field: str, id_: str) -> None:
        if not id_ or id_ != id_.strip():
            law.fail(field, "an id without white space around it", id_)
        if id_ in self._native:
            law.fail(field, "a minted id", f"{show(id_)}, which is in providerRefs", _MINT)
        elif self._in_frame(id_):
            law.fail(
                field, "a minted id", f"{show(id_)}, which is in an id field of the frame", _MINT
            )

    def _in_frame(self, id_: str) -> bool:
        """Whether an id is one of the native ids of the frame being fed."""
        ids = self._frame_ids
        if ids is None or ids.content is not self.frame:
            ids = self._frame_ids = FrameIds(self.frame)
        return id_ in ids

    def refs(self, refs: ProviderRefs) -> None:
        """Judge the provider's ids that an event carries."""
        # Events of one item share their refs.
        if refs is self._refs:
            return
        self._refs = refs
        for field in refs.__struct_fields__:
            value = getattr(refs, field)
            if value is UNSET or value in self._native:
                continue
            if not isinstance(value, str):
                continue
            if value != value.strip():
                self.fail(f"providerRefs.{field}", "an id without white space around it", value)
            if value in self._minted:
                self.fail(
                    f"providerRefs.{field}",
                    "a provider's id that no canonical id equals",
                    f"{show(value)}, which is a canonical id too",
                    _MINT,
                )
            self._native.add(value)


class PayloadIds(Law):
    """What `ids` finds in a payload."""

    id = "payload-ids"
    statement = (
        "a payload holds no provider's id in a canonical field: taskId is minted, as `ids` has it"
    )
    source = "EVENTS.md 1.5 and 1.6"
    example = "taskId is the provider's task_id"


class FrameIds:
    """The native ids of one frame.

    Most minted ids stand nowhere in it: to search its text is cheaper than to walk it. Where
    many are asked for, it is walked once instead.
    """

    def __init__(self, content: Any) -> None:
        self.content = content
        self._walked: set[str] | None = None
        self._searches = _SEARCHES
        try:
            self._text = msgspec.json.encode(content)
        except _NO_JSON:
            self._searches = 0

    def __contains__(self, id_: str) -> bool:
        if self._searches:
            self._searches -= 1
            try:
                if msgspec.json.encode(id_) not in self._text:
                    return False
            except _NO_JSON:
                pass
        if self._walked is None:
            self._walked = set(native_ids(self.content))
        return id_ in self._walked


class EventIds(Law):
    """Exact, and O(1) for ids that count up: each counter is kept as the ranges it has covered."""

    id = "event-ids"
    statement = "no two events of a conversation have the same eventId, and none is a provider's id"
    source = "EVENTS.md 1.1 and 1.6"
    example = "the counter of eventIds begins anew in each turn"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.frame: Any = None
        self._counters: dict[tuple[str, int], list[list[int]]] = {}
        self._others: set[int] = set()
        self._next = ""
        self._range: list[int] = []
        self._shape = ("", 0)

    def own(self, count: int) -> None:
        """Take over from the run, whose events were `evt-1` to `evt-count` so far."""
        if count:
            self._counters["evt-", 0] = [[1, count]]

    def new(self, id_: Any) -> None:
        """Judge an event's id. Raises TypeError for one that is no text."""
        if not isinstance(id_, str):
            raise TypeError(f"an eventId is text, not {type(id_).__name__}")
        if id_ == self._next and not self._others:
            self._range[1] += 1
            self._expect()
            return
        if not id_ or id_ != id_.strip():
            self.fail("eventId", "an id without white space around it", id_)
        if id_ in native_ids(self.frame):
            got = f"{show(id_)}, which is in an id field of the frame"
            self.fail("eventId", "a minted id", got, _MINT)
        key = hash(id_)
        if key in self._others:
            self._repeated(id_)
        elif not self._counted(id_):
            self._others.add(key)

    def _counted(self, id_: str) -> bool:
        """Take an id as the value of a counter, if it is one and there are not too many."""
        digits = id_[len(id_.rstrip(_DIGITS)) :]
        prefix = id_[: len(id_) - len(digits)]
        if not digits or len(digits) > _LONGEST:
            return False
        number = int(digits)
        # 0999 is followed by 1000, which as a text of its own looks like no padding at all.
        padded = (prefix, len(digits))
        shape = padded if digits[0] == "0" or padded in self._counters else (prefix, 0)
        ranges = self._counters.get(shape)
        if ranges is None:
            if len(self._counters) >= _MANY:
                return False
            ranges = self._counters[shape] = []
        plain = [] if digits[0] == "0" else self._counters.get((prefix, 0), [])
        if any(first <= number <= last for first, last in [*ranges, *plain]):
            self._repeated(id_)
            return True
        for one in ranges:
            if one[1] == number - 1:
                one[1] = number
                break
        else:
            if len(ranges) >= _MANY:
                return False
            one = [number, number]
            ranges.append(one)
        self._next = ""
        # Where one prefix is counted in two shapes, what comes next may be of the other.
        alone = all(key == shape or key[0] != prefix for key in self._counters)
        if alone and number == max(last for _, last in ranges):
            self._shape, self._range = shape, one
            self._expect()
        return True

    def _expect(self) -> None:
        prefix, width = self._shape
        self._next = prefix + str(self._range[1] + 1).zfill(width)

    def _repeated(self, id_: str) -> None:
        self.fail("eventId", "an id that no earlier event has", id_, "give each event its own id")


@lru_cache(4096)
def _is_id_key(key: str) -> bool:
    return _ID_KEY.search(key) is not None


def native_ids(content: Any) -> Iterator[str]:
    """Yield the texts in the id fields of a native frame, such as `threadId` and `uuid`."""
    todo = [content]
    while todo:
        value = todo.pop()
        if type(value) is dict:
            for key, inner in value.items():
                kind = type(inner)
                if kind is str:
                    if len(key) <= _LONGEST_KEY and _is_id_key(key):
                        yield inner
                elif kind is dict:
                    todo.append(inner)
                elif kind is list:
                    todo.append(inner)
                    if len(key) <= _LONGEST_KEY and _is_id_key(key):
                        yield from (one for one in inner if type(one) is str)
        elif type(value) is list:
            todo += [one for one in value if type(one) is dict or type(one) is list]
