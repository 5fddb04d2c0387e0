"""Messages of the user's role: prompts, tool results, and what the CLI says in the user's name."""

from typing import Any, Final

from msgspec import UNSET

from harness.canonical import payloads as pl
from harness.canonical.names import ItemStatus
from harness.surfaces.claude_sdk.names import Message
from harness.surfaces.claude_sdk.state import State, with_parent
from harness.surfaces.claude_sdk.tools import add_result, exit_detail

_INTERRUPTED: Final = "[Request interrupted by user"
"""How the CLI's mark of an interrupt begins: it is no prompt."""


class Users:
    """Handles `user`, `user/replay` and the client's `user`."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.ledger = state.ledger

    def client_user(self, message: Message) -> None:
        """The client's prompt: a turn starts with it, or it waits for the open turn's end."""
        self.state.prompt()
        data = self._said(message["message"].get("content"))
        self._user_message(data)

    def user(self, message: Message) -> None:
        """Tool results, and what the CLI says in the user's name."""
        content = message["message"]["content"]
        parent = message.get("parent_tool_use_id")
        parent = parent if isinstance(parent, str) else None
        rest: Any = content
        if isinstance(content, list):
            results = [b for b in content if _is_result(b)]
            rest = [b for b in content if not _is_result(b)]
            told = message.get("tool_use_result", UNSET) if len(results) == 1 else UNSET
            declined = _declined(message.get("tool_result_meta"))
            for block in results:
                self.tool_result(block, told, declined=block.get("tool_use_id") in declined)
            if results and not rest:
                return
        data = self._said(rest)
        if str(data.get("text", "")).startswith(_INTERRUPTED):
            self.state.warn(data["text"])
            return
        data["replay" if message.get("isReplay") is True else "synthetic"] = True
        self._user_message(with_parent(data, parent))

    def tool_result(self, block: Message, told: Any = UNSET, *, declined: bool = False) -> None:
        """Close the item of a tool with its result (DECISIONS.md 3)."""
        id_ = block["tool_use_id"]
        tool = self.state.tools.get(id_)
        if tool is None:
            was = "is over" if id_ in self.state.closed else "was not seen to begin"
            self.state.warn(f"a result of a tool call that {was}")
            return
        data = tool.data()
        add_result(data, block.get("content"), told)
        failed = block.get("is_error") is True or _is_error(block.get("content"))
        failed = failed or bool(data.get("exitCode"))
        status: ItemStatus = "failed" if failed else "completed"
        if failed and (declined or id_ in self.state.denied):
            status = "declined"
        payload = pl.ItemLifecyclePayload(
            tool.item.type, status, tool.item.title, exit_detail(data), data
        )
        self.state.close_tool(tool, payload)

    def _user_message(self, data: dict[str, Any]) -> None:
        turn, thread = self.state.turn, self.state.thread
        marks = {name: data[name] for name in ("replay", "synthetic") if name in data}
        item = self.ledger.start_item(
            turn,
            f"user {self.ledger.count}",
            pl.ItemLifecyclePayload("user_message", "inProgress", data=marks or UNSET),
            self.state.refs,
            thread,
        )
        self.ledger.complete(
            item, "completed", pl.ItemLifecyclePayload("user_message", "completed", data=data)
        )

    @staticmethod
    def _said(content: Any) -> dict[str, Any]:
        """Return `text`, and `content` where it is not text alone."""
        if isinstance(content, str):
            return {"text": content}
        if not isinstance(content, list):
            return {"content": content}
        texts = [
            b["text"]
            for b in content
            if isinstance(b, dict) and b.get("type") == "text" and isinstance(b.get("text"), str)
        ]
        data: dict[str, Any] = {"text": "".join(texts)}
        if len(texts) != len(content):
            data["content"] = content
        elif len(texts) > 1:
            data["textParts"] = texts
        return data


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _is_error(content: Any) -> bool:
    """Whether a result of one of the provider's own tools is its error object."""
    return isinstance(content, dict) and str(content.get("type", "")).endswith("_error")


def _declined(meta: Any) -> set[Any]:
    """Return the ids of the calls that the CLI says were refused by a decision."""
    found = set()
    for entry in meta if isinstance(meta, list) else ():
        decision = entry.get("permission_decision") if isinstance(entry, dict) else None
        if isinstance(decision, dict) and decision.get("decision") == "reject":
            found.add(entry.get("id"))
    return found
