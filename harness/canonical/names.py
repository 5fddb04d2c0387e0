"""The closed lists of EVENTS.md section 1, as literal types.

A test holds each of them against the specification's text.
"""

from typing import Literal, get_args

ProviderKind = Literal["codex", "claude", "cursor", "opencode", "acp"]

CanonicalItemType = Literal[
    "user_message",
    "assistant_message",
    "reasoning",
    "plan",
    "command_execution",
    "file_change",
    "mcp_tool_call",
    "dynamic_tool_call",
    "collab_agent_tool_call",
    "web_search",
    "image_view",
    "review_entered",
    "review_exited",
    "context_compaction",
    "error",
    "unknown",
]

CanonicalRequestType = Literal[
    "command_execution_approval",
    "file_change_approval",
    "apply_patch_approval",
    "exec_command_approval",
    "tool_user_input",
    "dynamic_tool_call",
    "auth_tokens_refresh",
    "unknown",
]

SessionState = Literal["starting", "ready", "running", "waiting", "stopped", "error"]
ThreadState = Literal["active", "idle", "archived", "closed", "compacted", "error"]
TurnState = Literal["completed", "failed", "interrupted", "cancelled"]
ItemStatus = Literal["inProgress", "completed", "failed", "declined"]
PlanStepStatus = Literal["pending", "inProgress", "completed"]
TaskStatus = Literal["completed", "failed", "stopped"]
HookOutcome = Literal["success", "error", "cancelled"]
ExitKind = Literal["graceful", "error"]
RuntimeErrorClass = Literal[
    "provider_error", "transport_error", "permission_error", "validation_error", "unknown"
]

ContentStreamKind = Literal[
    "assistant_text",
    "reasoning_text",
    "reasoning_summary_text",
    "plan_text",
    "command_output",
    "file_change_output",
    "unknown",
]

SeedRawSource = Literal[
    "codex.app-server.notification",
    "codex.app-server.request",
    "codex.eventmsg",
    "claude.sdk.message",
    "claude.sdk.permission",
    "codex.sdk.thread-event",
    "cursor.acp.notification",
    "cursor.acp.request",
    "cursor.acp.response",
]
"""The sources of EVENTS.md 1.1."""

AddedRawSource = Literal[
    "acp.notification",
    "acp.request",
    "acp.response",
    "opencode.event",
    "opencode.response",
    "cursor.cli.message",
    "cursor.sdk.message",
    "cursor.sdk.delta",
    "codex.app-server.response",
    "claude.sdk.control",
    "process.stdout",
    "process.stderr",
    "process.exit",
]
"""The sources that the seed lacks: DECISIONS.md 5 and 7."""

RawSource = Literal[SeedRawSource, AddedRawSource]

ITEM_TYPES: tuple[str, ...] = get_args(CanonicalItemType)
REQUEST_TYPES: tuple[str, ...] = get_args(CanonicalRequestType)
