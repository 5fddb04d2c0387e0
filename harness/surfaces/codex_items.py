"""Codex's thread items as canonical ones, in each spelling that Codex has used.

`codex app-server` writes camelCase (`commandExecution`), `codex exec` snake_case
(`command_execution`), its first releases `item_type` and `assistant_message`. One fact gives
one canonical item whichever way it is spelled (EVENTS.md 1.3, DECISIONS.md 11).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalItemType, ItemStatus

Item = Mapping[str, Any]
Data = dict[str, Any]
Words = tuple[str | UnsetType, str | UnsetType]
"""Title and detail."""

TYPES: Final[dict[str, CanonicalItemType]] = {
    "userMessage": "user_message",
    "user_message": "user_message",
    "agentMessage": "assistant_message",
    "agent_message": "assistant_message",
    "assistant_message": "assistant_message",
    "reasoning": "reasoning",
    "plan": "plan",
    "todo_list": "plan",
    "commandExecution": "command_execution",
    "command_execution": "command_execution",
    "fileChange": "file_change",
    "file_change": "file_change",
    "mcpToolCall": "mcp_tool_call",
    "mcp_tool_call": "mcp_tool_call",
    "dynamicToolCall": "dynamic_tool_call",
    "dynamic_tool_call": "dynamic_tool_call",
    "collabAgentToolCall": "collab_agent_tool_call",
    "collabToolCall": "collab_agent_tool_call",
    "collab_agent_tool_call": "collab_agent_tool_call",
    "collab_tool_call": "collab_agent_tool_call",
    "subAgentActivity": "collab_agent_tool_call",
    "webSearch": "web_search",
    "web_search": "web_search",
    "imageView": "image_view",
    "image_view": "image_view",
    "enteredReviewMode": "review_entered",
    "exitedReviewMode": "review_exited",
    "contextCompaction": "context_compaction",
    "context_compaction": "context_compaction",
    "error": "error",
    "hookPrompt": "unknown",
    "functionCallOutput": "unknown",
    "sleep": "unknown",
    "imageGeneration": "unknown",
}
"""Native item type to canonical item type; one that is not here is `unknown`, with a warning."""

STATUSES: Final[dict[str, ItemStatus]] = {
    "inProgress": "inProgress",
    "in_progress": "inProgress",
    "completed": "completed",
    "failed": "failed",
    "declined": "declined",
    # A sub-agent's call that was interrupted did not do its work.
    "interrupted": "failed",
}

_APART = frozenset({"id", "type", "item_type", "status"})
_RENAMED = {
    "aggregatedOutput": "output",
    "aggregated_output": "output",
    "exit_code": "exitCode",
    "duration_ms": "durationMs",
    "agents_states": "agentsStates",
    "sender_thread_id": "senderThreadId",
    "receiver_thread_ids": "receiverThreadIds",
}


class View(Struct, frozen=True):
    """An item as the canonical model sees it. `odd` says what of it is not known, if anything."""

    native: str
    type: CanonicalItemType
    payload: pl.ItemLifecyclePayload
    odd: str = ""


def view(item: Item, *, ended: bool) -> View:
    """Return the canonical view of a native item, at its start or at its end."""
    native = item.get("type") or item.get("item_type")
    native = native if isinstance(native, str) else ""
    type_ = TYPES.get(native, "unknown")
    odd = "" if native in TYPES else f"item type {native or 'missing'} is not known"
    data: Data = {
        _RENAMED.get(k, k): v for k, v in item.items() if k not in _APART and v is not None
    }
    status, kept = _status(item.get("status"), native, ended=ended)
    if kept != "":
        data["status"] = kept
        known = isinstance(kept, str) and kept in STATUSES
        odd = odd or ("" if known else f"item status {kept} is not known")
    words: Words
    if native in _SHAPES:
        words = _SHAPES[native](data)
    else:
        words = (native, f"native item type {native}") if native else (UNSET, UNSET)
    if status == "completed" and _failed(data):
        status = "failed"
    payload = pl.ItemLifecyclePayload(type_, status, *words, data or UNSET)
    return View(native, type_, payload, odd)


def _status(said: Any, native: str, *, ended: bool) -> tuple[ItemStatus | UnsetType, Any]:
    """Return the canonical status, and the native one where that does not tell all: any value."""
    if said is not None and not isinstance(said, str):
        return UNSET, said
    if said is None or native == "imageGeneration":
        return ("completed" if ended else "inProgress"), ""
    status = STATUSES.get(said, UNSET)
    if status is UNSET or said == "interrupted":
        return status, said
    # An item that has ended is not in progress: its outcome is not known.
    return (UNSET, said) if ended and status == "inProgress" else (status, "")


def _failed(data: Data) -> bool:
    """A command that exits with another code than 0 has failed, whatever its status says."""
    code = data.get("exitCode")
    return (type(code) is int and code != 0) or data.get("success") is False


def _text(_data: Data) -> Words:
    return UNSET, UNSET


def _user(data: Data) -> Words:
    content = data.get("content")
    if isinstance(content, list) and "text" not in data:
        parts = [p.get("text") for p in content if isinstance(p, dict)]
        data["text"] = "\n".join(p for p in parts if isinstance(p, str))
    return UNSET, UNSET


def _reasoning(data: Data) -> Words:
    """`content` and `summary` are lists of parts; what is compared is their text, joined."""
    for native, joined in (("content", "text"), ("summary", "summary")):
        parts = data.pop(native, None)
        if isinstance(parts, list) and parts:
            data[joined] = "".join(p for p in parts if isinstance(p, str))
            if len(parts) > 1:
                data[f"{joined}Parts"] = parts
    return UNSET, UNSET


def _todo(data: Data) -> Words:
    steps = data.get("items")
    done = total = 0
    if isinstance(steps, list):
        total = len(steps)
        done = sum(1 for s in steps if isinstance(s, dict) and s.get("completed") is True)
    return f"{done} of {total} steps done", UNSET


def _command(data: Data) -> Words:
    command = data.get("command")
    if isinstance(command, list):
        command = data["command"] = " ".join(map(str, command))
    code = data.get("exitCode")
    detail = f"exit code {code}" if type(code) is int and code else UNSET
    return _str(command), detail


def _changes(data: Data) -> Words:
    """Each change as `{path, kind, diff?, movePath?}`; app-server writes `kind` as an object."""
    changes = data.get("changes")
    if not isinstance(changes, list):
        return UNSET, UNSET
    data["changes"] = plain = [_change(c) for c in changes]
    names = [f"{c.get('kind', 'change')} {c['path']}" for c in plain if "path" in c]
    return (", ".join(names) or UNSET), UNSET


def _change(change: Any) -> dict[str, Any]:
    if not isinstance(change, dict):
        return {"value": change}
    kind = change.get("kind")
    if not isinstance(kind, dict):
        return change
    plain = {**change, "kind": kind.get("type")}
    if kind.get("move_path") is not None:
        plain["movePath"] = kind["move_path"]
    return plain


def _mcp(data: Data) -> Words:
    error = data.get("error")
    detail = error.get("message") if isinstance(error, dict) else error
    return f"{data.get('server', '')}/{data.get('tool', '')}", _str(detail)


def _tool(data: Data) -> Words:
    return _str(data.get("tool")), UNSET


def _collab(data: Data) -> Words:
    """Older releases name one receiver, and a new thread apart; now it is a list."""
    receivers = data.get("receiverThreadIds")
    listed = list(receivers) if isinstance(receivers, list) else []
    for key in ("receiverThreadId", "newThreadId"):
        value = data.pop(key, None)
        if isinstance(value, str) and value not in listed:
            listed.append(value)
    data["receiverThreadIds"] = listed
    return _str(data.get("tool")), _str(data.get("prompt"))


def _activity(data: Data) -> Words:
    child = data.get("agentThreadId")
    data["receiverThreadIds"] = [child] if isinstance(child, str) else []
    return _str(data.get("kind")), _str(data.get("agentPath"))


def _key(name: str) -> Callable[[Data], Words]:
    return lambda data: (_str(data.get(name)), UNSET)


def _str(value: Any) -> str | UnsetType:
    return value if isinstance(value, str) and value else UNSET


_SHAPES: Final[dict[str, Callable[[Data], Words]]] = {
    "userMessage": _user,
    "user_message": _user,
    "agentMessage": _text,
    "agent_message": _text,
    "assistant_message": _text,
    "reasoning": _reasoning,
    "plan": _text,
    "todo_list": _todo,
    "commandExecution": _command,
    "command_execution": _command,
    "fileChange": _changes,
    "file_change": _changes,
    "mcpToolCall": _mcp,
    "mcp_tool_call": _mcp,
    "dynamicToolCall": _tool,
    "dynamic_tool_call": _tool,
    "collabAgentToolCall": _collab,
    "collabToolCall": _collab,
    "collab_agent_tool_call": _collab,
    "collab_tool_call": _collab,
    "subAgentActivity": _activity,
    "webSearch": _key("query"),
    "web_search": _key("query"),
    "imageView": _key("path"),
    "image_view": _key("path"),
    "enteredReviewMode": _key("review"),
    "exitedReviewMode": _key("review"),
    "contextCompaction": _text,
    "context_compaction": _text,
    "error": _key("message"),
}
