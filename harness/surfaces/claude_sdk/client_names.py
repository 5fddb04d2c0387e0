"""The control requests that a client may send: `sdk.d.ts` of 0.2.62 and 0.3.185."""

from typing import Final

CONTROL_NAMES: Final = (
    "apply_flag_settings",
    "background_tasks",
    "cancel_async_message",
    "file_suggestions",
    "get_binary_version",
    "get_context_usage",
    "get_session_cost",
    "get_settings",
    "get_usage",
    "initialize",
    "interrupt",
    "mcp_call",
    "mcp_message",
    "mcp_reconnect",
    "mcp_set_servers",
    "mcp_status",
    "mcp_toggle",
    "read_file",
    "register_repo_root",
    "reload_plugins",
    "reload_skills",
    "rename_session",
    "rewind_files",
    "seed_read_state",
    "set_color",
    "set_max_thinking_tokens",
    "set_model",
    "set_permission_mode",
    "stop_task",
)
CLIENT: Final = frozenset(
    {f"client {name}" for name in CONTROL_NAMES}
    | {
        "client control_cancel_request",
        "client keep_alive",
        "client update_environment_variables",
    }
)
"""What the client may ask of the agent: its own acts, which give no events."""
