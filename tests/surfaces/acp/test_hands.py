"""What the client does for small agents while they talk: terminals, files, questions."""

from pathlib import Path
from typing import Any

import pytest

from harness.scenarios import Client
from tests.surfaces.acp.odd import meet, story


def answers(sent: list[Any]) -> list[Any]:
    return [message for message in sent if "method" not in message]


def test_a_wait_is_answered_while_other_requests_go_on(tmp_path: Path) -> None:
    odd = meet(
        tmp_path,
        """
prompt = begin()
ask(1, "terminal/create", command="read line < fifo; echo got $line; exit 3")
name = hear()["result"]["terminalId"]
ask(2, "terminal/wait_for_exit", terminalId=name)
ask(3, "terminal/output", terminalId=name)
assert hear() == {"jsonrpc": "2.0", "id": 3, "result": {"output": "", "truncated": False}}
with open("fifo", "w") as fifo:
    fifo.write("it\\n")
assert hear() == {"jsonrpc": "2.0", "id": 2, "result": {"exitCode": 3, "signal": None}}
ask(4, "terminal/output", terminalId=name)
say(speak(hear()["result"]["output"]))
ask(5, "terminal/release", terminalId=name)
hear()
end(prompt)
""".replace("prompt = begin()", 'os.mkfifo("fifo")\nprompt = begin()'),
        story(capabilities=("terminal",)),
    )
    assert [message["id"] for message in answers(odd.sent)] == [1, 3, 2, 4, 5]
    assert odd.asked == []
    assert odd.warnings == []


def test_what_still_runs_at_the_end_is_ended(tmp_path: Path) -> None:
    # `meet` asserts that no process is left.
    odd = meet(
        tmp_path,
        """
prompt = begin()
ask(1, "terminal/create", command="sleep 60 & sleep 60")
ask(2, "terminal/wait_for_exit", terminalId=hear()["result"]["terminalId"])
end(prompt)
sys.stdin.read()
""",
        story(capabilities=("terminal",)),
    )
    assert [message["id"] for message in answers(odd.sent)] == [1]


def test_what_runs_when_the_agent_dies_is_ended(tmp_path: Path) -> None:
    body = """
begin()
ask(1, "terminal/create", command="sleep 60")
ask(2, "terminal/wait_for_exit", terminalId=hear()["result"]["terminalId"])
sys.exit(3)
"""
    with pytest.raises(Exception, match=r"ended \(code 3\) too early"):
        meet(tmp_path, body, story(capabilities=("terminal",)))


def test_what_is_not_offered_is_refused_and_reported(tmp_path: Path) -> None:
    odd = meet(
        tmp_path,
        """
prompt = begin()
ask("x", "fs/read_text_file", path="/etc/hostname")
assert hear()["error"]["code"] == -32601
ask("y", "terminal/create", command="true")
assert hear()["error"]["code"] == -32601
end(prompt)
""",
    )
    assert odd.asked == ["fs/read_text_file", "terminal/create"]
    offered = odd.sent[0]["params"]["clientCapabilities"]
    assert offered == {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


def test_what_is_offered_but_not_of_the_protocol_is_reported(tmp_path: Path) -> None:
    odd = meet(
        tmp_path,
        """
prompt = begin()
ask(1, "fs/list", path=os.getcwd())
assert hear()["error"]["code"] == -32601
ask(2, "terminal/resize")
assert hear()["error"]["code"] == -32601
end(prompt)
""",
        story(capabilities=("terminal", "files")),
    )
    assert odd.asked == ["fs/list", "terminal/resize"]


def test_always_chooses_what_is_for_always(tmp_path: Path) -> None:
    body = """
prompt = begin()
both = [["a", "allow_once"], ["b", "allow_always"]]
for options in (both, [["c", "allow_once"]], [["d", "reject_once"]]):
    ask("p", "session/request_permission", toolCall={"toolCallId": "t"},
        options=[{"optionId": i, "kind": k, "name": i} for i, k in options])
    outcome = hear()["result"]["outcome"]
    say(speak(outcome.get("optionId", outcome["outcome"]) + " "))
end(prompt)
"""
    odd = meet(tmp_path, body, story(Client(approvals="always")))
    chosen = [m["result"]["outcome"].get("optionId") for m in answers(odd.sent)]
    assert chosen == ["b", "c", None]


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ('{"q": {"type": "string", "enum": ["red", "blue"]}}', {"q": "blue"}),
        ('{"n": {"type": "string"}, "q": {"oneOf": [{"const": "blue"}]}}', {"q": "blue"}),
        ('{"x": {"type": "boolean"}, "n": {"type": "string"}}', {"n": "blue"}),
    ],
)
def test_a_form_is_filled_with_the_answer(
    tmp_path: Path, fields: str, content: dict[str, str]
) -> None:
    body = f"""
prompt = begin()
ask(1, "elicitation/create", mode="form", message="Which?",
    requestedSchema={{"type": "object", "properties": {fields}}})
hear()
end(prompt)
"""
    odd = meet(tmp_path, body, story(Client(answer="blue")))
    assert answers(odd.sent)[0]["result"] == {"action": "accept", "content": content}
    assert odd.sent[0]["params"]["clientCapabilities"]["elicitation"] == {"form": {}}


@pytest.mark.parametrize(
    ("answers_", "content"),
    [
        (("red", "b"), {"one": "red", "two": "b"}),
        (("own", "b"), {"own_one": "own", "two": "b"}),
        (("own", "other"), {"own_one": "own", "own_two": "other"}),
    ],
)
def test_a_form_of_two_questions(
    tmp_path: Path, answers_: tuple[str, str], content: dict[str, str]
) -> None:
    body = """
prompt = begin()
ask(1, "elicitation/create", mode="form", message="Which?",
    requestedSchema={"type": "object", "properties": {
        "one": {"enum": ["red", "blue"]}, "own_one": {"type": "string"},
        "two": {"enum": ["a", "b"]}, "own_two": {"type": "string"}}})
hear()
end(prompt)
"""
    odd = meet(tmp_path, body, story(Client(answer="x", together=answers_)))
    assert answers(odd.sent)[0]["result"] == {"action": "accept", "content": content}


MODES = '"modes": {"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "plan"}]}'
OPTION = """"configOptions": [{"id": "m", "category": "mode", "type": "select",
    "currentValue": "ask", "options": [{"value": "ask"}, {"value": "plan"}]}]"""


@pytest.mark.parametrize(
    ("offered", "options", "method", "fields"),
    [
        (MODES, {}, "session/set_mode", {"modeId": "plan"}),
        (OPTION, {}, "session/set_config_option", {"configId": "m", "value": "plan"}),
        (f"{MODES}, {OPTION}", {}, "session/set_mode", {"modeId": "plan"}),
        (
            f"{MODES}, {OPTION}",
            {"mode_option": True},
            "session/set_config_option",
            {"configId": "m", "value": "plan"},
        ),
        (MODES, {"modes": {"plan": "ask"}}, "session/set_mode", {"modeId": "ask"}),
        (MODES.replace('"plan"', '"think"'), {}, "session/set_mode", {"modeId": "think"}),
    ],
)
def test_a_mode_is_changed_as_the_agent_offers_it(
    tmp_path: Path, offered: str, options: dict[str, Any], method: str, fields: dict[str, str]
) -> None:
    body = f"""
answer({{"protocolVersion": 1}})
answer({{"sessionId": "s1", {offered}}})
answer({{}})
end(hear())
"""
    odd = meet(tmp_path, body, story(Client(mode="plan")), options=options)
    assert odd.sent[2]["method"] == method
    assert odd.sent[2]["params"] == {"sessionId": "s1", **fields}
    assert odd.sent[3]["method"] == "session/prompt"


def test_an_agent_without_modes(tmp_path: Path) -> None:
    body = 'answer({"protocolVersion": 1})\nanswer({"sessionId": "s1"})\nsys.stdin.read()\n'
    with pytest.raises(Exception, match="offers no mode for 'plan'"):
        meet(tmp_path, body, story(Client(mode="plan")))
