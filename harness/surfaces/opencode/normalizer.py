"""The reference normalizer of opencode: its events and answers, DECISIONS.md 5 and 51 to 55."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import UNSET, structs

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.cassette import Frame, Header
from harness.surfaces.ledger import Ledger
from harness.surfaces.lines import exited
from harness.surfaces.opencode.events import Events
from harness.surfaces.opencode.names import (
    Message,
    Told,
    flawed,
    ident,
    route,
    subject,
    table,
    text,
    unwrap,
)
from harness.surfaces.opencode.state import Session

_ENDINGS: Final = frozenset({"SIGTERM", "SIGINT"})
_ODD: Final = (KeyError, TypeError, AttributeError, ValueError)
_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
_PROMPTS: Final = frozenset(
    f"POST /session/{{id}}/{name}" for name in ("prompt_async", "message", "command", "shell")
)


def _is_request(message: Message) -> bool:
    method, path = text(message.get("method")), text(message.get("path"))
    return method.upper() in _METHODS and path.startswith("/")


class Normalizer:
    """See `harness.surfaces.base.Normalizer`."""

    def __init__(self, header: Header) -> None:
        self.ledger = Ledger(header)
        self.sessions: dict[str, Session] = {}
        self.events = Events(self.ledger)
        self.started = False
        self._seen: set[str] = set()
        self._told = Told()
        self._sent: dict[str, tuple[str, str]] = {}
        self._last: Frame | None = None
        self._errors = ""

    def feed(self, frame: Frame) -> Iterable[EventBase]:
        """Return the events that this frame causes."""
        self._last = frame
        channel = frame.channel
        if channel == "sse":
            self._event(frame)
        elif channel == "http":
            self._exchange(frame)
        elif channel == "stderr":
            self._errors = str(frame.content)
        elif channel == "exit":
            self._exit(frame)
        return self.ledger.take()

    def close(self) -> Iterable[EventBase]:
        """Return what the end of the frames causes: whatever is still open is closed."""
        if self._last is not None:
            exit_ = self._last.channel == "exit"
            self.ledger.cause(self._last, "process.exit" if exit_ else "opencode.event")
            self._close_all()
        return self.ledger.take()

    def session(self, native: str) -> Session:
        """Return the session of that id, announced from now on."""
        session = self.sessions.get(native)
        if session is None:
            session = self.sessions[native] = Session(self.ledger, native)
        return session

    def _begin(self, *, synthesized: bool = True) -> None:
        if not self.started:
            self.started = True
            payload = pl.SessionStartedPayload()
            self.ledger.emit(ev.SessionStarted, payload, synthesized=synthesized)

    def _guard(self, what: str, handler: Callable[[], None]) -> None:
        """Handle a message; one that has not the shape of its kind gives a warning."""
        try:
            handler()
        except _ODD as error:
            self.ledger.warn(f"{what} has not the shape that it should: {error!r}")

    def _event(self, frame: Frame) -> None:
        event = unwrap(frame.data)
        kind = event.get("type")
        if not isinstance(kind, str):
            self.ledger.cause(frame, "opencode.event")
            flaw = flawed(frame)
            if flaw != "comment":
                self.ledger.warn(f"the stream held what is no event: {flaw}")
            return
        native = event.get("id")
        if isinstance(native, str):
            if native in self._seen:
                return
            self._seen.add(native)
        self.ledger.cause(frame, "opencode.event", kind)
        self._begin(synthesized=kind != "server.connected")
        properties = table(event.get("properties"))
        if kind == "message.part.updated":
            self._told.part(table(properties.get("part")))
        self._guard(kind, lambda: self.events.handle(kind, properties, self.session))

    def _exchange(self, frame: Frame) -> None:
        message = table(frame.data)
        number = repr(message.get("request"))
        if frame.dir == "out":
            name = route(message.get("method"), message.get("path"))
            self.ledger.cause(frame, "opencode.response", name)
            if not _is_request(message):
                self.ledger.warn("the client sent what is no request")
                # What answers it answers none of the requests before it.
                self._sent.pop(number, None)
                return
            self._sent[number] = (name, subject(message.get("path")))
            self._client(name, subject(message.get("path")))
            return
        name, native = self._sent.pop(number, ("", ""))
        self.ledger.cause(frame, "opencode.response", name or UNSET)
        status = message.get("status")
        if not isinstance(status, int):
            self.ledger.warn("an answer without a status")
        elif status >= 400:  # noqa: PLR2004 - HTTP
            self._refused(name, native, status, message.get("body"))
        else:
            self._guard(name or "an answer", lambda: self._answered(name, native, message))

    def _client(self, name: str, native: str) -> None:
        if name in _PROMPTS and native:
            self._begin()
            session = self.session(native)
            session.announce()
            if session.turn is not None:
                self.ledger.warn("the client prompts while a turn is open", UNSET, session.turn)
            session.begin()
        elif name == "POST /session/{id}/abort" and native:
            self.session(native).asked_abort = self.session(native).turn is not None

    def _refused(self, name: str, native: str, status: int, body: Any) -> None:
        self._begin()
        said = text(table(table(body).get("data")).get("message"))
        what = f"{name or 'a request'}: HTTP {status}" + (f": {said}" if said else "")
        session = self.sessions.get(native)
        place = session.place if session is not None and session.announced else {}
        payload = pl.RuntimeErrorPayload(what, "provider_error", body)
        self.ledger.emit(ev.RuntimeError, payload, **place)
        if name in _PROMPTS and session is not None:
            session.error = what
            session.end()

    def _answered(self, name: str, native: str, message: Message) -> None:
        body = message.get("body")
        if name == "POST /session":
            self._begin(synthesized=False)
            session = self.session(ident(table(body).get("id")))
            if session.announced:
                self.ledger.warn("the answer names a session that is known", UNSET)
            session.announce(synthesized=False)
        elif name == "GET /session/{id}/message":
            self._restored(native, body)
        elif not name:
            self.ledger.warn("an answer to a request that is not known")

    def _restored(self, native: str, body: Any) -> None:
        if not isinstance(body, list):
            self.ledger.warn("the restored history is no list", body)
            return
        self._begin()
        session = self.session(native)
        session.announce()
        if not body:
            self.ledger.warn("the restored history is empty")
        repeats, before = self._told.history(body), self.ledger.count
        for told in body:
            self.events.parts.restored(session, table(told))
        if body and not repeats and self.ledger.count == before:
            self.ledger.warn("the restored history has nothing that is an item", UNSET)

    def _exit(self, frame: Frame) -> None:
        self.ledger.cause(frame, "process.exit")
        idle = all(session.turn is None for session in self.sessions.values())
        self._close_all()
        payload = exited(frame, "" if self.started else self._errors)
        if idle and text(table(frame.data).get("signal")) in _ENDINGS:
            # A server has no other end than to be told so.
            payload = structs.replace(payload, exitKind="graceful")
        self._begin()
        self.ledger.emit(ev.SessionExited, payload)
        self.started = False
        self._told.parts.clear()
        for session in self.sessions.values():
            session.leave()

    def _close_all(self) -> None:
        for session in self.sessions.values():
            session.end(missing=True)
        self.events.requests.close()
