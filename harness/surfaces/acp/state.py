"""A session of ACP as the normalizer knows it: its thread, its turns, its messages, its tools."""

from typing import Any, Final

from msgspec import UNSET, UnsetType, structs

from harness.canonical import ProviderRefs
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalItemType
from harness.surfaces.acp.names import Message, ref
from harness.surfaces.ledger import Item, Ledger, Turn

Role = CanonicalItemType

STREAMS: Final[dict[str, Any]] = {
    "assistant_message": "assistant_text",
    "reasoning": "reasoning_text",
}
"""Item type of a message to the stream of its deltas; a user's message has none."""


class Tool:
    """A tool call: its item, and all that was said of it, joined."""

    __slots__ = ("declined", "item", "replayed", "said")

    def __init__(self, item: Item, said: Message, *, replayed: bool) -> None:
        self.item = item
        self.said = said
        self.replayed = replayed
        self.declined = False


class Talk:
    """The message that is being streamed."""

    __slots__ = ("content", "item", "native", "parts", "role")

    def __init__(self, role: Role, native: Any, item: Item) -> None:
        self.role = role
        self.native = native
        self.item = item
        self.parts: list[str] = []
        self.content: list[Any] = []


class Prompt:
    """A turn with its prompt's id, and whether the client has cancelled it."""

    __slots__ = ("cancelled", "turn")

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.cancelled = False


class Session:
    """One `sessionId`. `replays` from `session/load` until the next prompt."""

    def __init__(self, ledger: Ledger, native: str) -> None:
        self.ledger = ledger
        self.ref = ref(native)
        self.thread: str | UnsetType = UNSET if self.ref is UNSET else ledger.mint("thr")
        self.refs: ProviderRefs | UnsetType = (
            UNSET
            if self.ref is UNSET
            else ProviderRefs(providerSessionId=self.ref, providerThreadId=self.ref)
        )
        self.announced = False
        self.replays = False
        self.prompts: dict[Any, Prompt] = {}
        self.tools: dict[str, Tool] = {}
        self.talk: Talk | None = None

    @property
    def turn(self) -> Turn | None:
        """The oldest open turn, if any."""
        return next(iter(self.prompts.values())).turn if self.prompts else None

    @property
    def item_turn(self) -> Turn | None:
        """The turn of what begins now: what is restored is in none."""
        return None if self.replays else self.turn

    @property
    def place(self) -> dict[str, Any]:
        """Where an event of the session stands, as arguments of `Ledger.emit`."""
        turn = self.turn
        return {
            "thread": self.thread,
            "turn": turn.id if turn else UNSET,
            "refs": self.refs,
        }

    def announce(self, *, synthesized: bool = False) -> None:
        """Emit `thread.started` once."""
        if self.announced or self.thread is UNSET:
            return
        self.announced = True
        self.ledger.emit(
            ev.ThreadStarted,
            pl.ThreadStartedPayload(self.ref),
            thread=self.thread,
            refs=self.refs,
            synthesized=synthesized,
        )

    def item_refs(self, native: Any) -> ProviderRefs | UnsetType:
        """The references of an item with that native id."""
        name = ref(native)
        if name is UNSET:
            return self.refs
        if self.refs is UNSET:
            return ProviderRefs(providerItemId=name)
        return structs.replace(self.refs, providerItemId=name)

    def marked(self, data: Message) -> Message:
        """Add to an item's data that it is history, not new output."""
        return {**data, "replay": True} if self.replays else data

    def _said(self, role: Role, data: Message) -> Message:
        """A message's data: what the agent says for the user, with no prompt, is marked too."""
        if role == "user_message" and self.turn is None and not self.replays:
            return {**data, "synthetic": True}
        return self.marked(data)

    def replay(self) -> None:
        """What comes from now on is history: its tools are told anew, whatever their ids."""
        self.hush()
        self.close_tools(None)
        self.replays = True
        # What a turn that goes on has open is not history yet.
        self.tools = {native: tool for native, tool in self.tools.items() if tool.item.open}

    def speak(self, role: Role, native: Any, content: Any) -> None:
        """Handle a chunk of a message; another role or `messageId` ends the one before."""
        talk = self.talk
        if talk is not None and (
            talk.role != role
            or (native is not None and talk.native is not None and native != talk.native)
        ):
            self.hush()
            talk = None
        words = _words(content)
        if talk is None:
            data: Message = {} if not isinstance(native, str) else {"messageId": native}
            payload = pl.ItemLifecyclePayload(
                role, "inProgress", data=self._said(role, data) or UNSET
            )
            item = self.ledger.start_item(
                self.item_turn,
                f"message {self.ledger.count}",
                payload,
                self.item_refs(native),
                self.thread,
                synthesized=True,
            )
            # The session ends it, before its turn does.
            if item.turn is not None:
                item.turn.items.pop(item.id, None)
            talk = self.talk = Talk(role, native, item)
        stream = STREAMS.get(role)
        if words is not None and stream is not None:
            talk.parts.append(words)
            turn = talk.item.turn
            self.ledger.emit(
                ev.ContentDelta,
                pl.ContentDeltaPayload(stream, words),
                thread=self.thread,
                turn=turn.id if turn else UNSET,
                item=talk.item.id,
                refs=talk.item.refs,
            )
            return
        if words is not None:
            talk.parts.append(words)
            said: Message = {"text": "".join(talk.parts)}
        else:
            talk.content.append(content)
            said = {"content": list(talk.content)}
        self.ledger.update(
            talk.item, pl.ItemLifecyclePayload(role, "inProgress", data=self._said(role, said))
        )

    def hush(self) -> None:
        """Complete the message that is being streamed: no frame says that it is over."""
        talk, self.talk = self.talk, None
        if talk is None:
            return
        data: Message = {"text": "".join(talk.parts)}
        if talk.content:
            data["content"] = talk.content
        payload = pl.ItemLifecyclePayload(talk.role, "completed", data=self._said(talk.role, data))
        self.ledger.complete(talk.item, "completed", payload, synthesized=True)

    def close_tools(self, turn: Turn | None) -> None:
        """Complete what a refusal has ended, and, without a turn, all that is open."""
        for tool in self.tools.values():
            if not tool.item.open or tool.item.turn is not turn:
                continue
            status: Any = "declined" if tool.declined else UNSET
            if turn is not None and not tool.declined:
                continue
            detail = "declined by the client" if tool.declined else "no result by the end"
            item = tool.item
            payload = pl.ItemLifecyclePayload(item.type, status, item.title, detail, item.data)
            self.ledger.complete(item, status, payload, synthesized=True)


def _words(content: Any) -> str | None:
    """The text of a content block; None for one of another type."""
    if not isinstance(content, dict) or content.get("type", "text") != "text":
        return None
    words = content.get("text")
    return words if isinstance(words, str) else None
