"""The drivers of the two Codex surfaces, frame by frame: no process, no clock."""

from collections.abc import Iterator
from typing import Any

import pytest

from harness.cassette import Frame
from harness.scenarios import scenario
from harness.surfaces.base import (
    Action,
    CloseStdin,
    Done,
    Driver,
    Failed,
    OnceHeld,
    OnceSilent,
    Send,
    Setup,
    Signal,
    Start,
    Unhandled,
)
from harness.surfaces.codex_app_server import recorder as app_server
from harness.surfaces.codex_exec import recorder as codex_exec

FLAGS = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]


def setup(name: str) -> Setup:
    return Setup(scenario(name), "/w", "/h", 1, "/opt/codex", "key")


def feed(driver: Driver, data: Any, channel: Any = "stdout") -> list[Action]:
    """Return what a driver does at a frame with this content."""
    return list(driver.on_frame(Frame(1, 1, "in", channel, data)))


def begun(name: str) -> tuple[app_server.AppServerDriver, str]:
    """Return a driver whose first turn has started, and the thread's id."""
    driver = app_server.make_driver(setup(name))
    list(driver.begin())
    feed(driver, {"id": 0, "result": {}})
    feed(driver, {"id": 1, "result": {"thread": {"id": "T"}}})
    feed(driver, {"id": 2, "result": {"turn": {"id": "U"}}})
    return driver, "T"


def test_app_server_from_the_start_to_the_end() -> None:
    driver = app_server.make_driver(setup("text"))
    assert list(driver.begin()) == [
        Start(["app-server"]),
        Send(
            {
                "method": "initialize",
                "id": 0,
                "params": {
                    "clientInfo": {
                        "name": "harness",
                        "title": "Conformance harness",
                        "version": "1.0.0",
                    },
                    "capabilities": {"experimentalApi": True},
                },
            }
        ),
    ]
    assert driver.awaiting == "the response to initialize"
    initialized, thread = feed(driver, {"id": 0, "result": {"userAgent": "x"}})
    assert initialized == Send({"method": "initialized"})
    assert thread == Send(
        {
            "method": "thread/start",
            "id": 1,
            "params": {
                "model": "gpt-5.5",
                "cwd": "/w",
                "approvalPolicy": "never",
                "sandbox": "danger-full-access",
            },
        }
    )
    (turn,) = feed(driver, {"id": 1, "result": {"thread": {"id": "T"}}})
    prompt = scenario("text").turns[0].prompt
    text = {"type": "text", "text": prompt, "text_elements": []}
    params = {"threadId": "T", "input": [text]}
    assert turn == Send({"method": "turn/start", "id": 2, "params": params})
    assert feed(driver, {"id": 2, "result": {"turn": {"id": "U"}}}) == []
    assert driver.awaiting == "turn/completed of turn 1 of 1"
    other = {"method": "turn/completed", "params": {"threadId": "another", "turn": {"id": "V"}}}
    assert feed(driver, other) == []
    mine = {"method": "turn/completed", "params": {"threadId": "T", "turn": {"id": "U"}}}
    assert feed(driver, mine) == [Done()]


def test_app_server_asks_for_the_next_turn_when_one_is_over() -> None:
    driver, thread = begun("multi-turn")
    over = {"method": "turn/completed", "params": {"threadId": thread, "turn": {"id": "U"}}}
    sent = []
    for number in (3, 4):
        (action,) = feed(driver, over)
        assert isinstance(action, Send)
        assert (action.data["method"], action.data["id"]) == ("turn/start", number)
        sent.append(action.data["params"]["input"][0]["text"])
    assert sent == [turn.prompt for turn in scenario("multi-turn").turns[1:]]
    assert feed(driver, over) == [Done()]


def over(thread: str, turn: str = "U") -> dict[str, Any]:
    params = {"threadId": thread, "turn": {"id": turn}}
    return {"method": "turn/completed", "params": params}


def test_app_server_loads_the_thread_in_a_new_process() -> None:
    driver, thread = begun("session-load")
    assert feed(driver, over(thread)) == [CloseStdin()]
    start, initialize = feed(driver, {"code": 0}, "exit")
    assert start == Start(["app-server"])
    assert isinstance(initialize, Send)
    # A new process is a new connection: its ids begin anew.
    assert (initialize.data["method"], initialize.data["id"]) == ("initialize", 0)
    _, resume = feed(driver, {"id": 0, "result": {}})
    assert isinstance(resume, Send)
    assert (resume.data["method"], resume.data["id"]) == ("thread/resume", 1)
    assert resume.data["params"]["threadId"] == thread
    (turn,) = feed(driver, {"id": 1, "result": {"thread": {"id": thread}}})
    assert isinstance(turn, Send)
    assert turn.data["params"]["input"][0]["text"] == "Now go on with four."
    assert feed(driver, over(thread, "V")) == [Done()]


def test_app_server_an_exit_that_nobody_asked_for_starts_nothing() -> None:
    driver, _ = begun("session-load")
    assert feed(driver, {"code": 1}, "exit") == []


def test_app_server_cancels_before_the_first_token() -> None:
    driver = app_server.make_driver(setup("cancel-before-first-token"))
    list(driver.begin())
    feed(driver, {"id": 0, "result": {}})
    feed(driver, {"id": 1, "result": {"thread": {"id": "T"}}})
    assert feed(driver, {"id": 2, "result": {"turn": {"id": "U"}}}) == [
        OnceHeld(
            Send({"method": "turn/interrupt", "id": 3, "params": {"threadId": "T", "turnId": "U"}})
        )
    ]


def test_app_server_interrupts_again_where_a_person_was_refused() -> None:
    driver, _ = begun("text")
    params = {"threadId": "T", "turnId": "U"}
    asked = [Send({"method": "turn/interrupt", "id": n, "params": params}) for n in (3, 4)]
    assert list(driver.interrupt()) == asked[:1]
    assert list(driver.interrupt()) == []
    assert feed(driver, {"id": 3, "error": {"code": -1, "message": "no active turn"}}) == []
    assert list(driver.interrupt()) == asked[1:]


def test_exec_is_ended_before_the_first_token() -> None:
    driver = codex_exec.make_driver(setup("cancel-before-first-token"))
    assert list(driver.begin())[1:] == [CloseStdin(), OnceHeld(Signal("SIGINT"))]
    assert feed(driver, {"signal": "SIGINT"}, "exit") == [Done()]


@pytest.mark.parametrize(("name", "modes"), [("mode-change", [None, "plan"]), ("text", [None])])
def test_app_server_sets_the_mode_of_a_turn(name: str, modes: list[str | None]) -> None:
    driver = app_server.make_driver(setup(name))
    list(driver.begin())
    feed(driver, {"id": 0, "result": {}})
    sent = feed(driver, {"id": 1, "result": {"thread": {"id": "T"}}})
    if len(modes) > 1:
        sent += feed(driver, over("T"))
    found = [action.data["params"].get("collaborationMode") for action in sent]  # type: ignore[union-attr] # all are Send
    assert [mode and mode["mode"] for mode in found] == modes


def test_app_server_answers_a_question_as_the_client_chooses() -> None:
    driver, thread = begun("question")
    params = {"threadId": thread, "questions": [{"id": "colour"}, {"id": "gloss"}]}
    asked = {"method": "item/tool/requestUserInput", "id": 0, "params": params}
    answer = {"answers": ["Blue"]}
    assert feed(driver, asked) == [
        Send({"id": 0, "result": {"answers": {"colour": answer, "gloss": answer}}})
    ]


@pytest.mark.parametrize(
    ("name", "method", "decision"),
    [
        ("command-approved", "item/commandExecution/requestApproval", "accept"),
        ("command-declined", "item/commandExecution/requestApproval", "decline"),
        ("file-edit-approved", "item/fileChange/requestApproval", "accept"),
        ("file-edit-declined", "item/fileChange/requestApproval", "decline"),
    ],
)
def test_app_server_answers_a_question_as_the_scenario_says(
    name: str, method: str, decision: str
) -> None:
    driver, _ = begun(name)
    # The id is one that the client has used too: they are counted apart.
    assert feed(driver, {"method": method, "id": 0, "params": {}}) == [
        Send({"id": 0, "result": {"decision": decision}})
    ]


@pytest.mark.parametrize("number", [0, "seven"])
def test_app_server_answers_an_unknown_request_with_an_error(number: Any) -> None:
    driver, _ = begun("text")
    message = "this client does not know item/tool/call"
    assert feed(driver, {"method": "item/tool/call", "id": number, "params": {}}) == [
        Send({"id": number, "error": {"code": -32601, "message": message}}),
        Unhandled("item/tool/call"),
    ]


def test_app_server_gives_up_when_it_is_refused() -> None:
    driver = app_server.make_driver(setup("text"))
    list(driver.begin())
    assert feed(driver, {"id": 0, "error": {"code": -1, "message": "too old"}}) == [
        Failed("the agent refused initialize: too old")
    ]


def test_app_server_interrupts_once_all_of_the_text_has_come() -> None:
    driver, thread = begun("interrupt-text")

    def delta(text: str) -> list[Action]:
        params = {"threadId": thread, "delta": text}
        return feed(driver, {"method": "item/agentMessage/delta", "params": params})

    *early, last = ("Once upon", " a time")
    assert [delta(text) for text in early] == [[]]
    interrupt = {"threadId": thread, "turnId": "U"}
    assert delta(last) == [OnceSilent({"method": "turn/interrupt", "id": 3, "params": interrupt})]
    assert delta(last) == []
    # It came too late: no harm.
    assert feed(driver, {"id": 3, "error": {"message": "no turn"}}) == []


def test_app_server_interrupts_a_command_that_has_said_something() -> None:
    driver, thread = begun("interrupt-command")
    params = {"threadId": thread, "item": {"type": "commandExecution"}}
    assert feed(driver, {"method": "item/started", "params": params}) == []
    output = {"method": "item/commandExecution/outputDelta", "params": params}
    interrupt = {"threadId": thread, "turnId": "U"}
    assert feed(driver, output) == [
        OnceSilent({"method": "turn/interrupt", "id": 3, "params": interrupt})
    ]
    assert feed(driver, output) == []  # once


@pytest.mark.parametrize("data", [1, None, [], "x", {}, {"id": 99, "result": 1}, {"id": None}])
def test_app_server_takes_no_notice_of_what_is_not_for_it(data: Any) -> None:
    driver, _ = begun("text")
    assert feed(driver, data) == []
    assert feed(driver, {"method": "turn/completed", "params": {"threadId": "T"}}, "stderr") == []


def test_exec_starts_a_process_a_turn() -> None:
    turns = scenario("multi-turn").turns
    driver = codex_exec.make_driver(setup("multi-turn"))
    assert list(driver.begin()) == [Start(["exec", *FLAGS, turns[0].prompt]), CloseStdin()]
    assert feed(driver, {"type": "thread.started", "thread_id": "T"}) == []
    assert driver.awaiting == "the exit of codex exec, turn 1 of 3"
    for turn in turns[1:]:
        feed(driver, {"type": "turn.completed"})
        assert feed(driver, {"code": 0}, "exit") == [
            Start(["exec", "resume", *FLAGS, "T", turn.prompt]),
            CloseStdin(),
        ]
    assert driver.awaiting == "the exit of codex exec, turn 3 of 3"
    feed(driver, {"type": "turn.completed"})
    assert feed(driver, {"code": 1}, "exit") == [Done()]


def test_exec_interrupts_a_command_once() -> None:
    driver = codex_exec.make_driver(setup("interrupt-command"))
    list(driver.begin())
    started = {"type": "item.started", "item": {"type": "command_execution"}}
    other = {"type": "item.started", "item": {"type": "file_change"}}

    def all_of() -> Iterator[list[Action]]:
        for event in (other, started, started):
            yield feed(driver, event)

    assert list(all_of()) == [[], [Signal("SIGINT")], []]
    allowed = codex_exec.make_driver(setup("command"))
    list(allowed.begin())
    assert feed(allowed, started) == []


def test_exec_takes_an_exit_for_the_end_of_a_turn_only_once_it_is_over() -> None:
    for over in ("turn.completed", "turn.failed"):
        driver = codex_exec.make_driver(setup("text"))
        list(driver.begin())
        feed(driver, {"type": over})
        assert feed(driver, {"code": 1}, "exit") == [Done()]
    for how in ({"code": 7}, {"code": 0}, {"signal": "SIGKILL"}):
        driver = codex_exec.make_driver(setup("text"))
        list(driver.begin())
        feed(driver, {"type": "turn.started"})
        assert feed(driver, how, "exit") == []
