"""The reference normalizer of Cursor's ACP: ACP's, and the `cursor/*` methods.

`cursor/ask_question` and `cursor/create_plan` wait for an answer; `cursor/update_todos`,
`cursor/task` and `cursor/generate_image` do not, and come as notifications or as requests.
"""

from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import RawSource
from harness.cassette import Header
from harness.surfaces.acp import updates
from harness.surfaces.acp.names import Message, table, text
from harness.surfaces.acp.normalizer import Normalizer as Acp
from harness.surfaces.acp.questions import Questions
from harness.surfaces.acp.state import Session
from harness.surfaces.cursor_acp.todos import Todos
from harness.surfaces.ledger import Ledger

TOLD: Final = frozenset({"cursor/update_todos", "cursor/task", "cursor/generate_image"})
"""The methods that do not wait for an answer."""


class CursorQuestions(Questions):
    """The agent's requests, those of `cursor/*` among them."""

    def __init__(self, ledger: Ledger, todos: Todos) -> None:
        super().__init__(ledger)
        self.todos = todos

    def asked(self, session: Session, method: str, id_: Any, params: Message) -> None:
        """Open what the method asks; one that is told of waits for no answer."""
        if method == "cursor/ask_question":
            detail = text(params.get("title"))
            self.opens(session, id_, method, "tool_user_input", detail, params)
            payload = pl.UserInputRequestedPayload(params["questions"])
            self.ledger.emit(ev.UserInputRequested, payload, **self.place(session, id_))
        elif method == "cursor/create_plan":
            self.opens(session, id_, method, "unknown", text(params.get("name")), params)
            entries = self.todos.take(params.get("todos") or [], merge=False)
            words = text(params.get("plan")) or text(params.get("overview"))
            _tell(session, entries, words)
        elif method in TOLD:
            self.opens(session, id_, method, "unknown", method, params)
            told(session, self.todos, method, params)
        else:
            super().asked(session, method, id_, params)


def told(session: Session, todos: Todos, method: str, params: Message) -> None:
    """Handle what does not wait for an answer."""
    ledger = session.ledger
    if method == "cursor/update_todos":
        merge = params.get("merge") is True
        _tell(session, todos.take(params["todos"], merge=merge))
        return
    # EVENTS.md has a task's life and no event for one that is only told of, nor one for images.
    ledger.warn(f"{method}: {_words(params)}", params, session.turn)


def _tell(session: Session, entries: list[Message], words: str | UnsetType = UNSET) -> None:
    """Tell the todos whose status the model has; a warning names the others (DECISIONS.md 2)."""
    known = [e for e in entries if e["status"] in updates.STEPS]
    odd = [e for e in entries if e["status"] not in updates.STEPS]
    updates.plan(session, known, words)
    if odd:
        said = ", ".join(f"{e['content']!r} is {e['status']!r}" for e in odd)
        session.ledger.warn(f"todos with a status that is not known: {said}", odd, session.turn)


def _words(params: Message) -> str:
    for field in ("description", "title", "toolCallId"):
        if isinstance(params.get(field), str):
            return str(params[field])
    return "told"


class Normalizer(Acp):
    """See `harness.surfaces.base.Normalizer`."""

    notification: RawSource = "cursor.acp.notification"
    request: RawSource = "cursor.acp.request"
    response: RawSource = "cursor.acp.response"

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        self.todos = Todos()
        self.questions = CursorQuestions(self.ledger, self.todos)

    def notified(self, message: Message) -> None:
        """Handle a notification of the agent's; those of `cursor/*` need not name a session."""
        method = message["method"]
        if method not in TOLD:
            super().notified(message)
            return
        params = table(message.get("params"))
        told(self._named(params), self.todos, method, params)

    def _asked(self, message: Message) -> None:
        session = self._named(table(message.get("params")))
        if message["method"].startswith("cursor/"):
            self.answers.start(synthesized=True)
            self.questions.ask(session, message)
        else:
            super()._asked(message)

    def _named(self, params: Message) -> Session:
        """The session of a message; without a name it is the only one that there is."""
        native: Any = params.get("sessionId")
        if native is None and len(self.sessions) == 1:
            return next(iter(self.sessions.values()))
        return self.session(native)
