"""`raw`, `clock` and `accounted`: what events say of the native frames that caused them."""

from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec import UNSET

from harness.canonical import Clock
from harness.conformance.law import Law, Place, Where, show
from harness.ending import ENDS

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)

_SCALARS: Final = (str, int, float, bool, type(None))

BACK: Final = 256
"""How many frames an event may point back."""


class Window:
    """The last frames, to find the one that an event's `raw` points at."""

    def __init__(self) -> None:
        self.frames: deque[tuple[int, int, Any]] = deque(maxlen=BACK)

    def find(self, payload: Any) -> tuple[int, int]:
        """Return (`seq`, `at`) of the last frame with that content; (0, 0) where there is none."""
        for seq, at, content in reversed(self.frames):
            if content is payload:
                return seq, at
        # What is of another type says itself what it is equal to, so it is not asked.
        if not _plain(payload):
            return 0, 0
        for seq, at, content in reversed(self.frames):
            if same_json(content, payload):
                return seq, at
        return 0, 0


def same_json(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same; Python has it that `True == 1`."""
    return bool(one == other) and (not _has_flags(one) or _typed(one) == _typed(other))


def _plain(value: Any) -> bool:
    """Whether a value is made of JSON's own types alone. Raises RecursionError."""
    if type(value) is dict:
        return all(type(key) is str and _plain(inner) for key, inner in value.items())
    if type(value) is list:
        return all(map(_plain, value))
    return type(value) in _SCALARS


def _has_flags(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_flags, value.values()))
    if isinstance(value, list):
        return any(map(_has_flags, value))
    return isinstance(value, bool | int)


def _typed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    return (value,) if isinstance(value, bool) else value


class RawLaw(Law):
    """`raw.payload` is the content of a frame that the normalizer has seen."""

    id = "raw"
    statement = (
        "every event carries raw, and raw.payload equals the content of the frame being fed, or "
        f"of one of the {BACK} frames before it"
    )
    source = "EVENTS.md 1.1 and 1.6, harness/README.md 'Events and comparison'"
    example = "raw.payload is the frame's params alone"

    def missing(self) -> None:
        """Report an event without `raw`."""
        self.fail("raw", "the frame that caused the event", UNSET)

    def elsewhere(self, payload: Any) -> None:
        """Report an event whose `raw` is no frame's content."""
        try:
            got = msgspec.json.encode(payload).decode()
        except ENDS:
            raise
        except BaseException:  # noqa: BLE001 - whatever a foreign value does when written
            got = show(payload)
        self.fail(
            "raw.payload",
            "the content of this frame, unchanged",
            got if len(got) < BACK else f"{got[:BACK]}… ({len(got):,} characters)",
            "hand over the frame's content as it is: neither a part of it, nor changed, nor parsed "
            "further",
        )


class Monotonic(Law):
    """What `clock` finds where the time itself is right."""

    id = "monotonic"
    statement = "createdAt never goes back"
    source = "EVENTS.md 1.1, DECISIONS.md 8"
    example = "an event about an earlier frame has that frame's time, after one of a later frame"


class ClockLaw(Law):
    """`createdAt` is the frames' clock."""

    id = "clock"
    statement = (
        "createdAt is the header's recorded plus the `at` of the frame in raw (or of the frame "
        "being fed, where raw points back)"
    )
    source = "DECISIONS.md 8"
    example = "createdAt is the clock of the machine that replays"

    def __init__(self, place: Place, recorded: str) -> None:
        super().__init__(place)
        self.clock = Clock(recorded)
        self.monotonic = Monotonic(place)
        self.latest = -1
        self._start = _milliseconds(recorded)

    def judge(self, created: Any, caused: int, fed: int) -> None:
        """Judge a `createdAt` that is not, as text, the time of the frame being fed."""
        moment = self._moment(created)
        if moment is None:
            self.fail("createdAt", "an RFC 3339 time in UTC", created)
        elif moment not in {caused, fed}:
            self.fail(
                "createdAt",
                self.clock.iso(caused),
                created,
                "take the frame's `at`, not the clock of whoever replays it",
            )
        elif moment < self.latest:
            self.monotonic.fail("createdAt", f"not before {self.clock.iso(self.latest)}", created)
        else:
            self.latest = moment

    def _moment(self, created: Any) -> int | None:
        """Milliseconds since the recording began, or None for what is no time."""
        try:
            return _milliseconds(created) - self._start
        except (ValueError, TypeError):
            return None


def _milliseconds(time: str) -> int:
    """An RFC 3339 time in whole milliseconds. Raises ValueError or TypeError."""
    moment = datetime.fromisoformat(time)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND


class Accounted(Law):
    """Keeps the frames that no event has named yet."""

    id = "accounted"
    statement = (
        "every native frame, whichever way it went, gives an event whose raw is that frame, or its "
        "kind is ignored with a reason in the surface's vocabulary"
    )
    source = "harness/README.md 'Events and comparison', EVENTS.md 3-5"
    example = "a notification that the normalizer does not know gives nothing at all"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.pending: dict[int, Where] = {}

    def unnamed(self, seq: int, kind: str) -> None:
        """Take note of a frame that has given no event."""
        self.pending[seq] = Where(seq, kind, 0, "")
        first = next(iter(self.pending))
        if first <= seq - BACK:
            self._lost(self.pending.pop(first))

    def end(self) -> None:
        """No event names them any more."""
        for where in self.pending.values():
            self._lost(where)
        self.pending.clear()

    def _lost(self, where: Where) -> None:
        self.fail(
            "",
            f"an event for {where.kind or 'the frame'}",
            "none",
            "map it, warn with a runtime.warning that carries it, or ignore its kind in "
            "vocabulary.yaml with a reason",
            where,
        )
