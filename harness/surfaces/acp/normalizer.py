"""The reference normalizer of ACP: EVENTS.md 5, DECISIONS.md 5, 6 and 31 to 36."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import UNSET

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import RawSource
from harness.cassette import Frame, Header
from harness.surfaces import lenient
from harness.surfaces.acp import updates
from harness.surfaces.acp.answers import Answers
from harness.surfaces.acp.names import CLIENT, Message, is_response, key, table
from harness.surfaces.acp.questions import Questions
from harness.surfaces.acp.state import Prompt, Session
from harness.surfaces.ledger import Ledger
from harness.surfaces.lines import exited

_ODD: Final = (KeyError, TypeError, AttributeError, ValueError)


class Normalizer:
    """See `harness.surfaces.base.Normalizer`."""

    notification: RawSource = "acp.notification"
    request: RawSource = "acp.request"
    response: RawSource = "acp.response"

    def __init__(self, header: Header) -> None:
        self.ledger = ledger = Ledger(header)
        self.sessions: dict[str, Session] = {}
        self.questions = Questions(ledger)
        self.answers = Answers(ledger, self.session)
        self.updates = dict(updates.HANDLERS)
        self._last: Frame | None = None
        self._errors = ""

    def feed(self, frame: Frame) -> Iterable[EventBase]:
        """Return the events that this frame causes."""
        self._last = frame
        channel = frame.channel
        if channel in {"stdout", "stdin"}:
            self._line(frame)
        elif channel == "stderr":
            self._errors = str(frame.content)
        elif channel == "exit":
            self._exit(frame)
        return self.ledger.take()

    def close(self) -> Iterable[EventBase]:
        """Return what the end of the frames causes: whatever is still open is closed."""
        if self._last is not None:
            self.ledger.cause(self._last, self._source(self._last))
        self._close_all()
        return self.ledger.take()

    def session(self, native: Any) -> Session:
        """Return the session of that native id, known from now on."""
        name = native if isinstance(native, str) else ""
        session = self.sessions.get(name)
        if session is None:
            session = self.sessions[name] = Session(self.ledger, name)
        return session

    def _line(self, frame: Frame) -> None:
        handle = self._agent if frame.channel == "stdout" else self._client
        if type(frame.data) is dict:
            handle(frame, frame.data)
            return
        reading = lenient.read(frame)
        for message in reading.messages:
            handle(frame, message)
        if not reading.messages:
            self._noise(frame)
        elif reading.flaw:
            self.ledger.warn(reading.flaw)

    def _noise(self, frame: Frame) -> None:
        self.ledger.cause(frame, "process.stdout")
        who = "the agent" if frame.channel == "stdout" else "the client"
        self.ledger.warn(f"{who} sent a line that is not of the protocol")

    def _guard(self, handler: Callable[[Message], None], message: Message) -> None:
        """Handle a message; one that has not the shape of its kind gives a warning."""
        try:
            handler(message)
        except _ODD as error:
            name = message.get("method", "a response")
            self.ledger.warn(f"{name} has not the shape that it should: {error!r}")

    def _agent(self, frame: Frame, message: Message) -> None:
        method = message.get("method")
        if not isinstance(method, str):
            if not is_response(message):
                self._noise(frame)
                return
            self.ledger.cause(frame, self.response)
            self._guard(self.answers.answered, message)
        elif "id" in message:
            self.ledger.cause(frame, self.request, method)
            self._guard(self._asked, message)
        else:
            self.ledger.cause(frame, self.notification, method)
            self._guard(self.notified, message)

    def _asked(self, message: Message) -> None:
        session = self.session(table(message.get("params")).get("sessionId"))
        self._presuppose(session)
        self.questions.ask(session, message)

    def notified(self, message: Message) -> None:
        """Handle a notification of the agent's."""
        if message["method"] != "session/update":
            self.ledger.warn(f"{message['method']} is not known")
            return
        params = message["params"]
        session = self.session(params["sessionId"])
        update = params["update"]
        kind = update["sessionUpdate"]
        self._presuppose(session)
        handler = self.updates.get(kind)
        if handler is None:
            self.ledger.warn(f"session/update {kind} is not known", UNSET, session.turn)
            return
        handler(session, update)

    def _presuppose(self, session: Session) -> None:
        """Start the session that a frame presupposes, before the answer that names it."""
        self.answers.start(synthesized=True)
        session.announce(synthesized=True)

    def _client(self, frame: Frame, message: Message) -> None:
        method = message.get("method")
        if not isinstance(method, str):
            if not is_response(message):
                self._noise(frame)
                return
            self.ledger.cause(frame, self.response)
            self._guard(self.questions.answer, message)
            return
        self.ledger.cause(frame, self.request if "id" in message else self.notification, method)
        self._guard(self._sent, message)

    def _sent(self, message: Message) -> None:
        method = message["method"]
        params = table(message.get("params"))
        if method not in CLIENT:
            self.ledger.warn(f"the client's {method} is not known")
        if method == "session/cancel":
            for prompt in self.session(params.get("sessionId")).prompts.values():
                prompt.cancelled = True
        elif method in {"session/load", "session/resume"}:
            self.session(params.get("sessionId")).replays = True
        if "id" not in message:
            return
        self.answers.expect(message["id"], method, params)
        if method == "session/prompt":
            session = self.session(params.get("sessionId"))
            self._presuppose(session)
            session.hush()
            session.close_tools(None)
            session.replays = False
            old = session.prompts.get(key(message["id"]))
            if old is not None:
                self._lost(session, old)
            turn = self.ledger.start_turn(repr(message["id"]), session.thread, session.refs)
            session.prompts[key(message["id"])] = Prompt(turn)

    def _exit(self, frame: Frame) -> None:
        self.ledger.cause(frame, "process.exit")
        self._close_all()
        payload = exited(frame, "" if self.answers.started else self._errors)
        self.answers.start(synthesized=True)
        self.ledger.emit(ev.SessionExited, payload)
        self.answers.forget()

    def _close_all(self) -> None:
        for session in self.sessions.values():
            session.hush()
            for prompt in session.prompts.values():
                self._lost(session, prompt)
            session.prompts.clear()
            session.close_tools(None)
        self.questions.close()

    def _lost(self, session: Session, prompt: Prompt) -> None:
        """End a turn whose prompt is not answered any more."""
        session.close_tools(prompt.turn)
        payload = pl.TurnCompletedPayload("interrupted", "missing-terminal")
        self.ledger.end_turn(prompt.turn, payload, synthesized=True)

    def _source(self, frame: Frame) -> RawSource:
        if frame.channel == "exit":
            return "process.exit"
        if frame.channel == "stderr":
            return "process.stderr"
        if type(frame.data) is not dict:
            return "process.stdout"
        return self.notification if frame.dir == "in" else self.request
