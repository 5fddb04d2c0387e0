"""The corpus as the page holds it: frames and the events they caused, line by line, compressed.

A cassette is a head line and then, in the order of the conversation, a line for each frame and
for each event: a letter, the envelope as JSON, a tab, the content as JSON. The content is text
to the page: it is shown as it stands, so that no number of it is rounded by a JSON parser.

- `C {"id", "frames", "events", "kinds", "why", "header", "footer"}`
- `F [seq, at, dir, channel, kind, field] TAB content`; `kind` is an index into `kinds`
- `E [number, frame, type, source, method, messageType, ids, refs] TAB payload`; `ids` are the
  thread's, turn's, item's and request's, empty where there is none

Neighbours resemble each other, so the cassettes of one agent are compressed together.
"""

import base64
import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from harness.canonical import EventBase
from harness.cassette import Frame, open_cassette
from harness.conformance.form import Renamer
from harness.surfaces import surface

BUNDLE: Final = 600_000
"""Bytes of a bundle before it is compressed: what a reader waits for at a click."""

_DEEP: Final = b'"(nested too deeply to be shown)"'
_encode = msgspec.json.Encoder(order="deterministic").encode


class Tape(Struct, frozen=True):
    """One cassette, ready for the page. `events` is how many it caused."""

    id: str
    events: int
    lines: bytes


class Bundle(Struct, frozen=True):
    """Some cassettes of one agent, compressed: base64 of gzip."""

    ids: list[str]
    data: str


def tape(path: Path) -> Tape:
    """Return a cassette with the events of its surface's reference normalizer.

    Raises CassetteError and SurfaceError.
    """
    with open_cassette(path) as cassette:
        header = cassette.header
        room = surface(header.surface)
        namer, normalizer = room.kinds(), room.normalizer(header)
        renamer, kinds, body = Renamer(), _Numbers(), []
        seq = 0
        for frame in cassette:
            seq = frame.seq
            body.append(_frame(frame, kinds[namer.of(frame)]))
            body += _events(normalizer.feed(frame), seq, renamer)
        body += _events(normalizer.close(), seq, renamer)
        known = room.vocabulary.kinds
        head = {
            "id": header.id,
            "frames": seq,
            "events": renamer.count,
            "kinds": list(kinds),
            "why": {k: known[k].ignored for k in kinds if k in known and known[k].ignored},
            "header": header,
            "footer": cassette.footer,
        }
    lines = b"\n".join([b"C" + _json(head), *body])
    return Tape(header.id, renamer.count, lines)


def bundles(tapes: Iterable[Tape]) -> Iterator[Bundle]:
    """Compress the cassettes, those of one agent together, in their order."""
    ids: list[str] = []
    parts: list[bytes] = []
    for one in tapes:
        full = sum(map(len, parts)) + len(one.lines) > BUNDLE
        if ids and (full or _agent(ids[-1]) != _agent(one.id)):
            yield Bundle(ids, compressed(b"\n".join(parts)))
            ids, parts = [], []
        ids.append(one.id)
        parts.append(one.lines)
    if ids:
        yield Bundle(ids, compressed(b"\n".join(parts)))


def compressed(content: bytes) -> str:
    """Return base64 of gzip, without a time: the same text for the same content."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


class _Numbers(dict[str, int]):
    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number


def _agent(cassette: str) -> str:
    return cassette.rsplit("/", 1)[0]


def _frame(frame: Frame, kind: int) -> bytes:
    field = "data" if frame.data is not UNSET else "text" if frame.text is not UNSET else "b64"
    envelope = [frame.seq, frame.at, frame.dir, frame.channel, kind, field]
    return b"F" + _json(envelope) + b"\t" + _json(frame.content, deterministic=False)


def _events(events: Iterable[EventBase], seq: int, renamer: Renamer) -> Iterator[bytes]:
    for event in events:
        line = renamer.line(event, UNSET)
        raw = event.raw
        source = "" if raw is UNSET else raw.source
        names = (UNSET, UNSET) if raw is UNSET else (raw.method, raw.messageType)
        ids = (line.threadId, line.turnId, line.itemId, line.requestId)
        refs: Any = {} if line.providerRefs is UNSET else line.providerRefs
        own = [_text(i) for i in ids]
        envelope = [renamer.count, seq, event.type, source, *map(_text, names), own, refs]
        yield b"E" + _json(envelope) + b"\t" + _json(line.payload)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _json(value: Any, *, deterministic: bool = True) -> bytes:
    try:
        return _encode(value) if deterministic else msgspec.json.encode(value)
    except RecursionError:
        return _DEEP
