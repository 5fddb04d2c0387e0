"""What is neither said nor done by the model: the session's state, tasks, hooks, notices.

EVENTS.md 4.1. What has no row there gives a `runtime.warning`, or is ignored in the vocabulary.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import HookOutcome, SessionState, TaskStatus
from harness.surfaces.claude_sdk.names import Message
from harness.surfaces.claude_sdk.results import counted
from harness.surfaces.claude_sdk.state import State
from harness.surfaces.spans import Spans

_STATES: Final[dict[Any, SessionState]] = {
    "idle": "ready",
    "running": "running",
    "requires_action": "waiting",
}
_STATUSES: Final = frozenset({"compacting", "requesting"})
_TASKS: Final[dict[Any, TaskStatus]] = {
    "completed": "completed",
    "failed": "failed",
    "stopped": "stopped",
    "killed": "stopped",
}
_OUTCOMES: Final[dict[str, HookOutcome]] = {
    "success": "success",
    "error": "error",
    "cancelled": "cancelled",
}
_ENVELOPE: Final = frozenset({"type", "subtype", "uuid", "session_id"})


class Telemetry:
    """Handles `system/*` and the messages that stand beside the conversation."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.tasks: dict[str, str] = {}
        self.descriptions: dict[str, str] = {}
        self.hooks: dict[str, str] = {}
        self._begun_hooks, self._begun_tasks = Spans(), Spans()
        self.table: dict[str, Callable[[Message], None]] = {
            "system/init": self._init,
            "system/status": self._status,
            "system/session_state_changed": self._session_state,
            "system/compact_boundary": self._compacted,
            "system/hook_started": self._hook_started,
            "system/hook_progress": self._hook_progress,
            "system/hook_response": self._hook_response,
            "system/task_started": self._task_started,
            "system/task_progress": self._task_progress,
            "system/task_updated": self._task_updated,
            "system/task_notification": self._task_notification,
            "system/files_persisted": self._files_persisted,
            "system/api_retry": self._api_retry,
            "system/commands_changed": self._commands_changed,
            "system/model_refusal_fallback": self._model_fallback,
            "system/permission_denied": self._permission_denied,
            "system/plugin_install": self._plugin_install,
            "system/mirror_error": self._notice("error"),
            "system/informational": self._notice("content"),
            "system/notification": self._notice("text"),
            "system/local_command_output": self._summary("content"),
            "system/worker_shutting_down": self._shutting_down,
            "tool_progress": self._tool_progress,
            "tool_use_summary": self._summary("summary"),
            "auth_status": self._auth_status,
            "rate_limit_event": self._rate_limit,
            "rate_limit": self._rate_limit,
            "prompt_suggestion": self._prompt_suggestion,
            "conversation_reset": self._conversation_reset,
        }

    # The session

    def _init(self, message: Message) -> None:
        config = {k: v for k, v in message.items() if k not in _ENVELOPE}
        self.state.emit(ev.SessionConfigured, pl.SessionConfiguredPayload(config))

    def _status(self, message: Message) -> None:
        status = message.get("status")
        known = status is None or (isinstance(status, str) and status in _STATUSES)
        result = message.get("compact_result")
        busy: SessionState = "running" if self.state.turn or (known and status) else "ready"
        reason: Any = status if isinstance(status, str) else UNSET
        if reason is UNSET and isinstance(result, str):
            reason = f"compact_result: {result}"
        mode = message.get("permissionMode")
        detail: Any = f"permissionMode: {mode}" if isinstance(mode, str) else UNSET
        self.state.emit(ev.SessionStateChanged, pl.SessionStateChangedPayload(busy, reason, detail))
        if not known:
            self.state.warn(f"the status {status!r} is not known")

    def _session_state(self, message: Message) -> None:
        native = message["state"]
        state = _STATES.get(native)
        if state is None:
            self.state.warn(f"the session state {native!r} is not known")
            return
        self.state.emit(ev.SessionStateChanged, pl.SessionStateChangedPayload(state, native))

    def _compacted(self, message: Message) -> None:
        # `compactMetadata` is the transcript's spelling; a resumed boundary may have neither.
        detail = message.get("compact_metadata") or message.get("compactMetadata")
        self.state.emit(
            ev.ThreadStateChanged,
            pl.ThreadStateChangedPayload("compacted", UNSET if detail is None else detail),
        )

    def _commands_changed(self, message: Message) -> None:
        self.state.emit(
            ev.SessionConfigured, pl.SessionConfiguredPayload({"commands": message["commands"]})
        )

    def _shutting_down(self, message: Message) -> None:
        self.state.emit(
            ev.SessionStateChanged,
            pl.SessionStateChangedPayload("stopped", _text(message, "reason")),
        )

    def _conversation_reset(self, message: Message) -> None:
        """`/clear`: the conversation goes on without what was said, under another id."""
        detail = {"reset": True, "newConversationId": message.get("new_conversation_id")}
        self.state.emit(ev.ThreadStateChanged, pl.ThreadStateChangedPayload("closed", detail))

    def _model_fallback(self, message: Message) -> None:
        self.state.emit(
            ev.ModelRerouted,
            pl.ModelReroutedPayload(
                str(message["original_model"]),
                str(message["fallback_model"]),
                str(message["trigger"]),
            ),
        )

    # Hooks

    def _hook_id(self, message: Message) -> str:
        """Return the hook's id; old versions gave none, so the name has to tell."""
        name = str(message.get("hook_name", ""))
        id_ = message.get("hook_id")
        if isinstance(id_, str) and id_:
            return id_
        return self.hooks.get(name) or self.hooks.setdefault(name, self.state.ledger.mint("hok"))

    def _hook_started(self, message: Message) -> None:
        id_ = self._hook_id(message)
        payload = pl.HookStartedPayload(id_, str(message["hook_name"]), str(message["hook_event"]))
        if self._begun_hooks.begin(id_):
            self.state.emit(ev.HookStarted, payload)
        else:
            self.state.warn("a hook began again")

    def _of_hook(self, id_: str, message: Message, *, end: bool = False) -> bool:
        """Begin a hook that nobody began; return whether there may be more of it."""
        state = self._begun_hooks.tell(id_, end=end)
        if state == "over":
            self.state.warn("a hook that is over was told of again")
        elif state == "new":
            name, event = (str(message.get(key, "")) for key in ("hook_name", "hook_event"))
            payload = pl.HookStartedPayload(id_, name, event)
            self.state.emit(ev.HookStarted, payload, synthesized=True)
        return state != "over"

    def _hook_progress(self, message: Message) -> None:
        id_ = self._hook_id(message)
        if not self._of_hook(id_, message):
            return
        payload = pl.HookProgressPayload(
            id_,
            _text(message, "output"),
            _text(message, "stdout"),
            _text(message, "stderr"),
        )
        self.state.emit(ev.HookProgress, payload)

    def _hook_response(self, message: Message) -> None:
        code = message.get("exit_code", UNSET)
        outcome: Any = message.get("outcome")
        if outcome is None and type(code) is int:
            outcome = "error" if code else "success"
        known = _OUTCOMES.get(outcome) if isinstance(outcome, str) else None
        if known is None:
            self.state.warn(f"the outcome {outcome!r} of a hook is not known")
            return
        id_ = self._hook_id(message)
        self.hooks.pop(str(message.get("hook_name", "")), None)
        if not self._of_hook(id_, message, end=True):
            return
        payload = pl.HookCompletedPayload(
            id_,
            known,
            _text(message, "output"),
            _text(message, "stdout"),
            _text(message, "stderr"),
            code if type(code) is int else UNSET,
        )
        self.state.emit(ev.HookCompleted, payload)

    # Tasks

    def _task(self, message: Message) -> str:
        native = str(message["task_id"])
        return self.tasks.get(native) or self.tasks.setdefault(
            native, self.state.ledger.mint("tsk")
        )

    def _task_started(self, message: Message) -> None:
        task = self._task(message)
        description = _text(message, "description")
        self.descriptions[task] = description or ""
        if self._begun_tasks.begin(task):
            payload = pl.TaskStartedPayload(task, description, _text(message, "task_type"))
            self.state.emit(ev.TaskStarted, payload)
        else:
            self.state.warn("a task began again")

    def _of_task(self, task: str, *, end: bool = False) -> bool:
        """Begin a task that nobody began; return whether there may be more of it."""
        state = self._begun_tasks.tell(task, end=end)
        if state == "over":
            self.state.warn("a task that is over was told of again")
        elif state == "new":
            self.state.emit(ev.TaskStarted, pl.TaskStartedPayload(task), synthesized=True)
        return state != "over"

    def _task_progress(self, message: Message) -> None:
        task = self._task(message)
        self._progress(task, message, _text(message, "description"))

    def _task_updated(self, message: Message) -> None:
        task = self._task(message)
        patch = message.get("patch")
        text = _text(patch, "description") if isinstance(patch, dict) else UNSET
        self._progress(task, message, text)

    def _progress(self, task: str, message: Message, description: str | UnsetType) -> None:
        if description is UNSET:
            description = self.descriptions.get(task, "")
        if not self._of_task(task):
            return
        self.state.emit(
            ev.TaskProgress,
            pl.TaskProgressPayload(
                task,
                description,
                counted(self.state, message, "usage"),
                _text(message, "last_tool_name"),
            ),
        )

    def _task_notification(self, message: Message) -> None:
        status = _TASKS.get(message["status"])
        if status is None:
            self.state.warn(f"the status {message['status']!r} of a task is not known")
            return
        task = self._task(message)
        if not self._of_task(task, end=True):
            return
        self.state.emit(
            ev.TaskCompleted,
            pl.TaskCompletedPayload(
                task,
                status,
                _text(message, "summary"),
                counted(self.state, message, "usage"),
            ),
        )

    # Tools

    def _tool_progress(self, message: Message) -> None:
        id_ = str(message["tool_use_id"])
        tool = self.state.tools.get(id_)
        seconds: Any = message.get("elapsed_time_seconds")
        payload = pl.ToolProgressPayload(
            id_,
            _text(message, "tool_name"),
            UNSET,
            seconds if type(seconds) in {int, float} else UNSET,
        )
        self.state.emit(ev.ToolProgress, payload, tool.item.id if tool else UNSET)

    def _summary(self, field: str) -> Callable[[Message], None]:
        def handle(message: Message) -> None:
            ids = message.get("preceding_tool_use_ids")
            payload = pl.ToolSummaryPayload(str(message[field]), _texts(ids))
            self.state.emit(ev.ToolSummary, payload)

        return handle

    def _permission_denied(self, message: Message) -> None:
        """The CLI itself refused a tool: nobody was asked."""
        id_ = message.get("tool_use_id")
        if isinstance(id_, str):
            self.state.denied.add(id_)
        self.state.warn(str(message.get("message") or f"{message['tool_name']} was refused"))

    # Notices

    def _api_retry(self, message: Message) -> None:
        """A failure that the agent will try again is no error (DECISIONS.md 9)."""
        attempt, most = message.get("attempt"), message.get("max_retries")
        error, status = message.get("error"), message.get("error_status")
        http = f", HTTP {status}" if status is not None else ""
        self.state.warn(
            f"the model API failed ({error}{http}); attempt {attempt} of {most} follows",
            {k: v for k, v in message.items() if k not in _ENVELOPE},
        )

    def _notice(self, field: str) -> Callable[[Message], None]:
        def handle(message: Message) -> None:
            self.state.warn(str(message[field]))

        return handle

    def _plugin_install(self, message: Message) -> None:
        error = message.get("error")
        said = f"plugin {message.get('name', '')}: {message['status']}"
        self.state.warn(f"{said}: {error}" if error else said)

    def _auth_status(self, message: Message) -> None:
        busy = message.get("isAuthenticating")
        self.state.emit(
            ev.AuthStatus,
            pl.AuthStatusPayload(
                busy if isinstance(busy, bool) else UNSET,
                _texts(message.get("output")),
                _text(message, "error"),
            ),
        )

    def _rate_limit(self, message: Message) -> None:
        limits = message.get("rate_limit_info")
        if limits is None:
            limits = {k: v for k, v in message.items() if k not in _ENVELOPE}
        self.state.emit(ev.AccountRateLimitsUpdated, pl.AccountRateLimitsUpdatedPayload(limits))

    def _files_persisted(self, message: Message) -> None:
        files = [pl.PersistedFile(str(f["filename"]), str(f["file_id"])) for f in message["files"]]
        failed: Any = UNSET
        if "failed" in message:
            failed = [pl.FailedFile(str(f["filename"]), str(f["error"])) for f in message["failed"]]
        self.state.emit(ev.FilesPersisted, pl.FilesPersistedPayload(files, failed))

    def _prompt_suggestion(self, message: Message) -> None:
        """What the user might say next: an item of its own, for it belongs to no other."""
        data = {k: v for k, v in message.items() if k not in _ENVELOPE}
        state = self.state
        start = pl.ItemLifecyclePayload("unknown", "inProgress", "prompt suggestion")
        item = state.ledger.start_item(
            state.turn, f"suggestion {state.ledger.count}", start, state.refs, state.thread
        )
        whole = pl.ItemLifecyclePayload("unknown", "completed", "prompt suggestion", data=data)
        state.ledger.complete(item, "completed", whole)


def _texts(value: Any) -> list[str] | UnsetType:
    return [str(text) for text in value] if isinstance(value, list) else UNSET


def _text(message: Message, key: str) -> str | UnsetType:
    value = message.get(key)
    return value if isinstance(value, str) else UNSET
