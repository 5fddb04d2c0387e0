"""What is open in one conversation with Codex: threads, their turns, their items, their text.

Shared by the surfaces of Codex. One connection may carry several threads (sub-agents), so
everything is found by its thread and its turn. What has ended never opens again: what comes
late is a `runtime.warning`.
"""

from collections import defaultdict
from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical import ProviderRefs
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalItemType, ContentStreamKind
from harness.surfaces.codex_items import View
from harness.surfaces.ledger import Item, Ledger, Turn

FINAL: Final[dict[str, tuple[str, str]]] = {
    "assistant_text": ("text", "finalText"),
    "plan_text": ("text", "finalText"),
    "reasoning_text": ("text", "finalText"),
    "reasoning_summary_text": ("summary", "finalSummary"),
    "command_output": ("output", "finalOutput"),
}
"""Stream kind to the field of `data` with the whole text, and where that differs (DECISIONS 11)."""

MISSING: Final = pl.TurnCompletedPayload("interrupted", "missing-terminal")
"""How a turn ends that no frame ends: DECISIONS.md 4."""

_ENDED: Final = 1024
"""How many ended turns are remembered, to tell a late frame from one of a new turn."""


def ref(native: str) -> str | UnsetType:
    """Return a provider's id for `providerRefs`: absent where it is empty, or is not trimmed."""
    return native if native and native == native.strip() else UNSET


class Live:
    """An open item, with all that its deltas need at hand."""

    __slots__ = ("item", "item_id", "parts", "refs", "state", "thread", "thread_id", "turn",
                 "turn_id")  # fmt: skip

    def __init__(self, item: Item, state: "TurnState") -> None:
        self.item = item
        self.state = state
        self.parts: defaultdict[str, list[str]] = defaultdict(list)
        self.thread = state.thread.native
        self.turn = state.native
        self.thread_id = state.turn.thread
        self.turn_id = state.turn.id
        self.item_id = item.id
        self.refs = item.refs


class TurnState:
    """An open turn: its items by native id, the ids of those that are closed, its failure."""

    __slots__ = ("closed", "error", "items", "native", "root", "thread", "turn")

    def __init__(self, turn: Turn, thread: "Thread", native: str) -> None:
        self.turn = turn
        self.thread = thread
        self.native = native
        self.items: dict[str, Live] = {}
        self.closed: set[str] = set()
        self.error = ""
        self.root = ""


class Thread:
    """A thread: `id` is canonical, absent where the wire does not name the thread."""

    __slots__ = ("announced", "effort", "id", "model", "native", "next", "open", "ref", "refs")

    def __init__(self, native: str, id_: str | UnsetType) -> None:
        self.native = native
        self.id = id_
        self.ref = ref(native)
        self.refs: ProviderRefs | UnsetType = (
            UNSET if self.ref is UNSET else ProviderRefs(providerThreadId=self.ref)
        )
        self.announced = False
        self.model = ""
        self.effort = ""
        self.next: tuple[str, str] = ("", "")
        self.open: dict[str, TurnState] = {}

    def only(self) -> TurnState | None:
        """Return the thread's open turn where there is exactly one."""
        return next(iter(self.open.values())) if len(self.open) == 1 else None


class Conversation:
    """Opens and closes on a ledger what the handlers of a surface find in its frames."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.threads: dict[str, Thread] = {}
        self.fast: dict[str, Live] = {}
        self.started = False
        self._ended: dict[tuple[str, str], None] = {}

    def start_session(
        self, payload: pl.SessionStartedPayload | None = None, *, synthesized: bool = False
    ) -> None:
        """Emit `session.started` at the first evidence of a session."""
        if not self.started:
            self.started = True
            self.ledger.emit(
                ev.SessionStarted, payload or pl.SessionStartedPayload(), synthesized=synthesized
            )

    def thread(self, native: Any) -> Thread:
        """Return the thread with that native id, known from now on."""
        name = native if isinstance(native, str) else ""
        thread = self.threads.get(name)
        if thread is None:
            thread = Thread(name, self.ledger.mint("thr") if name else UNSET)
            self.threads[name] = thread
        return thread

    def announce(self, thread: Thread, *, synthesized: bool = False) -> None:
        """Emit `thread.started` once for a thread that has a name."""
        if thread.announced or not thread.native:
            return
        thread.announced = True
        self.ledger.emit(
            ev.ThreadStarted,
            pl.ThreadStartedPayload(thread.ref),
            thread=thread.id,
            refs=thread.refs,
            synthesized=synthesized,
        )

    def link(self, thread: Thread, links: dict[str, Any], *, synthesized: bool = False) -> None:
        """Say which threads a thread comes from, by their canonical ids; `raw` has the others."""
        for key in ("parentThreadId", "forkedFromId"):
            if isinstance(links.get(key), str):
                links[key] = self.thread(links[key]).id
                if links[key] is UNSET:
                    del links[key]
        self.ledger.emit(
            ev.ThreadMetadataUpdated,
            pl.ThreadMetadataUpdatedPayload(UNSET, links),
            thread=thread.id,
            refs=thread.refs,
            synthesized=synthesized,
        )

    def has_ended(self, thread: Thread, native: str) -> bool:
        """Whether that turn is one of those that ended lately."""
        return (thread.native, native) in self._ended

    def turn(self, thread: Thread, native: Any) -> TurnState | None:
        """Return the open turn with that native id; None where it has ended.

        A turn that is named before it has started is started, as synthesized. Without an id it
        is the thread's only open turn.
        """
        name = native if isinstance(native, str) else ""
        state = thread.open.get(name) or (None if name else thread.only())
        if state is not None or self.has_ended(thread, name):
            return state
        return self.start_turn(thread, name, synthesized=True)

    def known(self, thread: Thread, native: Any) -> TurnState | None:
        """Return the open turn with that native id, and start none."""
        return thread.open.get(native) if isinstance(native, str) else None

    def start_turn(
        self,
        thread: Thread,
        native: str,
        payload: pl.TurnStartedPayload | None = None,
        *,
        synthesized: bool = False,
    ) -> TurnState:
        """Open a turn with its `turn.started`; its model is the thread's where none is given."""
        self.announce(thread, synthesized=True)
        refs: ProviderRefs | UnsetType = thread.refs
        if ref(native) is not UNSET:
            refs = ProviderRefs(providerThreadId=thread.ref, providerTurnId=native)
        if payload is None:
            payload = pl.TurnStartedPayload(
                thread.next[0] or thread.model or UNSET, thread.next[1] or thread.effort or UNSET
            )
        thread.next = ("", "")
        turn = self.ledger.start_turn(native, thread.id, refs, payload, synthesized=synthesized)
        state = thread.open[native] = TurnState(turn, thread, native)
        return state

    def end_turn(
        self, state: TurnState, payload: pl.TurnCompletedPayload, *, synthesized: bool = False
    ) -> None:
        """Close a turn, and what it leaves open, with its `turn.completed`."""
        # Forgotten first: turns that name each other as the outer one end once each.
        self._forget(state)
        self._end_inner(state)
        self.ledger.end_turn(state.turn, payload, synthesized=synthesized)

    def abort_turn(self, state: TurnState, reason: str) -> None:
        """Close a turn, and what it leaves open, with its `turn.aborted`."""
        # Forgotten first: turns that name each other as the outer one end once each.
        self._forget(state)
        self._end_inner(state)
        self.ledger.abort_turn(state.turn, reason)

    def _end_inner(self, outer: TurnState) -> None:
        """Close the turns that a turn has opened on its own thread, and that no frame ends.

        A review has one: Codex names it once, and gives its items to the outer turn.
        """
        for state in list(outer.thread.open.values()):
            if state.root and state.root == outer.native and state is not outer:
                self.end_turn(state, MISSING, synthesized=True)

    def end_all(self) -> None:
        """Close every open turn: none of them will end natively (DECISIONS.md 4)."""
        for thread in self.threads.values():
            while thread.open:
                self.end_turn(next(iter(thread.open.values())), MISSING, synthesized=True)

    def _forget(self, state: TurnState) -> None:
        thread = state.thread
        thread.open.pop(state.native, None)
        for native, live in state.items.items():
            if self.fast.get(native) is live:
                del self.fast[native]
        state.items.clear()
        ended = self._ended
        ended[thread.native, state.native] = None
        if len(ended) > _ENDED:
            del ended[next(iter(ended))]

    def start_item(
        self,
        state: TurnState,
        native: str,
        payload: pl.ItemLifecyclePayload,
        *,
        synthesized: bool = False,
        own: bool = True,
    ) -> Live:
        """Open an item with its `item.started`; `own` where `native` is the provider's id."""
        refs = ProviderRefs(
            providerThreadId=state.thread.ref,
            providerTurnId=ref(state.native),
            providerItemId=ref(native) if own else UNSET,
        )
        item = self.ledger.start_item(state.turn, native, payload, refs, synthesized=synthesized)
        live = Live(item, state)
        state.items[native] = self.fast[native] = live
        return live

    def item(
        self, state: TurnState, native: str, type_: CanonicalItemType, what: str
    ) -> Live | None:
        """Return the open item; one that was never started is started, as synthesized.

        A closed one gives a warning and None: it never opens again.
        """
        live = state.items.get(native)
        if live is None:
            if native in state.closed:
                self.warn(f"{what} came after its item was completed", state=state)
                return None
            live = self.start_item(
                state, native, pl.ItemLifecyclePayload(type_, "inProgress"), synthesized=True
            )
        return live

    def complete_item(self, state: TurnState, native: str, view: View, what: str) -> None:
        """Close an item with its `item.completed`, its final text held against its deltas."""
        live = state.items.get(native)
        if live is None:
            if native in state.closed:
                self.warn(f"{what} came for an item that was completed before", state=state)
                return
            live = self.start_item(
                state, native, pl.ItemLifecyclePayload(view.type, "inProgress"), synthesized=True
            )
        elif view.type != live.item.type:
            self.warn(
                f"an item that started as {live.item.type} is completed as {view.type}",
                state=state,
            )
        if view.odd:
            self.warn(view.odd, view.payload.data, state=state)
        if live.parts:
            self._hold_text(live, view.payload.data)
        del state.items[native]
        if self.fast.get(native) is live:
            del self.fast[native]
        state.closed.add(native)
        self.ledger.complete(live.item, view.payload.status, view.payload)

    def _hold_text(self, live: Live, data: Any) -> None:
        """Set a final text apart that is not what was streamed, with a warning: DECISIONS.md 11."""
        if not isinstance(data, dict):
            return
        for stream, parts in live.parts.items():
            if stream not in FINAL:
                continue
            field, apart = FINAL[stream]
            final = data.get(field)
            if isinstance(final, str) and final != (joined := "".join(parts)):
                data[apart] = data.pop(field)
                self.warn(
                    f"the final text is not what was streamed: {len(joined)} characters of "
                    f"{stream} in {len(parts)} deltas, {len(final)} at the end",
                    state=live.state,
                )

    def delta(
        self,
        live: Live,
        stream: ContentStreamKind,
        text: str,
        content: int | UnsetType = UNSET,
        summary: int | UnsetType = UNSET,
    ) -> None:
        """Emit a `content.delta`."""
        live.parts[stream].append(text)
        self.ledger.emit(
            ev.ContentDelta,
            pl.ContentDeltaPayload(stream, text, content, summary),
            thread=live.thread_id,
            turn=live.turn_id,
            item=live.item_id,
            refs=live.refs,
        )

    def warn(
        self,
        message: str,
        detail: Any = UNSET,
        *,
        state: TurnState | None = None,
        thread: Thread | None = None,
    ) -> None:
        """Emit a `runtime.warning`; its `raw` carries the frame."""
        if state is not None:
            thread = state.thread
        self.ledger.emit(
            ev.RuntimeWarning,
            pl.RuntimeWarningPayload(message, detail),
            thread=thread.id if thread else UNSET,
            turn=state.turn.id if state else UNSET,
            refs=state.turn.refs if state else thread.refs if thread else UNSET,
        )
