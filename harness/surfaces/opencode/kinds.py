"""Names the native kind of each frame of an opencode conversation."""

from typing import Any, Final

from harness.cassette import Frame
from harness.surfaces.opencode.names import (
    Told,
    changed_files,
    flawed,
    grows,
    route,
    table,
    text,
    unwrap,
)

_HISTORY: Final = "GET /session/{id}/message"


class Kinds:
    """See `harness.surfaces.base.Kinds`.

    An event is named by its type, `message.part.updated` with the part's type, and `output` where
    it tells what a running tool has put out so far, `message.updated` with the role, and `diff`
    where it tells of changed files; an exchange by its route. `repeat event` is an event whose id
    was there before, `repeat response ROUTE` a history that the process has told already;
    `comment` and `incomplete` are what of the stream is no event.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._sent: dict[Any, str] = {}
        self._told = Told()

    def of(self, frame: Frame) -> str:
        """Return the frame's kind."""
        if frame.channel == "sse":
            return self._event(frame)
        if frame.channel == "http":
            return self._exchange(frame)
        if frame.channel == "exit":
            self._told.parts.clear()
        return frame.channel

    def _event(self, frame: Frame) -> str:
        event = unwrap(frame.data)
        kind = event.get("type")
        if not isinstance(kind, str):
            return flawed(frame)
        native = event.get("id")
        if isinstance(native, str):
            if native in self._seen:
                return "repeat event"
            self._seen.add(native)
        properties = table(event.get("properties"))
        if kind == "message.part.updated":
            part = table(properties.get("part"))
            self._told.part(part)
            output = " output" if grows(part) else ""
            return f"{kind} {text(part.get('type')) or 'unknown'}{output}"
        if kind == "message.updated":
            info = table(properties.get("info"))
            diff = " diff" if info.get("role") == "user" and changed_files(info) else ""
            return f"{kind} {text(info.get('role')) or 'unknown'}{diff}"
        return kind

    def _exchange(self, frame: Frame) -> str:
        message = table(frame.data)
        if frame.dir == "out":
            name = route(message.get("method"), message.get("path"))
            if "method" not in message:
                return "client noise"
            self._sent[repr(message.get("request"))] = name
            return f"client {name}"
        status = message.get("status")
        if not isinstance(status, int):
            return "noise"
        name = self._sent.pop(repr(message.get("request")), "unknown")
        if name == _HISTORY and status < 400 and self._told.history(message.get("body")):  # noqa: PLR2004 - HTTP
            return f"repeat response {name}"
        return f"{'error' if status >= 400 else 'response'} {name}"  # noqa: PLR2004 - HTTP
