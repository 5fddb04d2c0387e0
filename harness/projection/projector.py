"""Canonical events into chat events: which part each belongs to, and what it says of it.

Sans-io, and without looking ahead: the chat events of a prefix are a prefix. Every canonical
event gives at least one chat event, but for the types in `NOT_PROJECTED`.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import UNSET

from harness.canonical.events import EventBase
from harness.projection.chat_event import ChatEvent, Task
from harness.projection.facts import modes, starter
from harness.projection.parts import Part
from harness.projection.places import plain
from harness.projection.requests import Requests

NOT_PROJECTED: Final[dict[str, str]] = {
    "thread.realtime.audio.delta": "sound: none of the seed's kinds is of it",
    "thread.realtime.item-added": "a raw realtime item, whose shape no document names; "
    "the items it leads to have events of their own",
}
"""The event types that give no chat event, each with its reason."""


class ChatProjection(Requests):
    """The chat events of one conversation: `feed` each canonical event, then `close`."""

    def __init__(self) -> None:
        super().__init__()
        self._threads: dict[tuple[str, str], str] = {}
        """Our threads by the provider's id of each."""
        self._linked: set[tuple[Any, ...]] = set()
        """The links between threads that were told: metadata comes again and again."""
        self._do: dict[str, Callable[[EventBase], None]] = {
            "session.started": self._session_started,
            "session.configured": self._configured,
            "session.exited": self._session_exited,
            "thread.started": self._thread_started,
            "thread.metadata.updated": self._thread_metadata,
            "thread.token-usage.updated": self._usage,
            "turn.started": self._turn_started,
            "turn.completed": self._turn_completed,
            "turn.aborted": self._turn_aborted,
            "turn.plan.updated": self._plan,
            "turn.diff.updated": self._turn_diff,
            "item.started": self._item_started,
            "item.updated": self._item_updated,
            "item.completed": self._item_completed,
            "content.delta": self._content,
            "request.opened": self._request_opened,
            "request.resolved": self._request_resolved,
            "user-input.requested": self._input_requested,
            "user-input.resolved": self._input_resolved,
            "task.started": self._task_started,
            "task.progress": self._task_progress,
            "task.completed": self._task_completed,
            "hook.started": self._hook,
            "hook.progress": self._hook,
            "hook.completed": self._hook,
            "tool.progress": self._tool_progress,
            "model.rerouted": self._rerouted,
            "session.state.changed": self._session_state,
            "thread.state.changed": self._thread_state,
            "thread.realtime.started": self._realtime,
            "thread.realtime.error": self._realtime,
            "thread.realtime.closed": self._realtime,
            "auth.status": self._standing,
            "account.updated": self._standing,
            "account.rate-limits.updated": self._standing,
            "mcp.status.updated": self._standing,
        }

    def feed(self, event: EventBase) -> Iterable[ChatEvent]:
        """Return the chat events that a canonical event causes."""
        if event.type in NOT_PROJECTED:
            return []
        self.board.cause(event)
        self._do.get(event.type, self._once)(event)
        return self.board.take()

    def close(self) -> Iterable[ChatEvent]:
        """Return what the end of the events causes: every part that is open ends."""
        self.board.cause(None)
        # Sessions alone have no parent: what is open is in one of them.
        for part in list(self.board.open.values()):
            if part.open:
                self.board.end(part, made=True)
        return self.board.take()

    def _session_started(self, event: EventBase) -> None:
        fresh = ("session", event.sessionId) not in self.board.open
        part = self.session(event, made=False, data=plain(event))
        if not fresh:
            self.board.emit(part, "updated", data=plain(event))

    def _session_state(self, event: EventBase) -> None:
        self.board.emit(self.session(event), "updated", data=plain(event))

    def _configured(self, event: EventBase) -> None:
        session = self.session(event)
        self.board.emit(session, "updated", data=plain(event))
        found = modes(event.payload.config)
        if found:
            self._subject(event, "mode", "mode", session, data=found)

    def _rerouted(self, event: EventBase) -> None:
        self._subject(event, "mode", "mode", self.session(event), data=plain(event))

    def _session_exited(self, event: EventBase) -> None:
        failed = event.payload.exitKind == "error"
        self.board.end(self.session(event), failed=failed, data=plain(event))

    def _thread_started(self, event: EventBase) -> None:
        key = ("thread", event.sessionId, self._thread_id(event))
        native = event.payload.providerThreadId
        if native is not UNSET and event.threadId is not UNSET:
            self._threads[event.sessionId, native] = event.threadId
        fresh = key not in self.board.open
        part = self.thread(event, made=False, data=plain(event))
        if not fresh:
            self.board.emit(part, "updated", data=plain(event))

    def _thread_state(self, event: EventBase) -> None:
        self.board.emit(self.thread(event), "updated", data=plain(event))

    def _thread_metadata(self, event: EventBase) -> None:
        thread = self.thread(event)
        self.board.emit(thread, "updated", data=plain(event))
        metadata = event.payload.metadata
        parent = self._parent_of(event.sessionId, metadata) if isinstance(metadata, dict) else None
        link = (event.sessionId, event.threadId, parent)
        if isinstance(parent, str) and event.threadId is not UNSET and link not in self._linked:
            self._linked.add(link)
            above = self.board.open.get(("thread", event.sessionId, parent))
            task = Task(childThreadId=event.threadId)
            holder = thread if above is None else above
            linked = above is not None and not self.board.synthesized
            self._single(event, "task", holder, task=task, native_parent=linked)

    def _parent_of(self, session: str, metadata: dict[str, Any]) -> Any:
        """Return the thread that a thread is a child of: told as ours, or by the provider's id."""
        own = metadata.get("parentThreadId")
        if own is not None:
            return own
        named = metadata.get("parentID")
        return self._threads.get((session, named)) if isinstance(named, str) else None

    def _usage(self, event: EventBase) -> None:
        self._subject(event, "usage", "usage", self.thread(event), data=event.payload.usage)

    def _turn_started(self, event: EventBase) -> None:
        key = ("turn", self._turn_id(event))
        fresh = key not in self.board.open
        part = self.turn(event, made=False, data=plain(event))
        if not fresh:
            self.board.emit(part, "updated", data=plain(event))

    def _turn_completed(self, event: EventBase) -> None:
        part = self.turn(event)
        payload = event.payload
        if payload.usage is not UNSET and payload.usage is not None:
            self._single(event, "usage", part, data=payload.usage)
        self._turn_over(event, part, failed=payload.state != "completed")

    def _turn_aborted(self, event: EventBase) -> None:
        self._turn_over(event, self.turn(event), failed=True)

    def _turn_over(self, event: EventBase, part: Part, *, failed: bool) -> None:
        self.steps.pop(self._turn_id(event), None)
        self.board.end(part, failed=failed, data=plain(event))

    def _task(self, event: EventBase) -> tuple[Part | None, Task]:
        p = event.payload
        status = getattr(p, "status", UNSET)
        task = Task(
            p.taskId,
            getattr(p, "description", UNSET),
            getattr(p, "taskType", UNSET),
            status,
            getattr(p, "summary", UNSET),
            getattr(p, "lastToolName", UNSET),
            getattr(p, "usage", UNSET),
        )
        return self.board.open.get(("task", event.sessionId, p.taskId)), task

    def _task_open(self, event: EventBase, task: Task, *, made: bool) -> Part:
        # A task outlives the turn that starts it.
        holder = self.session(event) if event.threadId is UNSET else self.thread(event)
        key = ("task", event.sessionId, event.payload.taskId)
        place = self.place(event)
        place.turn = holder.place.turn
        if place.turn is UNSET:
            place.made.discard("turnId")
        call = self.calls.get(starter(event.raw))
        if call is not None:
            # Linked by its id and not nested: the task may go on when the call has returned.
            place.call = call.place.call
        return self.board.start(key, "task", holder, place, made=made, task=task)

    def _task_started(self, event: EventBase) -> None:
        part, task = self._task(event)
        if part is None:
            self._task_open(event, task, made=False)
        else:
            self.board.emit(part, "updated", task=task)

    def _task_progress(self, event: EventBase) -> None:
        part, task = self._task(event)
        part = part or self._task_open(event, Task(task.taskId), made=True)
        self.board.emit(part, "updated", task=task)

    def _task_completed(self, event: EventBase) -> None:
        part, task = self._task(event)
        part = part or self._task_open(event, Task(task.taskId), made=True)
        self.board.end(part, failed=task.status != "completed", task=task)

    def _lasting(self, event: EventBase, key: tuple[str, ...], phase: str) -> None:
        """Open, update or end a status part that canonical events of three phases tell."""
        part = self.board.open.get(key)
        if part is None:
            made = phase != "started"
            place = self.place(event)
            data = UNSET if made else plain(event)
            part = self.board.start(key, "status", self.holder(event), place, made=made, data=data)
            if not made:
                return
        if phase in {"completed", "failed"}:
            self.board.end(part, failed=phase == "failed", data=plain(event))
        else:
            self.board.emit(part, "updated", data=plain(event))

    def _hook(self, event: EventBase) -> None:
        phase = event.type.rpartition(".")[2]
        if getattr(event.payload, "outcome", "success") != "success":
            phase = "failed"
        self._lasting(event, ("hook", event.sessionId, event.payload.hookId), phase)

    def _realtime(self, event: EventBase) -> None:
        phases = {"started": "started", "error": "failed", "closed": "completed"}
        phase = phases[event.type.rpartition(".")[2]]
        self._lasting(event, ("realtime", event.sessionId, self._thread_id(event)), phase)

    def _standing(self, event: EventBase) -> None:
        """What holds until it is told anew: the account, the MCP servers."""
        self._subject(event, event.type, "status", self.session(event), data=plain(event))

    def _once(self, event: EventBase) -> None:
        failed = event.type == "runtime.error"
        self._single(event, "status", self.holder(event), failed=failed, data=plain(event))
