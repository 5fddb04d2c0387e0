"""Requests and responses in both directions: EVENTS.md 3.2.

The ids of the two directions are apart. A question is resolved by the client's answer, else by
`serverRequest/resolved`, else by the end of its turn; whatever comes after that is a repetition.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical import ProviderRefs
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalRequestType
from harness.surfaces.codex_app_server.history import restore
from harness.surfaces.codex_app_server.methods import CLIENT
from harness.surfaces.codex_app_server.threads import ThreadHandlers
from harness.surfaces.codex_state import Conversation, Thread, TurnState, ref
from harness.surfaces.ledger import Request

Message = dict[str, Any]

REQUESTS: Final[dict[str, CanonicalRequestType]] = {
    "item/commandExecution/requestApproval": "command_execution_approval",
    "item/fileChange/requestApproval": "file_change_approval",
    "applyPatchApproval": "apply_patch_approval",
    "execCommandApproval": "exec_command_approval",
    "item/tool/requestUserInput": "tool_user_input",
    "mcpServer/elicitation/request": "tool_user_input",
    "item/tool/call": "dynamic_tool_call",
    "account/chatgptAuthTokens/refresh": "auth_tokens_refresh",
    # The canonical list has no name for these.
    "item/permissions/requestApproval": "unknown",
    "attestation/generate": "unknown",
    "currentTime/read": "unknown",
}
"""Server request to canonical request type; one that is not here is `unknown`, with a warning."""

OPENS: Final = frozenset(
    {"initialize", "thread/start", "thread/resume", "thread/fork", "turn/start", "review/start"}
)
"""Client requests without which there is no conversation: their failure is a `runtime.error`."""

_IDS: Final = frozenset({"threadId", "turnId", "conversationId"})
_RESOLVED: Final = 1024


class Open:
    """A question that waits for its answer."""

    __slots__ = ("method", "request")

    def __init__(self, method: str, request: Request) -> None:
        self.method = method
        self.request = request


class RequestHandlers:
    """Client requests that were sent, and the agent's questions that are open."""

    def __init__(self, conversation: Conversation, threads: ThreadHandlers) -> None:
        self.conversation = conversation
        self.ledger = conversation.ledger
        self.threads = threads
        self._sent: dict[Any, tuple[str, Any]] = {}
        self._open: dict[Any, Open] = {}
        self._left: list[Open] = []
        self._resolved: dict[Any, None] = {}
        self.responses: dict[str, Callable[[Any], None]] = {
            "initialize": self._initialized,
            "thread/start": self._thread_opened,
            "thread/fork": self._thread_opened,
            "thread/resume": self._thread_resumed,
        }

    def new_process(self) -> None:
        """Forget what the last process was asked and had asked: ids begin anew."""
        self._sent.clear()
        self._resolved.clear()
        self._left += (q for q in self._open.values() if q.request.open)
        self._open.clear()

    # The client's requests

    def sent(self, message: Message) -> None:
        """Note what the client asks; the agent tells what comes of it."""
        method = message["method"]
        params = message.get("params")
        if "id" in message:
            self._sent[key(message["id"])] = (method, params)
        if method == "turn/start" and isinstance(params, dict):
            thread = self.conversation.thread(params.get("threadId"))
            model, effort = params.get("model"), params.get("effort")
            thread.next = (
                model if isinstance(model, str) else "",
                effort if isinstance(effort, str) else "",
            )
        if method not in CLIENT:
            self.conversation.warn(f"the client sent {method}, which is not known")

    def awaited(self, id_: Any) -> str:
        """Return the method of the client's request with that id, or nothing."""
        return self._sent.get(key(id_), ("", None))[0]

    def answered(self, message: Message) -> None:
        """Handle the agent's response to the client."""
        method, params = self._sent.pop(key(message["id"]), ("", None))
        if not method:
            self.conversation.warn("a response to a request that was not seen", message)
        elif "error" in message:
            self._refused(method, params, message["error"])
        elif method in self.responses:
            self.responses[method](message.get("result"))
        elif method not in CLIENT:
            self.conversation.warn(f"a response to {method}, which is not known")

    def _refused(self, method: str, params: Any, error: Any) -> None:
        said = error.get("message") if isinstance(error, dict) else error
        words = f"{method} was refused: {said}"
        native = params.get("threadId") if isinstance(params, dict) else None
        thread = self.conversation.thread(native) if isinstance(native, str) else None
        if method not in OPENS:
            self.conversation.warn(words, error, thread=thread)
            return
        self.ledger.emit(
            ev.RuntimeError,
            pl.RuntimeErrorPayload(words, "validation_error", error),
            thread=thread.id if thread else UNSET,
            refs=thread.refs if thread else UNSET,
        )

    def _initialized(self, result: Any) -> None:
        agent = result.get("userAgent") if isinstance(result, dict) else None
        if self.conversation.started:
            self.conversation.warn("a session that had started was initialized again", result)
            return
        self.conversation.start_session(
            pl.SessionStartedPayload(agent if isinstance(agent, str) else UNSET)
        )

    def _thread_opened(self, result: Any) -> None:
        """`thread/started` follows and names the thread; here is what it runs with."""
        self.conversation.start_session(synthesized=True)
        thread = self.conversation.thread(result["thread"]["id"])
        self._configured(thread, result)
        restore(self.conversation, thread, result["thread"])

    def _thread_resumed(self, result: Any) -> None:
        """No `thread/started` follows a resumption."""
        thread = self.threads.announce(result["thread"])
        self._configured(thread, result)
        restore(self.conversation, thread, result["thread"])

    def _configured(self, thread: Thread, result: Any) -> None:
        self.threads.remember(thread, result.get("model"), result.get("reasoningEffort"))
        config = {k: v for k, v in result.items() if k != "thread"}
        self.ledger.emit(
            ev.SessionConfigured,
            pl.SessionConfiguredPayload(config),
            thread=thread.id,
            refs=thread.refs,
        )

    # The agent's requests

    def asked(self, message: Message) -> None:
        """Open a question."""
        method, id_ = message["method"], message["id"]
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        thread, state = self._place(params)
        native = params.get("itemId", params.get("callId"))
        live = state.items.get(native) if state and isinstance(native, str) else None
        type_ = REQUESTS.get(method, "unknown")
        refs = ProviderRefs(
            providerThreadId=thread.ref if thread else UNSET,
            providerTurnId=ref(state.native) if state else UNSET,
            providerItemId=ref(native) if isinstance(native, str) else UNSET,
            providerRequestId=ref(str(id_)),
        )
        known = self._open.get(key(id_))
        if known is not None:
            self.conversation.warn(f"request id {id_} is used again while it is open", params)
            self._close(id_, known, UNSET, UNSET, synthesized=True)
        args = {k: v for k, v in params.items() if k not in _IDS}
        request = self.ledger.open_request(
            state.turn if state else None,
            f"{type(id_).__name__} {id_}",
            pl.RequestOpenedPayload(type_, _detail(method, params), args),
            refs,
            live.item if live else None,
        )
        self._open[key(id_)] = Open(method, request)
        self._resolved.pop(key(id_), None)
        if type_ == "tool_user_input":
            questions = params.get("questions", args)
            self._input(request, ev.UserInputRequested, pl.UserInputRequestedPayload(questions))
        if method not in REQUESTS:
            self.conversation.warn(
                f"the agent asks {method}, which is not known", state=state, thread=thread
            )

    def _place(self, params: Message) -> tuple[Thread | None, TurnState | None]:
        """The thread and turn of a question; older ones name the thread `conversationId`."""
        native = params.get("threadId", params.get("conversationId"))
        if not isinstance(native, str):
            return None, None
        thread = self.conversation.thread(native)
        turn = params.get("turnId")
        if isinstance(turn, str):
            return thread, self.conversation.turn(thread, turn)
        return thread, thread.only()

    def reply(self, message: Message) -> None:
        """Handle the client's answer to a question: the decision is what the client wrote."""
        id_ = message["id"]
        question = self._open.get(key(id_))
        if question is None or not question.request.open:
            self._open.pop(key(id_), None)
            why = (
                "was resolved before" if key(id_) in self._resolved or question else "was not seen"
            )
            self.conversation.warn(f"an answer to a request that {why}", message)
            return
        if "error" in message:
            resolution = {"error": message["error"]}
            self._close(id_, question, UNSET, resolution)
            return
        result = message.get("result")
        if REQUESTS.get(question.method) == "tool_user_input":
            answers = result.get("answers", result) if isinstance(result, dict) else result
            payload = pl.UserInputResolvedPayload(answers)
            self._input(question.request, ev.UserInputResolved, payload)
        # New tokens are the client's secret.
        secret = REQUESTS.get(question.method) == "auth_tokens_refresh"
        self._close(id_, question, _decision(result), UNSET if secret else result)

    def resolved(self, params: Message) -> None:
        """`serverRequest/resolved`: only news where the client has not answered."""
        id_ = params.get("requestId")
        question = self._open.get(key(id_))
        if question is not None and question.request.open:
            self._close(id_, question, UNSET, UNSET)
        elif question is None and key(id_) not in self._resolved:
            self.conversation.warn(f"request {id_} is resolved, and was not seen")
        else:
            self._open.pop(key(id_), None)
            self._note(key(id_))

    def close_all(self) -> None:
        """Resolve what is still open, after every turn has ended."""
        for question in (*self._left, *self._open.values()):
            self.ledger.resolve(question.request, "cancelled", synthesized=True)
        self._left.clear()
        self._open.clear()

    def sweep(self) -> None:
        """Forget the questions that the end of a turn has resolved."""
        for id_ in [k for k, q in self._open.items() if not q.request.open]:
            del self._open[id_]
            self._note(id_)

    def _close(
        self,
        id_: Any,
        question: Open,
        decision: str | UnsetType,
        resolution: Any,
        *,
        synthesized: bool = False,
    ) -> None:
        self._open.pop(key(id_), None)
        self._note(key(id_))
        self.ledger.resolve(question.request, decision, resolution, synthesized=synthesized)

    def _note(self, name: Any) -> None:
        self._resolved[name] = None
        if len(self._resolved) > _RESOLVED:
            del self._resolved[next(iter(self._resolved))]

    def _input(self, request: Request, kind: type[ev.EventBase], payload: pl.Payload) -> None:
        turn = request.turn
        self.ledger.emit(
            kind,
            payload,
            thread=turn.thread if turn else UNSET,
            turn=turn.id if turn else UNSET,
            request=request.id,
            refs=request.refs,
        )


def key(id_: Any) -> Any:
    """1, "1" and true are three ids of JSON-RPC, and one dictionary key of Python."""
    return (type(id_).__name__, id_) if isinstance(id_, str | int) else ("", repr(id_))


def _detail(method: str, params: Message) -> str | UnsetType:
    """What is asked, in words: the command, the tool, the message, else the reason."""
    for field in ("command", "tool", "message", "reason"):
        value = params.get(field)
        if isinstance(value, list):
            value = " ".join(map(str, value))
        if isinstance(value, str) and value:
            return value
    return UNSET if REQUESTS.get(method, "unknown") != "unknown" else method


def _decision(result: Any) -> str | UnsetType:
    """A decision is a word, or an object whose key is the word; an elicitation's is `action`."""
    if not isinstance(result, dict):
        return UNSET
    decision = result.get("decision", result.get("action"))
    if isinstance(decision, dict) and decision:
        decision = next(iter(decision))
    return decision if isinstance(decision, str) else UNSET
