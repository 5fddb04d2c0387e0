"""What is open in one conversation with Claude: the session, its thread, its turn, its tools.

A turn runs from the client's prompt to the agent's `result`. A prompt that comes while a turn
is open waits: what follows that turn's result is its turn.
"""

from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical import ProviderRefs
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.surfaces.claude_sdk.tools import call_data, title
from harness.surfaces.ledger import Item, Ledger, Turn

_CLOSED: Final = 1024


class Tool:
    """A tool call that has started; its item is open until its result."""

    __slots__ = ("id", "input", "item", "name", "parent")

    def __init__(self, id_: str, name: str, item: Item, parent: str | None) -> None:
        self.id = id_
        self.name = name
        self.item = item
        self.parent = parent
        self.input: Any = UNSET

    def data(self) -> dict[str, Any]:
        """Return the item's `data` as far as it is known."""
        return with_parent(call_data(self.name, self.input), self.parent)

    def title(self) -> str:
        """Return the item's `title` as far as it is known."""
        return title(self.name, self.input)


def with_parent(data: dict[str, Any], parent: str | None) -> dict[str, Any]:
    """Add to an item's `data` the call of the sub-agent whose work it is."""
    if parent is not None:
        data["parentToolUseId"] = parent
    return data


def native_id(value: Any) -> str | UnsetType:
    """Return a provider's id as it may stand in `providerRefs` (EVENTS.md 1.1: trimmed)."""
    return value if isinstance(value, str) and value and value == value.strip() else UNSET


class State:
    """Opens and closes on a ledger what the handlers find in the frames."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.started = False
        self.resumes = ""
        self.session: str | None = None
        self.thread: str | UnsetType = UNSET
        self.refs: ProviderRefs | UnsetType = UNSET
        self.turn: Turn | None = None
        self.prompted = False
        self.queued = 0
        self.interrupted = False
        self.tools: dict[str, Tool] = {}
        self.denied: set[str] = set()
        self.closed: dict[str, None] = {}
        self.last_result: Any = None
        self._threads: dict[str, str] = {}

    # The session and its thread

    def start_session(self, *, synthesized: bool = False) -> None:
        """Emit `session.started` at the first evidence of a session (DECISIONS.md 13)."""
        if not self.started:
            self.started = True
            resume = {"providerThreadId": self.resumes} if self.resumes else UNSET
            payload = pl.SessionStartedPayload(resume=resume)
            self.ledger.emit(ev.SessionStarted, payload, synthesized=synthesized)

    def named(self, session: str) -> None:
        """A message names the provider's session, which is the thread."""
        if session == self.session or native_id(session) is UNSET:
            return
        self.start_session(synthesized=True)
        self.session = session
        self.refs = ProviderRefs(providerSessionId=session, providerThreadId=session)
        known = self._threads.get(session)
        self.thread = known or self._threads.setdefault(session, self.ledger.mint("thr"))
        if self.turn is not None and self.turn.thread is UNSET:
            self.turn.thread = self.thread
            self.turn.refs = self.refs
        if known is None:
            self.ledger.emit(
                ev.ThreadStarted,
                pl.ThreadStartedPayload(session),
                thread=self.thread,
                refs=self.refs,
            )

    def emit(
        self,
        kind: Any,
        payload: pl.Payload,
        item: str | UnsetType = UNSET,
        *,
        synthesized: bool = False,
    ) -> None:
        """Emit an event of the open turn, or of the thread where none is open."""
        turn = self.turn
        self.ledger.emit(
            kind,
            payload,
            thread=turn.thread if turn else self.thread,
            turn=turn.id if turn else UNSET,
            item=item,
            refs=self.refs,
            synthesized=synthesized,
        )

    def warn(self, message: str, detail: Any = UNSET) -> None:
        """Emit a `runtime.warning`; its `raw` carries the frame."""
        self.emit(ev.RuntimeWarning, pl.RuntimeWarningPayload(message, detail))

    def item_refs(self, native: Any) -> ProviderRefs | UnsetType:
        """Return the refs of an item with the provider's id, if it is one."""
        id_ = native_id(native)
        if id_ is UNSET:
            return self.refs
        session = self.session or UNSET
        return ProviderRefs(providerSessionId=session, providerThreadId=session, providerItemId=id_)

    # Turns

    def prompt(self) -> None:
        """The client has sent a prompt."""
        self.start_session(synthesized=True)
        if self.turn is None:
            self._start(synthesized=False)
            self.prompted = True
        else:
            self.queued += 1

    def need_turn(self) -> Turn:
        """Return the open turn; what presupposes one starts it (DECISIONS.md 14)."""
        if self.turn is None:
            self.start_session(synthesized=True)
            self.prompted = self.queued > 0
            self.queued -= self.prompted
            return self._start(synthesized=True)
        return self.turn

    def _start(self, *, synthesized: bool) -> Turn:
        self.interrupted = False
        self.turn = self.ledger.start_turn("", self.thread, self.refs, synthesized=synthesized)
        return self.turn

    def end_turn(self, payload: pl.TurnCompletedPayload, *, synthesized: bool = False) -> None:
        """Close the open turn and what it leaves open."""
        turn = self.need_turn()
        self.turn = None
        for id_ in self.tools:
            self._remember(id_)
        self.tools.clear()
        self.denied.clear()
        self.ledger.end_turn(turn, payload, synthesized=synthesized)

    def end_all(self) -> None:
        """Close the open turn: it will not end natively (DECISIONS.md 4)."""
        if self.turn is not None:
            self.end_turn(
                pl.TurnCompletedPayload("interrupted", "missing-terminal"), synthesized=True
            )
        self.queued = 0

    # Tools

    def start_tool(self, id_: str, name: str, type_: Any, parent: str | None) -> Tool:
        """Open the item of a tool call with its `item.started`."""
        turn = self.need_turn()
        data = with_parent(call_data(name, UNSET), parent)
        payload = pl.ItemLifecyclePayload(type_, "inProgress", name, UNSET, data)
        item = self.ledger.start_item(turn, id_, payload, self.item_refs(id_))
        tool = self.tools[id_] = Tool(id_, name, item, parent)
        return tool

    def close_tool(self, tool: Tool, payload: pl.ItemLifecyclePayload) -> None:
        """Close the item of a tool call."""
        del self.tools[tool.id]
        self._remember(tool.id)
        self.ledger.complete(tool.item, payload.status, payload)

    def _remember(self, id_: str) -> None:
        self.closed[id_] = None
        if len(self.closed) > _CLOSED:
            del self.closed[next(iter(self.closed))]
