"""For each mapped kind, conversations that end in a frame of it and together give all its types."""

from typing import Any

from harness.surfaces.codex_app_server.methods import CLIENT
from harness.surfaces.codex_app_server.requests import REQUESTS
from tests.surfaces.codex.wire import exited, note, sent, started, turn_completed, turn_started
from tests.surfaces.handled import ITEM_TYPES

Conversation = list[Any]

THREAD = {"id": "thr_A", "model": "m"}
T = turn_started()


def item(type_: str, **fields: Any) -> dict[str, Any]:
    return {"type": type_, "id": "i", **fields}


def begun(type_: str = "commandExecution", **fields: Any) -> dict[str, Any]:
    return note("item/started", item=item(type_, **fields))


def ended(type_: str = "commandExecution", **fields: Any) -> dict[str, Any]:
    return note("item/completed", item=item(type_, **fields))


def of_thread(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": "thr_A", **params}}


def plain(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": params}


def delta(method: str, **index: int) -> Conversation:
    return [T, note(method, itemId="i", delta="x", **index)]


def late(entry: Any) -> Conversation:
    return [T, turn_completed(), entry]


FAILED = {"message": "no", "codexErrorInfo": None}
RUN = {"id": "h", "eventName": "stop", "sourcePath": "/h", "entries": [], "statusMessage": "s"}
TURN = {"id": "turn_1", "status": "completed", "items": [item("agentMessage", text="x")]}

APP: dict[str, list[Conversation]] = {
    "exit": [[exited(0)]],
    "noise": [["hello"]],
    "client noise": [[sent("hello")]],
    "thread/started": [
        [plain("thread/started", thread={**THREAD, "forkedFromId": "thr_B"})],
        [plain("thread/started", thread=THREAD)] * 2,
    ],
    "thread/status/changed": [
        [of_thread("thread/status/changed", status={"type": "idle"})],
        [of_thread("thread/status/changed", status={"type": "napping"})],
    ],
    **{
        f"thread/{what}": [[of_thread(f"thread/{what}")]]
        for what in ("archived", "unarchived", "closed", "deleted", "compacted", "reverted")
    },
    "thread/name/updated": [[of_thread("thread/name/updated", threadName="N")]],
    "thread/tokenUsage/updated": [[T, note("thread/tokenUsage/updated", tokenUsage={"total": {}})]],
    "thread/settings/updated": [[of_thread("thread/settings/updated", threadSettings={})]],
    "thread/attachment/updated": [[of_thread("thread/attachment/updated", attachmentId="a")]],
    "thread/environment/connected": [[of_thread("thread/environment/connected")]],
    "thread/environment/disconnected": [[of_thread("thread/environment/disconnected")]],
    "thread/goal/updated": [[of_thread("thread/goal/updated", goal={"text": "g"})]],
    "thread/goal/cleared": [[of_thread("thread/goal/cleared")]],
    "thread/project/updated": [[of_thread("thread/project/updated", projectId=None)]],
    "turn/started": [[T], [T, T]],
    "turn/completed": [
        [T, turn_completed("failed", error=FAILED)],
        [T, turn_completed("exploded")],
        [T, begun("agentMessage"), plain("turn/completed", threadId="thr_A", turn=TURN)],
    ],
    "turn/diff/updated": [[T, note("turn/diff/updated", diff="d")]],
    "turn/plan/updated": [
        [T, note("turn/plan/updated", plan=[{"step": "s", "status": status}])]
        for status in ("pending", "odd")
    ],
    "item/started": [[T, begun()], [T, begun(), begun()], [T, ended(), begun()]],
    "item/completed": [[T, begun(), ended()], [T, ended(), ended()]],
    "item/agentMessage/delta": [
        delta("item/agentMessage/delta"),
        late(note("item/agentMessage/delta", itemId="i", delta="x")),
    ],
    "item/plan/delta": [delta("item/plan/delta")],
    "item/commandExecution/outputDelta": [delta("item/commandExecution/outputDelta")],
    "item/fileChange/outputDelta": [delta("item/fileChange/outputDelta")],
    "item/reasoning/summaryTextDelta": [delta("item/reasoning/summaryTextDelta", summaryIndex=0)],
    "item/reasoning/textDelta": [delta("item/reasoning/textDelta", contentIndex=0)],
    "item/reasoning/summaryPartAdded": [
        [T, note("item/reasoning/summaryPartAdded", itemId="i", summaryIndex=0)]
    ],
    "item/commandExecution/terminalInteraction": [
        [T, note("item/commandExecution/terminalInteraction", itemId="i", processId="1", stdin="y")]
    ],
    "item/fileChange/patchUpdated": [
        [T, note("item/fileChange/patchUpdated", itemId="i", changes=[])]
    ],
    "item/mcpToolCall/progress": [
        [T, begun("mcpToolCall"), note("item/mcpToolCall/progress", itemId="i", message="half")]
    ],
    **{
        f"item/autoApprovalReview/{what}": [
            [T, begun(), note(f"item/autoApprovalReview/{what}", targetItemId="i")],
            [T, note(f"item/autoApprovalReview/{what}", targetItemId=None)],
        ]
        for what in ("started", "completed")
    },
    "error": [
        [T, note("error", error=FAILED, willRetry=False)],
        [T, note("error", error=FAILED, willRetry=True)],
    ],
    "serverRequest/resolved": [
        [
            T,
            {"id": 0, "method": "item/tool/call", "params": note("")["params"]},
            of_thread("serverRequest/resolved", requestId=0),
        ],
        [of_thread("serverRequest/resolved", requestId=0)],
    ],
    "account/updated": [[plain("account/updated", authMode="apikey")]],
    "account/rateLimits/updated": [[plain("account/rateLimits/updated", rateLimits={})]],
    "account/login/completed": [[plain("account/login/completed", success=False, error="no")]],
    "account/gatewayOAuth/changed": [[plain("account/gatewayOAuth/changed", status="started")]],
    "modelProvider/authRecoveryStarted": [[note("modelProvider/authRecoveryStarted", message="m")]],
    "modelProvider/authRecoveryCompleted": [[note("modelProvider/authRecoveryCompleted")]],
    "mcpServer/startupStatus/updated": [[plain("mcpServer/startupStatus/updated", name="n")]],
    "mcpServer/oauthLogin/completed": [[plain("mcpServer/oauthLogin/completed", success=True)]],
    "model/rerouted": [[T, note("model/rerouted", fromModel="a", toModel="b", reason="r")]],
    "configWarning": [[plain("configWarning", summary="s", details=None, range={"start": 1})]],
    "deprecationNotice": [[plain("deprecationNotice", summary="s", details="d")]],
    "hook/started": [[note("hook/started", run={**RUN, "status": "running"})]],
    "hook/completed": [
        [note("hook/completed", run={**RUN, "status": "blocked"})],
        [note("hook/completed", run={**RUN, "status": "odd"})],
    ],
    "windowsSandbox/setupCompleted": [[plain("windowsSandbox/setupCompleted", success=False)]],
    **{
        method: [[note(method, message="m", samplePaths=[])]]
        for method in (
            "warning",
            "guardianWarning",
            "windows/worldWritableWarning",
            "app/list/updated",
            "autoApprovalReview/strictReviewRequired",
            "model/safetyBuffering/updated",
            "model/verification",
            "turn/moderationMetadata",
        )
    },
    "thread/realtime/started": [[of_thread("thread/realtime/started", realtimeSessionId="r")]],
    **{
        f"thread/realtime/{what}": [[of_thread(f"thread/realtime/{what}", item={})]]
        for what in ("itemAdded", "item/started", "item/completed")
    },
    **{
        f"thread/realtime/{what}": [[of_thread(f"thread/realtime/{what}", delta="d")]]
        for what in ("item/transcript/delta", "transcript/delta", "transcript/done")
    },
    "thread/realtime/outputAudio/delta": [
        [of_thread("thread/realtime/outputAudio/delta", audio={})]
    ],
    "thread/realtime/error": [[of_thread("thread/realtime/error", message="m")]],
    "thread/realtime/closed": [[of_thread("thread/realtime/closed", reason=None)]],
}


def asked(method: str) -> dict[str, Any]:
    params = {**note("")["params"], "itemId": "i", "questions": [{"id": "q"}], "message": "m"}
    return {"id": 0, "method": method, "params": params}


for _method in REQUESTS:
    APP[f"request {_method}"] = [[T, asked(_method)]]
    _answer = sent({"id": 0, "result": {"decision": "accept", "answers": {"q": 1}}})
    APP[f"client-response {_method}"] = [
        [T, asked(_method), _answer],
        [T, asked(_method), turn_completed(), _answer],
    ]
APP["client-response unknown"] = [[sent({"id": 9, "result": {}})]]
APP["response unknown"] = [[{"id": 9, "result": {}}]]
APP["error unknown"] = [[{"id": 9, "error": {"code": 1, "message": "no"}}]]


def call(method: str, answer: dict[str, Any]) -> Conversation:
    return [sent({"id": 1, "method": method, "params": {"threadId": "thr_A"}}), {"id": 1, **answer}]


for _method in CLIENT - {"initialized"}:
    APP[f"error {_method}"] = [call(_method, {"error": {"code": -1, "message": "no"}})]
_OPENED = {"result": {"thread": THREAD, "model": "m", "approvalPolicy": "never"}}
APP["response initialize"] = [
    call("initialize", {"result": {"userAgent": "x"}}),
    [T, *call("initialize", {"result": {"userAgent": "x"}})],
]
for _method in ("thread/start", "thread/fork", "thread/resume"):
    APP[f"response {_method}"] = [call(_method, _OPENED)]

STARTED = {"type": "task_started"}
CALL = {"call_id": "c"}
STEP = {"step": "s", "status": "in_progress"}

# Each conversation is the EventMsgs of a turn that has started.
EVENTS: dict[str, list[list[dict[str, Any]]]] = {
    "task_started": [[], [STARTED]],
    "task_complete": [[{}], [{"type": "task_complete"}, {}]],
    "turn_aborted": [[{"reason": "interrupted"}]],
    "error": [[{"message": "m"}], [{"type": "error", "message": "m"}, {"message": "m"}]],
    **{
        type_: [[{"message": "m"}]]
        for type_ in ("stream_error", "warning", "guardian_warning", "background_event")
    },
    "deprecation_notice": [[{"summary": "s", "details": None}]],
    "session_configured": [[{"session_id": "thr_A", "model": "m"}]],
    "shutdown_complete": [[{}]],
    "thread_name_updated": [[{"thread_name": "N"}]],
    "thread_rolled_back": [[{"num_turns": 1}]],
    "context_compacted": [[{}]],
    "model_reroute": [[{"from_model": "a", "to_model": "b", "reason": "r"}]],
    "token_count": [[{"info": {"x": 1}, "rate_limits": {"y": 1}}], [{"info": None}]],
    "user_message": [[{"message": "hi"}]],
    "agent_message": [[{"message": "hi"}]],
    "agent_message_delta": [[{"delta": "h"}]],
    "agent_message_content_delta": [[{"delta": "h", "item_id": "i"}]],
    "agent_reasoning": [[{"text": "t"}]],
    "agent_reasoning_raw_content": [[{"text": "t"}]],
    "agent_reasoning_delta": [[{"delta": "t"}]],
    "agent_reasoning_raw_content_delta": [[{"delta": "t"}]],
    "agent_reasoning_section_break": [[{"summary_index": 1}]],
    "reasoning_content_delta": [[{"delta": "t", "item_id": "i", "summary_index": 0}]],
    "reasoning_raw_content_delta": [[{"delta": "t", "item_id": "i", "content_index": 0}]],
    "exec_command_begin": [[{**CALL, "command": ["ls", "-l"], "cwd": "/w"}]],
    "exec_command_output_delta": [[{**CALL, "stream": "stdout", "chunk": "aGkK"}]],
    "exec_command_end": [[{**CALL, "stdout": "a", "stderr": "b", "exit_code": 0}]],
    "terminal_interaction": [[{**CALL, "stdin": "y"}]],
    "patch_apply_begin": [
        [{**CALL, "changes": {"/a": {"add": {"content": "x"}}}}],
        [{"type": "patch_apply_begin", **CALL}, {**CALL, "changes": {}}],
    ],
    "patch_apply_end": [[{**CALL, "success": False}]],
    "mcp_tool_call_begin": [[{**CALL, "invocation": {"server": "s", "tool": "t"}}]],
    "mcp_tool_call_end": [[{**CALL, "result": {"Err": "no"}}]],
    "mcp_startup_update": [[{"server": "s"}]],
    "mcp_startup_complete": [[{"ready": ["s"]}]],
    "web_search_begin": [[CALL]],
    "web_search_end": [[{**CALL, "query": "q"}]],
    "view_image_tool_call": [[{**CALL, "path": "/p"}]],
    "dynamic_tool_call_request": [[{"callId": "c", "tool": "t"}]],
    "dynamic_tool_call_response": [[{**CALL, "tool": "t", "success": True}]],
    "entered_review_mode": [[{"user_facing_hint": "h"}]],
    "exited_review_mode": [[{"review_output": None}]],
    "plan_update": [
        [{"plan": [STEP], "explanation": None}],
        [{"plan": [{**STEP, "status": "odd"}]}],
    ],
    "plan_delta": [[{"item_id": "p", "delta": "x"}]],
    "item_completed/Plan": [[{"item": {"type": "Plan", "id": "p", "text": "x"}}]],
    "turn_diff": [[{"unified_diff": "d"}]],
    **{
        f"collab_{what}_{phase}": [[{**CALL, "receiver_thread_id": "thr_B"}]]
        for what in ("agent_spawn", "agent_interaction", "waiting", "close", "resume")
        for phase in ("begin", "end")
    },
}
ASKED: dict[str, list[list[dict[str, Any]]]] = {
    "exec_approval_request": [[{**CALL, "command": ["ls"]}]],
    "apply_patch_approval_request": [[{**CALL, "reason": "r"}]],
    "request_user_input": [[{**CALL, "questions": []}]],
    "request_permissions": [[CALL]],
    "elicitation_request": [[{"id": "e"}]],
}


def messages(type_: str, conversation: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The EventMsgs of a conversation: a start, then each with its type."""
    rest = conversation or [{}]
    start = [STARTED] if conversation else []
    return [*start, *({"type": type_.split("/", maxsplit=1)[0], **msg} for msg in rest)]


for _type, _conversations in EVENTS.items():
    APP[f"codex/event/{_type}"] = [
        [
            plain(f"codex/event/{m['type']}", id="1", conversationId="thr_A", msg=m)
            for m in messages(_type, c)
        ]
        for c in _conversations
    ]

_CONFIGURED = {"type": "session_configured", "session_id": "thr_A", "model": "m"}
APP["codex/event/session_configured"] = [
    [plain("codex/event/session_configured", conversationId="thr_A", msg=_CONFIGURED)]
]

EXEC: dict[str, list[Conversation]] = {
    "exit": [[exited(0)]],
    "noise": [["hello"]],
    "client noise": [[sent("hello")]],
    "thread.started": [
        [
            started("codex", "exec", "resume", "0190aaaa-0000-7000-8000-0000000000aa"),
            {"type": "thread.started", "thread_id": "0190aaaa-0000-7000-8000-0000000000bb"},
        ]
    ],
    "session.created": [
        [{"type": "item.started", "item": {"item_type": "error"}},
         {"type": "session.created", "session_id": "s"}]
    ],
    "turn.started": [[{"type": "turn.started"}]],
    "turn.completed": [[{"type": "turn.started"}, {"type": "turn.completed", "usage": {}}]],
    "turn.failed": [[{"type": "turn.started"}, {"type": "turn.failed", "error": {"message": "m"}}]],
    "error": [[{"type": "error", "message": "m"}]],
    "config": [[{"id": "0", "msg": {"type": "warning"}}, {"model": "m", "provider": "p"}]],
}  # fmt: skip
for _event in ("item.started", "item.updated", "item.completed"):
    for _type in ITEM_TYPES:
        _key = "item_type" if _type == "assistant_message" else "type"
        _line = {"type": _event, "item": {"id": "item_0", _key: _type, "items": [], "message": "m"}}
        _first = {"type": "item.started", "item": {"id": "item_9", _key: "reasoning"}}
        EXEC[f"{_event}/{_type}"] = [[{"type": "turn.started"}, _first, _line]]
for _type, _conversations in {**EVENTS, **ASKED}.items():
    EXEC[f"msg/{_type}"] = [
        [
            {"id": "0", "msg": {"type": "warning", "message": "so that the generation is told"}},
            *({"id": "1", "msg": m} for m in messages(_type, c)),
        ]
        for c in _conversations
    ]
EXEC["msg/session_configured"] = [
    [{"id": "0", "msg": {"type": "warning"}}, {"id": "1", "msg": _CONFIGURED}]
]
