"""What one cassette shows, in one pass: frames, canonical events, and the chat events of those."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from msgspec import UNSET, Struct, field

from harness.canonical import EventBase
from harness.canonical import payloads as pl
from harness.cassette import Frame, Header, open_cassette
from harness.matrix.model import Evidence
from harness.matrix.rows import begins, made_up, shown
from harness.matrix.skeleton import Skeleton
from harness.projection import ChatEvent, ChatProjection
from harness.projection.additions import RULES
from harness.surfaces import surface
from harness.surfaces.base import Kinds, Normalizer
from harness.surfaces.ledger import SYNTHESIZED


class Sighting(Struct):
    """A row of the matrix, shown in one cassette. `frame` is the best one: native, then first.

    `made` of the `count` sightings were made up, wholly or in part; `kinds` are the native kinds
    of the best sightings in the order in which they came, `kind` that of the frame.
    """

    frame: int
    kind: str
    rank: int
    count: int = 0
    made: int = 0
    kinds: list[str] = field(default_factory=list)

    def add(self, seq: int, kind: str, rank: int) -> None:
        """Count one sighting: `rank` is 2 for native, 1 for native in part, 0 for made up."""
        self.count += 1
        self.made += rank < _NATIVE
        if rank > self.rank:
            self.frame, self.kind, self.rank = seq, kind, rank
            self.kinds.clear()
        if kind and rank == self.rank and kind not in self.kinds:
            self.kinds.append(kind)


_NATIVE = 2


class Coverage(Struct):
    """What one cassette shows. Frames are the first ones, counts are of the whole."""

    header: Header
    frames: int = 0
    events: int = 0
    outcome: str = ""
    truncated: bool = False
    native_kinds: dict[str, tuple[int, int]] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    item_types: Counter[str] = field(default_factory=Counter)
    request_types: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, Sighting] = field(default_factory=dict)
    additions: dict[str, Sighting] = field(default_factory=dict)
    skeleton: Skeleton = field(default_factory=Skeleton)

    def evidence(self, row: str, switch: str = "") -> Evidence | None:
        """Return what this cassette shows of a row, or None."""
        sighting = self.kinds.get(row)
        if sighting is not None:
            native = sighting.made < sighting.count
        else:
            sighting = self.additions.get(row)
            if sighting is None:
                return None
            native = not sighting.made
        return Evidence(
            self.header.id,
            sighting.frame,
            sighting.kind,
            native,
            sighting.count,
            sighting.made,
            sighting.kinds,
            self.header.provenance,
            switch,
        )


class _Scan:
    """Feeds one cassette's frames to its reference normalizer and counts what comes."""

    def __init__(self, header: Header) -> None:
        self.coverage = Coverage(header)
        room = surface(header.surface)
        self.namer: Kinds = room.kinds()
        self.normalizer: Normalizer = room.normalizer(header)
        self._projection = ChatProjection()
        self._turns: list[str] = []
        self._items: Counter[str] = Counter()
        self._begun = False

    def frame(self, frame: Frame) -> None:
        coverage = self.coverage
        kind = self.namer.of(frame)
        first, count = coverage.native_kinds.get(kind, (frame.seq, 0))
        coverage.native_kinds[kind] = (first, count + 1)
        coverage.frames += 1
        self.events(self.normalizer.feed(frame), frame.seq, kind, told=frame.dir == "in")

    def close(self) -> None:
        coverage = self.coverage
        self.events(self.normalizer.close(), coverage.frames, "")
        self._additions(self._projection.close(), coverage.frames, "")
        status = coverage.kinds.get("status")
        if status is not None and not self._begun:
            # A lifecycle is whole where the agent says both that it works and that it is done.
            status.made, status.rank = status.count, 0
        coverage.outcome = self.outcome()

    def events(
        self, events: Iterable[EventBase], seq: int, kind: str, *, told: bool = True
    ) -> None:
        """Count events: `told` is whether the agent sent their frame, and not the client."""
        coverage = self.coverage
        for event in events:
            coverage.events += 1
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
            self._begun = self._begun or (native and told and begins(event))
            coverage.skeleton.add(event, native=native)
            chats = list(self._projection.feed(event))
            found = dict.fromkeys(row for chat in chats for row in shown(event, chat))
            for row in found:
                rank = _NATIVE if native and told and not made_up(row, event) else 0
                _sight(coverage.kinds, row, seq, kind, rank)
            self._additions(chats, seq, kind)

    def _additions(self, chats: Iterable[ChatEvent], seq: int, kind: str) -> None:
        for chat in chats:
            for row, rule in RULES.items():
                told = rule(chat)
                if told is not None:
                    has, of = told
                    rank = _NATIVE if has == of else 1 if has else 0
                    _sight(self.coverage.additions, row, seq, kind, rank)

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


def _sight(into: dict[str, Sighting], row: str, seq: int, kind: str, rank: int) -> None:
    sighting = into.get(row)
    if sighting is None:
        sighting = into[row] = Sighting(seq, kind, rank)
    sighting.add(seq, kind, rank)


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
        run.close()
        run.coverage.truncated = cassette.truncated
    return run.coverage
