"""A Python normalizer behind the protocol: `python -m harness.subject.serve package.module:name`.

What the normalizer prints goes to stderr. What it raises ends its conversation alone, with the
traceback on stderr.
"""

import gc
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final

import msgspec

from harness.cassette import Header
from harness.ending import ENDS
from harness.subject.base import SubjectError, listed, told
from harness.subject.load import load_subject
from harness.subject.protocol import PROTOCOL, Close, Frames, Open, Request, Start, Stop

_READ: Final = 1 << 16
"""Bytes that are read at once: more would be got from the system anew each time."""
_SAID: Final = 1 << 16
"""Bytes of answers that are written at once, though more was asked already."""

_decode: Final = msgspec.json.Decoder(Request).decode
_encode: Final = msgspec.json.Encoder().encode


class Server:
    """Answers requests. `make(header)` gives a normalizer, as for `--normalizer`."""

    def __init__(self, make: Callable[[Header], Any], about: dict[str, Any]) -> None:
        self.stopped = False
        self._make = make
        self._about = about
        self._open: dict[str, Any] = {}

    def answer(self, line: bytes) -> bytes:
        """Return the answer to a request, a whole line."""
        try:
            request = _decode(line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            return _failed(_id_of(line), f"not a request of protocol version {PROTOCOL}: {error}")
        try:
            return self._answer(request)
        except ENDS:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a foreign normalizer raises
            traceback.print_exc()
            conversation = getattr(request, "conversation", "")
            frame = getattr(self._open.pop(conversation, None), "seq", 0)
            return _failed(request.id, f"{type(error).__name__}: {told(error)}", frame)

    def _answer(self, request: Any) -> bytes:
        id_ = request.id
        if isinstance(request, Frames):
            served = self._of(request.conversation)
            feed = served.feed
            given = []
            for frame in request.frames:
                served.seq = frame.seq
                events = feed(frame)
                given.append(events if type(events) is list else listed(events))
            return _answered(id_, given)
        if isinstance(request, Open):
            self._open[request.conversation] = _Served(self._make(request.header))
        elif isinstance(request, Close):
            served = self._of(request.conversation)
            events = listed(served.close())
            del self._open[request.conversation]
            return _answered(id_, events)
        elif isinstance(request, Start):
            return _encode({"id": id_, "protocol": PROTOCOL, **self._about}) + b"\n"
        elif isinstance(request, Stop):
            self.stopped = True
        return b'{"id":%d}\n' % id_

    def _of(self, conversation: str) -> "_Served":
        served: _Served | None = self._open.get(conversation)
        if served is None:
            raise LookupError(f"no conversation {conversation!r} is open")
        return served


class _Served:
    """A normalizer, and the `seq` of the frame that it was fed last."""

    __slots__ = ("close", "feed", "seq")

    def __init__(self, normalizer: Any) -> None:
        self.feed = normalizer.feed
        self.close = normalizer.close
        self.seq = 0


def _answered(id_: int, events: list[Any]) -> bytes:
    try:
        return b'{"id":%d,"events":%b}\n' % (id_, _encode(events))
    except ENDS:
        raise
    except BaseException:  # noqa: BLE001 - whatever a foreign value does when written
        return b'{"id":%d,"events":%b}\n' % (id_, _encode(_json(events)))


def _json(events: Any) -> Any:
    """As it is, JSON text as what it says; what cannot be written as what it is."""
    if isinstance(events, list):
        return [_json(each) for each in events]
    try:
        return msgspec.Raw(_encode(events))
    except ENDS:
        raise
    except BaseException:  # noqa: BLE001 - as above
        return f"<{type(events).__name__}, which is no JSON>"


def _failed(id_: int, message: str, frame: int = 0) -> bytes:
    fault = {"message": message} | ({"frame": frame} if frame else {})
    return _encode({"id": id_, "error": fault}) + b"\n"


def _id_of(line: bytes) -> int:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return 0
    id_ = value.get("id") if isinstance(value, dict) else None
    return id_ if isinstance(id_, int) else 0


def serve(make: Callable[[Header], Any], **about: Any) -> None:
    """Answer requests on standard input until `stop`, or its end.

    `about` is what the answer to `start` says: `name`, `version`, and `surfaces` and `levels`
    where not all of them are claimed.
    """
    said = {"name": getattr(make, "__name__", "normalizer"), "version": "0", "language": "python"}
    server = Server(make, said | about)
    # What was imported stays, and frames and events make no cycles; a normalizer may.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    # What the normalizer prints is no answer.
    out = os.dup(1)
    os.dup2(2, 1)
    answers: list[bytes] = []
    held = 0
    rest = b""
    while not server.stopped and (data := os.read(0, _READ)):
        # A line longer than a read: its parts are joined once.
        parts = [rest, data]
        while b"\n" not in parts[-1] and (data := os.read(0, _READ)):
            parts.append(data)
        *lines, rest = b"".join(parts).split(b"\n")
        for line in lines:
            answers.append(server.answer(line))
            held += len(answers[-1])
            if held > _SAID:
                _write(out, answers)
                held = 0
        _write(out, answers)
        held = 0


def _write(out: int, answers: list[bytes]) -> None:
    data = memoryview(b"".join(answers))
    answers.clear()
    while data:
        data = data[os.write(out, data) :]


def main(arguments: list[str]) -> int:
    """Serve the normalizer that `package.module:name` names; return the exit code."""
    if len(arguments) != 1:
        print("usage: python -m harness.subject.serve package.module:name", file=sys.stderr)
        return 2
    (spec,) = arguments
    try:
        subject = load_subject(spec)
    except SubjectError as error:
        print(error, file=sys.stderr)
        return 5
    claims = subject.claims
    about: dict[str, Any] = {"name": spec, "version": claims.version or "0"}
    if claims.surfaces is not None:
        about["surfaces"] = sorted(claims.surfaces)
    if claims.levels is not None:
        about["levels"] = sorted(claims.levels)
    serve(subject.make, **about)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
