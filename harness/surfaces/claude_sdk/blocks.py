"""Content blocks: what the model says, thinks and calls. EVENTS.md 4.1, DECISIONS.md 3.

One item for each block. A block is told twice where partial messages are on: as it streams, and
whole in an `assistant` message, which comes before or after the block's end.
"""

from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalItemType, ContentStreamKind, ItemStatus
from harness.surfaces.claude_sdk.names import Message
from harness.surfaces.claude_sdk.state import State, Tool, with_parent
from harness.surfaces.claude_sdk.tools import PLAN, item_type, plan_steps
from harness.surfaces.claude_sdk.users import Users
from harness.surfaces.ledger import Item

CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
TEXTS: Final[dict[str, tuple[CanonicalItemType, ContentStreamKind, str]]] = {
    "text": ("assistant_message", "assistant_text", "text"),
    "thinking": ("reasoning", "reasoning_text", "thinking"),
    "redacted_thinking": ("reasoning", "reasoning_text", ""),
}
"""Block type to its item type, the kind of its stream, and the field with its text."""

DELTAS: Final[dict[str, tuple[ContentStreamKind, str]]] = {
    "text_delta": ("assistant_text", "text"),
    "thinking_delta": ("reasoning_text", "thinking"),
}
"""Delta type to the kind of its stream, and the field with its text."""

_decode = msgspec.json.Decoder().decode


class Block:
    """A content block that streams.

    `tool` is None for text, `result` the block of a tool's result. `stream` is the kind of the
    deltas that it takes, none once it has ended. `told` once a message had it whole, `final` its
    text there, if that is another.
    """

    __slots__ = ("citations", "final", "item", "item_id", "kind", "parts", "refs", "result",
                 "stream", "told", "tool")  # fmt: skip

    def __init__(self, kind: str, item: Item, tool: Tool | None) -> None:
        self.kind = kind
        self.item = item
        self.item_id = item.id
        self.refs = item.refs
        self.tool = tool
        self.stream: str = TEXTS[kind][1] if kind in TEXTS else ""
        self.parts: list[str] = []
        self.citations: list[Any] = []
        self.told = False
        self.final: str | None = None
        self.result: Message | None = None


class Context:
    """The message that the agent, or one of its sub-agents, streams."""

    __slots__ = ("blocks", "message", "parent")

    def __init__(self, parent: str | None, message: str = "") -> None:
        self.parent = parent
        self.message = message
        self.blocks: dict[Any, Block] = {}


class Blocks:
    """Handles `stream_event` and `assistant`."""

    def __init__(self, state: State, users: Users) -> None:
        self.state = state
        self.ledger = state.ledger
        self.users = users
        self.contexts: dict[str | None, Context] = {}

    def end_turn(self) -> None:
        """Forget what has streamed: its turn is over."""
        self.contexts.clear()

    # Stream events

    def message_start(self, message: Message) -> None:
        """A message begins; what the one before left open will not go on."""
        self.state.need_turn()
        context = self._context(message)
        self._break_off(context)
        native = message["event"]["message"].get("id")
        self.contexts[context.parent] = Context(
            context.parent, native if isinstance(native, str) else ""
        )

    def message_stop(self, message: Message) -> None:
        """A message ends; a block without an end of its own ends with it."""
        self._break_off(self._context(message))

    def block_start(self, message: Message) -> None:
        """A block begins: its item starts."""
        context = self._context(message)
        event = message["event"]
        content = event["content_block"]
        kind = content["type"]
        if kind in CALLS:
            block = self._start_call(content, context)
        elif kind.endswith("_tool_result"):
            found = self._start_result(content)
            if found is None:
                return
            block = found
        else:
            block = self._start_text(content, context)
        old = context.blocks.get(event["index"])
        if old is not None:
            self._end_text(old, context, synthesized=True)
        context.blocks[event["index"]] = block
        text = content.get(TEXTS[kind][2]) if kind in TEXTS else None
        if isinstance(text, str) and text:
            self._emit_delta(block, text)

    def delta(self, message: Message) -> None:
        """A piece of a text; the normalizer's short way takes those of blocks that are known."""
        context = self._context(message)
        event = message["event"]
        kind, field = DELTAS[event["delta"]["type"]]
        text = event["delta"][field]
        if not isinstance(text, str):
            raise TypeError(f"{field} is no text")
        block = context.blocks.get(event["index"])
        if block is None or block.stream != kind:
            name = "text" if kind == "assistant_text" else "thinking"
            block = self._start_text({"type": name}, context, synthesized=True)
            context.blocks[event["index"]] = block
        self._emit_delta(block, text)

    def input_delta(self, message: Message) -> None:
        """A piece of a tool's input, which is whole at its block's end."""
        block = self._context(message).blocks.get(message["event"]["index"])
        piece = message["event"]["delta"]["partial_json"]
        if block is None or block.tool is None:
            self.state.warn("a piece of a tool's input, and no tool call has begun")
        else:
            block.parts.append(str(piece))

    def citation(self, message: Message) -> None:
        """A source of the text so far."""
        block = self._context(message).blocks[message["event"]["index"]]
        block.citations.append(message["event"]["delta"]["citation"])
        if block.item.open:
            data = {"citations": list(block.citations)}
            self.ledger.update(
                block.item, pl.ItemLifecyclePayload(block.item.type, "inProgress", data=data)
            )

    def block_stop(self, message: Message) -> None:
        """A block ends: a text is complete, a tool has its whole input (DECISIONS.md 3)."""
        context = self._context(message)
        block = context.blocks.get(message["event"]["index"])
        if block is None:
            self.state.warn("the end of a block that has not begun")
        elif not block.item.open:
            self.state.warn("the end of a block that has ended")
        elif block.result is not None:
            self.users.tool_result(block.result)
        elif block.tool is not None:
            self._end_input(block, block.tool)
        else:
            self._end_text(block, context)

    # Whole messages

    def assistant(self, message: Message) -> None:
        """A message, or the blocks of one that are whole by now."""
        body = message["message"]
        parent = _parent(message)
        self.state.need_turn()
        context = self.contexts.setdefault(parent, Context(parent))
        native = body.get("id")
        if context.message and context.message != native:
            context = Context(parent, native if isinstance(native, str) else "")
        content = body["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        before = self.ledger.count
        synthetic = body.get("model") == "<synthetic>"
        failed = message.get("error") is not None or message.get("is_api_error_message") is True
        for block in content:
            if synthetic or (failed and block["type"] == "text"):
                self._own_words(message, block, parent, failed=failed)
            else:
                self._whole(block, context)
        if self.ledger.count == before:
            self.state.warn("an assistant message tells nothing that was not told before")

    def _own_words(
        self, message: Message, block: Message, parent: str | None, *, failed: bool
    ) -> None:
        """The CLI speaks for the model: of an error, which is not what the model said."""
        type_: CanonicalItemType = "error" if failed else "assistant_message"
        data: dict[str, Any] = {"text": block.get("text", ""), "synthetic": True}
        if failed:
            data["error"] = message.get("error")
        self._at_once(type_, block, with_parent(data, parent))

    def _whole(self, content: Message, context: Context) -> None:
        kind = content["type"]
        if kind in CALLS:
            self._whole_call(content, context)
        elif kind.endswith("_tool_result"):
            self.users.tool_result(content)
        else:
            block = next(
                (b for b in context.blocks.values() if b.kind == kind and not b.told), None
            )
            if block is None:
                data = self._text_data(kind, content, context.parent)
                self._at_once(
                    TEXTS[kind][0] if kind in TEXTS else "unknown", content, data, context
                )
                return
            block.told = True
            data = self._text_data(kind, content, context.parent)
            self._hold_text(block, data)
            if block.item.open:
                self.ledger.update(
                    block.item, pl.ItemLifecyclePayload(block.item.type, "inProgress", data=data)
                )

    def _whole_call(self, content: Message, context: Context) -> None:
        id_ = content["id"]
        tool = self.state.tools.get(id_)
        if tool is None:
            if id_ in self.state.closed:
                self.state.warn("a tool call that was completed before is told again")
                return
            type_ = item_type(content["name"], content["type"])
            tool = self.state.start_tool(id_, content["name"], type_, context.parent)
        self._set_input(tool, content.get("input"))

    # Parts

    def _start_call(self, content: Message, context: Context) -> Block:
        id_ = content["id"]
        tool = self.state.tools.get(id_)
        if tool is None:
            type_ = item_type(content["name"], content["type"])
            tool = self.state.start_tool(id_, content["name"], type_, context.parent)
        else:
            self.state.warn("a tool call begins that has begun before")
        return Block(content["type"], tool.item, tool)

    def _start_result(self, content: Message) -> Block | None:
        """A tool of the provider's own has its result, which ends with its block."""
        tool = self.state.tools.get(content["tool_use_id"])
        if tool is None:
            self.state.warn("a result of a tool call that is not open")
            return None
        self._update(tool)
        block = Block(content["type"], tool.item, tool)
        block.result = content
        return block

    def _start_text(
        self, content: Message, context: Context, *, synthesized: bool = False
    ) -> Block:
        turn = self.state.need_turn()
        kind = content["type"]
        if kind in TEXTS:
            type_, data = TEXTS[kind][0], with_parent({}, context.parent)
            if kind == "redacted_thinking":
                data["redacted"] = True
        else:
            type_, data = "unknown", with_parent({"block": content}, context.parent)
            self.state.warn(f"a content block of the type {kind!r} is not known")
        payload = pl.ItemLifecyclePayload(type_, "inProgress", data=data or UNSET)
        item = self.ledger.start_item(
            turn,
            f"block {self.ledger.count}",
            payload,
            self.state.item_refs(context.message),
            synthesized=synthesized,
        )
        return Block(kind, item, None)

    def _emit_delta(self, block: Block, text: str) -> None:
        block.parts.append(text)
        self.state.emit(
            ev.ContentDelta, pl.ContentDeltaPayload(TEXTS[block.kind][1], text), block.item_id
        )

    def _end_text(self, block: Block, context: Context, *, synthesized: bool = False) -> None:
        if block.tool is not None or not block.item.open:
            return
        block.stream = ""
        data: dict[str, Any] = {}
        if block.kind == "redacted_thinking":
            data["redacted"] = True
        elif block.kind in TEXTS:
            data["text"] = "".join(block.parts)
        if block.final is not None:
            data["finalText"] = block.final
        if block.citations:
            data["citations"] = block.citations
        with_parent(data, context.parent)
        status: ItemStatus | UnsetType = UNSET if synthesized else "completed"
        payload = pl.ItemLifecyclePayload(block.item.type, status, data=data or UNSET)
        if synthesized:
            payload = msgspec.structs.replace(payload, detail="the message was broken off")
        self.ledger.complete(block.item, status, payload, synthesized=synthesized)

    def _end_input(self, block: Block, tool: Tool) -> None:
        text = "".join(block.parts)
        value: Any = UNSET
        if text:
            try:
                value = _decode(text)
            except (msgspec.DecodeError, RecursionError):
                value = text
                self.state.warn("a tool's input is not JSON; it is kept as text", text)
        if tool.input is UNSET:
            self._set_input(tool, {} if value is UNSET else value)
        elif tool.item.open:
            self._update(tool)

    def _set_input(self, tool: Tool, value: Any) -> None:
        tool.input = value
        tool.item.title = tool.title()
        self._update(tool)
        if tool.name == PLAN and (steps := plan_steps(value)) is not None:
            plan = [pl.PlanStep(step, status) for step, status in steps]
            self.state.emit(ev.TurnPlanUpdated, pl.TurnPlanUpdatedPayload(plan))

    def _update(self, tool: Tool) -> None:
        item = tool.item
        self.ledger.update(
            item, pl.ItemLifecyclePayload(item.type, "inProgress", item.title, data=tool.data())
        )

    def _at_once(
        self,
        type_: CanonicalItemType,
        content: Message,
        data: dict[str, Any],
        context: Context | None = None,
    ) -> None:
        """An item that is complete as soon as it is told."""
        turn = self.state.need_turn()
        refs = self.state.item_refs(context.message if context else None)
        if type_ == "unknown":
            self.state.warn(f"a content block of the type {content['type']!r} is not known")
        start = pl.ItemLifecyclePayload(type_, "inProgress")
        item = self.ledger.start_item(turn, f"block {self.ledger.count}", start, refs)
        status: ItemStatus = "failed" if type_ == "error" else "completed"
        self.ledger.complete(
            item, status, pl.ItemLifecyclePayload(type_, status, data=data or UNSET)
        )

    @staticmethod
    def _text_data(kind: str, content: Message, parent: str | None) -> dict[str, Any]:
        if kind == "redacted_thinking":
            return with_parent({"redacted": True}, parent)
        if kind not in TEXTS:
            return with_parent({"block": content}, parent)
        data: dict[str, Any] = {"text": content[TEXTS[kind][2]]}
        if content.get("citations"):
            data["citations"] = content["citations"]
        return with_parent(data, parent)

    def _hold_text(self, block: Block, data: dict[str, Any]) -> None:
        """Set a text apart that is not what was streamed, with a warning: DECISIONS.md 11."""
        if "text" in data and data["text"] != (joined := "".join(block.parts)):
            data["finalText"] = block.final = data.pop("text")
            self.state.warn(
                f"the text is not what was streamed: {len(joined)} characters in "
                f"{len(block.parts)} deltas, {len(data['finalText'])} in the message"
            )

    def _break_off(self, context: Context) -> None:
        for block in context.blocks.values():
            self._end_text(block, context, synthesized=True)

    def _context(self, message: Message) -> Context:
        parent = _parent(message)
        return self.contexts.setdefault(parent, Context(parent))


def _parent(message: Message) -> str | None:
    parent = message.get("parent_tool_use_id")
    return parent if isinstance(parent, str) else None
