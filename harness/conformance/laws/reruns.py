"""`prefix`, `deterministic`, `apart`, `split`: the same frames give the same events.

However many follow, whatever else runs, and however they are sent. Two more runs are compared
with the record of the first, fed in turns. Where one differs it is run once more, alone, which
tells whose finding it is. A subject is fed one frame at a time, so what it can know of later
frames it has kept from an earlier run, or it waits for the end.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from harness.cassette import Frame
from harness.conformance.explain import explain
from harness.conformance.form import BATCH, LINE_CLASSES, MALFORMED, Cause, Renamer, encoder
from harness.conformance.law import Law, Where, show
from harness.conformance.laws.frames import Window
from harness.conformance.laws.handed import Handed
from harness.conformance.report import PER_LAW
from harness.ending import ENDS
from harness.subject import Junk, Session, coerce, listed

RERUN: Final = 10_000
"""How many frames are fed again. Memory must not grow with the cassette, nor time double."""

STEP: Final = 4
"""How many frames each of two runs is fed in its turn, at least."""

KEPT: Final = 8 << 20
"""How many bytes of canonical lines are kept for the comparison."""

_SYNTHESIZED = "synthesized"


class Record:
    """What the first run gave: its canonical bytes, and the number of events after each frame."""

    def __init__(self) -> None:
        self.open = True
        self.keeps = True
        self.whole = False
        self.bytes = bytearray()
        self.counts = array("L")
        self.kinds: list[str] = []
        self.total = 0

    def frame(self, kind: str, events: int) -> None:
        """Take note of a frame's kind, and of how many events there were after it."""
        self.kinds.append(kind)
        self.counts.append(events)
        self.open = len(self.counts) < RERUN

    def keep(self, chunk: bytes) -> None:
        """Keep the next lines, as long as there is room."""
        self.bytes += chunk
        self.keeps = self.open and len(self.bytes) < KEPT

    def end(self, events: int) -> None:
        """Take note of how many events there were in all."""
        self.total = events
        self.whole = self.open and self.keeps


class Repeated(Law):
    """A law that is judged in a rerun, which what the subject raises ends."""

    stopped: tuple[str, BaseException, Where] | None = None
    """What was being done when the rerun ended early, what was raised, and where."""

    def stop(self, doing: str, error: BaseException) -> None:
        """Take note of what the subject raised: that is the finding of the law `subject`."""
        self.stopped = doing, error, self.place.now()


class Prefix(Repeated):
    """Judged in the first run (what comes at the end) and in one that ends half-way."""

    id = "prefix"
    statement = (
        "the events for a prefix of a cassette are a prefix of its events: a run that is fed only "
        f"the first half (of the first {RERUN:,} frames) gives what the whole run gave, frame by "
        "frame, and what comes at the end of either is only what the end causes, marked as "
        "synthesized"
    )
    source = "harness/README.md 'Events and comparison', DECISIONS.md 4"
    example = "item.started has the title that only a later frame tells"

    def at_the_end(self, run: "_Run") -> None:
        """Half-way, the end closes what is open, and tells nothing that was held back."""
        self.closing(run.closing())

    def closing(self, events: Sequence[Any]) -> None:
        """Judge the events that the end of the frames gave."""
        for event in events:
            event = coerce(event)  # noqa: PLW2901 - it is the same event
            if isinstance(event, Junk):
                continue
            raw = event.raw
            if raw is not UNSET and getattr(raw, "messageType", "") != _SYNTHESIZED:
                self.place.of = event
                self.fail(
                    "raw.messageType",
                    f"{show(_SYNTHESIZED)}, as of all that the end of the frames causes",
                    getattr(raw, "messageType", UNSET),
                    "give an event with the frame that causes it; never wait for a later frame",
                )


class Deterministic(Repeated):
    """Judged in a run of its own."""

    id = "deterministic"
    statement = (
        "a second run gives the same events, byte for byte in canonical form and frame by frame, "
        f"on the first {RERUN:,} frames"
    )
    source = "harness/README.md 'Events and comparison'"
    example = "a list in an event has the order of a set"

    def at_the_end(self, run: "_Run") -> None:
        """The end gives the same as in the first run."""
        run.close()


class Apart(Law):
    """Judged where a run differs in turns with another, and not alone."""

    id = "apart"
    statement = (
        "two conversations in one process do not leak into one another: a run in turns with "
        "another gives what it gives alone"
    )
    source = "harness/README.md 'A normalizer behind a command'"
    example = "both conversations look up their tools in one table"
    hint = "keep all that a conversation needs in an object of its own"


class Split(Law):
    """Judged of a subject behind a command: where a run differs when its bytes are cut."""

    id = "split"
    statement = (
        "the output is the same for any split of the byte stream: requests with one frame or "
        "many, whose bytes come in pieces (of a normalizer behind a command; each of the first "
        f"{RERUN:,} frames is once alone in its request)"
    )
    source = "harness/README.md 'A normalizer behind a command'"
    example = "a character that two reads share becomes two question marks"
    hint = "read up to a line feed, decode whole lines, and let no batch end anything"


def found(law: "Apart | Split", trial: Law) -> None:
    """Let a law report what a trial run found."""
    result = law.result
    result.status = "fail"
    law.place.failures += 1
    result.more += trial.result.more
    for violation in trial.result.violations:
        if len(result.violations) < PER_LAW:
            result.violations.append(replace(violation, law=law.id, hint=law.hint))
        else:
            result.more += 1


def sent(session: Session, frames: Iterable[Frame]) -> Iterable[Frame]:
    """Yield the frames, which a session that can be sent more than one is sent ahead."""
    ahead = getattr(session, "ahead", None)
    ahead_of: Iterable[Frame] = frames if ahead is None else ahead(frames)
    return ahead_of


class Rerun:
    """One more run of the first `upto` frames, then the end, compared with the record."""

    def __init__(
        self,
        law: "Prefix | Deterministic",
        session: Session,
        record: Record,
        upto: int,
        window: Window,
    ) -> None:
        self.left = upto
        self._law = law
        self._run = _Run(law, session, record, window)

    def feed(self, frames: Iterator[Frame], most: int) -> None:
        """Feed at most so many frames more, and the end after the last. Raises CassetteError."""
        most = min(most, self.left)
        self.left -= most
        if not self._run.feed(islice(frames, most)):
            self.left = -1
        elif self.left == 0:
            self.left = -1
            self._law.place.event, self._law.place.of = 0, None
            if self._run.flush():
                self._law.at_the_end(self._run)


def in_turns(again: Rerun, half: Rerun, one: Iterator[Frame], other: Iterator[Frame]) -> None:
    """Feed two runs, the first one ahead of the second. Raises CassetteError."""
    step = max(STEP, again.left >> 6)
    again.feed(one, again.left // 4)
    while again.left >= 0 or half.left >= 0:
        if half.left >= 0:
            half.feed(other, step)
        if again.left >= 0:
            again.feed(one, step)


class _Run:
    """A run without laws: frames in, canonical bytes out, compared with the record."""

    def __init__(self, law: Repeated, session: Session, record: Record, window: Window) -> None:
        self._law = law
        self._session = session
        self._record = record
        self._renamer = Renamer()
        self._window = window
        self._batch = 1 if isinstance(window, Handed) else BATCH
        self._lines: list[Any] = []
        self._at = 0
        self._done = 0
        self._last: tuple[int, int, Any] = (0, 0, UNSET)

    def feed(self, frames: Iterable[Frame]) -> bool:
        """Feed frames; return whether the run may go on. Raises CassetteError."""
        place, kinds, counts = self._law.place, self._record.kinds, self._record.counts
        feed, remember, renamer = self._session.feed, self._window.frames.append, self._renamer
        place.event, place.of = 0, None
        hand = self._window.hand if isinstance(self._window, Handed) else None
        for frame in sent(self._session, frames):
            seq, content = frame.seq, frame.data
            if content is UNSET:
                content = frame.content
            place.frame, place.kind = seq, kinds[seq - 1]
            self._last = fed = (seq, frame.at, content)
            remember(fed)
            try:
                events = feed(frame if hand is None else hand(frame))
                if type(events) is not list:
                    events = listed(events)
            except ENDS:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever a foreign normalizer raises
                self._law.stop(f"feed(frame {seq})", error)
                return False
            if events:
                self._take(events, seq, content)
            if renamer.count != counts[seq - 1]:
                self._miscounted(counts[seq - 1])
                return False
            if len(self._lines) >= self._batch and not self.flush():
                return False
        return True

    def _miscounted(self, due: int) -> None:
        """Report another number of events, unless the events themselves tell more."""
        count = self._renamer.count
        if self.flush():
            self._law.fail(
                "",
                f"{due:,} events up to this frame, as in the first run",
                f"{count:,}",
                "let nothing but the frames fed so far decide what is emitted, and when",
            )

    def closing(self) -> list[Any]:
        """Return what the end gives; nothing where it raises, which is reported."""
        try:
            return listed(self._session.close())
        except ENDS:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a foreign normalizer raises
            self._law.stop("close()", error)
            return []

    def close(self) -> None:
        """Compare what the end gives, where the first run had its end here too."""
        if not self._record.whole:
            return
        seq, _, content = self._last
        self._take(self.closing(), seq, content)
        if self._law.stopped is None and self.flush() and self._renamer.count != self._record.total:
            self._law.fail(
                "",
                f"{self._record.total:,} events in all, as in the first run",
                f"{self._renamer.count:,}",
            )

    def _take(self, events: Sequence[Any], seq: int, content: Any) -> None:
        renamer, lines = self._renamer, self._lines
        for event in events:
            if type(event) not in LINE_CLASSES:
                event = coerce(event)  # noqa: PLW2901 - it is the same event
                if isinstance(event, Junk):
                    lines.append(renamer.junk(event))
                    continue
            number = renamer.count
            try:
                raw = event.raw
                cause: Any = raw
                if raw is not UNSET:
                    found = seq
                    if raw.payload is not content:
                        found = self._window.find(raw.payload)[0] or seq
                    cause = Cause(raw.source, found, raw.method, raw.messageType)
                lines.append(renamer.line(event, cause))
            except ENDS:
                raise
            except BaseException:  # noqa: BLE001 - whatever a foreign normalizer raises  # Malformed, as in the first run.
                renamer.count = number
                lines.append(renamer.junk(MALFORMED))

    def flush(self) -> bool:
        """Compare what there is so far; return whether it is the same."""
        lines, self._lines = self._lines, []
        if not lines:
            return True
        record = self._record
        room = len(record.bytes) - self._at
        try:
            chunk = encoder.encode_lines(lines)
        except ENDS:
            raise
        except BaseException:  # noqa: BLE001 - not JSON: the `schema` law has said so
            return False
        if room < len(chunk) and not record.keeps:
            # More was given than is kept: the rest is not compared.
            chunk = chunk[:room]
        if record.bytes.startswith(chunk, self._at):
            self._at += len(chunk)
            self._done += len(lines)
            return True
        self._differs(bytes(record.bytes[self._at :]), chunk)
        return False

    def _differs(self, due: bytes, got: bytes) -> None:
        one, other = due.splitlines()[: got.count(b"\n")], got.splitlines()
        for found in explain(one, other, self._done + 1):
            self._law.fail(
                found.path,
                f"{found.expected}, as in the first run",
                found.got,
                "let nothing but the header and the frames decide what is emitted",
                found.where,
            )
        if not self._law.result.violations:
            self._law.fail("", "the same bytes as in the first run", "other bytes")
