"""A turn of the scenario held against the events of the stream: what the client does. Sans-io."""

from typing import Any, Final

from msgspec import Struct

from harness.scenarios import Say
from harness.scenarios.model import Turn
from harness.surfaces.opencode.names import Message, grows, session_of, table, text

_REPLIES: Final = {"allow": "once", "decline": "reject", "always": "always"}
_ASKED: Final = ("permission.asked", "question.asked")
LATE: Final = 3.0
"""The seconds after which something that may well not come is no longer waited for."""


class Request(Struct, frozen=True):
    """A request to the server; `body` is None for one without.

    `long` is one that the server answers once the turn is over.
    """

    method: str
    path: str
    body: Any = None
    long: bool = False


class Unknown(Struct, frozen=True):
    """The agent asks something that this client does not know."""

    what: str


class TurnStory:
    """One turn: from its prompt until the session is idle and all that belongs to it is told.

    The server tells some of a turn when it is idle already: that its last message is whole, and,
    from a task of its own for the prompt and for each step, what files the turn has changed. The
    client waits for these events; where they do not come it goes on after `patience` seconds.
    """

    def __init__(self, turn: Turn, session: str) -> None:
        self._turn = turn
        self._session = session
        self._family = {session}
        self._texts: set[str] = set()
        self._said = ""
        self._answer = ""
        self._whole = self._stopped = self._begun = False
        self._executed = not turn.command
        self._idle = 0
        self._idle_due = 1
        self._summaries = 0
        self._steps = 0

    @property
    def patience(self) -> float | None:
        """The seconds of silence after which the turn is over; None while it has none."""
        return LATE if self._idle else None

    @property
    def over(self) -> bool:
        """Whether all of the turn has been told."""
        told = self._whole and self._executed and self._summaries > self._steps
        return self._idle >= self._idle_due and (told or not self._answer)

    @property
    def awaiting(self) -> str:
        """What of the agent's is waited for."""
        return "the last events of the turn" if self._idle else "session.idle"

    def prompt(self) -> Request:
        """Return the request that begins the turn."""
        path = f"/session/{self._session}"
        agent = {"agent": self._turn.client.mode} if self._turn.client.mode else {}
        if self._turn.command:
            body = {"command": self._turn.command, "arguments": "", **agent}
            return Request("POST", f"{path}/command", body, long=True)
        parts = [{"type": "text", "text": self._turn.prompt}]
        return Request("POST", f"{path}/prompt_async", {"parts": parts, **agent})

    @property
    def is_to_stop_once_held(self) -> bool:
        """Whether the client aborts now that the model's answer has begun, and says nothing."""
        held = self._turn.client.interrupt in {"start", "held"}
        return self._begun and held and not self._stopped

    @property
    def stopped(self) -> bool:
        """Whether the client has aborted the turn, or it has nothing to abort."""
        return self._stopped or bool(self._idle)

    def stop(self) -> Request:
        """Return the request that aborts the turn."""
        self._stopped = True
        return Request("POST", f"/session/{self._session}/abort")

    def on_event(self, event: Message) -> list[Request | Unknown]:
        """Return what the client does once it has seen an event."""
        kind, properties = text(event.get("type")), table(event.get("properties"))
        session = session_of(kind, properties)
        info = table(properties.get("info"))
        if kind == "session.created" and info.get("parentID") in self._family:
            # A sub-agent's session asks the same client.
            self._family.add(session)
        if session not in self._family:
            return []
        if kind.endswith(".asked"):
            return [self._asked(kind, properties)]
        if session != self._session:
            return []
        self._note(kind, properties, info)
        if self._is_time_to_stop(kind, properties):
            return [self.stop()]
        return []

    def _asked(self, kind: str, properties: Message) -> Request | Unknown:
        native = text(properties.get("id"))
        if kind == "permission.asked":
            reply = _REPLIES[self._turn.client.approvals]
            return Request("POST", f"/permission/{native}/reply", {"reply": reply})
        if kind == "question.asked":
            return self._answered(native, properties)
        return Unknown(kind)

    def _answered(self, native: str, properties: Message) -> Request:
        """Answer with the scenario's words; without any in it, no answer is made up."""
        client = self._turn.client
        questions = properties.get("questions")
        if not client.answer or not isinstance(questions, list):
            return Request("POST", f"/question/{native}/reject")
        answers = [[client.answer_to(number)] for number in range(len(questions))]
        return Request("POST", f"/question/{native}/reply", {"answers": answers})

    def _note(self, kind: str, properties: Message, info: Message) -> None:
        part = table(properties.get("part"))
        if kind == "session.idle":
            self._idle += 1
        elif kind == "command.executed":
            self._executed = True
        elif kind == "session.error":
            # A failure, an abort too, is told before the message's end: idle comes again after it.
            self._idle_due = 2
        elif kind == "message.updated" and info.get("role") == "assistant":
            self._answer = text(info.get("id"))
            self._whole = "completed" in table(info.get("time"))
        elif kind == "message.updated" and "summary" in info:
            self._summaries += 1
        elif kind == "message.part.updated" and part.get("type") == "step-finish":
            self._steps += 1
        elif kind == "message.part.updated" and part.get("type") == "step-start":
            self._begun = True
        elif kind == "message.part.updated" and part.get("type") == "text":
            self._texts.add(text(part.get("id")))
        elif kind == "message.part.delta" and properties.get("partID") in self._texts:
            self._said += text(properties.get("delta"))

    def _is_time_to_stop(self, kind: str, properties: Message) -> bool:
        """Whether all that comes before the abort has come: so each recording is the same."""
        when = self._turn.client.interrupt
        if self._stopped or when not in {"text", "command"}:
            return False
        if when == "command":
            return grows(table(properties.get("part")))
        says = [step.text for step in self._turn.model if isinstance(step, Say)]
        return kind == "message.part.delta" and self._said.endswith(says[-1])
