"""Codex's `EventMsg`s of tools: commands, patches, MCP, searches, sub-agents. EVENTS.md 3.3."""

import base64
import codecs
from collections.abc import Callable
from typing import Any, Final

from harness.canonical import payloads as pl
from harness.surfaces.codex_eventmsg_base import Handlers, Msg, kind_of, without_type
from harness.surfaces.codex_items import view
from harness.surfaces.codex_state import Conversation, Thread, TurnState

_COLLAB: Final = ("agent_spawn", "agent_interaction", "waiting", "close", "resume")


class ToolEvents(Handlers):
    """The items that are tools, by the id of their call."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(conversation)
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}
        self._reviews = 0
        self.table: dict[str, Callable[[Thread, str, Msg], None]] = {
            "exec_command_begin": self._exec_begin,
            "exec_command_output_delta": self._exec_output,
            "exec_command_end": self._exec_end,
            "terminal_interaction": self._terminal,
            "patch_apply_begin": self._patch_begin,
            "patch_apply_end": self._patch_end,
            "mcp_tool_call_begin": self._mcp_begin,
            "mcp_tool_call_end": self._mcp_end,
            "web_search_begin": self._search_begin,
            "web_search_end": self._search_end,
            "view_image_tool_call": self._image,
            "dynamic_tool_call_request": self._dynamic_begin,
            "dynamic_tool_call_response": self._dynamic_end,
            "entered_review_mode": self._review,
            "exited_review_mode": self._review,
            **{f"collab_{what}_begin": self._collab_begin for what in _COLLAB},
            **{f"collab_{what}_end": self._collab_end for what in _COLLAB},
        }

    def clear(self, state: TurnState) -> None:
        """Forget what belongs to a turn that ends."""
        for native in state.items:
            self._forget(native)

    def _forget(self, native: str) -> None:
        for key in [k for k in self._decoders if k.startswith(f"{native} ")]:
            del self._decoders[key]

    def _begin(self, thread: Thread, turn: str, msg: Msg, item: dict[str, Any]) -> None:
        if state := self._within(thread, turn, msg):
            native = str(msg.get("call_id", msg.get("callId", "")))
            shown = view(item, ended=False)
            live = state.items.get(native)
            if live is not None:
                self.ledger.update(live.item, shown.payload)
            elif native in state.closed:
                self.conversation.warn(f"{kind_of(msg)} came after its end", state=state)
            else:
                self.conversation.start_item(state, native, shown.payload)

    def _end(self, thread: Thread, turn: str, msg: Msg, item: dict[str, Any]) -> None:
        if state := self._within(thread, turn, msg):
            self._complete(state, str(msg.get("call_id", msg.get("callId", ""))), item, msg)

    def _exec_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, {**_call(msg), "type": "command_execution"})

    def _exec_output(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            native = str(msg.get("call_id", ""))
            live = self.conversation.item(state, native, "command_execution", kind_of(msg))
            if live is not None:
                self.conversation.delta(live, "command_output", self._chunk(native, msg))

    def _chunk(self, native: str, msg: Msg) -> str:
        """Output as bytes: base64 now, an array of numbers in old releases, text in none."""
        chunk = msg.get("chunk")
        try:
            raw = bytes(chunk) if isinstance(chunk, list) else base64.b64decode(str(chunk))
        except (ValueError, TypeError):
            return str(chunk)
        # A character may be split over two chunks of one stream.
        key = f"{native} {msg.get('stream', '')}"
        decoder = self._decoders.get(key)
        if decoder is None:
            decoder = self._decoders[key] = codecs.getincrementaldecoder("utf-8")("replace")
        return decoder.decode(raw)

    def _exec_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        native = str(msg.get("call_id", ""))
        self._forget(native)
        item = {**_call(msg), "type": "command_execution"}
        if "aggregated_output" not in item:
            output = [item.get(k) for k in ("stdout", "stderr")]
            item["aggregated_output"] = "".join(o for o in output if isinstance(o, str))
        self._end(thread, turn, msg, item)

    def _terminal(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            native = str(msg.get("call_id", ""))
            live = self.conversation.item(state, native, "command_execution", kind_of(msg))
            if live is not None:
                payload = pl.ItemLifecyclePayload(
                    "command_execution", "inProgress", live.item.title, data=without_type(msg)
                )
                self.ledger.update(live.item, payload)

    def _patch_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, _patch(msg))

    def _patch_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        item = _patch(msg)
        if "status" not in item and msg.get("success") is False:
            item["status"] = "failed"
        self._end(thread, turn, msg, item)

    def _mcp_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, _mcp(msg))

    def _mcp_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        item = _mcp(msg)
        result = msg.get("result")
        if isinstance(result, dict) and "Err" in result:
            item |= {"status": "failed", "error": {"message": str(result["Err"])}, "result": None}
        elif isinstance(result, dict) and "Ok" in result:
            item["result"] = result["Ok"]
            if isinstance(result["Ok"], dict) and result["Ok"].get("is_error") is True:
                item["status"] = "failed"
        self._end(thread, turn, msg, item)

    def _search_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, {**_call(msg), "type": "web_search"})

    def _search_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._end(thread, turn, msg, {**_call(msg), "type": "web_search"})

    def _image(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._end(thread, turn, msg, {**_call(msg), "type": "image_view"})

    def _dynamic_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, {**_call(msg), "type": "dynamic_tool_call"})

    def _dynamic_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._end(thread, turn, msg, {**_call(msg), "type": "dynamic_tool_call"})

    def _collab_begin(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._begin(thread, turn, msg, _collab(msg))

    def _collab_end(self, thread: Thread, turn: str, msg: Msg) -> None:
        self._end(thread, turn, msg, _collab(msg))

    def _review(self, thread: Thread, turn: str, msg: Msg) -> None:
        if state := self._within(thread, turn, msg):
            self._reviews += 1
            kind = kind_of(msg)
            type_ = "enteredReviewMode" if kind == "entered_review_mode" else "exitedReviewMode"
            item = {**without_type(msg), "type": type_}
            native = f"{type_} {self._reviews}"
            shown = view(item, ended=False).payload
            self.conversation.start_item(state, native, shown, synthesized=True, own=False)
            self._complete(state, native, item, msg)


def _call(msg: Msg) -> dict[str, Any]:
    apart = {"type", "call_id", "callId", "turn_id", "turnId"}
    return {k: v for k, v in msg.items() if k not in apart}


def _patch(msg: Msg) -> dict[str, Any]:
    """`changes` is an object by path here, each value `{add|delete|update: {...}}`."""
    item = {**_call(msg), "type": "file_change"}
    changes = item.get("changes")
    if isinstance(changes, dict):
        item["changes"] = [_file(path, change) for path, change in changes.items()]
    return item


def _file(path: str, change: Any) -> dict[str, Any]:
    if not isinstance(change, dict):
        return {"path": path}
    if isinstance(change.get("type"), str):
        return {
            "path": path,
            "kind": change["type"],
            **{k: v for k, v in change.items() if k != "type"},
        }
    kind = next(iter(change), "")
    inner = change.get(kind)
    return {"path": path, "kind": kind, **(inner if isinstance(inner, dict) else {})}


def _mcp(msg: Msg) -> dict[str, Any]:
    item = {**_call(msg), "type": "mcp_tool_call"}
    invocation = item.pop("invocation", None)
    return {**item, **invocation} if isinstance(invocation, dict) else item


def _collab(msg: Msg) -> dict[str, Any]:
    tool = kind_of(msg).removeprefix("collab_").removesuffix("_begin").removesuffix("_end")
    item = {**_call(msg), "type": "collab_tool_call", "tool": tool}
    for old, new in (("receiver_thread_id", "receiverThreadId"), ("new_thread_id", "newThreadId")):
        if old in item:
            item[new] = item.pop(old)
    # The status is the sub-agent's, not the call's.
    if "status" in item:
        item["agentStatus"] = item.pop("status")
    return item
