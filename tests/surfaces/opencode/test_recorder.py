"""The client of opencode's server, against a fake of it: what it asks, what is on record."""

from pathlib import Path

import pytest

from harness.recording.isolation import Namespace, why_not
from harness.scenarios import scenario
from tests.surfaces.opencode.fakes import Talked, talk

OPENING = ["GET /event", "POST /session", "POST /session/ses_1/prompt_async"]
CLOSING = ["GET /session", "GET /session/ses_1/message"]


def whole(done: Talked) -> None:
    assert done.error is None
    assert done.requests == OPENING + CLOSING
    assert done.frames[-1].data == {"signal": "SIGTERM"}


def test_a_whole_conversation_is_in_one_order(tmp_path: Path) -> None:
    done = talk(tmp_path)
    whole(done)
    assert [f"{f.dir} {f.channel}" for f in done.frames] == [
        "out start",
        "in stdout",
        *["out http", "in http"],
        "in sse",  # server.connected
        *["out http", "in http"] * 2,
        *["in sse"] * 10,
        *["out http", "in http"] * 2,
        "in exit",
    ]
    assert done.frames[0].data == {"command": ["opencode", "serve", "--port", "0"]}
    assert done.frames[2].data == {"request": 1, "method": "GET", "path": "/event", "body": None}
    assert done.answers() == [
        {"request": 1, "status": 200, "body": None},
        {"request": 2, "status": 200, "body": {"id": "ses_1"}},
        {"request": 3, "status": 204, "body": None},
        {"request": 4, "status": 200, "body": []},
        {"request": 5, "status": 200, "body": []},
    ]
    prompt = [{"type": "text", "text": scenario("text").turns[0].prompt}]
    sent = [f.data["body"] for f in done.frames if (f.dir, f.channel) == ("out", "http")]
    assert sent == [None, {"title": scenario("text").title}, {"parts": prompt}, None, None]
    assert done.types()[-1] == "session.idle"


@pytest.mark.skipif(why_not() is not None, reason="this machine does not allow isolation")
def test_the_server_is_reached_in_its_own_network(tmp_path: Path) -> None:
    with Namespace() as namespace:
        whole(talk(tmp_path, namespace=namespace))
        assert namespace.refused() == 0


def test_the_port_is_the_one_that_the_server_says_and_is_not_on_record(tmp_path: Path) -> None:
    done = talk(tmp_path, args=("serve", "--port", "4999"))
    whole(done)
    assert done.of("stdout") == ["opencode server listening on http://127.0.0.1:4096"]


def test_an_answer_comes_before_the_events_that_came_first(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def prompted():
            say("Hello")
            end()
            time.sleep(0.1)  # the events are at the client long before the answer
        """,
    )
    whole(done)
    at = [f.seq for f in done.frames if f.data == {"request": 3, "status": 204, "body": None}]
    assert [f.seq for f in done.frames if f.channel == "sse"][1:2] == [at[0] + 1]


def test_a_permission_is_answered_as_the_scenario_says(tmp_path: Path) -> None:
    body = """
        def prompted():
            say()
            tell("session.created", sessionID="ses_2", info={"id": "ses_2", "parentID": "ses_1"})
            tell("session.created", sessionID="ses_9", info={"id": "ses_9", "parentID": "ses_8"})
            tell("permission.asked", sessionID=MINE, id="per_0")
            # That its turn is over is not that ours is.
            end(session="ses_2", answer="msg_5")
            for number, session in ((1, "ses_2"), (9, "ses_9")):
                tell("permission.asked", sessionID=session, id="per_%d" % number)
        def answer(method, path, body):
            if path == "/permission/per_1/reply":
                end()
            if path.startswith("/permission/"):
                return 200, json.dumps(body).encode()
        """
    for told, reply in (("command-approved", "once"), ("command-declined", "reject")):
        done = talk(tmp_path, body, told=scenario(told))
        # A sub-agent's is its too; another conversation's is not.
        replies = [f"POST /permission/per_{n}/reply" for n in (0, 1)]
        assert done.requests == OPENING + replies + CLOSING
        assert [a["body"] for a in done.answers()[3:5]] == [{"reply": reply}] * 2


def test_what_is_asked_and_not_known_is_reported(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def prompted():
            say()
            tell("question.asked", sessionID=MINE, id="que_1", questions=[{"question": "Why?"}])
            tell("oracle.asked", sessionID=MINE, id="ora_1")
            end()
        """,
    )
    # The scenario has no answer to a question, and none is made up.
    assert done.requests == [*OPENING, "POST /question/que_1/reject", *CLOSING]
    assert done.session.asked == ["oracle.asked"]


@pytest.mark.parametrize("story", ["interrupt-text", "interrupt-command"])
def test_it_aborts_once_all_that_comes_before_has_come(tmp_path: Path, story: str) -> None:
    done = talk(
        tmp_path,
        """
        def tool(output):
            state = {"status": "running", "metadata": {"output": output}}
            part = {"id": "prt_7", "type": "tool", "tool": "bash", "state": state}
            tell("message.part.updated", sessionID=MINE, part=part)
        def prompted():
            say("Once upon", " a time")
            tool("")
            tool("started")
        def answer(method, path, body):
            if path.endswith("/abort"):
                tell("session.error", sessionID=MINE, error={"name": "MessageAbortedError"})
                tell("session.idle", sessionID=MINE)
                end()
                return 200, b"true"
        """,
        told=scenario(story),
    )
    assert done.error is None
    assert done.requests == [*OPENING, "POST /session/ses_1/abort", *CLOSING]
    abort = next(f.seq for f in done.frames if f.dir == "out" and "abort" in str(f.data))
    before = done.frames[abort - 2].data["properties"]
    if story == "interrupt-text":
        assert before["delta"] == " a time"
    else:
        assert before["part"]["state"]["metadata"] == {"output": "started"}
    # Idle comes twice, the second time once the message is whole: no sooner is the turn over.
    listed = next(f.seq for f in done.frames if f.data and f.data.get("path") == "/session"
                  and f.data.get("method") == "GET")  # fmt: skip
    kinds = [f.data["type"] for f in done.frames if f.channel == "sse" and f.seq < listed]
    assert kinds.count("session.idle") == 2


def test_a_conversation_of_several_turns_is_managed(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        TOLD = {
            "/revert": [("session.updated", {"revert": {}})],
            "/unrevert": [("session.updated", {})],
            "/part/prt_2": [("message.part.removed", None)],
            "/message/msg_2": [("message.removed", None)],
            "/summarize": [("session.compacted", None), ("session.idle", None),
                           ("message.updated", {"summary": {}})],
        }
        HISTORY = [
            {"info": {"id": "msg_1", "role": "user"}, "parts": []},
            {"info": {"id": "msg_2", "role": "assistant"},
             "parts": [{"id": "prt_2", "type": "text"}]},
        ]
        def answer(method, path, body):
            for ending, events in TOLD.items():
                if path.endswith(ending):
                    for type, info in events:
                        tell(type, sessionID=MINE, info=info)
            if method == "PATCH":
                tell("session.updated", sessionID=MINE, info={"title": body["title"]})
            if method == "DELETE" and path == "/session/ses_1":
                tell("session.deleted", sessionID=MINE)
            if path.startswith("/pty"):
                tell({"POST": "pty.created", "PUT": "pty.updated", "DELETE": "pty.deleted"}[method])
                return 200, b'{"id":"pty_1"}'
            if path == "/instance/dispose":
                tell("server.instance.disposed")
            if method == "GET" and path.endswith("/message"):
                return 200, json.dumps(HISTORY).encode()
        """,
        told=scenario("multi-turn"),
    )
    assert done.error is None
    assert done.requests[5:] == [
        *CLOSING,
        "GET /session/ses_1/todo",
        "PATCH /session/ses_1",
        "POST /session/ses_1/revert",
        "POST /session/ses_1/unrevert",
        "DELETE /session/ses_1/message/msg_2/part/prt_2",
        "DELETE /session/ses_1/message/msg_2",
        "POST /session/ses_1/summarize",
        "POST /pty",
        "PUT /pty/pty_1",
        "DELETE /pty/pty_1",
        "DELETE /session/ses_1",
        "POST /instance/dispose",
    ]
    # Each act waits for the events of the one before.
    acts = [f.seq for f in done.frames if f.dir == "out" and f.channel == "http"][5:]
    told = [
        [f.data["type"] for f in done.frames if f.channel == "sse" and a < f.seq < b]
        for a, b in zip(acts, [*acts[1:], len(done.frames)], strict=True)
    ]
    assert [types[-1:] for types in told[3:]] == [
        ["session.updated"], ["session.updated"], ["session.updated"], ["message.part.removed"],
        ["message.removed"], ["message.updated"], ["pty.created"], ["pty.updated"],
        ["pty.deleted"], ["session.deleted"], ["server.instance.disposed"],
    ]  # fmt: skip
