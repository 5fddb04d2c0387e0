"""Agents that do what the ones of the corpus do not: what they say is reported, never dropped."""

from pathlib import Path

import pytest

from harness.canonical import events as ev
from harness.recording import RecordError
from harness.recording.session import Limits
from harness.scenarios import Client, scenario
from tests.recording.fakes import talk
from tests.surfaces.acp.odd import BODY, driver, meet, story

SHORT = Limits(seconds=1.5, quiet=0.05, grace=0.3, chatter=0.5)


def test_what_nobody_knows_is_reported_and_refused(tmp_path: Path) -> None:
    odd = meet(
        tmp_path,
        """
prompt = begin()
say(update("weather_update", sky="blue"))
say(update("weather_update", sky="grey"))
say({"method": "_vendor/state", "params": {"sessionId": "s1"}})
say({"method": "vendor/other"})
ask("a-1", "_vendor/ask", what=1)
refused = hear()
say(speak(f"{refused['id']} {refused['error']['code']}"))
end(prompt)
""",
    )
    assert odd.asked == [
        "session/update weather_update",
        "notification _vendor/state",
        "notification vendor/other",
        "_vendor/ask",
    ]
    assert odd.warnings == [
        "session/update weather_update is not known",
        "session/update weather_update is not known",
        "_vendor/state is not known",
        "vendor/other is not known",
        "request _vendor/ask is not known",
    ]
    assert [p.delta for p in odd.of(ev.ContentDelta)] == ["a-1 -32601"]


def test_a_batch_on_one_line_is_its_messages(tmp_path: Path) -> None:
    odd = meet(
        tmp_path,
        """
prompt = begin()
done = {"jsonrpc": "2.0", "id": prompt["id"], "result": {"stopReason": "end_turn"}}
print(json.dumps([speak("one"), speak(" two"), done]), flush=True)
""",
    )
    assert [p.delta for p in odd.of(ev.ContentDelta)] == ["one", " two"]
    assert [p.state for p in odd.of(ev.TurnCompleted)] == ["completed"]
    assert odd.warnings == ["a batch was read as 3 messages"]


def test_log_lines_on_stdout_are_told(tmp_path: Path) -> None:
    odd = meet(
        tmp_path,
        """
print("starting", flush=True)
prompt = begin()
print("[debug] {not json}", "[1, 2]", sep="\\n", flush=True)
say(speak("hello"))
end(prompt)
""",
    )
    assert odd.warnings == ["the agent sent a line that is not of the protocol"] * 3
    assert [p.delta for p in odd.of(ev.ContentDelta)] == ["hello"]


def test_updates_before_the_answer_that_names_their_session(tmp_path: Path) -> None:
    odd = meet(
        tmp_path,
        """
answer({"protocolVersion": 1})
say(update("available_commands_update", availableCommands=[]))
answer({"sessionId": "s1"})
end(hear())
""",
    )
    assert [type(e) for e in odd.events].count(ev.ThreadStarted) == 1
    assert odd.of(ev.SessionConfigured)[1].config == {"availableCommands": []}


def test_answers_that_nobody_waits_for(tmp_path: Path) -> None:
    odd = meet(
        tmp_path,
        """
prompt = begin()
say({"id": 99, "result": {}})
say({"id": str(prompt["id"]), "result": {"stopReason": "refusal"}})
end(prompt)
end(prompt)
""",
    )
    assert odd.warnings[:2] == ["an answer to a request that was not seen"] * 2
    assert [p.state for p in odd.of(ev.TurnCompleted)] == ["completed"]


def test_a_cancel_that_is_never_answered_is_bounded(tmp_path: Path) -> None:
    client = driver(scenario("interrupt-text"), tmp_path)
    body = BODY + 'begin()\nsay(speak("Once upon a time"))\nsys.stdin.read()\n'
    with pytest.raises(TimeoutError):
        talk(tmp_path, body, client, limits=SHORT)
    assert client.awaiting == "the response to session/prompt, after session/cancel"


@pytest.mark.parametrize("version", [2, "1", None, True])
def test_another_protocol_version_ends_it(tmp_path: Path, version: object) -> None:
    with pytest.raises(RecordError, match=f"speaks protocol version {version!r}"):
        meet(tmp_path, f'answer({{"protocolVersion": {version!r}}})\nsys.stdin.read()\n')


def test_a_login_ends_it_with_the_ways_to_log_in(tmp_path: Path) -> None:
    body = """
answer({"protocolVersion": 1, "authMethods": [{"id": "browser"}]})
new = hear()
say({"id": new["id"], "error": {"code": -32000, "message": "Authentication required"}})
sys.stdin.read()
"""
    with pytest.raises(RecordError, match=r"wants a login \(browser\)"):
        meet(tmp_path, body)


def test_a_refusal_says_what_the_agent_says(tmp_path: Path) -> None:
    body = """
answer({"protocolVersion": 1})
new = hear()
error = {"code": -32603, "message": "Internal error", "data": {"details": "no room"}}
say({"id": new["id"], "error": error})
sys.stdin.read()
"""
    with pytest.raises(RecordError, match="refused session/new: Internal error: no room"):
        meet(tmp_path, body)


def test_an_agent_that_wants_a_newer_node(tmp_path: Path) -> None:
    body = 'print("needs Node 22, this is v20", file=sys.stderr)\nsys.exit(1)\n'
    with pytest.raises(RecordError, match=r"(?s)ended \(code 1\) too early.*needs Node 22"):
        meet(tmp_path, body)


LOADS = """
path = os.environ["FOLDER"] + "/seen"
if not os.path.exists(path):
    open(path, "w").close()
    prompt = begin(loadSession=True)
    say(update("tool_call", toolCallId="t", title="T", kind="edit", status="completed"))
    say(speak("first"))
    end(prompt)
else:
    answer({"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})
    load = hear()
    assert load["method"] == "session/load" and load["params"]["sessionId"] == "s1"
    say(speak("say it", "user_message_chunk"))
    say(update("tool_call", toolCallId="t", title="T", kind="edit", status="completed"))
    say({"id": load["id"], "result": None})
    say(speak("first"))
    prompt = hear()
    say(speak("second"))
    end(prompt)
sys.stdin.read()
"""


def test_what_a_load_replays_is_apart_also_after_its_answer(tmp_path: Path) -> None:
    odd = meet(tmp_path, LOADS, story(Client(), Client(resume=True)))
    assert [f.channel for f in odd.frames if f.channel in {"start", "exit"}] == [
        "start",
        "exit",
        "start",
        "exit",
    ]
    completed = [e for e in odd.events if isinstance(e, ev.ItemCompleted)]
    told = [
        (e.payload.data.get("text", e.payload.title), e.payload.data.get("replay", False))
        for e in completed
    ]
    assert told == [
        ("T", False),
        ("first", False),
        ("say it", True),
        ("T", True),
        ("first", True),
        ("second", False),
    ]
    assert [isinstance(e.turnId, str) for e in completed] == [not replay for _, replay in told]
    assert {e.threadId for e in completed} == {completed[0].threadId}
    assert odd.warnings == []


def test_an_agent_that_cannot_load(tmp_path: Path) -> None:
    body = "end(begin())\nsys.stdin.read()\n"
    again = """
if os.path.exists(os.environ["FOLDER"] + "/seen"):
    answer({"protocolVersion": 1})
    sys.stdin.read()
    sys.exit()
open(os.environ["FOLDER"] + "/seen", "w").close()
"""
    with pytest.raises(RecordError, match=r"cannot load a session.*exclude the scenario"):
        meet(tmp_path, again + body, story(Client(), Client(resume=True)))
