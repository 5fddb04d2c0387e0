"""A conversation for each mapped kind of the vocabulary; its last frame is of that kind."""

from typing import Any

from harness.surfaces.claude_sdk.client_names import CONTROL_NAMES
from harness.surfaces.claude_sdk.normalizer import RESULTS
from tests.surfaces.claude.wire import (
    answer,
    asks,
    assistant,
    call,
    delta,
    exited,
    may_i,
    prompt,
    result,
    result_of,
    says,
    sent,
    start,
    stop,
    system,
    text,
    user,
)

THINKING = {"type": "thinking", "thinking": "", "signature": ""}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
HOOK = {"hook_id": "h", "hook_name": "Stop:x", "hook_event": "Stop"}
QUESTIONS: dict[str, Any] = {
    "name": "AskUserQuestion",
    "input": {"questions": [{"question": "which?"}]},
}
SAID = {"behavior": "allow", "updatedInput": {"answers": {"which?": "this"}}}
FORM = {"subtype": "elicitation", "mcp_server_name": "m", "message": "your name?"}
CALLBACK = {
    "subtype": "hook_callback",
    "callback_id": "hook_0",
    "input": {"hook_event_name": "PreToolUse"},
}


def client_asks(name: str, **fields: Any) -> tuple[str, str, Any]:
    return sent(asks("c1", {"subtype": name, **fields}))


def _server_result(kind: str) -> list[list[Any]]:
    block = {"type": kind, "tool_use_id": "srvtoolu_1", "content": []}
    return [[start(SEARCH), stop(), start(block, 1)]]


def _error_result(kind: str) -> list[list[Any]]:
    return [[prompt(), result(kind.removeprefix("result/"), errors=["no"])]]


SAMPLES: dict[str, list[list[Any]]] = {
    "exit": [[exited(0)]],
    "noise": [["hello"]],
    "client noise": [[sent("hello")]],
    "client user": [[prompt()]],
    "assistant": [
        [start(text("")), says("a"), assistant(text("a"))],
        [assistant(text("a"))],
        [start(text("")), stop(), assistant(text(""))],
    ],
    "user": [
        [assistant(call()), user([result_of("a")])],
        [user("from the agent")],
        [user("[Request interrupted by user]")],
    ],
    "user/replay": [[user("again", isReplay=True)]],
    "result/success": [[prompt(), result()], [prompt(), result(is_error=True)]],
    "system/init": [[system("init", model="m")]],
    "system/status": [[system("status", status="compacting")]],
    "system/session_state_changed": [[system("session_state_changed", state="idle")]],
    "system/compact_boundary": [[system("compact_boundary")]],
    "system/hook_started": [[system("hook_started", **HOOK)]],
    "system/hook_progress": [[system("hook_progress", **HOOK, stdout="a")]],
    "system/hook_response": [[system("hook_response", **HOOK, outcome="success")]],
    "system/task_started": [[system("task_started", task_id="t", description="d")]],
    "system/task_progress": [[system("task_progress", task_id="t", description="d")]],
    "system/task_updated": [[system("task_updated", task_id="t", patch={"status": "running"})]],
    "system/task_notification": [[system("task_notification", task_id="t", status="completed")]],
    "system/files_persisted": [
        [system("files_persisted", files=[{"filename": "a", "file_id": "f"}], failed=[])]
    ],
    "system/api_retry": [[system("api_retry", attempt=1, max_retries=2, error="overloaded")]],
    "system/commands_changed": [[system("commands_changed", commands=[])]],
    "system/model_refusal_fallback": [
        [
            system(
                "model_refusal_fallback", original_model="a", fallback_model="b", trigger="refusal"
            )
        ]
    ],
    "system/permission_denied": [
        [system("permission_denied", tool_name="Bash", tool_use_id="toolu_1", message="no")]
    ],
    "system/plugin_install": [[system("plugin_install", status="failed", name="p", error="e")]],
    "system/mirror_error": [[system("mirror_error", error="e")]],
    "system/informational": [[system("informational", content="c", level="warning")]],
    "system/notification": [[system("notification", text="t")]],
    "system/local_command_output": [[system("local_command_output", content="c")]],
    "system/worker_shutting_down": [[system("worker_shutting_down", reason="r")]],
    "tool_progress": [[{"type": "tool_progress", "tool_use_id": "t", "tool_name": "Bash"}]],
    "tool_use_summary": [[{"type": "tool_use_summary", "summary": "s"}]],
    "auth_status": [[{"type": "auth_status", "isAuthenticating": True, "output": []}]],
    "rate_limit_event": [[{"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}}]],
    "rate_limit": [[{"type": "rate_limit", "status": "allowed"}]],
    "prompt_suggestion": [[{"type": "prompt_suggestion", "suggestion": "run the tests"}]],
    "conversation_reset": [[{"type": "conversation_reset", "new_conversation_id": "n"}]],
    "stream_event/content_block_start/text": [[start(text(""))]],
    "stream_event/content_block_start/thinking": [[start(THINKING)]],
    "stream_event/content_block_start/redacted_thinking": [
        [start({"type": "redacted_thinking", "data": "b3BhcXVl"})]
    ],
    "stream_event/content_block_start/tool_use": [[start(call())]],
    "stream_event/content_block_start/server_tool_use": [[start(SEARCH)]],
    "stream_event/content_block_start/mcp_tool_use": [[start(call() | {"type": "mcp_tool_use"})]],
    "stream_event/content_block_delta/text_delta": [[start(text("")), says("a")]],
    "stream_event/content_block_delta/thinking_delta": [
        [start(THINKING), delta({"type": "thinking_delta", "thinking": "a"})]
    ],
    "stream_event/content_block_delta/citations_delta": [
        [start(text("")), delta({"type": "citations_delta", "citation": {"url": "u"}})]
    ],
    "stream_event/content_block_stop": [[start(text("")), stop()], [start(call()), stop()]],
    "control_cancel_request": [
        [may_i(), {"type": "control_cancel_request", "request_id": "r1"}],
    ],
    "request can_use_tool": [[may_i()], [may_i(**QUESTIONS)]],
    "client-response can_use_tool": [
        [may_i(), sent(answer("r1", {"behavior": "deny", "message": "no"}))],
        [may_i(**QUESTIONS), sent(answer("r1", SAID))],
    ],
    "request elicitation": [[asks("r1", FORM)]],
    "client-response elicitation": [
        [asks("r1", FORM), sent(answer("r1", {"action": "accept", "content": {"name": "x"}}))]
    ],
    "request hook_callback": [[asks("r1", CALLBACK)]],
    "client-response hook_callback": [[asks("r1", CALLBACK), sent(answer("r1", {}))]],
    "request unknown": [[asks("r1", {})]],
    "client-response unknown": [[sent(answer("r9", {}))]],
    "response unknown": [[answer("c9", {})]],
    "error unknown": [[answer("c9", error="no")]],
    "response initialize": [[client_asks("initialize"), answer("c1", {"commands": []})]],
    "response mcp_status": [[client_asks("mcp_status"), answer("c1", {"mcpServers": []})]],
    "response set_model": [[client_asks("set_model", model="m"), answer("c1")]],
    "response set_permission_mode": [
        [client_asks("set_permission_mode", mode="plan"), answer("c1")]
    ],
    "response set_max_thinking_tokens": [
        [client_asks("set_max_thinking_tokens", max_thinking_tokens=1), answer("c1")]
    ],
    **{f"error {name}": [[client_asks(name), answer("c1", error="no")]] for name in CONTROL_NAMES},
    **{kind: _error_result(kind) for kind in RESULTS if kind != "result/success"},
    **{
        f"stream_event/content_block_start/{kind}": _server_result(kind)
        for kind in (
            "web_search_tool_result",
            "web_fetch_tool_result",
            "code_execution_tool_result",
            "bash_code_execution_tool_result",
            "text_editor_code_execution_tool_result",
            "mcp_tool_result",
        )
    },
    **{
        f"request {name}": [[asks("r1", {"subtype": name})]]
        for name in ("request_user_dialog", "oauth_token_refresh", "host_auth_token_refresh")
    },
    **{
        f"client-response {name}": [
            [asks("r1", {"subtype": name}), sent(answer("r1", {"behavior": "cancelled"}))]
        ]
        for name in ("request_user_dialog", "oauth_token_refresh", "host_auth_token_refresh")
    },
}
