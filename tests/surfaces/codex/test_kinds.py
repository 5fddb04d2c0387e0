"""Names of frames: what a response answers, and the two id spaces of one connection."""

from tests.surfaces.codex.wire import APP, EXEC, exited, kinds, note, sent, started, turn_completed

ASK = "item/commandExecution/requestApproval"


def question(id_: object) -> dict[str, object]:
    return {"id": id_, "method": ASK, "params": note("")["params"]}


def resolved(id_: object) -> dict[str, object]:
    return {"method": "serverRequest/resolved", "params": {"threadId": "thr_A", "requestId": id_}}


def test_the_ids_of_both_directions_are_apart() -> None:
    assert kinds(
        APP,
        [
            started("codex", "app-server"),
            sent({"id": 0, "method": "initialize", "params": {}}),
            question(0),
            {"id": 0, "result": {}},
            sent({"id": 0, "result": {"decision": "accept"}}),
            sent({"method": "initialized"}),
            ("in", "stderr", "a log line"),
            exited(0),
        ],
    ) == [
        "start",
        "client initialize",
        f"request {ASK}",
        "response initialize",
        f"client-response {ASK}",
        "client initialized",
        "stderr",
        "exit",
    ]


def test_a_response_is_named_by_the_last_request_with_its_id() -> None:
    lines = [
        sent({"id": 1, "method": "thread/list", "params": {}}),
        {"id": 1, "error": {"code": -32600, "message": "no"}},
        {"id": 1, "result": {}},
        sent({"id": 1, "method": "model/list"}),
        {"id": "1", "result": {}},
        {"id": 1, "result": {}},
    ]
    assert kinds(APP, lines) == [
        "client thread/list",
        "error thread/list",
        "response unknown",
        "client model/list",
        "response unknown",
        "response model/list",
    ]


def test_a_new_process_knows_nothing_of_the_last_one() -> None:
    lines = [
        sent({"id": 1, "method": "thread/list"}),
        exited(1),
        started("codex", "app-server"),
        {"id": 1, "result": {}},
    ]
    assert kinds(APP, lines)[-1] == "response unknown"


def test_a_resolution_after_the_answer_is_a_repetition() -> None:
    answer = sent({"id": 0, "result": {"decision": "accept"}})
    assert kinds(APP, [question(0), answer, resolved(0), question(1), resolved(1)])[2:] == [
        "repeat serverRequest/resolved",
        f"request {ASK}",
        "serverRequest/resolved",
    ]


def test_a_resolution_after_the_end_of_the_turn_is_a_repetition() -> None:
    lines = [question(0), turn_completed("interrupted"), resolved(0), resolved(5)]
    assert kinds(APP, lines)[2:] == ["repeat serverRequest/resolved", "serverRequest/resolved"]


def test_messages_in_text_frames_are_named_too() -> None:
    assert kinds(APP, ['{"method":"turn/started","params":{}}\r', "garbage", 7]) == [
        "turn/started",
        "noise",
        "noise",
    ]


def test_exec_names_an_item_by_its_type_in_either_spelling() -> None:
    lines = [
        {"type": "item.started", "item": {"id": "1", "type": "command_execution"}},
        {"type": "item.completed", "item": {"id": "1", "item_type": "assistant_message"}},
        {"id": "1", "msg": {"type": "turn_started"}},
        {"type": "turn.completed", "usage": {}},
        {"prompt": "go"},
        {"model": "m", "provider": "p"},
        {"something": 1},
    ]
    assert kinds(EXEC, lines) == [
        "item.started/command_execution",
        "item.completed/assistant_message",
        "msg/task_started",
        "turn.completed",
        "prompt",
        "config",
        "noise",
    ]
