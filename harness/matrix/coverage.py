"""What the cassettes showed, with the first frame that shows each thing."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from msgspec import UNSET, Struct, field

from harness.canonical import EventBase
from harness.canonical import payloads as pl
from harness.cassette import Frame, Header, open_cassette
from harness.matrix.rows import ROWS
from harness.surfaces import surface
from harness.surfaces.base import Kinds, Normalizer
from harness.surfaces.ledger import SYNTHESIZED


class Sighting(Struct, frozen=True):
    """A row of the matrix, shown in one cassette: where first, how often, and how it came."""

    cassette: str
    frame: int
    count: int
    native: bool
    kinds: list[str]


class Coverage(Struct):
    """What one cassette shows. Frames are the first ones, counts are of the whole."""

    header: Header
    frames: int = 0
    outcome: str = ""
    truncated: bool = False
    native_kinds: dict[str, tuple[int, int]] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    item_types: Counter[str] = field(default_factory=Counter)
    request_types: Counter[str] = field(default_factory=Counter)
    rows: dict[str, Sighting] = field(default_factory=dict)


class _Scan:
    """Feeds one cassette's frames to its reference normalizer and counts what comes."""

    def __init__(self, header: Header) -> None:
        self.coverage = Coverage(header)
        room = surface(header.surface)
        self.kinds: Kinds = room.kinds()
        self.normalizer: Normalizer = room.normalizer(header)
        self._turns: list[str] = []
        self._items: Counter[str] = Counter()

    def frame(self, frame: Frame) -> None:
        coverage = self.coverage
        kind = self.kinds.of(frame)
        first, count = coverage.native_kinds.get(kind, (frame.seq, 0))
        coverage.native_kinds[kind] = (first, count + 1)
        coverage.frames += 1
        self.events(self.normalizer.feed(frame), frame.seq, kind)

    def events(self, events: Iterable[EventBase], seq: int, kind: str) -> None:
        coverage = self.coverage
        for event in events:
            coverage.types[event.type] += 1
            payload = event.payload
            native = event.raw is not UNSET and event.raw.messageType != SYNTHESIZED
            if isinstance(payload, pl.ItemLifecyclePayload):
                coverage.item_types[payload.itemType] += 1
                if event.type == "item.completed" and payload.status is not UNSET:
                    self._items[payload.status] += 1
            elif isinstance(payload, pl.RequestOpenedPayload):
                coverage.request_types[payload.requestType] += 1
            elif isinstance(payload, pl.TurnCompletedPayload):
                self._turns.append(payload.state)
            for row in ROWS:
                if row.shown_by(event, kind):
                    self._sight(row.id, seq, kind, native=native)

    def _sight(self, row: str, seq: int, kind: str, *, native: bool) -> None:
        old = self.coverage.rows.get(row)
        if old is None:
            header = self.coverage.header
            new = Sighting(header.id, seq, 1, native, [kind])
        else:
            kinds = old.kinds if kind in old.kinds else [*old.kinds, kind]
            # A native sighting is the better evidence, so its frame is the one that is shown.
            better = native and not old.native
            new = Sighting(
                old.cassette,
                seq if better else old.frame,
                old.count + 1,
                native or old.native,
                kinds,
            )
        self.coverage.rows[row] = new

    def outcome(self) -> str:
        """How the conversation went: the worst turn's state, else the worst tool's status."""
        for state in ("failed", "interrupted", "cancelled"):
            if state in self._turns:
                return state
        if not self._turns:
            return "no turn"
        for status in ("declined", "failed"):
            if self._items[status]:
                return f"tool {status}"
        return "completed"


def scan(path: Path) -> Coverage:
    """Return what one cassette shows, by its surface's reference normalizer.

    `outcome` is completed, failed, interrupted or cancelled (a turn's state), `tool failed` or
    `tool declined` where every turn completed, or `no turn`. Raises CassetteError and
    SurfaceError.
    """
    with open_cassette(path) as cassette:
        run = _Scan(cassette.header)
        for frame in cassette:
            run.frame(frame)
        run.events(run.normalizer.close(), run.coverage.frames, "")
        run.coverage.truncated = cassette.truncated
    run.coverage.outcome = run.outcome()
    return run.coverage
