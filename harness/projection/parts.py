"""Parts: the units that chat events belong to, each started once and ended once.

A part knows its parent, and the parts in it that are open: ending it ends those first. The
board holds all that are open, numbers the events, and mints the ids.
"""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical.events import EventBase
from harness.canonical.names import ContentStreamKind, ProviderKind
from harness.projection.chat_event import ChatEvent, ChatKind, Field, Phase, Role
from harness.surfaces.ledger import SYNTHESIZED

Key = tuple[str, ...]
Stream = ContentStreamKind
_SESSION: Final = "sessionId"
_WHOLE: Final = -1
"""The index of a stream that has none."""


class Text:
    """The text of one stream of a part so far: its blocks in order of appearance, joined lazily."""

    __slots__ = ("blocks", "chunks")

    def __init__(self) -> None:
        self.blocks: dict[int, str] = {}
        self.chunks: dict[int, list[str]] = {}

    def joined(self) -> str:
        """Return the blocks' text one after the other, as an accumulator has it."""
        for chunks in self.chunks.values():
            if len(chunks) > 1:
                chunks[:] = ["".join(chunks)]
        return "".join(chunks[0] for chunks in self.chunks.values() if chunks)


class Place:
    """Where a part stands: its ids, and which of them no native frame states."""

    __slots__ = (
        "call",
        "linked",
        "made",
        "message",
        "request",
        "restored",
        "session",
        "step",
        "thread",
        "turn",
    )

    def __init__(self, session: str) -> None:
        self.session = session
        self.thread: str | UnsetType = UNSET
        self.turn: str | UnsetType = UNSET
        self.message: str | UnsetType = UNSET
        self.step: str | UnsetType = UNSET
        self.call: str | UnsetType = UNSET
        self.request: str | UnsetType = UNSET
        self.restored = False
        self.linked = False
        """A native frame states the parent."""
        self.made: set[Field] = set()

    def copy(self) -> "Place":
        """Return a place of the same ids, to be changed."""
        other = Place(self.session)
        other.thread, other.turn, other.message = self.thread, self.turn, self.message
        other.step, other.call, other.request = self.step, self.call, self.request
        other.restored, other.made = self.restored, set(self.made)
        return other


class Part:
    """One part: `open` until its end. `subs` are the parts made of the same item."""

    __slots__ = (
        "children",
        "id",
        "key",
        "kind",
        "made",
        "open",
        "parent",
        "place",
        "role",
        "said",
        "subs",
        "texts",
        "waiting",
    )

    def __init__(
        self, id_: str, key: Key, kind: ChatKind, parent: "Part | None", place: Place
    ) -> None:
        self.id = id_
        self.key = key
        self.kind: ChatKind = kind
        self.parent = parent
        self.place = place
        self.open = True
        self.role: Role | UnsetType = UNSET
        self.children: dict[str, Part] = {}
        self.subs: dict[ChatKind, Part] = {}
        self.texts: dict[Stream, Text] = {}
        self.said: Any = None
        """What was last told of it, where telling it again would say nothing."""
        self.waiting: set[str] = set()
        """For a question: what of it is to be resolved."""
        joined = parent is not None and not place.linked
        self.made: tuple[Field, ...] = tuple(
            sorted(place.made | ({"parentId"} if joined else set()))
        )


class Board:
    """The parts of a conversation that are open, and the chat events made of them."""

    def __init__(self) -> None:
        self.sequence = 0
        self.open: dict[Key, Part] = {}
        self._minted: dict[str, int] = {}
        self._out: list[ChatEvent] = []
        self.event: EventBase | None = None
        self._provider: ProviderKind = "acp"
        self.synthesized = False
        self._in_session = False

    def cause(self, event: EventBase | None) -> None:
        """Name the canonical event that causes what follows; None for their end."""
        self.event = event
        if event is not None:
            self._provider = event.provider
            refs = event.providerRefs
            self._in_session = refs is not UNSET and (
                refs.providerSessionId is not UNSET or refs.providerThreadId is not UNSET
            )
        self.synthesized = event is None or (
            event.raw is not UNSET and event.raw.messageType == SYNTHESIZED
        )

    def take(self) -> list[ChatEvent]:
        """Return the chat events made since the last call."""
        out = self._out
        self._out = []
        return out

    def mint(self, prefix: str) -> str:
        """Return a new id: a prefix and a number."""
        number = self._minted[prefix] = self._minted.get(prefix, 0) + 1
        return f"{prefix}-{number}"

    def start(  # noqa: PLR0913 - what a part is made of
        self,
        key: Key,
        kind: ChatKind,
        parent: Part | None,
        place: Place,
        *,
        role: Role | UnsetType = UNSET,
        made: bool = False,
        **fields: Any,
    ) -> Part:
        """Open a part with its `started`; `made` says that no native frame states its start."""
        part = Part(self.mint("prt"), key, kind, parent, place)
        part.role = role
        self.open[key] = part
        if parent is not None:
            parent.children[part.id] = part
        self.emit(part, "started", made=made, **fields)
        return part

    def end(self, part: Part, *, failed: bool = False, made: bool = False, **fields: Any) -> None:
        """End a part with its one `completed` or `failed`, after the parts in it."""
        phase: Phase = "failed" if failed else "completed"
        for inner in _inside(part):
            if inner is not part:
                self._ended(inner)
                # What is merely told of a turn that failed has not failed.
                told = inner.key[0] == "subject"
                self.emit(inner, "completed" if told else phase, made=True)
        self._ended(part)
        self.emit(part, phase, made=made, **fields)

    def _ended(self, part: Part) -> None:
        part.open = False
        # The call's part is kept for what refers to it later; what it said is not.
        part.children, part.texts, part.said = {}, {}, None
        if self.open.get(part.key) is part:
            del self.open[part.key]
        if part.parent is not None:
            part.parent.children.pop(part.id, None)

    def emit(self, part: Part, phase: Phase, *, made: bool = False, **fields: Any) -> None:
        """Append one chat event of a part."""
        self.sequence += 1
        place = part.place
        event = self.event
        self._out.append(
            ChatEvent(
                self.sequence,
                phase,
                part.kind,
                self._provider,
                place.session,
                part.id,
                UNSET if event is None else event.eventId,
                UNSET if part.parent is None else part.parent.id,
                place.thread,
                place.turn,
                place.message,
                place.step,
                fields.pop("block", UNSET),
                place.call,
                place.request,
                part.role,
                restored=place.restored,
                synthesized=self._made(part, phase=made or self.synthesized, fields=fields),
                **fields,
            )
        )

    def _made(self, part: Part, *, phase: bool, fields: dict[str, Any]) -> tuple[Field, ...]:
        made = part.made
        if self._in_session and _SESSION in made:
            # The part opened before the provider had named its session; this event names it.
            made = tuple(name for name in made if name != _SESSION)
        if fields.pop("block_made", False):
            made = ("blockId", *made)
        return ("phase", *made) if phase else made

    def delta(
        self, part: Part, stream: Stream, text: str, index: int | UnsetType = UNSET, **how: Any
    ) -> None:
        """Append text to a stream of a part, in the block of that index."""
        own = part.texts.get(stream)
        if own is None:
            own = part.texts[stream] = Text()
        number = _WHOLE if index is UNSET else index
        block = own.blocks.get(number)
        if block is None:
            block = own.blocks[number] = self.mint("blk")
            own.chunks[number] = []
        own.chunks[number].append(text)
        made = index is UNSET
        self.emit(part, "delta", stream=stream, text=text, block=block, block_made=made, **how)

    def whole(self, part: Part, stream: Stream, text: str, pieces: Any, *, final: bool) -> None:
        """Bring a stream to its whole text, as a snapshot tells it.

        What was not streamed is a delta of its own; what contradicts the stream replaces it. An
        earlier snapshot erases nothing unless it is `final`.
        """
        own = part.texts.get(stream)
        had = "" if own is None else own.joined()
        if text == had:
            return
        if text.startswith(had):
            rest = text[len(had) :]
            if own is not None:
                # Where the stream has got to: its last block.
                last = next(reversed(own.chunks))
                self.delta(part, stream, rest, UNSET if last == _WHOLE else last, made=True)
            elif _joined(pieces) == text:
                for number, piece in enumerate(pieces):
                    self.delta(part, stream, piece, number, made=True)
            else:
                self.delta(part, stream, rest, made=True)
        elif final or not had.startswith(text):
            own = part.texts[stream] = Text()
            block = own.blocks[_WHOLE] = self.mint("blk")
            own.chunks[_WHOLE] = [text]
            self.emit(
                part,
                "updated",
                stream=stream,
                text=text,
                replaces=True,
                block=block,
                block_made=True,
            )


def _joined(pieces: Any) -> str | None:
    if isinstance(pieces, list) and all(isinstance(p, str) for p in pieces):
        return "".join(pieces)
    return None


def _inside(part: Part) -> Iterator[Part]:
    """Yield the open parts in a part, the innermost and latest first, then itself.

    With a stack of its own: parts nest as deep as the agent's sub-agents say.
    """
    order = []
    stack = [part]
    while stack:
        current = stack.pop()
        order.append(current)
        stack.extend(current.children.values())
    return reversed(order)
