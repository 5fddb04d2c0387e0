"""Turns of every kind, against the fake: modes, commands, sessions loaded again, early aborts."""

from pathlib import Path
from typing import Any

import pytest

from harness.scenarios import scenario
from tests.surfaces.opencode.fakes import Talked, talk

CLOSING = ["GET /session", "GET /session/ses_1/message"]


def bodies(done: Talked, path: str) -> list[Any]:
    """What was sent to that path."""
    sent = [f.data for f in done.frames if (f.dir, f.channel) == ("out", "http")]
    return [request["body"] for request in sent if request["path"] == path]


def test_a_mode_is_the_agent_of_the_prompt(tmp_path: Path) -> None:
    done = talk(tmp_path, told=scenario("mode-change"))
    assert done.error is None
    first, second = bodies(done, "/session/ses_1/prompt_async")
    assert "agent" not in first
    assert second["agent"] == "plan"
    # Two turns are no long conversation: nothing is managed.
    assert done.requests[-2:] == CLOSING


def test_what_is_allowed_for_good_is_answered_so(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def prompted():
            say()
            tell("permission.asked", sessionID=MINE, id="per_1")
        def answer(method, path, body):
            if path.startswith("/permission/"):
                end()
        """,
        told=scenario("permission-always"),
    )
    assert done.error is None
    assert bodies(done, "/permission/per_1/reply") == [{"reply": "always"}]


def test_the_answer_to_a_command_stands_after_its_turn(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def answer(method, path, body):
            if path.endswith("/command"):
                say("Welcome")
                # It asks while the request has no answer yet: the client is not to wait for one.
                tell("permission.asked", sessionID=MINE, id="per_1")
                PROMPTED.wait()
                return 200, b"{}"
            if path.startswith("/permission/"):
                end()
                tell("command.executed", sessionID=MINE, name="greet")
                PROMPTED.set()
        """,
        told=scenario("slash-commands"),
    )
    assert done.error is None
    assert bodies(done, "/session/ses_1/command") == [{"command": "greet", "arguments": ""}]
    told = [f.data for f in done.frames if f.channel in {"http", "sse"}]
    answered = told.index({"request": 3, "status": 200, "body": {}})
    assert told[answered - 1]["type"] == "command.executed"
    # Requests and answers are told apart by their numbers alone.
    assert told.index({"request": 4, "status": 200, "body": []}) < answered


def test_a_session_is_loaded_again_in_a_new_process(tmp_path: Path) -> None:
    done = talk(tmp_path, told=scenario("session-load"))
    assert done.error is None
    assert done.requests == [
        "GET /event",
        "POST /session",
        "POST /session/ses_1/prompt_async",
        "GET /event",
        "GET /session",
        "GET /session/ses_1",
        "GET /session/ses_1/message",
        "POST /session/ses_1/prompt_async",
        *CLOSING,
    ]
    assert done.of("exit") == [{"signal": "SIGTERM"}] * 2
    assert len(done.of("start")) == 2
    # The numbers of the requests go on.
    assert [answer["request"] for answer in done.answers()] == list(range(1, 11))


@pytest.mark.parametrize("told", ["cancel-before-first-token"])
def test_it_aborts_once_the_model_server_holds_its_stream(tmp_path: Path, told: str) -> None:
    done = talk(
        tmp_path,
        """
        def prompted():
            say()
            part = {"id": "prt_1", "type": "step-start"}
            tell("message.part.updated", sessionID=MINE, part=part)
        def answer(method, path, body):
            if path.endswith("/abort"):
                tell("session.error", sessionID=MINE, error={"name": "MessageAbortedError"})
                tell("session.idle", sessionID=MINE)
                end()
                return 200, b"true"
        """,
        told=scenario(told),
        hold=True,
    )
    assert done.error is None
    assert done.requests[3:] == ["POST /session/ses_1/abort", *CLOSING]
    abort = next(f.seq for f in done.frames if f.dir == "out" and "abort" in str(f.data))
    # All that the agent had to say before is on record before.
    assert done.frames[abort - 2].data["properties"]["part"]["type"] == "step-start"
