"""Where two runs of canonical events differ: align the events first, then go into the fields.

Alignment is by skeleton (event type, item type, native frame), so that one inserted event is
one finding and not a cascade. Equality was decided on bytes before this is asked.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from harness.conformance.law import Where, show

_ALIKE: Final = 0.5
"""Below this likeness, by frame, the frames are thought to have moved: align without them."""

_IDS: Final = frozenset({"eventId", "sessionId", "threadId", "turnId", "itemId", "requestId"})

_FIRST: Final[dict[str, tuple[str, ...]]] = {
    "session.started": ("sessionId",),
    "thread.started": ("threadId",),
    "turn.started": ("turnId",),
    "item.started": ("itemId",),
    "request.opened": ("requestId",),
    "task.started": ("taskId",),
    "hook.started": ("hookId",),
}
"""The events that an id is first met with."""

_decoder = msgspec.json.Decoder()


class Found(NamedTuple):
    """One difference, ready to be reported."""

    where: Where
    path: str
    expected: str
    got: str
    hint: str


def explain(due: Sequence[bytes], got: Sequence[bytes], first: int) -> Iterator[Found]:
    """Yield the differences between expected and given lines; `first` numbers the first event.

    `where.event` is the number of the subject's event, or for a missing one of the event before
    which it was due; `where.frame` is the frame that the event names.
    """
    due_events = [_decode(line) for line in due]
    got_events = [_decode(line) for line in got]
    shift = _Shift()
    for tag, a, b, c, d in _aligned(due_events, got_events):
        paired = min(b - a, d - c) if tag != "replace-all" else 0
        for i in range(paired):
            yield from _fields(due_events[a + i], got_events[c + i], first + c + i, shift)
        for event in due_events[a + paired : b]:
            yield Found(_where(event, first + c + paired), "", _summary(event), "no such event", "")
        for number, event in enumerate(got_events[c + paired : d], first + c + paired):
            yield Found(_where(event, number), "", "no such event", _summary(event), "")


class _Shift:
    """Canonical ids are numbers by first appearance: an event too many renumbers those after it.

    Keeps which expected id each given id stands for, so that a mere renumbering is no finding.
    """

    def __init__(self) -> None:
        self._means: dict[str, str] = {}
        self._taken: set[str] = set()

    def same(self, event: Any, field: str, due: Any, got: Any) -> bool:
        """Whether a given id stands for an expected one; at its first event it may be any."""
        if field in _FIRST.get(event, ()) and isinstance(due, str) and isinstance(got, str):
            if got not in self._means and due not in self._taken:
                self._means[got] = due
                self._taken.add(due)
                return True
        elif got not in self._means:
            return bool(due == got and due not in self._taken)
        return bool(self._means.get(got) == due)


def _aligned(
    due: Sequence[dict[str, Any]], got: Sequence[dict[str, Any]]
) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield (tag, from, to, from, to) blocks; events in equal blocks pair one to one."""
    matcher = SequenceMatcher(
        None, [_skeleton(e) for e in due], [_skeleton(e) for e in got], autojunk=False
    )
    if matcher.ratio() < _ALIKE:
        without = SequenceMatcher(
            None,
            [_skeleton(e)[:-1] for e in due],
            [_skeleton(e)[:-1] for e in got],
            autojunk=False,
        )
        if without.ratio() > matcher.ratio():
            matcher = without
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "replace":
            yield tag, a, b, c, d
            continue
        # In a replaced block only events of one type are worth comparing field by field.
        types = [e.get("type") for e in due[a:b]] == [e.get("type") for e in got[c:d]]
        yield ("replace" if types else "replace-all"), a, b, c, d


def _fields(
    due: dict[str, Any], got: dict[str, Any], number: int, shift: _Shift
) -> Iterator[Found]:
    """Yield the fields that differ between two events that belong together."""
    where, kind = _where(got, number), got.get("type")
    due, got = dict(due), dict(got)
    for field in sorted(_IDS & (due.keys() | got.keys())):
        one, other = due.pop(field, UNSET), got.pop(field, UNSET)
        if field != "eventId" and not shift.same(kind, field, one, other):
            yield Found(where, field, show(one), show(other), "")
    for field in ("taskId", "hookId"):
        one, other = _taken(due, field), _taken(got, field)
        if not shift.same(kind, field, one, other):
            yield Found(where, f"payload.{field}", show(one), show(other), "")
    if due == got and _typed_equal(due, got):
        return
    from deepdiff import DeepDiff  # noqa: PLC0415 - start-up: only a difference needs it

    diff = DeepDiff(due, got, view="tree", ignore_numeric_type_changes=False, verbose_level=2)
    for changes in diff.values():
        for change in changes:
            yield Found(
                where,
                ".".join(str(part) for part in change.path(output_format="list")),
                _side(change.t1),
                _side(change.t2),
                "",
            )


def _taken(event: dict[str, Any], field: str) -> Any:
    """Take an id out of an event's payload: the value, or UNSET."""
    payload = event.get("payload")
    if not isinstance(payload, dict) or field not in payload:
        return UNSET
    event["payload"] = {key: value for key, value in payload.items() if key != field}
    return payload[field]


def _typed_equal(due: Any, got: Any) -> bool:
    return msgspec.json.encode(due, order="sorted") == msgspec.json.encode(got, order="sorted")


def _side(value: Any) -> str:
    return "absent" if type(value).__name__ == "NotPresent" else show(value)


def _decode(line: bytes) -> dict[str, Any]:
    value = _decoder.decode(line)
    return value if isinstance(value, dict) else {"type": "", "value": value}


def _skeleton(event: dict[str, Any]) -> tuple[Any, ...]:
    payload, raw = event.get("payload"), event.get("raw")
    payload = payload if isinstance(payload, dict) else {}
    raw = raw if isinstance(raw, dict) else {}
    part = payload.get("itemType") or payload.get("streamKind") or payload.get("requestType")
    return event.get("type"), part, raw.get("method"), raw.get("messageType"), raw.get("frame")


def _where(event: dict[str, Any], number: int) -> Where:
    raw = event.get("raw")
    raw = raw if isinstance(raw, dict) else {}
    kind = str(raw.get("method") or raw.get("messageType") or "")
    return Where(int(raw.get("frame") or 0), kind, number, str(event.get("type", "")))


def _summary(event: dict[str, Any]) -> str:
    kind, part, *_ = _skeleton(event)
    ids = " ".join(str(event[f]) for f in ("turnId", "itemId", "requestId") if f in event)
    return " ".join(str(x) for x in (kind, part, ids) if x) + f" {show(event.get('payload'))}"
