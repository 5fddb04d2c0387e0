"""What the agent asks of the client, and the client's answers: EVENTS.md 5.3."""

from typing import Any

from msgspec import UNSET, UnsetType, structs

from harness.canonical import ProviderRefs
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalRequestType
from harness.surfaces.acp import tools
from harness.surfaces.acp.names import SERVED, Message, key, ref, table, text
from harness.surfaces.acp.state import Session, Tool
from harness.surfaces.ledger import Ledger, Request


class Question:
    """A request of the agent's: what it asks, of which tool, with which options."""

    __slots__ = ("method", "options", "request", "tool")

    def __init__(self, method: str, request: Request | None) -> None:
        self.method = method
        self.request = request
        self.tool: Tool | None = None
        self.options: Any = None


class Questions:
    """The agent's requests until they are answered."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.open: dict[Any, Question] = {}
        self._left: list[Request] = []

    def new_process(self) -> None:
        """Forget what the last process had asked: ids begin anew."""
        asked = (question.request for question in self.open.values())
        self._left += (request for request in asked if request is not None and request.open)
        self.open.clear()

    def ask(self, session: Session, message: Message) -> None:
        """Handle a request of the agent's; one that was asked by the same id is over."""
        id_ = message["id"]
        old = self.open.get(key(id_))
        if old is not None and old.request is not None and old.request.open:
            self.ledger.warn(f"request {id_} is asked again before it is answered")
            self.ledger.resolve(old.request, "cancelled", synthesized=True)
        self.asked(session, message["method"], id_, table(message.get("params")))

    def asked(self, session: Session, method: str, id_: Any, params: Message) -> None:
        """Open what the method asks, or take note of what the client serves."""
        if method in SERVED:
            self.open[key(id_)] = Question(method, None)
        elif method == "session/request_permission":
            self._permission(session, id_, params)
        elif method == "elicitation/create":
            self.opens(session, id_, method, "tool_user_input", text(params.get("message")), params)
            self.ledger.emit(
                ev.UserInputRequested,
                pl.UserInputRequestedPayload(params),
                **self.place(session, id_),
            )
        else:
            self.opens(session, id_, method, "unknown", method, params)
            self.ledger.warn(f"request {method} is not known", UNSET, session.turn)

    def opens(  # noqa: PLR0913, PLR0917 - a request's own fields
        self,
        session: Session,
        id_: Any,
        method: str,
        type_: CanonicalRequestType,
        detail: str | UnsetType,
        args: Any,
        tool: Tool | None = None,
    ) -> Question:
        """Open a request with its `request.opened`."""
        name = ref(id_)
        refs = session.refs
        if name is not UNSET:
            refs = (
                ProviderRefs(providerRequestId=name)
                if refs is UNSET
                else structs.replace(refs, providerRequestId=name)
            )
        payload = pl.RequestOpenedPayload(type_, detail, args)
        # JSON-RPC ids of two types may look alike: the ledger's name has the type.
        turn = tool.item.turn if tool else session.turn
        request = self.ledger.open_request(
            turn, repr(key(id_)), payload, refs, tool.item if tool else None
        )
        question = self.open[key(id_)] = Question(method, request)
        question.tool = tool
        return question

    def place(self, session: Session, id_: Any) -> dict[str, Any]:
        """Where an event of an open request stands, as arguments of `Ledger.emit`."""
        question = self.open[key(id_)]
        request = question.request
        place = session.place
        if request is not None:
            place |= {"request": request.id, "refs": request.refs}
        return place

    def _permission(self, session: Session, id_: Any, params: Message) -> None:
        said = params.get("toolCall")
        tool: Tool | None = None
        if isinstance(said, dict) and isinstance(said.get("toolCallId"), str):
            tool = tools.call(session, said, by="a permission question")
        args = {**params, "toolCall": {**tool.said}} if tool else params
        type_ = tools.request_type(tool)
        question = self.opens(
            session,
            id_,
            "session/request_permission",
            type_,
            tools.subject(tool),
            args,
            tool,
        )
        question.options = params.get("options")

    def answer(self, message: Message) -> None:
        """Handle the client's answer: the decision is what the client wrote."""
        question = self.open.pop(key(message["id"]), None)
        if question is None or (question.request is not None and not question.request.open):
            self.ledger.warn("an answer to a request that is not open", message)
            return
        if question.request is None:
            return
        if "error" in message:
            self.ledger.resolve(question.request, UNSET, {"error": message["error"]})
            return
        result = message.get("result")
        decision = self.decision(question, result)
        if question.request.type == "tool_user_input":
            self._input(question.request, result)
        self.ledger.resolve(question.request, decision, result)

    def decision(self, question: Question, result: Any) -> str | UnsetType:
        """The option that was chosen, else the outcome in a word."""
        outcome = table(result).get("outcome", table(result).get("action"))
        if isinstance(outcome, str):
            return outcome
        chosen = table(outcome).get("optionId")
        if not isinstance(chosen, str):
            return text(table(outcome).get("outcome"))
        options = question.options if isinstance(question.options, list) else []
        kinds = [table(o).get("kind") for o in options if table(o).get("optionId") == chosen]
        if question.tool is not None:
            question.tool.declined = bool(kinds) and str(kinds[0]).startswith("reject")
        return chosen

    def _input(self, request: Request, result: Any) -> None:
        fields = table(result)
        answers: Any = fields.get("content", fields.get("outcome", fields))
        turn = request.turn
        self.ledger.emit(
            ev.UserInputResolved,
            pl.UserInputResolvedPayload(answers),
            thread=turn.thread if turn else UNSET,
            turn=turn.id if turn else UNSET,
            request=request.id,
            refs=request.refs,
        )

    def close(self) -> None:
        """Resolve what is still open."""
        for question in self.open.values():
            if question.request is not None:
                self._left.append(question.request)
        for request in self._left:
            self.ledger.resolve(request, "cancelled", synthesized=True)
        self._left.clear()
        self.open.clear()
