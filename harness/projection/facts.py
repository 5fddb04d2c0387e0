"""What a chat event says of diffs, permissions and modes, read out of canonical payloads.

Payloads carry the provider's own values: nothing here trusts their shape.
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import UNSET, UnsetType

from harness.canonical.events import Raw
from harness.projection.chat_event import FileDiff

MODE_KEYS: Final = (
    "permissionMode",
    "approvalPolicy",
    "sandbox",
    "modes",
    "currentModeId",
    "collaborationMode",
    "reasoningEffort",
)
"""The keys of a `session.configured` that say in which mode the agent works."""

_CALL_KEYS: Final = ("toolCallId", "itemId", "toolUseID", "tool_use_id", "callID", "callId")
_CALL_HOLDERS: Final = ("toolCall", "tool")
_CHOICE_KEYS: Final = ("options", "availableDecisions")


def modes(config: dict[str, Any]) -> dict[str, Any]:
    """Return what of a configuration is a mode, by its own keys."""
    return {key: config[key] for key in MODE_KEYS if config.get(key) is not None}


def choices(args: Any) -> list[Any] | UnsetType:
    """Return the choices that a request offers, as they came."""
    if isinstance(args, dict):
        for key in _CHOICE_KEYS:
            value = args.get(key)
            if isinstance(value, list) and value:
                return value
    return UNSET


def tool_name(args: Any) -> str | UnsetType:
    """Return the tool that a request is about, by the provider's name."""
    if isinstance(args, dict):
        for key in ("toolName", "tool", "permission"):
            value = args.get(key)
            if isinstance(value, str) and value:
                return value
    return UNSET


def native_calls(args: Any) -> Iterable[str]:
    """Yield the native ids of tool calls that a request's arguments name."""
    if not isinstance(args, dict):
        return
    holders = [args, *(args.get(key) for key in _CALL_HOLDERS)]
    for holder in holders:
        if isinstance(holder, dict):
            for key in _CALL_KEYS:
                value = holder.get(key)
                if isinstance(value, str):
                    yield value


def caller(data: dict[str, Any], raw: Raw | UnsetType) -> str:
    """Return the native id of the tool call that something happens in, or nothing.

    In an item's `data` it is `parentToolUseId` (DECISIONS.md 26). Not every event of an item has
    its data, so the frame is asked as well.
    """
    named = data.get("parentToolUseId") or _in_frame(raw, "parent_tool_use_id")
    return named if isinstance(named, str) else ""


def starter(raw: Raw | UnsetType) -> str:
    """Return the native id of the tool call that started a task, or nothing.

    `task.started` has no field of it; the frame of Claude's has.
    """
    named = _in_frame(raw, "tool_use_id")
    return named if isinstance(named, str) else ""


def _in_frame(raw: Raw | UnsetType, name: str) -> Any:
    return raw.payload.get(name) if raw is not UNSET and isinstance(raw.payload, dict) else None


def is_todo(raw: Raw | UnsetType, tool: str) -> bool:
    """Say whether a plan is the agent's todo list: its frame, or the tool that tells it, says so.

    The canonical model has one event for both (`turn.plan.updated`).
    """
    words: list[Any] = [tool]
    if raw is not UNSET:
        words += [w for w in (raw.method, raw.messageType) if w is not UNSET]
        payload = raw.payload
        if isinstance(payload, dict):
            item = payload.get("item")
            words.append(payload.get("type"))
            words.append(item.get("type") if isinstance(item, dict) else None)
    return any(isinstance(word, str) and "todo" in word.lower() for word in words)


def file_diffs(data: dict[str, Any]) -> list[FileDiff]:
    """Return the files of a `file_change` item's `data` (DECISIONS.md 11)."""
    changes = data.get("changes")
    if not isinstance(changes, list):
        return []
    texts = {}
    content = data.get("content")
    for entry in content if isinstance(content, list) else ():
        if isinstance(entry, dict) and entry.get("type") == "diff":
            path = entry.get("path")
            if isinstance(path, str):
                texts[path] = entry
    return [
        _file(change, texts)
        for change in changes
        if isinstance(change, dict) and isinstance(change.get("path"), str)
    ]


def _file(change: dict[str, Any], texts: dict[str, dict[str, Any]]) -> FileDiff:
    path = change["path"]
    entry = texts.get(path, {})
    diff = _text(change.get("diff"))
    hunks = UNSET if diff is UNSET else [h for _, hs in _files(diff) for h in hs]
    old = entry.get("oldText", UNSET)
    return FileDiff(
        path,
        _text(change.get("kind")),
        _text(change.get("movePath")),
        hunks or UNSET,
        diff,
        old if old is None else _text(old),
        _text(entry.get("newText")),
    )


def unified_files(diff: str) -> list[FileDiff]:
    """Return the files of a unified diff, in its order, with their hunks."""
    return [FileDiff(path, hunks=hunks or UNSET) for path, hunks in _files(diff) if path]


def _files(diff: str) -> list[tuple[str, list[str]]]:
    """Paths and `@@` lines. Lines within a hunk are counted, so that none is read as a header."""
    files: list[tuple[str, list[str]]] = [("", [])]
    old = new = 0
    before = ""
    for line in diff.split("\n"):
        if old > 0 or new > 0:
            mark = line[:1]
            old -= mark in {"-", " ", ""}
            new -= mark in {"+", " ", ""}
            continue
        if line.startswith("--- "):
            before = _path(line)
        elif line.startswith("+++ "):
            after = _path(line)
            files.append((before if after == "/dev/null" else after, []))
        elif line.startswith("@@ "):
            files[-1][1].append(line)
            old, new = _counts(line)
    return [file for file in files if file[0] or file[1]]


def _path(line: str) -> str:
    path = line[4:].split("\t", 1)[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path


def _counts(line: str) -> tuple[int, int]:
    """How many old and new lines a hunk's header announces; none where it cannot be read."""
    counts = []
    for word, mark in zip(line.split()[1:3], "-+", strict=False):
        _, _, count = word.partition(",")
        if not word.startswith(mark) or not (count or "1").isdecimal():
            return 0, 0
        counts.append(int(count[:9] or "1"))
    return (counts[0], counts[1]) if len(counts) == 2 else (0, 0)  # noqa: PLR2004 - old and new


def _text(value: Any) -> str | UnsetType:
    return value if isinstance(value, str) else UNSET
