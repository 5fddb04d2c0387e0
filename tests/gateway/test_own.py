"""What a provider repeats of the agent's own is not kept."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.gateway import keeping
from harness.gateway.own import own_lines, repeated, without_echo
from harness.recording.errors import RecordError
from harness.recording.models import Live, Taped
from tests.gateway.fakes import (
    ASKS,
    BYE,
    PROMPT,
    TAPE,
    VARIABLE,
    Answer,
    Call,
    chat,
    providing,
    run,
    saying,
    whole,
)

OWN = "You are the most careful agent that anybody has ever made, and you say so often."
TOOL = "Runs a command in the workspace, and waits for its end for as long as it takes to end."
RESPONSES = (
    ASKS
    + f"""
    body = {{"model": "m", "instructions": {OWN!r}, "stream": True,
            "input": [{{"role": "user", "content": {PROMPT!r}}}],
            "tools": [{{"type": "function", "name": "exec", "description": {TOOL!r}}}]}}
    status, text = ask(body, "/v1/responses")
    say(status){BYE}"""
)
ECHO = {"instructions": OWN, "tools": [{"type": "function", "description": TOOL}], "id": "resp_1"}


def echoing(call: Call) -> None:
    call.begin()
    for kind in ("created", "completed"):
        event = {"type": f"response.{kind}", "response": ECHO}
        call.piece(f"event: response.{kind}\ndata: {json.dumps(event)}\n\n".encode())
    call.end()


UNSTREAMED = whole(json.dumps(ECHO).encode())


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("answer", [echoing, UNSTREAMED], ids=["streamed", "unstreamed"])
def test_an_echo_is_taken_out(tmp_path: Path, answer: Answer) -> None:
    with providing(answer) as provider:
        run(tmp_path, RESPONSES, Live(provider.url, VARIABLE))
    tape = tmp_path / "c" / TAPE
    body = yaml.safe_load(tape.read_text("utf-8"))["interactions"][0]["response"]["body"]["string"]
    assert '"instructions":null' in body
    assert '"tools":[]' in body
    assert '"resp_1"' in body
    assert "careful" not in body
    assert "workspace" not in body
    run(tmp_path, RESPONSES, Taped(tape), "again")


@pytest.mark.usefixtures("fake")
def test_without_that_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "without_echo", lambda event: event)
    with providing(echoing) as provider, pytest.raises(RecordError) as caught:
        run(tmp_path, RESPONSES, Live(provider.url, VARIABLE))
    assert caught.value.code == 1
    assert "repeats what is the agent's own" in str(caught.value)
    assert [p for p in tmp_path.glob("c/**/*") if p.is_file()] == []


@pytest.mark.usefixtures("fake")
def test_a_model_that_says_its_prompt(tmp_path: Path) -> None:
    body = f"{ASKS}    ask(chat({PROMPT!r}, {OWN!r})){BYE}"
    with (
        providing(saying(f"Well:\n  {OWN}\nThat is it.")) as provider,
        pytest.raises(RecordError, match="repeats what is the agent's own"),
    ):
        run(tmp_path, body, Live(provider.url, VARIABLE))


def test_lines_of_each_api() -> None:
    def lines(body: dict[str, Any]) -> set[str]:
        return own_lines(json.dumps(body).encode(), "application/json")

    assert lines({"instructions": OWN}) == {OWN}
    assert lines({"system": [{"type": "text", "text": f"{OWN}\nShort.\n{TOOL}"}]}) == {OWN, TOOL}
    assert lines({"systemInstruction": {"parts": [{"text": OWN}]}}) == {OWN}
    assert lines({"tools": [{"functionDeclarations": [{"description": TOOL}]}]}) == {TOOL}
    messages = [{"role": "developer", "content": OWN}, {"role": "user", "content": TOOL}]
    assert lines({"messages": messages}) == lines({"input": messages}) == {OWN}
    assert own_lines(b"no JSON", "") == own_lines(b"\xff", "") == set()


def test_what_is_no_echo_stays_to_the_byte() -> None:
    for event in (
        *chat("Hello"),
        b'data: {"type": "x", "response": {"instructions": null, "tools": []}}\n\n',
        b'data: {"arguments": {"tools": ["a"], "instructions": "b"}}\n\n',
        b'data: {"tools": broken\r\n\r\n',
    ):
        assert without_echo(event) == event
        assert not repeated(event, {OWN})
    assert without_echo(b'data: {"tools":[1]}\r\n\r\n') == b'data: {"tools":[]}\r\n\r\n'
