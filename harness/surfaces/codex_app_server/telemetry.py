"""Notifications of the account, the model, MCP servers, hooks, the platform and realtime."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import HookOutcome
from harness.surfaces.codex_app_server.errors import required
from harness.surfaces.codex_state import Conversation, Thread, TurnState
from harness.surfaces.spans import Spans

Params = dict[str, Any]

_HOOK_OUTCOMES: Final[dict[str, HookOutcome]] = {
    "completed": "success",
    "failed": "error",
    "blocked": "error",
    "stopped": "cancelled",
}
_WARNINGS: Final = {
    "warning": "",
    "guardianWarning": "",
    "windows/worldWritableWarning": "folders that anyone may write to",
    "app/list/updated": "the list of apps has changed",
    "autoApprovalReview/strictReviewRequired": "approvals of this turn are reviewed strictly",
    "model/safetyBuffering/updated": "output waits for a safety review",
    "model/verification": "the model's account is to be verified",
    "turn/moderationMetadata": "moderation of this turn",
}
"""Notifications that become a `runtime.warning`, with its text where they have none."""


class TelemetryHandlers:
    """The notifications that tell of what is around a conversation."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.ledger = conversation.ledger
        self._hooks = Spans()
        self.table: dict[str, Callable[[str, Params], None]] = {
            "account/updated": self._account,
            "account/rateLimits/updated": self._rate_limits,
            "account/login/completed": self._login,
            "account/gatewayOAuth/changed": self._gateway,
            "modelProvider/authRecoveryStarted": self._recovery,
            "modelProvider/authRecoveryCompleted": self._recovery,
            "mcpServer/startupStatus/updated": self._mcp_status,
            "mcpServer/oauthLogin/completed": self._mcp_oauth,
            "model/rerouted": self._rerouted,
            "configWarning": self._config,
            "deprecationNotice": self._deprecation,
            "hook/started": self._hook_started,
            "hook/completed": self._hook_completed,
            "windowsSandbox/setupCompleted": self._sandbox,
            **dict.fromkeys(_WARNINGS, self._warning),
            "thread/realtime/started": self._realtime_started,
            "thread/realtime/itemAdded": self._realtime_item,
            "thread/realtime/item/started": self._realtime_item,
            "thread/realtime/item/completed": self._realtime_item,
            "thread/realtime/item/transcript/delta": self._realtime_text,
            "thread/realtime/transcript/delta": self._realtime_text,
            "thread/realtime/transcript/done": self._realtime_text,
            "thread/realtime/outputAudio/delta": self._realtime_audio,
            "thread/realtime/error": self._realtime_error,
            "thread/realtime/closed": self._realtime_closed,
        }

    def _place(self, params: Params) -> tuple[Thread | None, TurnState | None]:
        """The thread and the open turn that a notification names, if any."""
        native = params.get("threadId")
        if not isinstance(native, str):
            return None, None
        thread = self.conversation.thread(native)
        return thread, self.conversation.known(thread, params.get("turnId"))

    def _emit(
        self,
        kind: type[ev.EventBase],
        payload: pl.Payload,
        params: Params,
        *,
        synthesized: bool = False,
    ) -> None:
        thread, state = self._place(params)
        self.ledger.emit(
            kind,
            payload,
            thread=thread.id if thread else UNSET,
            turn=state.turn.id if state else UNSET,
            refs=state.turn.refs if state else thread.refs if thread else UNSET,
            synthesized=synthesized,
        )

    def _account(self, _method: str, params: Params) -> None:
        self._emit(ev.AccountUpdated, pl.AccountUpdatedPayload(params), params)

    def _rate_limits(self, _method: str, params: Params) -> None:
        payload = pl.AccountRateLimitsUpdatedPayload(params["rateLimits"])
        self._emit(ev.AccountRateLimitsUpdated, payload, params)

    def _login(self, _method: str, params: Params) -> None:
        said = "login succeeded" if params.get("success") is True else "login failed"
        payload = pl.AuthStatusPayload(
            isAuthenticating=False, output=[said], error=_text(params.get("error"))
        )
        self._emit(ev.AuthStatus, payload, params)

    def _gateway(self, _method: str, params: Params) -> None:
        status = params.get("status")
        payload = pl.AuthStatusPayload(
            status == "started", [f"gateway login {status}"], _text(params.get("error"))
        )
        self._emit(ev.AuthStatus, payload, params)

    def _recovery(self, method: str, params: Params) -> None:
        message = params.get("message")
        payload = pl.AuthStatusPayload(
            method.endswith("Started"), [message] if isinstance(message, str) else UNSET
        )
        self._emit(ev.AuthStatus, payload, params)

    def _mcp_status(self, _method: str, params: Params) -> None:
        status = {k: v for k, v in params.items() if k != "threadId"}
        self._emit(ev.McpStatusUpdated, pl.McpStatusUpdatedPayload(status), params)

    def _mcp_oauth(self, _method: str, params: Params) -> None:
        payload = pl.McpOauthCompletedPayload(
            params.get("success") is True, _text(params.get("name")), _text(params.get("error"))
        )
        self._emit(ev.McpOauthCompleted, payload, params)

    def _rerouted(self, _method: str, params: Params) -> None:
        reason = params.get("reason")
        payload = pl.ModelReroutedPayload(
            required(params, "fromModel"),
            required(params, "toModel"),
            reason if isinstance(reason, str) else str(reason),
        )
        self._emit(ev.ModelRerouted, payload, params)

    def _config(self, _method: str, params: Params) -> None:
        place = params.get("range")
        payload = pl.ConfigWarningPayload(
            required(params, "summary"),
            _text(params.get("details")),
            _text(params.get("path")),
            UNSET if place is None else place,
        )
        self._emit(ev.ConfigWarning, payload, params)

    def _deprecation(self, _method: str, params: Params) -> None:
        summary = required(params, "summary")
        payload = pl.DeprecationNoticePayload(summary, _text(params.get("details")))
        self._emit(ev.DeprecationNotice, payload, params)

    def _hook_started(self, _method: str, params: Params) -> None:
        run = params["run"]
        if self._hooks.begin(str(run["id"])):
            self._emit(ev.HookStarted, _begun(run), params)
        else:
            self._warn("a hook began again", params)

    def _warn(self, message: str, params: Params) -> None:
        thread, state = self._place(params)
        self.conversation.warn(message, params["run"], state=state, thread=thread)

    def _hook_completed(self, method: str, params: Params) -> None:
        run = params["run"]
        status = run.get("status")
        outcome = _HOOK_OUTCOMES.get(status) if isinstance(status, str) else None
        if outcome is None:
            self._warn(f"{method}: hook status {status} is not known", params)
            return
        state = self._hooks.tell(str(run["id"]), end=True)
        if state == "over":
            self._warn("a hook that is over ended again", params)
            return
        if state == "new":
            self._emit(ev.HookStarted, _begun(run), params, synthesized=True)
        texts = [e.get("text") for e in run.get("entries") or [] if isinstance(e, dict)]
        output = "\n".join(t for t in texts if isinstance(t, str))
        if isinstance(run.get("statusMessage"), str):
            output = "\n".join(filter(None, [run["statusMessage"], output]))
        payload = pl.HookCompletedPayload(str(run["id"]), outcome, output or UNSET)
        self._emit(ev.HookCompleted, payload, params)

    def _sandbox(self, _method: str, params: Params) -> None:
        ok = params.get("success") is True
        error = _text(params.get("error"))
        self._emit(
            ev.SessionStateChanged,
            pl.SessionStateChangedPayload(
                "ready" if ok else "error", "windowsSandbox/setupCompleted", error
            ),
            params,
        )
        self.conversation.warn(
            "the Windows sandbox is set up" if ok else "the Windows sandbox could not be set up",
            params,
        )

    def _warning(self, method: str, params: Params) -> None:
        thread, state = self._place(params)
        message = params.get("message")
        words = message if isinstance(message, str) else _WARNINGS[method] or method
        detail = {k: v for k, v in params.items() if k not in {"threadId", "turnId", "message"}}
        self.conversation.warn(words, detail or UNSET, state=state, thread=thread)

    def _realtime_started(self, _method: str, params: Params) -> None:
        payload = pl.ThreadRealtimeStartedPayload(_text(params.get("realtimeSessionId")))
        self._emit(ev.ThreadRealtimeStarted, payload, params)

    def _realtime_item(self, _method: str, params: Params) -> None:
        self._emit(
            ev.ThreadRealtimeItemAdded, pl.ThreadRealtimeItemAddedPayload(params["item"]), params
        )

    def _realtime_text(self, method: str, params: Params) -> None:
        """A transcript is no text of a turn: it is handed on as it came, with what it is."""
        item = {"type": method.removeprefix("thread/realtime/")}
        item |= {k: v for k, v in params.items() if k != "threadId"}
        payload = pl.ThreadRealtimeItemAddedPayload(item)
        self._emit(ev.ThreadRealtimeItemAdded, payload, params)

    def _realtime_audio(self, _method: str, params: Params) -> None:
        payload = pl.ThreadRealtimeAudioDeltaPayload(params["audio"])
        self._emit(ev.ThreadRealtimeAudioDelta, payload, params)

    def _realtime_error(self, _method: str, params: Params) -> None:
        payload = pl.ThreadRealtimeErrorPayload(required(params, "message"))
        self._emit(ev.ThreadRealtimeError, payload, params)

    def _realtime_closed(self, _method: str, params: Params) -> None:
        payload = pl.ThreadRealtimeClosedPayload(_text(params.get("reason")))
        self._emit(ev.ThreadRealtimeClosed, payload, params)


def _text(value: Any) -> str | UnsetType:
    return value if isinstance(value, str) else UNSET


def _begun(run: Params) -> pl.HookStartedPayload:
    event = str(run.get("eventName", ""))
    return pl.HookStartedPayload(str(run["id"]), str(run.get("sourcePath") or event), event)
