"""Two families of notifications for one thing: `codex/event/*` and the v2 ones.

Until 2026 an app-server could send both. The family that told of a subject of a thread first
is the source for it; what the other tells is a repetition. A thread that was started by the
v2 methods is v2's altogether.
"""

from typing import Any, Final

from harness.surfaces.codex_eventmsg import kind_of

LEGACY_PREFIX: Final = "codex/event/"

_ITEM_SUBJECTS: Final = {
    "agentMessage": "message",
    "userMessage": "user",
    "reasoning": "reasoning",
    "commandExecution": "command",
    "fileChange": "patch",
    "mcpToolCall": "mcp",
    "dynamicToolCall": "dynamic",
    "collabAgentToolCall": "collab",
    "collabToolCall": "collab",
    "webSearch": "search",
    "imageView": "image",
    "enteredReviewMode": "review",
    "exitedReviewMode": "review",
    "plan": "plan item",
}
_SUBJECTS: Final = {
    "turn/started": "turn",
    "turn/completed": "turn",
    "turn/diff/updated": "diff",
    "turn/plan/updated": "plan",
    "thread/tokenUsage/updated": "usage",
    "thread/compacted": "compaction",
    "thread/name/updated": "name",
    "model/rerouted": "model",
    "error": "error",
    "item/agentMessage/delta": "message",
    "item/plan/delta": "plan item",
    "item/commandExecution/outputDelta": "command",
    "item/commandExecution/terminalInteraction": "command",
    "item/fileChange/outputDelta": "patch",
    "item/fileChange/patchUpdated": "patch",
    "item/reasoning/summaryTextDelta": "reasoning",
    "item/reasoning/summaryPartAdded": "reasoning",
    "item/reasoning/textDelta": "reasoning",
    "item/mcpToolCall/progress": "mcp",
}
_LEGACY: Final = {
    "task_started": "turn",
    "task_complete": "turn",
    "turn_aborted": "turn",
    "turn_diff": "diff",
    "plan_update": "plan",
    "token_count": "usage",
    "context_compacted": "compaction",
    "thread_name_updated": "name",
    "model_reroute": "model",
    "error": "error",
    "stream_error": "error",
    "plan_delta": "plan item",
    "item_completed/Plan": "plan item",
    "user_message": "user",
    "view_image_tool_call": "image",
    "terminal_interaction": "command",
}
_LEGACY_PREFIXES: Final = (
    ("agent_message", "message"),
    ("agent_reasoning", "reasoning"),
    ("reasoning_", "reasoning"),
    ("exec_command_", "command"),
    ("patch_apply_", "patch"),
    ("mcp_tool_call_", "mcp"),
    ("dynamic_tool_call_", "dynamic"),
    ("collab_", "collab"),
    ("web_search_", "search"),
    ("entered_review", "review"),
    ("exited_review", "review"),
)
# The same text under an older and a newer name, both within the legacy family.
_TWINS: Final = {
    "agent_message_delta": "text",
    "agent_message_content_delta": "text",
    "agent_reasoning_delta": "summary",
    "reasoning_content_delta": "summary",
    "agent_reasoning_raw_content_delta": "raw",
    "reasoning_raw_content_delta": "raw",
}


class Families:
    """Which family is the source, for each thread and subject of one connection."""

    def __init__(self) -> None:
        self.v2: set[str] = set()
        self._first: dict[tuple[str, str], str] = {}

    def prefer_v2(self, thread: Any) -> None:
        """A v2 method has started that thread, or a turn on it."""
        if isinstance(thread, str) and thread:
            self.v2.add(thread)

    def repeats(self, method: str, params: Any) -> bool:
        """Whether this v2 notification tells what the other family is the source of."""
        subject = _SUBJECTS.get(method)
        if not isinstance(params, dict):
            return False
        if subject is None and method in {"item/started", "item/completed"}:
            item = params.get("item")
            type_ = item.get("type") if isinstance(item, dict) else None
            subject = _ITEM_SUBJECTS.get(type_) if isinstance(type_, str) else None
        thread = params.get("threadId")
        if subject is None or not isinstance(thread, str) or thread in self.v2:
            return False
        return self._first.setdefault((thread, subject), "v2") != "v2"

    def legacy_repeats(self, params: Any) -> bool:
        """Whether this `codex/event/*` notification tells what was told, or will be, by v2."""
        thread, msg = legacy_parts(params)
        type_ = kind_of(msg)
        subject = _LEGACY.get(type_) or next(
            (subject for prefix, subject in _LEGACY_PREFIXES if type_.startswith(prefix)), None
        )
        if type_ in _TWINS and self._first.setdefault((thread, _TWINS[type_]), type_) != type_:
            return True
        if thread in self.v2:
            return True
        if subject is None:
            return False
        return self._first.setdefault((thread, subject), "legacy") != "legacy"


def legacy_parts(params: Any) -> tuple[str, dict[str, Any]]:
    """Return the thread and the EventMsg of a `codex/event/*` notification."""
    if not isinstance(params, dict):
        return "", {}
    thread = params.get("conversationId", params.get("threadId"))
    msg = params.get("msg")
    return (thread if isinstance(thread, str) else ""), (msg if isinstance(msg, dict) else {})
