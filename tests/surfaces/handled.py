"""What each normalizer with tables handles, told by its tables: kinds mapped, kinds passed over."""

from harness.surfaces.claude_sdk import normalizer as claude
from harness.surfaces.claude_sdk.client_names import CLIENT as CLAUDE_CLIENT
from harness.surfaces.claude_sdk.client_names import CONTROL_NAMES
from harness.surfaces.codex_app_server import normalizer as app
from harness.surfaces.codex_app_server.families import LEGACY_PREFIX
from harness.surfaces.codex_app_server.kinds import REPEATED_EVENT, REPEATED_RESOLUTION
from harness.surfaces.codex_app_server.methods import CLIENT, IGNORED
from harness.surfaces.codex_app_server.requests import REQUESTS
from harness.surfaces.codex_eventmsg import IGNORED as IGNORED_EVENTS
from harness.surfaces.codex_exec import normalizer as exec_
from harness.surfaces.codex_exec.names import ITEM_EVENTS, PREFIX

Kinds = tuple[set[str], set[str]]

ITEM_TYPES = (
    "agent_message",
    "assistant_message",
    "reasoning",
    "plan",
    "command_execution",
    "file_change",
    "mcp_tool_call",
    "collab_tool_call",
    "web_search",
    "todo_list",
    "error",
)
"""The item types of the SDK's `items.ts`, generation 2's `assistant_message` among them."""


SILENT = frozenset(
    {
        "stream_event/message_start",
        "stream_event/message_stop",
        "stream_event/content_block_delta/input_json_delta",
    }
)
"""Kinds of Claude that are handled, and by themselves give no event."""


def of_app_server(normalizer: app.Normalizer) -> Kinds:
    mapped = set(normalizer.table) | {f"request {m}" for m in REQUESTS}
    mapped |= {f"client-response {m}" for m in REQUESTS}
    mapped |= {f"{LEGACY_PREFIX}{e}" for e in normalizer.events.table}
    mapped |= {f"response {m}" for m in normalizer.requests.responses}
    mapped |= {f"error {m}" for m in CLIENT if m != "initialized"}
    mapped |= {"response unknown", "error unknown", "client-response unknown"}
    mapped |= {"exit", "noise", "client noise"}
    passed = {"start", "stderr", REPEATED_EVENT, REPEATED_RESOLUTION, *IGNORED}
    passed |= {f"client {m}" for m in CLIENT}
    passed |= {f"response {m}" for m in CLIENT if m != "initialized"} - mapped
    passed |= {f"{LEGACY_PREFIX}{e}" for e in IGNORED_EVENTS | app.QUESTIONS}
    return mapped, passed


def of_exec(normalizer: exec_.Normalizer) -> Kinds:
    mapped = {t for t in normalizer.table if t not in ITEM_EVENTS}
    mapped |= {f"{event}/{type_}" for event in ITEM_EVENTS for type_ in ITEM_TYPES}
    mapped |= {f"{PREFIX}{e}" for e in normalizer.events.table}
    mapped |= {"config", "exit", "noise", "client noise"}
    return mapped, {"start", "stderr", "prompt", *(f"{PREFIX}{e}" for e in IGNORED_EVENTS)}


def of_claude(normalizer: claude.Normalizer) -> Kinds:
    control = normalizer.control
    mapped = {*normalizer.table, "client user", "exit", "noise", "client noise"} - SILENT
    mapped |= {f"request {name}" for name in control.requests}
    mapped |= {f"client-response {name}" for name in control.requests}
    mapped |= {f"response {name}" for name in control.responses}
    mapped |= {f"error {name}" for name in CONTROL_NAMES}
    mapped |= {"request unknown", "client-response unknown", "response unknown", "error unknown"}
    ignored = claude.IGNORED | SILENT | CLAUDE_CLIENT | {"start", "stderr"}
    ignored |= {f"response {name}" for name in CONTROL_NAMES} - mapped
    return mapped, set(ignored)
