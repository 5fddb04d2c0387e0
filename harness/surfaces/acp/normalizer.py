"""The reference normalizer of ACP: EVENTS.md 5, DECISIONS.md 5, 6 and 31 to 36."""

from typing import Any

from msgspec import UNSET

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import RawSource
from harness.cassette import Frame, Header
from harness.surfaces import lenient
from harness.surfaces.acp import updates
from harness.surfaces.acp.answers import Answers
from harness.surfaces.acp.names import CLIENT, Message, is_response, key, read, table
from harness.surfaces.acp.questions import Questions
from harness.surfaces.acp.state import Prompt, Session
from harness.surfaces.ledger import Ledger
from harness.surfaces.lines import LineNormalizer


class Normalizer(LineNormalizer):
    """See `harness.surfaces.base.Normalizer`."""

    notification: RawSource = "acp.notification"
    request: RawSource = "acp.request"
    response: RawSource = "acp.response"

    def __init__(self, header: Header) -> None:
        super().__init__(Ledger(header))
        self.sessions: dict[str, Session] = {}
        self.questions = Questions(self.ledger)
        self.answers = Answers(self.ledger, self.session)
        self.updates = dict(updates.HANDLERS)

    def read(self, frame: Frame) -> lenient.Reading:
        """See `LineNormalizer.read`."""
        return read(frame)

    def warn(self, message: str) -> None:
        """See `LineNormalizer.warn`."""
        self.ledger.warn(message)

    def new_process(self, frame: Frame) -> None:  # noqa: ARG002 - its command line says nothing
        """See `LineNormalizer.new_process`. Its first answer is the evidence of a session."""
        self.answers.new_process()
        self.questions.new_process()

    def session(self, native: Any) -> Session:
        """Return the session of that native id, known from now on."""
        name = native if isinstance(native, str) else ""
        session = self.sessions.get(name)
        if session is None:
            session = self.sessions[name] = Session(self.ledger, name)
        return session

    def message(self, frame: Frame, message: Message) -> None:
        """See `LineNormalizer.message`."""
        method = message.get("method")
        if not isinstance(method, str):
            if not is_response(message):
                self.noise(frame)
                return
            self.ledger.cause(frame, self.response)
            self.guard(self.answers.answered, message, "a response")
        elif "id" in message:
            self.ledger.cause(frame, self.request, method)
            self.guard(self._asked, message, method)
        else:
            self.ledger.cause(frame, self.notification, method)
            self.guard(self.notified, message, method)

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

    def client(self, frame: Frame, message: Message) -> None:
        """See `LineNormalizer.client`."""
        method = message.get("method")
        if not isinstance(method, str):
            if not is_response(message):
                self.noise(frame)
                return
            self.ledger.cause(frame, self.response)
            self.guard(self.questions.answer, message, "a response")
            return
        self.ledger.cause(frame, self.request if "id" in message else self.notification, method)
        self.guard(self._sent, message, method)

    def _sent(self, message: Message) -> None:
        method = message["method"]
        params = table(message.get("params"))
        if method not in CLIENT:
            self.ledger.warn(f"the client's {method} is not known")
        if method == "session/cancel":
            for prompt in self.session(params.get("sessionId")).prompts.values():
                prompt.cancelled = True
        elif method in {"session/load", "session/resume"}:
            self.session(params.get("sessionId")).replay()
        if "id" not in message:
            if method == "session/prompt":
                self.ledger.warn("the client's prompt has no id: nothing can answer it")
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

    def begin(self) -> bool:
        """See `LineNormalizer.begin`."""
        said = self.answers.started
        self.answers.start(synthesized=True)
        return said

    def ended(self, payload: pl.SessionExitedPayload) -> None:
        """See `LineNormalizer.ended`."""
        self.ledger.emit(ev.SessionExited, payload)
        self.answers.forget()

    def close_all(self) -> None:
        """See `LineNormalizer.close_all`."""
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

    def wire(self, frame: Frame) -> RawSource:
        """See `LineNormalizer.wire`."""
        return self.notification if frame.dir == "in" else self.request
