"""The agent's answers to the client's requests: EVENTS.md 5.1."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import TurnState
from harness.surfaces.acp.names import CONFIGURES, OPENS, QUIET, Message, key, table, words
from harness.surfaces.acp.state import Prompt, Session
from harness.surfaces.ledger import Ledger
from harness.surfaces.usage import flaw

_STATES: Final[dict[str, TurnState]] = {
    "end_turn": "completed",
    "max_tokens": "completed",
    "max_turn_requests": "completed",
    "refusal": "failed",
    "cancelled": "cancelled",
}
_AUTH_REQUIRED: Final = -32000
_FATAL: Final = OPENS | {"initialize", "authenticate", "session/prompt"}
"""The requests without whose answer nothing goes on: their refusal is a `runtime.error`."""


class Answers:
    """What the client has asked, until it is answered."""

    def __init__(self, ledger: Ledger, session: Callable[[Any], Session]) -> None:
        self.ledger = ledger
        self.started = False
        self._session = session
        self._sent: dict[Any, tuple[str, Message]] = {}

    def start(self, resume: Any = UNSET, *, synthesized: bool = False) -> None:
        """Emit `session.started` once for a process."""
        if not self.started:
            self.started = True
            self.ledger.emit(
                ev.SessionStarted,
                pl.SessionStartedPayload(resume=resume),
                synthesized=synthesized,
            )

    def forget(self) -> None:
        """The process is gone: nothing of what it was asked will be answered."""
        self.started = False
        self.new_process()

    def new_process(self) -> None:
        """Forget what the last process was asked: ids begin anew."""
        self._sent.clear()

    def expect(self, id_: Any, method: str, params: Message) -> None:
        """Take note of a request of the client's."""
        if key(id_) in self._sent:
            self.ledger.warn(f"the client uses the id {id_!r} again before it is answered")
        self._sent[key(id_)] = (method, params)

    def answered(self, message: Message) -> None:
        """Handle an answer."""
        method, params = self._sent.pop(key(message["id"]), ("", {}))
        if not method:
            self.ledger.warn("an answer to a request that was not seen")
        elif method == "session/prompt":
            self._prompted(message, self._session(params.get("sessionId")))
        elif "error" in message:
            self._refused(method, message["error"])
        else:
            self._done(method, params, message.get("result"))

    def _refused(self, method: str, error: Any) -> None:
        said = f"{method}: {words(error)}"
        if method not in _FATAL:
            self.ledger.warn(said, error)
            return
        code = table(error).get("code")
        is_auth = method == "authenticate" or code == _AUTH_REQUIRED
        self.ledger.emit(
            ev.RuntimeError,
            pl.RuntimeErrorPayload(
                said, "permission_error" if is_auth else "provider_error", error
            ),
        )

    def _done(self, method: str, params: Message, result: Any) -> None:
        fields = table(result)
        if method == "initialize":
            self.ledger.emit(ev.SessionConfigured, pl.SessionConfiguredPayload(dict(fields)))
        elif method in {"authenticate", "logout"}:
            self.ledger.emit(ev.AuthStatus, pl.AuthStatusPayload(isAuthenticating=False))
        elif method in OPENS:
            self._opened(method, params, fields)
        elif method in CONFIGURES:
            session = self._session(params.get("sessionId"))
            config = {
                **{k: v for k, v in params.items() if k not in {"sessionId", "_meta"}},
                **fields,
            }
            if method == "session/set_mode":
                config["currentModeId"] = config.pop("modeId", None)
            self.ledger.emit(
                ev.SessionConfigured, pl.SessionConfiguredPayload(config), **session.place
            )
        elif method == "session/close":
            session = self._session(params.get("sessionId"))
            self.ledger.emit(
                ev.ThreadStateChanged, pl.ThreadStateChangedPayload("closed"), **session.place
            )
        elif method not in QUIET:
            self.ledger.warn(f"an answer to {method}, which is not known")

    def _opened(self, method: str, params: Message, fields: Message) -> None:
        # The answer to `session/load` may be null: the id is the request's (ACP-08).
        native = fields.get("sessionId")
        if method != "session/fork" and native is None:
            native = params.get("sessionId")
        session = self._session(native)
        session.hush()
        self.start(fields if method != "session/new" else UNSET)
        session.announce()
        self.ledger.emit(
            ev.SessionStateChanged,
            pl.SessionStateChangedPayload("ready"),
            **session.place,
        )
        config = {k: v for k, v in fields.items() if k not in {"sessionId", "_meta"}}
        if config:
            self.ledger.emit(
                ev.SessionConfigured, pl.SessionConfiguredPayload(config), **session.place
            )

    def _prompted(self, message: Message, session: Session) -> None:
        prompt = session.prompts.get(key(message["id"]))
        if prompt is None:
            self.ledger.warn("an answer to a prompt that is over")
            return
        if prompt.turn is session.turn:
            session.hush()
        error = message.get("error")
        if "error" in message and prompt.cancelled:
            self._end(
                session, prompt, pl.TurnCompletedPayload("cancelled", errorMessage=words(error))
            )
        elif "error" in message:
            auth = table(error).get("code") == _AUTH_REQUIRED
            self._fail(prompt, words(error), error, auth=auth)
            payload = pl.TurnCompletedPayload("failed", errorMessage=words(error))
            self._end(session, prompt, payload)
        else:
            self._stopped(session, prompt, table(message.get("result")))
        del session.prompts[key(message["id"])]

    def _fail(self, prompt: Prompt, said: str, detail: Any, *, auth: bool = False) -> None:
        self.ledger.emit(
            ev.RuntimeError,
            pl.RuntimeErrorPayload(said, "permission_error" if auth else "provider_error", detail),
            thread=prompt.turn.thread,
            turn=prompt.turn.id,
            refs=prompt.turn.refs,
        )

    def _stopped(self, session: Session, prompt: Prompt, result: Message) -> None:
        reason = result.get("stopReason")
        if not isinstance(reason, str) or reason not in _STATES:
            session.close_tools(prompt.turn)
            self.ledger.warn(f"a stop reason that is not known: {reason!r}", UNSET, prompt.turn)
            self.ledger.abort_turn(prompt.turn, reason if isinstance(reason, str) else "unknown")
            return
        # Some agents say `end_turn` of what the client has cancelled (ACP-03).
        state = "cancelled" if prompt.cancelled else _STATES[reason]
        usage: Any = UNSET
        tokens = result.get("usage")
        if tokens is not None:
            if state == "cancelled" and not any(table(tokens).values()):
                self.ledger.warn("the usage is all zero: it is not known", tokens, prompt.turn)
            elif said := flaw(tokens):
                self.ledger.warn(said, tokens, prompt.turn)
            else:
                usage = {"scope": "turn", "tokens": tokens}
        error: Any = UNSET
        if state == "failed":
            error = "the agent refuses to go on"
            self._fail(prompt, error, result)
        payload = pl.TurnCompletedPayload(state, reason, usage, errorMessage=error)
        self._end(session, prompt, payload)

    def _end(self, session: Session, prompt: Prompt, payload: pl.TurnCompletedPayload) -> None:
        session.close_tools(prompt.turn)
        self.ledger.end_turn(prompt.turn, payload)
