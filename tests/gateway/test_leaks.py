"""The last look: whatever the filters have missed, nothing is written."""

import base64
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from harness.cassette import open_cassette
from harness.gateway import recording as gateway_recording
from harness.gateway.checks import _PARTS, key_form, removed, tape_leaks
from harness.gateway.filters import KEY_FORMS
from harness.recording.errors import RecordError
from harness.recording.models import Live
from tests.gateway.fakes import (
    ASKS,
    BYE,
    HELLO,
    KEY,
    PROMPT,
    TAPE,
    VARIABLE,
    Answer,
    Call,
    providing,
    run,
    saying,
)
from tests.gateway.test_filters import ACCOUNTS, KEYS
from tests.recording.fakes import (
    no_temporary_folder_is_left,  # noqa: F401 - a fixture of every test
)

QUIET = f"{ASKS}    ask(chat({PROMPT!r}))\n    say('done'){BYE}"
"""An agent that shows nothing of what its model said."""
OTHER = "another-secret-of-the-environment-5521"


def fails(folder: Path, answer: Answer, body: str = QUIET) -> str:
    with providing(answer) as provider, pytest.raises(RecordError) as caught:
        run(folder, body, Live(provider.url, VARIABLE))
    assert caught.value.code == 1
    assert [p for p in folder.glob("c/**/*") if p.is_file()] == []
    assert KEY not in str(caught.value)
    return str(caught.value)


def split(text: str, pieces: int) -> Answer:
    """Say a text in so many events."""
    size = -(-len(text) // pieces)

    def answer(call: Call) -> None:
        call.begin()
        for at in range(0, len(text), size):
            delta = {"choices": [{"index": 0, "delta": {"content": text[at : at + size]}}]}
            call.piece(b"data: " + json.dumps(delta).encode() + b"\n\n")
        call.piece(b"data: [DONE]\n\n")
        call.end()

    return answer


FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda key: key,
    "in a sentence": lambda key: f"It is {key}.",
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of more": lambda key: base64.b64encode(f"Bearer {key}\n".encode()).decode(),
    "URL": lambda key: quote(f"?key={key}&", safe=""),
    "hex": lambda key: key.encode().hex(),
    "JSON in JSON": lambda key: json.dumps({"a": json.dumps({"b": key})}),
}


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("pieces", [1, 2, 5, 40])
@pytest.mark.parametrize("form", FORMS)
def test_the_developers_key_in_an_answer(tmp_path: Path, form: str, pieces: int) -> None:
    text = fails(tmp_path, split(FORMS[form](KEY), pieces))
    assert "of the model's cassette hold what must not be in it; nothing was written" in text
    if form != "base64 of more":  # which is seen for its form first
        assert "a key that the agent was given" in text


@pytest.mark.usefixtures("fake")
def test_a_secret_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", OTHER)
    text = fails(tmp_path, split(OTHER, 2))
    assert "the value of the environment's SOME_SERVICE_TOKEN" in text


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("pieces", [2, 3, 9])
@pytest.mark.parametrize("form", KEYS)
def test_a_key_that_is_split_over_events(tmp_path: Path, form: str, pieces: int) -> None:
    # Also where its first part is a key already, which has zeros, and the rest is none.
    text = fails(tmp_path, split(f"({KEYS[form]})", pieces))
    assert "a key in the form of " in text


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("form", ACCOUNTS)
def test_an_account_that_is_split_over_two_events(tmp_path: Path, form: str) -> None:
    assert "the id of a provider's " in fails(tmp_path, split(ACCOUNTS[form], 2))


@pytest.mark.usefixtures("fake")
def test_what_the_agent_shows_of_it(tmp_path: Path) -> None:
    # The model's cassette has zeros in its place; the agent has seen it, and says it.
    text = fails(tmp_path, saying(KEYS["Google"]), HELLO)
    assert "frame 3" in text
    assert "a key in the form of Google" in text


@pytest.mark.usefixtures("fake")
def test_what_only_a_header_said(tmp_path: Path) -> None:
    def answer(call: Call) -> None:
        call.begin(set_cookie="session=c00kie-of-the-provider-19; path=/")
        call.piece(b'data: {"choices":[{"delta":{"content":"c00kie-of-the-provider-19"},')
        call.piece(b'"finish_reason":"stop"}]}\n\n')
        call.end()

    assert "the set-cookie of the provider's answer" in fails(tmp_path, answer)


@pytest.mark.usefixtures("fake")
def test_without_the_last_look_it_would_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_recording, "tape_leaks", lambda *_: [])
    with providing(split(KEY, 1)) as provider:
        run(tmp_path, QUIET, Live(provider.url, VARIABLE))
    assert KEY in (tmp_path / "c" / TAPE).read_text("utf-8")


@pytest.mark.usefixtures("fake")
def test_the_key_is_in_no_file_and_not_in_the_agents_environment(tmp_path: Path) -> None:
    body = f"{ASKS}    say([name for name, value in os.environ.items() if 'own-key' in value])\n"
    body += f"    say(ask(chat({PROMPT!r}))){BYE}"
    with providing(saying()) as provider:
        got = run(tmp_path, body, Live(provider.url, VARIABLE))
        assert provider.seen[0][1]["authorization"] == f"Bearer {KEY}"
    written = {p.name: p.read_text("utf-8") for p in (tmp_path / "c").rglob("*") if p.is_file()}
    assert sorted(written) == ["text.jsonl", "text.model.yaml"]
    assert all(KEY not in text for text in written.values())
    with open_cassette(got.path) as cassette:
        assert next(f.data for f in cassette if f.channel == "stdout") == {"said": []}


@pytest.mark.usefixtures("fake")
def test_nothing_of_it_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    body = HELLO.replace(
        'path="/v1/chat/completions"', 'path="/v1/chat/completions?key=" + os.environ["KEY"]'
    )
    with providing(saying()) as provider:
        run(tmp_path, body, Live(provider.url, VARIABLE))
        assert provider.seen[0][0].endswith(f"?key={KEY}")
    logged = caplog.text + "".join(str(record.args) for record in caplog.records)
    assert KEY not in logged
    assert "Hello" not in logged


@pytest.mark.parametrize("name", KEYS)
def test_every_form_is_seen_plain_and_encoded(name: str) -> None:
    key = KEYS[name]
    assert key_form(f"x {key} y") is not None
    assert str(key_form(quote(f"x {key} y", safe=""))).startswith("a key in the form of")
    for before in range(3):
        text = base64.b64encode(b"x" * before + b" " + key.encode() + b" y").decode()
        assert str(key_form(f"see {text}")).endswith("(base64)"), before
        assert str(key_form(text.replace("+", "-").replace("/", "_"))).endswith("(base64)")
    assert set(KEYS) == set(KEY_FORMS)


def test_what_is_no_key() -> None:
    for text in (
        "sk-learn is a library, and task-force one word",
        "user-authentication, org-structureoverview, req_body",
        "AKIA, ghp_, Bearer of news",
        "sk-a" + "0" * 40,
        "c2sgbGVhcm4gaXMgYSBsaWJyYXJ5IGFuZCBtb3Jl",
    ):
        assert key_form(text) is None, text


def test_each_form_has_one_of_the_parts_that_are_looked_for_first() -> None:
    for key in (*KEYS.values(), *ACCOUNTS.values()):
        assert any(part in key for part in _PARTS), key


def test_an_id_in_each_event_is_none_that_is_split() -> None:
    one, two = "req_" + "0" * 23 + "1", "req_" + "0" * 23 + "2"
    assert key_form(two, one) is None
    assert key_form("9f3b", one) is not None


def test_what_of_headers_tells_something() -> None:
    headers = [
        ("Set-Cookie", "a=abcdefgh12345; Path=/"),
        ("x-ratelimit-reset-tokens", "2026-12-02T20:00:00Z"),
        ("openai-organization", "short"),
        ("date", "Wed, 02 Dec 2026 20:00:00 GMT"),
    ]
    assert [secret.value for secret in removed(headers)] == ["abcdefgh12345"]


def test_leaks_name_the_exchange() -> None:
    def pair(text: str) -> dict[str, Any]:
        request: dict[str, Any] = {"method": "POST", "uri": "u", "headers": {}, "body": None}
        return {"request": request, "response": {"headers": {}, "body": {"string": text}}}

    leaks = tape_leaks([pair("fine"), pair(f"data: {json.dumps({'t': KEYS['npm']})}\n\n")], [])
    assert leaks == ["exchange 2: a key in the form of npm"]
