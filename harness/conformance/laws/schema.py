"""`schema`: every event is one of EVENTS.md's, field for field."""

import re
from typing import Any

import msgspec

from harness.conformance.form import Cause, JunkLine, Line, decoder, encoder
from harness.conformance.law import SHOWN, Law, Where
from harness.ending import ENDS
from harness.subject import Junk, said

_AT = re.compile(r"^(?P<problem>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_HINT = "compare the event with `harness schema`"


class Schema(Law):
    """Judges the canonical form, in batches: `$.raw.payload` and `createdAt` have other laws."""

    id = "schema"
    statement = "every event is valid after the schema: known type, fields and values, none missing"
    source = "EVENTS.md 1.1-1.5"
    example = "itemType is `bash`"

    def batch(self, chunk: bytes, lines: list[Line | JunkLine], places: list[str]) -> None:
        """Judge the lines of a chunk. `places` are the native kinds that they came with."""
        try:
            decoder.decode_lines(chunk)
        except (msgspec.MsgspecError, UnicodeError):
            for line, kind in zip(lines, places, strict=True):
                self.one(line, kind)

    def one(self, line: Line | JunkLine, kind: str) -> None:
        """Judge one line, and say what is wrong with it."""
        # What is no event was reported when it came.
        if isinstance(line, JunkLine):
            return
        where = _where(line, kind)
        try:
            encoded = encoder.encode(line)
        except ENDS:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a foreign value does when written
            problem = said(error)
            self.fail("", "an event that is JSON", problem[:SHOWN], _HINT, where)
            return
        try:
            decoder.decode(encoded)
        except (msgspec.MsgspecError, UnicodeError) as error:
            self._problem(str(error), encoded.decode()[:SHOWN], where)

    def junk(self, junk: Junk) -> None:
        """Report something that is no event, where the run is now."""
        where = self.place.now()._replace(type=junk.type)
        self._problem(junk.problem, junk.shown[:SHOWN], where)

    def _problem(self, text: str, got: str, where: Where) -> None:
        match = _AT.match(text)
        problem, path = match.group("problem", "path") if match else (text, None)
        self.fail((path or "").removeprefix("$").removeprefix("."), problem, got, _HINT, where)


def _where(line: Any, kind: str) -> Where:
    frame = line.raw.frame if isinstance(line.raw, Cause) else 0
    tag = str(line.__struct_config__.tag)
    return Where(frame, kind, int(line.eventId.removeprefix("evt-")), tag)
