"""Tool calls: whatever names one first starts its item, and an update is a patch of it.

DECISIONS.md 6; EVENTS.md 5.2. Omitted and null fields leave what was said before.
"""

from typing import Final

from msgspec import UNSET, UnsetType

from harness.canonical import payloads as pl
from harness.canonical.names import CanonicalItemType, CanonicalRequestType, ItemStatus
from harness.surfaces.acp.names import Message, ref, table, text
from harness.surfaces.acp.state import Session, Tool
from harness.surfaces.ledger import Turn

ITEMS: Final[dict[str, CanonicalItemType]] = {
    "execute": "command_execution",
    "edit": "file_change",
    "delete": "file_change",
    "move": "file_change",
}
REQUESTS: Final[dict[str, CanonicalRequestType]] = {
    "execute": "command_execution_approval",
    "edit": "file_change_approval",
    "delete": "file_change_approval",
    "move": "file_change_approval",
}
STATUS: Final[dict[str, ItemStatus]] = {
    "pending": "inProgress",
    "in_progress": "inProgress",
    "completed": "completed",
    "failed": "failed",
}
_NOT_DATA: Final = frozenset({"sessionUpdate", "toolCallId", "title", "status"})
_COMMANDS: Final = ("command", "cmd", "commands")


def call(session: Session, said: Message, *, by: str) -> Tool | None:
    """Handle what is said of a tool call by `tool_call`, `tool_call_update` or a `request`.

    Returns the tool, or None for one that is over: then a warning has said so.
    """
    ledger = session.ledger
    native = said["toolCallId"]
    if not isinstance(native, str):
        raise TypeError("toolCallId is not a text")
    session.hush()
    tool = session.tools.get(native)
    turn = session.turn
    if tool is not None and _is_another(tool, turn, by):
        # An id used again in a later turn is another call: a provider's ids may begin anew.
        tool = None
    if tool is not None and not tool.item.open:
        ledger.warn(f"tool call {native} is over: {by} comes late", said)
        return None
    status = said.get("status")
    known = STATUS.get(status) if isinstance(status, str) else None
    if tool is None:
        tool = _start(session, native, said, by=by, known=known)
        if known in {"completed", "failed"}:
            _complete(session, tool, known)
    else:
        _join(tool.said, said)
        _retype(tool)
        if known in {"completed", "failed"}:
            _complete(session, tool, known)
        else:
            ledger.update(tool.item, _payload(tool, "inProgress"))
    if status is not None and known is None:
        ledger.warn(f"tool call {native} has a status that is not known: {status!r}", said, turn)
    return tool


def _is_another(tool: Tool, turn: Turn | None, by: str) -> bool:
    reused = turn is not None and tool.item.turn is not turn
    return reused and not tool.item.open and by != "tool_call_update"


def request_type(tool: Tool | None) -> CanonicalRequestType:
    """What a permission question about a tool asks for."""
    kind = tool.said.get("kind") if tool else None
    return REQUESTS.get(kind, "unknown") if isinstance(kind, str) else "unknown"


def subject(tool: Tool | None) -> str | UnsetType:
    """What a tool is to do, in words: its command, else its title."""
    if tool is None:
        return UNSET
    return command(tool.said) or text(tool.said.get("title"))


def command(said: Message) -> str | UnsetType:
    """The command line of a tool call's input."""
    raw = table(said.get("rawInput"))
    for field in _COMMANDS:
        value = raw.get(field)
        if isinstance(value, list):
            value = ("; " if field == "commands" else " ").join(map(str, value))
        if isinstance(value, str) and value:
            return value
    return UNSET


def _start(
    session: Session, native: str, said: Message, *, by: str, known: ItemStatus | None
) -> Tool:
    ledger = session.ledger
    first: Message = {}
    _join(first, said)
    kind = first.get("kind")
    item_type: CanonicalItemType = "unknown"
    if isinstance(kind, str):
        item_type = ITEMS.get(kind, "dynamic_tool_call")
    elif by == "tool_call":
        item_type = "dynamic_tool_call"
    payload = pl.ItemLifecyclePayload(
        item_type,
        "inProgress",
        subject_of(first),
        data=session.marked(_data(first)),
    )
    item = ledger.start_item(
        session.item_turn,
        native,
        payload,
        session.item_refs(native),
        session.thread,
        synthesized=by != "tool_call",
    )
    tool = session.tools[native] = Tool(item, first, replayed=session.replays)
    if by == "tool_call_update":
        ledger.warn(f"tool call {native} was not announced", said, session.turn)
        if known is None or known == "inProgress":
            ledger.update(item, _payload(tool, "inProgress"))
    return tool


def subject_of(said: Message) -> str | UnsetType:
    """The title of an item: the agent's own, else its command."""
    return text(said.get("title")) or command(said)


def _join(known: Message, said: Message) -> None:
    known.update({k: v for k, v in said.items() if v is not None or k not in known})


def _retype(tool: Tool) -> None:
    kind = tool.said.get("kind")
    if tool.item.type == "unknown" and isinstance(kind, str):
        tool.item.type = ITEMS.get(kind, "dynamic_tool_call")


def _complete(session: Session, tool: Tool, status: ItemStatus) -> None:
    if tool.declined and status in {"failed", "completed"}:
        if status == "completed":
            session.ledger.warn("what was refused is told as completed", UNSET, tool.item.turn)
        status = "declined"
    elif status == "completed" and _data(tool.said).get("exitCode"):
        status = "failed"  # the tool did its work: the command did not (DECISIONS.md 80)
    session.ledger.complete(tool.item, status, _payload(tool, status))


def _payload(tool: Tool, status: ItemStatus) -> pl.ItemLifecyclePayload:
    title = subject_of(tool.said)
    tool.item.title = title
    data = _data(tool.said)
    detail: str | UnsetType = UNSET
    code = data.get("exitCode")
    if code not in {None, 0}:
        detail = f"exit code {code}"
    if tool.replayed:
        data["replay"] = True
    return pl.ItemLifecyclePayload(tool.item.type, status, title, detail, data)


def _data(said: Message) -> Message:
    """An item's data: the provider's fields, and what has a name of its own (DECISIONS.md 11)."""
    data = {k: v for k, v in said.items() if k not in _NOT_DATA and v is not None}
    if (line := command(said)) is not UNSET:
        data["command"] = line
    raw = table(said.get("rawInput"))
    for field in ("cwd", "workdir"):
        if isinstance(raw.get(field), str):
            data.setdefault("cwd", raw[field])
    out = table(said.get("rawOutput"))
    for field in ("exitCode", "exit_code"):
        if type(out.get(field)) is int:
            data.setdefault("exitCode", out[field])
    content = said.get("content")
    changes = [
        {"path": part["path"], "kind": "add" if part.get("oldText") is None else "update"}
        for part in (content if isinstance(content, list) else [])
        if isinstance(part, dict) and part.get("type") == "diff" and ref(part.get("path"))
    ]
    if changes:
        data["changes"] = changes
    return data
