"""One run of a subject over one cassette, every law watching.

The loop names each frame's kind once, makes each event's canonical form once, and encodes that
once: the same bytes are decoded strictly (`schema`), compared with what is pinned (`expected`)
and kept for the reruns (`prefix`, `deterministic`). A law is called for the event types that
concern it and for no others.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from msgspec import UNSET, Struct

from harness.canonical import EVENT_CLASSES, EventBase, decode_event, encode_event
from harness.canonical.events import ContentDelta
from harness.cassette import CassetteReader, Frame
from harness.conformance.expected import Expected
from harness.conformance.form import (
    BATCH,
    MALFORMED,
    Cause,
    JunkLine,
    Line,
    Renamer,
    encoder,
)
from harness.conformance.law import Handler, Law, Place, show
from harness.conformance.laws.frames import Accounted, ClockLaw, Monotonic, RawLaw
from harness.conformance.laws.handed import Handed, window
from harness.conformance.laws.ids import EventIds, Ids, PayloadIds
from harness.conformance.laws.items import Deltas, Items
from harness.conformance.laws.nesting import Nesting, Tasks
from harness.conformance.laws.origin import Provider, Sessions, Source
from harness.conformance.laws.outcomes import Cancelled, Outcome
from harness.conformance.laws.replay import Replay
from harness.conformance.laws.reruns import Apart, Deterministic, Prefix, Record, Split, sent
from harness.conformance.laws.schema import Schema
from harness.conformance.laws.subject import Runs
from harness.conformance.laws.text import Text
from harness.conformance.laws.turns import Requests, Turns
from harness.conformance.laws.usage import Usage
from harness.ending import ENDS
from harness.subject import Junk, Subject, coerce, listed, told
from harness.surfaces.base import Kinds


class Rules(Struct, frozen=True):
    """What the judge needs of a surface: a namer of kinds, and the kinds that may give nothing.

    `sources` are those that `raw.source` may be; none of them where that is not to be judged.
    """

    kinds: Kinds
    ignored: frozenset[str]
    sources: frozenset[str] = frozenset()


LAWS: Final[tuple[type[Law], ...]] = (
    Runs,
    Schema,
    Ids,
    PayloadIds,
    EventIds,
    Provider,
    Sessions,
    Source,
    Turns,
    Items,
    Deltas,
    Requests,
    Nesting,
    Tasks,
    Cancelled,
    Outcome,
    Usage,
    Replay,
    Text,
    Accounted,
    RawLaw,
    ClockLaw,
    Monotonic,
    Prefix,
    Expected,
    Deterministic,
    Apart,
    Split,
)
"""Every check, in the order of a report."""

HANDLERS: Final[dict[type[EventBase], tuple[tuple[int, Handler], ...]]] = {
    kind: tuple(
        (number, handle)
        for number, law in enumerate(LAWS)
        if (handle := law.handlers.get(kind, law.others)) is not None
    )
    for kind in EVENT_CLASSES.values()
}
"""Event type to the handlers that it concerns, each with its law's number in `LAWS`."""

AGAIN: Final = tuple((number, law.again) for number, law in enumerate(LAWS) if law.again)
"""The handlers of a `content.delta` that is like the event before it."""


class Judge:
    """Judges one run. `feed` every frame, then `finish`; the results are in `laws`."""

    def __init__(self, subject: Subject, cassette: CassetteReader, name: str, rules: Rules) -> None:
        header = cassette.header
        self.place = place = Place(name)
        self.failed = False
        self.frames = 0
        self.record = Record()
        self._subject = subject
        self.header = header
        self._kinds = rules.kinds
        self._ignored = rules.ignored
        self._window = window(subject)
        # What a normalizer can still change counts as it was when it was returned.
        self._batch = 1 if isinstance(self._window, Handed) else BATCH
        self._ids = Ids(place)
        self._event_ids = EventIds(place)
        self._schema = Schema(place)
        self._raw = RawLaw(place)
        self._clock = ClockLaw(place, header.recorded)
        self._accounted = Accounted(place)
        self._sources = rules.sources
        self._source = Source(place, rules.sources)
        self._runs = Runs(place)
        self._prefix = Prefix(place)
        items = Items(place)
        # In the order of LAWS: HANDLERS and AGAIN have their numbers.
        self.laws: list[Law] = [
            self._runs,
            self._schema,
            self._ids,
            self._ids.payload,
            self._event_ids,
            Provider(place, header.provider),
            Sessions(place, self._accounted),
            self._source,
            Turns(place),
            items,
            Deltas(place, items),
            Requests(place),
            Nesting(place, items),
            Tasks(place),
            Cancelled(place),
            Outcome(place),
            Usage(place),
            Replay(place),
            Text(place),
            self._accounted,
            self._raw,
            self._clock,
            self._clock.monotonic,
            self._prefix,
        ]
        self._delta: ContentDelta | None = None
        self._renamer = Renamer(self._ids.new)
        self._own_ids = True
        self._lines: list[Line | JunkLine] = []
        self._places: list[str] = []
        self._expected: Expected | None = None
        self._pins: BinaryIO | None = None

    @property
    def prefix(self) -> Prefix:
        """The law that the reruns report to, with the record of this run."""
        return self._prefix

    @property
    def runs(self) -> Runs:
        """The law that what the subject raises is reported to, in whichever run."""
        return self._runs

    @property
    def events(self) -> int:
        """How many events there were."""
        return self._renamer.count

    def compare(self, path: Path) -> None:
        """Compare with a pinned file too. Raises ExpectedError."""
        self._expected = Expected(self.place, path)
        self.laws.append(self._expected)

    def pin(self, file: BinaryIO) -> None:
        """Write the canonical lines to a file as they come."""
        self._pins = file

    def run(self, frames: Iterable[Frame]) -> None:  # noqa: C901, PLR0912 - the loop, once
        """Feed the frames, then the end. Raises CassetteError and ExpectedError."""
        try:
            session = self._subject.open(self.header)
        except ENDS:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a foreign normalizer raises
            self._stop("opening a session", error)
            return
        feed = session.feed
        name_of, ignored, place = self._kinds.of, self._ignored, self.place
        remember, iso, record = self._window.frames.append, self._clock.clock.iso, self.record
        renamer = self._renamer
        hand = self._window.hand if isinstance(self._window, Handed) else None
        for frame in sent(session, frames):
            seq, at, content = frame.seq, frame.at, frame.data
            if content is UNSET:
                content = frame.content
            kind = name_of(frame)
            place.frame, place.kind = seq, kind
            remember((seq, at, content))
            try:
                events = feed(frame if hand is None else hand(frame))
                if type(events) is not list:
                    events = listed(events)
            except ENDS:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever a foreign normalizer raises
                place.event, place.of = 0, None
                self._stop(f"feed(frame {seq})", error)
                return
            named = self._take(events, seq, at, content, iso(at)) if events else False
            if not named and kind not in ignored:
                self._accounted.unnamed(seq, kind)
            if record.open:
                record.frame(kind, renamer.count)
            self.frames = seq
        place.event, place.of, place.closing = 0, None, True
        try:
            events = listed(session.close())
        except ENDS:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a foreign normalizer raises
            self._stop("close()", error)
            return
        if events:
            seq, at, content = self._window.frames[-1] if self._window.frames else (0, 0, UNSET)
            self._prefix.closing(events)
            if self._take(events, seq, at, content, iso(at)):
                self._accounted.pending.pop(seq, None)
        self._flush()
        record.end(self._renamer.count)

    def _stop(self, doing: str, error: BaseException) -> None:
        self.failed = True
        self._runs.raised(doing, error)
        self._flush()

    def finish(self, *, truncated: bool) -> None:
        """Judge what needs the end. Raises ExpectedError."""
        why = ""
        if self.failed:
            why = f"the normalizer stopped at frame {self.place.frame}"
        elif truncated:
            why = "the cassette is truncated: what is open at its end may be rightly so"
        for law in self.laws:
            if not why:
                law.end()
            elif type(law).end is not Law.end:
                law.not_judged(why)

    def close(self) -> None:
        """Close what is open, and let go of the frames."""
        self._window.frames.clear()
        if self._expected is not None:
            self._expected.close()

    def _take(  # noqa: C901, PLR0912, PLR0915 - the hot loop: calls would double its cost
        self, events: Sequence[Any], seq: int, at: int, content: Any, created: str
    ) -> bool:
        """Judge the events of one frame; return whether one of them names it."""
        place, renamer, laws = self.place, self._renamer, self.laws
        line_of, lines, places, clock = renamer.line, self._lines, self._places, self._clock
        sources = self._sources
        self._ids.frame = content
        named = False
        kind = place.kind
        for event in events:
            place.event = renamer.count + 1
            place.of = event
            called = HANDLERS.get(type(event))
            if called is None:
                # Foreign, or nothing that is an event.
                event = coerce(event)  # noqa: PLW2901 - it is the same event
                if isinstance(event, Junk):
                    named = True
                    self._junk(event)
                    continue
                called = HANDLERS[type(event)]
            line = None
            try:
                raw = event.raw
                if raw is UNSET:
                    cause: Any = UNSET
                    if seq:
                        self._raw.missing()
                    caused = at
                elif raw.payload is content:
                    named = True
                    cause = Cause(raw.source, seq, raw.method, raw.messageType)
                    caused = at
                else:
                    found, caused = self._window.find(raw.payload)
                    if found:
                        if found == seq:
                            named = True
                        else:
                            self._accounted.pending.pop(found, None)
                    else:
                        # It tells of this frame, if in other words: one finding, not two.
                        named, found, caused = True, seq, at
                        self._raw.elsewhere(raw.payload)
                    cause = Cause(raw.source, found, raw.method, raw.messageType)
                if raw is not UNSET and sources and raw.source not in sources:
                    self._source.wrong(raw.source)
                # What is no text says itself what it is equal to, so it is not asked.
                stamp = event.createdAt
                if stamp == created and type(stamp) is str:
                    clock.latest = at
                else:
                    clock.judge(stamp, caused, at)
                before = self._delta
                if (
                    type(event) is ContentDelta
                    and before is not None
                    and event.providerRefs is before.providerRefs
                    and event.provider == before.provider
                    and _same(event.itemId, before.itemId)
                    and _same(event.turnId, before.turnId)
                    and _same(event.threadId, before.threadId)
                    and _same(event.sessionId, before.sessionId)
                    and _same(event.requestId, before.requestId)
                ):
                    line = renamer.again(event, cause)
                    for number, handle in AGAIN:
                        handle(laws[number], event)
                else:
                    line = line_of(event, cause)
                    failures = place.failures
                    refs = event.providerRefs
                    if refs is not UNSET:
                        self._ids.refs(refs)
                    for number, handle in called:
                        handle(laws[number], event)
                    fair = type(event) is ContentDelta and place.failures == failures
                    self._delta = event if fair else None
                id_ = event.eventId
                if not (self._own_ids and id_ == line.eventId and type(id_) is str):
                    self._event_id(id_, content)
            except ENDS:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever a foreign normalizer raises  # A struct may hold anything.
                # Only a malformed event gets here, and it is reported, not raised.
                named, self._delta = True, None
                malformed = _malformed(event, error)
                if line is None:
                    renamer.count = place.event - 1
                    self._junk(malformed, MALFORMED)
                    continue
                self._schema.junk(malformed)
            lines.append(line)
            places.append(kind)
        if len(lines) >= self._batch:
            self._flush()
        return named

    def _event_id(self, id_: Any, content: Any) -> None:
        self._leave_own_ids()
        self._event_ids.frame = content
        self._event_ids.new(id_)

    def _leave_own_ids(self) -> None:
        """From here on the events' ids are not the canonical ones, and are looked at each."""
        if self._own_ids:
            self._own_ids = False
            self._event_ids.own(self.place.event - 1)

    def _junk(self, junk: Junk, stand_in: Junk | None = None) -> None:
        self._leave_own_ids()
        self._schema.junk(junk)
        self._lines.append(self._renamer.junk(stand_in or junk))
        self._places.append(self.place.kind)

    def _flush(self) -> None:
        lines = self._lines
        if not lines:
            return
        places = self._places
        try:
            chunk = encoder.encode_lines(lines)
        except ENDS:
            raise
        except BaseException:  # noqa: BLE001 - a value that is no JSON: find it, and go on without
            self._flush_broken(lines, places)
        else:
            self._schema.batch(chunk, lines, places)
            self._spread(chunk, len(lines))
        self._lines, self._places = [], []

    def _flush_broken(self, lines: list[Line | JunkLine], places: list[str]) -> None:
        for line, kind in zip(lines, places, strict=True):
            self._schema.one(line, kind)
            try:
                chunk = encoder.encode(line)
            except ENDS:
                raise
            except BaseException:  # noqa: BLE001 - reported just now
                chunk = encoder.encode(JunkLine(MALFORMED.type, MALFORMED.problem))
            self._spread(chunk + b"\n", 1)

    def _spread(self, chunk: bytes, count: int) -> None:
        if self._expected is not None:
            self._expected.batch(chunk, count)
        if self._pins is not None:
            self._pins.write(chunk)
        if self.record.keeps:
            self.record.keep(chunk)


def _same(one: Any, other: Any) -> bool:
    """Whether two ids are the same text; what is no text would say so of itself."""
    return one is other or (type(one) is str and one == other)


def _malformed(event: EventBase, error: BaseException) -> Junk:
    """What is wrong with an event struct that a law stumbled over."""
    problem = f"a part of it is not of its type ({type(error).__name__}: {told(error)})"
    try:
        decode_event(encode_event(event))
    except ENDS:
        raise
    except BaseException as invalid:  # noqa: BLE001 - whatever a foreign normalizer raises  # Whatever a foreign value does when written.
        problem = told(invalid)
    return Junk(event.type, problem, show(event))
