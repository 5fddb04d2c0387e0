"""The events of opencode's stream, type by type: sessions, messages, todos, diffs, errors."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.surfaces.ledger import Ledger
from harness.surfaces.opencode.names import Message, changed_files, ident, session_of, table, text
from harness.surfaces.opencode.parts import Parts
from harness.surfaces.opencode.requests import Requests
from harness.surfaces.opencode.state import Session

_STEPS: Final[dict[str, Any]] = {
    "pending": "pending",
    "in_progress": "inProgress",
    "completed": "completed",
}

SILENT: Final = frozenset(
    {
        "server.heartbeat", "models-dev.refreshed", "integration.updated",
        "integration.connection.updated", "catalog.updated", "installation.updated",
        "installation.update-available", "file.edited", "file.watcher.updated",
        "reference.updated", "plugin.added", "project.directories.updated", "project.updated",
        "pty.created", "pty.updated", "pty.exited", "pty.deleted", "lsp.updated",
        "lsp.client.diagnostics", "tui.prompt.append", "tui.command.execute", "tui.toast.show",
        "tui.session.select", "command.executed", "vcs.branch.updated", "workspace.ready",
        "workspace.status", "worktree.ready", "server.instance.disposed", "global.disposed",
    }
)  # fmt: skip
"""Types that give no event; the vocabulary says of each why."""


class Events:
    """Handles one event at a time; sessions come from `find`, by their native id."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.parts = Parts(ledger)
        self.requests = Requests(ledger)
        parts, requests = self.parts, self.requests
        self._handlers: dict[str, Callable[[Session, Message], None]] = {
            "session.created": self._metadata,
            "session.updated": self._metadata,
            "session.deleted": self._deleted,
            "session.status": self._status,
            "session.idle": self._idle,
            "session.error": self._error,
            "session.compacted": self._compacted,
            "session.diff": self._diff,
            "todo.updated": self._todos,
            "message.updated": self._message,
            "message.removed": self._removed,
            "message.part.updated": parts.updated,
            "message.part.delta": parts.delta,
            "message.part.removed": parts.removed,
            "permission.asked": requests.asked,
            "permission.updated": requests.asked,
            "permission.v2.asked": requests.asked,
            "session.permission.asked": requests.asked,
            "permission.replied": requests.replied,
            "permission.v2.replied": requests.replied,
            "session.permission.replied": requests.replied,
            "question.asked": requests.questioned,
            "question.v2.asked": requests.questioned,
            "question.replied": requests.answered,
            "question.v2.replied": requests.answered,
            "question.rejected": requests.answered,
            "question.v2.rejected": requests.answered,
        }

    def handle(self, kind: str, properties: Message, find: Callable[[str], Session]) -> None:
        """Handle one event. Raises what a message of a wrong shape raises."""
        if kind == "server.connected":
            self.ledger.emit(ev.SessionStateChanged, pl.SessionStateChangedPayload("ready"))
            return
        if kind == "mcp.tools.changed":
            self.ledger.emit(ev.McpStatusUpdated, pl.McpStatusUpdatedPayload(properties))
            return
        if kind in SILENT:
            return
        handler = self._handlers.get(kind)
        native = session_of(kind, properties)
        if handler is None:
            self.ledger.warn(f"{kind} has no place in the model", properties)
        elif native:
            session = find(ident(native))
            session.announce(synthesized=kind != "session.created")
            handler(session, properties)
        elif kind == "session.error":
            self.ledger.emit(ev.RuntimeError, _failure(properties))
        else:
            self.ledger.warn(f"{kind} names no session", properties)

    def _metadata(self, session: Session, properties: Message) -> None:
        info = table(properties["info"])
        name: Any = text(info.get("title")) or UNSET
        payload = pl.ThreadMetadataUpdatedPayload(name, info)
        self.ledger.emit(
            ev.ThreadMetadataUpdated, payload, thread=session.thread, refs=session.refs
        )
        agent = text(info.get("agent"))
        if agent and agent != session.agent:
            session.agent = agent
            config = pl.SessionConfiguredPayload({"currentModeId": agent})
            self.ledger.emit(ev.SessionConfigured, config, **session.place)

    def _state(self, session: Session, state: Any, detail: Any = UNSET) -> None:
        payload = pl.ThreadStateChangedPayload(state, detail)
        self.ledger.emit(ev.ThreadStateChanged, payload, thread=session.thread, refs=session.refs)

    def _deleted(self, session: Session, _: Message) -> None:
        session.end(missing=True)
        self._state(session, "closed")

    def _compacted(self, session: Session, _: Message) -> None:
        self._state(session, "compacted")

    def _status(self, session: Session, properties: Message) -> None:
        status = table(properties["status"])
        kind = status.get("type")
        if kind == "busy":
            session.begin()
            self._state(session, "active", status)
        elif kind == "idle":
            self._idle(session, properties)
        elif kind == "retry":
            words = text(status.get("message")) or "the model's answer is asked for again"
            self.ledger.warn(words, status, session.turn)
        else:
            self.ledger.warn("a session's status is not known", status, session.turn)

    def _idle(self, session: Session, _: Message) -> None:
        stale = session.turn is not None and session.after_abort and not session.evidence
        if stale and not session.asked_abort:
            # An abort tells its idle twice, the second perhaps after the next prompt.
            self.ledger.warn("idle again after an abort", UNSET, session.turn)
            return
        session.end()
        self._state(session, "idle")

    def _error(self, session: Session, properties: Message) -> None:
        name = text(table(properties.get("error")).get("name"))
        if name == "MessageAbortedError" and (session.asked_abort or session.turn is None):
            self.ledger.warn("the turn was aborted", properties.get("error"), session.turn)
        else:
            payload = _failure(properties)
            self.ledger.emit(ev.RuntimeError, payload, **session.place)
            if session.turn is not None:
                words = payload.message
                session.error = name if name == "MessageAbortedError" else words
        session.evidence = True

    def _message(self, session: Session, properties: Message) -> None:
        info = table(properties["info"])
        role = text(info.get("role"))
        self.parts.roles[text(info.get("id"))] = role
        if role == "assistant":
            session.evidence = True
        elif role == "user":
            self._prompted(session, info)
        else:
            self.ledger.warn("a message's role is not known", info, session.turn)

    def _prompted(self, session: Session, info: Message) -> None:
        """Tell what files the turn has changed: the prompt's own message has it."""
        native = text(info.get("id"))
        if session.turn is not None:
            session.prompt = session.prompt or native
        if files := changed_files(info):
            self._files(session, files, own=session.prompt == native)

    def _removed(self, session: Session, properties: Message) -> None:
        self.ledger.warn("a message was removed", properties, session.turn)

    def _todos(self, session: Session, properties: Message) -> None:
        known, odd = [], []
        for todo in properties["todos"]:
            status = _STEPS.get(text(table(todo).get("status")))
            if status is None:
                odd.append(todo)
            else:
                known.append(pl.PlanStep(text(todo.get("content")), status))
        self.ledger.emit(ev.TurnPlanUpdated, pl.TurnPlanUpdatedPayload(plan=known), **session.place)
        if odd:
            self.ledger.warn("a plan has no such status of a step", odd, session.turn)

    def _diff(self, session: Session, properties: Message) -> None:
        self._files(session, [table(file) for file in properties["diff"]], own=True)

    def _files(self, session: Session, files: list[Message], *, own: bool) -> None:
        """Tell a turn's diff; one of no turn, or without patches, is told of the thread."""
        patches = [text(file.get("patch")) for file in files]
        # `session.diff` is empty while the turn has changed files: it takes nothing back.
        if session.turn is None or not own or not files or not all(patches):
            payload = pl.ThreadMetadataUpdatedPayload(metadata={"diff": files})
            self.ledger.emit(
                ev.ThreadMetadataUpdated, payload, thread=session.thread, refs=session.refs
            )
            return
        self.ledger.emit(
            ev.TurnDiffUpdated, pl.TurnDiffUpdatedPayload("".join(patches)), **session.place
        )


def _failure(properties: Message) -> pl.RuntimeErrorPayload:
    error = table(properties.get("error"))
    said = text(table(error.get("data")).get("message")) or text(error.get("message"))
    name = text(error.get("name"))
    message = said or name or "the agent tells of an error and says nothing of it"
    class_: Any = "provider_error" if name in {"APIError", "ProviderAuthError"} else "unknown"
    return pl.RuntimeErrorPayload(message, class_, error or UNSET)
