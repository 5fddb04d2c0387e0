"""What every normalizer needs: minted ids, events with their cause, and what is still open.

A ledger belongs to one conversation. It mints each canonical id (EVENTS.md 1.6), stamps each
event with the frame that caused it, and closes, once, whatever its turn leaves open
(DECISIONS.md 4).
"""

import re
from typing import Any, Final

from msgspec import UNSET, UnsetType, structs

from harness.canonical import Clock, EventBase, ProviderRefs, Raw
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import (
    CanonicalItemType,
    CanonicalRequestType,
    ItemStatus,
    RawSource,
    TurnState,
)
from harness.cassette import Frame, Header

SYNTHESIZED: Final = "synthesized"
"""`raw.messageType` of an event that the normalizer made up (DECISIONS.md 4)."""


_REFUSAL: Final = re.compile(r"declin|den(y|ied)|reject|refus|cancel|abort", re.IGNORECASE)
"""How a decision begins that is none to go on, in every provider's words."""


class Item:
    """An item that has started: `open` until its one `item.completed`."""

    __slots__ = (
        "data",
        "detail",
        "id",
        "native",
        "open",
        "refs",
        "refused",
        "requests",
        "thread",
        "title",
        "turn",
        "type",
    )

    def __init__(
        self, id_: str, native: str, type_: CanonicalItemType, turn: "Turn | None", refs: Any
    ) -> None:
        self.id = id_
        self.native = native
        self.type = type_
        self.turn = turn
        self.refs = refs
        self.thread: str | UnsetType = UNSET
        """Its thread, where it is in no turn."""
        self.data: Any = UNSET
        """What was told of it last: what its turn leaves open ends with it."""
        self.title: str | UnsetType = UNSET
        self.detail: str | UnsetType = UNSET
        self.requests: list[Request] = []
        """What was asked about it: none of them is open once it has ended."""
        self.refused = False
        """Whether the last answer to that was a refusal."""
        self.open = True


class Request:
    """A request that has been opened: `open` until its one `request.resolved`."""

    __slots__ = ("id", "item", "native", "open", "refs", "turn", "type")

    def __init__(
        self, id_: str, native: str, type_: CanonicalRequestType, turn: "Turn | None", refs: Any
    ) -> None:
        self.id = id_
        self.native = native
        self.type = type_
        self.turn = turn
        self.refs = refs
        self.item: Item | None = None
        """The item that it is about, if any."""
        self.open = True


class Turn:
    """A turn that has started, with what is open in it by canonical id, oldest first.

    Native ids may come again: a new process counts anew, in the turn that the old one left open.
    """

    __slots__ = ("id", "items", "native", "open", "refs", "requests", "thread")

    def __init__(self, id_: str, native: str, thread: str | UnsetType, refs: Any) -> None:
        self.id = id_
        self.native = native
        self.thread = thread
        self.refs = refs
        self.items: dict[str, Item] = {}
        self.requests: dict[str, Request] = {}
        self.open = True


class Ledger:
    """The events of one conversation, as its normalizer makes them.

    For each frame: `cause(frame, source, ...)`, then `emit` and the methods that open and
    close, then `take()` for the events. `count` is the number of the last event.
    """

    def __init__(self, header: Header) -> None:
        self.provider = header.provider
        self.session = "ses-1"
        self.clock = Clock(header.recorded)
        self.raw: Raw | UnsetType = UNSET
        self._at = 0
        self._out: list[EventBase] = []
        self.count = 0
        self._minted: dict[str, int] = {}

    def mint(self, prefix: str) -> str:
        """Return a new canonical id: `thr`, `trn`, `itm`, `req` or `tsk`, and a number."""
        number = self._minted[prefix] = self._minted.get(prefix, 0) + 1
        return f"{prefix}-{number}"

    def cause(
        self,
        frame: Frame,
        source: RawSource,
        method: str | UnsetType = UNSET,
        message_type: str | UnsetType = UNSET,
    ) -> None:
        """Name the frame that causes the events to come."""
        data = frame.data
        self.raw = Raw(source, frame.content if data is UNSET else data, method, message_type)
        self._at = frame.at

    def emit(  # noqa: PLR0913 - the envelope's fields
        self,
        kind: type[EventBase],
        payload: pl.Payload,
        *,
        thread: str | UnsetType = UNSET,
        turn: str | UnsetType = UNSET,
        item: str | UnsetType = UNSET,
        request: str | UnsetType = UNSET,
        refs: ProviderRefs | UnsetType = UNSET,
        synthesized: bool = False,
    ) -> None:
        """Append one event, caused by the frame last named by `cause`."""
        self.count += 1
        raw = self.raw
        if synthesized and raw is not UNSET:
            raw = Raw(raw.source, raw.payload, raw.method, SYNTHESIZED)
        self._out.append(
            kind(
                f"evt-{self.count}",
                self.provider,
                self.session,
                self.clock.iso(self._at),
                payload,
                raw,
                thread,
                turn,
                item,
                request,
                refs,
            )
        )

    def take(self) -> list[EventBase]:
        """Return the events made since the last call."""
        out = self._out
        self._out = []
        return out

    def warn(self, message: str, detail: Any = UNSET, turn: Turn | None = None) -> None:
        """Emit a `runtime.warning`; its `raw` carries the frame."""
        self.emit(
            ev.RuntimeWarning,
            pl.RuntimeWarningPayload(message, detail),
            thread=turn.thread if turn else UNSET,
            turn=turn.id if turn else UNSET,
        )

    def start_turn(
        self,
        native: str,
        thread: str | UnsetType = UNSET,
        refs: ProviderRefs | UnsetType = UNSET,
        payload: pl.TurnStartedPayload | None = None,
        *,
        synthesized: bool = False,
    ) -> Turn:
        """Open a turn with its `turn.started`."""
        turn = Turn(self.mint("trn"), native, thread, refs)
        self.emit(
            ev.TurnStarted,
            payload or pl.TurnStartedPayload(),
            thread=thread,
            turn=turn.id,
            refs=refs,
            synthesized=synthesized,
        )
        return turn

    def end_turn(
        self, turn: Turn, payload: pl.TurnCompletedPayload, *, synthesized: bool = False
    ) -> None:
        """Close what the turn leaves open, then the turn, with its one `turn.completed`."""
        if turn.open:
            self._end(turn, ev.TurnCompleted, payload, payload.state, synthesized=synthesized)

    def abort_turn(self, turn: Turn, reason: str) -> None:
        """Close what the turn leaves open, then the turn, with its one `turn.aborted`."""
        if turn.open:
            payload = pl.TurnAbortedPayload(reason)
            self._end(turn, ev.TurnAborted, payload, "interrupted", synthesized=False)

    def _end(
        self,
        turn: Turn,
        kind: type[EventBase],
        payload: pl.Payload,
        state: TurnState,
        *,
        synthesized: bool,
    ) -> None:
        for request in list(turn.requests.values()):
            self.resolve(request, "cancelled", UNSET, synthesized=True)
        status, detail = _left_open(state)
        for item in list(turn.items.values()):
            self.complete(
                item,
                status,
                pl.ItemLifecyclePayload(item.type, status, item.title, detail, _last(item.data)),
                synthesized=True,
            )
        turn.open = False
        self.emit(
            kind,
            payload,
            thread=turn.thread,
            turn=turn.id,
            refs=turn.refs,
            synthesized=synthesized,
        )

    def start_item(  # noqa: PLR0913 - an item's own fields
        self,
        turn: Turn | None,
        native: str,
        payload: pl.ItemLifecyclePayload,
        refs: ProviderRefs | UnsetType = UNSET,
        thread: str | UnsetType = UNSET,
        *,
        synthesized: bool = False,
    ) -> Item:
        """Open an item with its `item.started`."""
        item = Item(self.mint("itm"), native, payload.itemType, turn, refs)
        item.title = payload.title
        item.detail = payload.detail
        item.data = payload.data
        if turn is not None:
            turn.items[item.id] = item
            thread = turn.thread
        else:
            item.thread = thread
        self.emit(
            ev.ItemStarted,
            payload,
            thread=thread,
            turn=turn.id if turn else UNSET,
            item=item.id,
            refs=refs,
            synthesized=synthesized,
        )
        return item

    def update(self, item: Item, payload: pl.ItemLifecyclePayload) -> None:
        """Emit an `item.updated`."""
        if payload.data is not UNSET:
            item.data = payload.data
        self._item_event(ev.ItemUpdated, item, payload, synthesized=False)

    def complete(
        self,
        item: Item,
        status: ItemStatus | UnsetType,
        payload: pl.ItemLifecyclePayload | None = None,
        *,
        synthesized: bool = False,
    ) -> None:
        """Close an item with its one `item.completed`; a closed one stays as it is.

        What was refused is never told as completed: DECISIONS.md 34.
        """
        if not item.open:
            return
        # What was asked about it is settled by its end; how, nobody has told.
        for request in item.requests:
            self.resolve(request, UNSET, synthesized=True)
        item.open = False
        if item.turn is not None:
            item.turn.items.pop(item.id, None)
        payload = payload or pl.ItemLifecyclePayload(item.type, status, item.title)
        if item.refused and payload.status == "completed":
            payload = structs.replace(payload, status="declined")
            self.warn("what was refused is told as completed", UNSET, item.turn)
        self._item_event(ev.ItemCompleted, item, payload, synthesized=synthesized)

    def _item_event(
        self, kind: type[EventBase], item: Item, payload: pl.Payload, *, synthesized: bool
    ) -> None:
        turn = item.turn
        self.emit(
            kind,
            payload,
            thread=turn.thread if turn else item.thread,
            turn=turn.id if turn else UNSET,
            item=item.id,
            refs=item.refs,
            synthesized=synthesized,
        )

    def open_request(
        self,
        turn: Turn | None,
        native: str,
        payload: pl.RequestOpenedPayload,
        refs: ProviderRefs | UnsetType = UNSET,
        item: Item | None = None,
    ) -> Request:
        """Open a request with its `request.opened`; an item that is over is not its item."""
        if item is not None and not item.open:
            item = None
        request = Request(self.mint("req"), native, payload.requestType, turn, refs)
        if item is not None:
            request.item = item
            item.requests.append(request)
        if turn is not None:
            turn.requests[request.id] = request
        self.emit(
            ev.RequestOpened,
            payload,
            thread=turn.thread if turn else UNSET,
            turn=turn.id if turn else UNSET,
            item=item.id if item else UNSET,
            request=request.id,
            refs=refs,
        )
        return request

    def resolve(
        self,
        request: Request,
        decision: str | UnsetType,
        resolution: Any = UNSET,
        *,
        synthesized: bool = False,
    ) -> None:
        """Close a request with its one `request.resolved`; a closed one stays as it is."""
        if not request.open:
            return
        request.open = False
        if request.item is not None and isinstance(decision, str):
            request.item.refused = _REFUSAL.match(decision) is not None
        turn = request.turn
        if turn is not None:
            turn.requests.pop(request.id, None)
        self.emit(
            ev.RequestResolved,
            pl.RequestResolvedPayload(request.type, decision, resolution),
            thread=turn.thread if turn else UNSET,
            turn=turn.id if turn else UNSET,
            request=request.id,
            refs=request.refs,
            synthesized=synthesized,
        )


_WHOLE = ("text", "summary", "output")


def _last(data: Any) -> Any:
    """What was told of an item last, as its end: an empty text at its start is none then."""
    if type(data) is not dict or all(data.get(name) != "" for name in _WHOLE):
        return data
    return {key: value for key, value in data.items() if key not in _WHOLE or value != ""}


def _left_open(state: TurnState) -> tuple[ItemStatus | UnsetType, str]:
    """What is said of an item that its turn leaves open: DECISIONS.md 4."""
    if state == "completed":
        # The provider said nothing of it: its outcome is unknown, not failed.
        return UNSET, "no result by the end of the turn"
    return "failed", f"the turn was {state}" if state != "failed" else "the turn failed"
