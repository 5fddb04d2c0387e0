"""Permissions and questions, in their three spellings: asked, replied, rejected."""

from typing import Any

from msgspec import UNSET, structs

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.surfaces.ledger import Ledger, Request
from harness.surfaces.opencode.names import REQUESTS, Message, ident, table, text
from harness.surfaces.opencode.state import Session


class Requests:
    """What is asked of the client. The agent's own `replied` resolves it (DECISIONS.md 52)."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._open: dict[str, tuple[Request, str]] = {}

    def asked(self, session: Session, properties: Message) -> None:
        """Handle `permission.asked`, `permission.v2.asked` and the older `permission.updated`."""
        native = ident(properties["id"])
        names = (text(properties.get(key)) for key in ("permission", "action", "type"))
        name = next(filter(None, names), "")
        call = text(table(properties.get("tool")).get("callID")) or text(properties.get("callID"))
        call = call or text(table(properties.get("source")).get("callID"))
        payload = pl.RequestOpenedPayload(
            REQUESTS.get(name, "unknown"),
            text(properties.get("title")) or _subject(properties) or name or UNSET,
            properties,
        )
        self._ask(session, native, payload, call)

    def questioned(self, session: Session, properties: Message) -> None:
        """Handle `question.asked` and `question.v2.asked`."""
        native, questions = ident(properties["id"]), properties["questions"]
        payload = pl.RequestOpenedPayload("tool_user_input", args=properties)
        call = text(table(properties.get("tool")).get("callID"))
        if self._ask(session, native, payload, call):
            request = self._open[native][0]
            self._user_input(
                session, request, ev.UserInputRequested, pl.UserInputRequestedPayload(questions)
            )

    def replied(self, session: Session, properties: Message) -> None:
        """Handle a reply to a permission: `requestID, reply`, or `permissionID, response`."""
        native = text(properties.get("requestID")) or text(properties.get("permissionID"))
        reply: Any = text(properties.get("reply")) or text(properties.get("response")) or UNSET
        known = self._open.pop(native, None)
        if known is None:
            self.ledger.warn("a reply to what is not open", properties, session.turn)
            return
        request, call = known
        if not request.open:
            self.ledger.warn("a reply to what its turn has closed", properties, session.turn)
            return
        if reply == "reject" and call:
            session.declined.add(call)
        self.ledger.resolve(request, reply, properties)

    def answered(self, session: Session, properties: Message) -> None:
        """Handle `question.replied` (with `answers`) and `question.rejected` (without)."""
        known = self._open.pop(text(properties.get("requestID")), None)
        if known is None or not known[0].open:
            self.ledger.warn("an answer to what is not open", properties, session.turn)
            return
        request, call = known
        if call and "answers" not in properties:
            session.declined.add(call)
        answers = properties.get("answers")
        payload = pl.UserInputResolvedPayload(answers if "answers" in properties else [])
        self._user_input(session, request, ev.UserInputResolved, payload)
        decision = "answered" if "answers" in properties else "rejected"
        self.ledger.resolve(request, decision, properties)

    def close(self) -> None:
        """Resolve, as cancelled, what is open outside of any turn."""
        for request, _ in self._open.values():
            self.ledger.resolve(request, "cancelled", synthesized=True)
        self._open.clear()

    def _ask(
        self, session: Session, native: str, payload: pl.RequestOpenedPayload, call: str
    ) -> bool:
        if native in self._open and self._open[native][0].open:
            self.ledger.warn("what is open was asked again", UNSET, session.turn)
            return False
        session.evidence = True
        turn = session.begin(synthesized=True)
        refs = structs.replace(session.refs, providerRequestId=native)
        part = session.calls.get(call)
        request = self.ledger.open_request(
            turn, native, payload, refs, part.item if part is not None else None
        )
        self._open[native] = (request, call)
        return True

    def _user_input(self, session: Session, request: Request, kind: Any, payload: Any) -> None:
        place = session.place | {"refs": request.refs}
        self.ledger.emit(kind, payload, request=request.id, **place)


def _subject(properties: Message) -> str:
    """What is asked about: the command, or the patterns (files, mostly)."""
    command = text(table(properties.get("metadata")).get("command"))
    patterns = properties.get("patterns")
    return command or ", ".join(map(text, patterns if isinstance(patterns, list) else []))
