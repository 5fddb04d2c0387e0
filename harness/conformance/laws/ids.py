"""`ids` and `event-ids`: canonical ids are minted, never a provider's, and event ids are unique."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from harness.canonical import ProviderRefs
from harness.conformance.law import Law, Place, Recent, show

_ID_KEY = re.compile(r"(?:^|_)(?:uu)?ids?$|(?:Id|ID|Uuid|UUID)s?$|^uuid$")
_SPLIT = re.compile(r"^(.*?)([0-9]*)$", re.DOTALL)
_MINT = "mint an id of your own, and keep the provider's in providerRefs"


class Ids(Law):
    """Judged where an id is first met, against what the providers' ids are known to be."""

    id = "ids"
    statement = (
        "every canonical id is minted: trimmed, not empty, and equal to no provider's id, neither "
        "one in providerRefs nor one in an id field of the native frame that it is first met with"
    )
    source = "EVENTS.md 1.6"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.frame: Any = None
        self._native = Recent()
        self._minted = Recent()
        self._refs: Any = UNSET

    def new(self, field: str, id_: str) -> None:
        """Judge a canonical id that is met for the first time, before its event's refs."""
        if not id_ or id_ != id_.strip():
            self.fail(field, "an id without white space around it", id_)
        if id_ in self._native:
            self.fail(field, "a minted id", f"{show(id_)}, which is in providerRefs", _MINT)
        elif id_ in native_ids(self.frame):
            self.fail(
                field, "a minted id", f"{show(id_)}, which is in an id field of the frame", _MINT
            )
        self._minted.add(id_)

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


class EventIds(Law):
    """Exact, and O(1) for ids that count up: each counter is kept as the range it has covered."""

    id = "event-ids"
    statement = "no two events of a conversation have the same eventId, and none is a provider's id"
    source = "EVENTS.md 1.1 and 1.6"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.frame: Any = None
        self._counters: dict[tuple[str, int], list[int]] = {}
        self._others: set[int] = set()
        self._next = ""
        self._counter: list[int] = []
        self._shape = ("", 0)

    def own(self, count: int) -> None:
        """Take over from the run, whose events were `evt-1` to `evt-count` so far."""
        if count:
            self._counters["evt-", 0] = [1, count]

    def new(self, id_: Any) -> None:
        """Judge an event's id."""
        if not isinstance(id_, str):
            raise TypeError("an eventId is text")
        if id_ == self._next:
            self._counter[1] += 1
            self._expect()
            return
        if not id_ or id_ != id_.strip():
            self.fail("eventId", "an id without white space around it", id_)
        if id_ in native_ids(self.frame):
            self.fail(
                "eventId", "a minted id", f"{show(id_)}, which is in an id field of the frame", _MINT
            )
        prefix, digits = _SPLIT.match(id_).groups()  # type: ignore[union-attr] - matches all
        if not digits or len(digits) > 18:  # noqa: PLR2004 - longer is no counter
            self._other(id_)
            return
        # Zero-padded and plain counters are different texts for the same number.
        shape = (prefix, len(digits) if digits[0] == "0" else 0)
        number = int(digits)
        counter = self._counters.get(shape) or self._padded(prefix, digits)
        if counter is None:
            if len(self._counters) >= 64:  # noqa: PLR2004 - random ids, some of which end in digits
                self._other(id_)
                return
            counter = self._counters[shape] = [number, number]
        elif number == counter[1] + 1:
            counter[1] = number
        elif counter[0] <= number <= counter[1]:
            self._repeated(id_)
            return
        else:
            self._other(id_)
            return
        self._shape, self._counter = shape, counter
        self._expect()

    def _padded(self, prefix: str, digits: str) -> list[int] | None:
        """The counter of zero-padded ids that this one carries on: 0999, then 1000."""
        return self._counters.get((prefix, len(digits)))

    def _expect(self) -> None:
        prefix, width = self._shape
        self._next = prefix + str(self._counter[1] + 1).zfill(width)

    def _other(self, id_: str) -> None:
        key = hash(id_)
        if key in self._others:
            self._repeated(id_)
        self._others.add(key)

    def _repeated(self, id_: str) -> None:
        self.fail("eventId", "an id that no earlier event has", id_, "give each event its own id")


def native_ids(content: Any) -> Iterator[str]:
    """Yield the texts in the id fields of a native frame, such as `threadId` and `uuid`."""
    todo = [content]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                if isinstance(inner, str):
                    if _ID_KEY.search(key):
                        yield inner
                elif isinstance(inner, list) and _ID_KEY.search(key):
                    yield from (one for one in inner if isinstance(one, str))
                    todo.extend(one for one in inner if isinstance(one, dict | list))
                elif isinstance(inner, dict | list):
                    todo.append(inner)
        elif isinstance(value, list):
            todo.extend(one for one in value if isinstance(one, dict | list))


