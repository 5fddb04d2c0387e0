"""What is left of a request: the developer's words, and nothing of the agent's."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.gateway.reduce import Reducer, stable

SAID = ["Say hello.", "Say hello. And then goodbye."]


def reduced(body: Any, kind: str = "application/json", normal: Any = None) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    reducer = Reducer(lambda: SAID, lambda: normal or (lambda text: text))
    return json.loads(reducer.body(data, kind))


def test_each_api_keeps_what_its_protocol_says() -> None:
    responses = {
        "model": "gpt",
        "instructions": "You are a very careful agent.",
        "input": [
            {"type": "message", "role": "developer", "content": "Be brief, always."},
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Say hello."}],
            },
            {"type": "function_call", "call_id": "call_1", "name": "exec", "arguments": "{}"},
        ],
        "tools": [{"type": "function", "name": "exec", "description": "Runs a command."}],
        "stream": True,
        "prompt_cache_key": "1234",
        "temperature": 0.5,
    }
    got = reduced(responses)
    assert got["model"] == "gpt"
    assert got["instructions"] == {"chars": 29, "sha256": got["instructions"]["sha256"]}
    developer, user, call = got["input"]
    assert developer["role"] == "developer"
    assert developer["content"]["chars"] == 17
    assert user["content"] == [{"type": "input_text", "text": "Say hello."}]
    assert (call["name"], call["type"]) == ("exec", "function_call")
    assert "call_id" not in call
    (tool,) = got["tools"]
    assert tool["name"] == "exec"
    assert (got["stream"], got["temperature"]) == (True, 0.5)
    assert "prompt_cache_key" not in got


def test_tools_of_each_api_are_a_name_and_a_digest_each() -> None:
    gemini = [{"functionDeclarations": [{"name": "a", "description": "x y"}, {"name": "b"}]}]
    chat = [{"type": "function", "function": {"name": "a", "description": "x y"}}]
    assert [tool["name"] for tool in reduced({"tools": gemini})["tools"]] == ["a", "b"]
    assert [tool["name"] for tool in reduced({"tools": chat})["tools"]] == ["a"]
    other = [{"type": "function", "function": {"name": "a", "description": "x z"}}]
    assert reduced({"tools": chat}) != reduced({"tools": other})


def test_the_developers_words_within_the_agents() -> None:
    wrapped = {"content": "<reminder>Mine.</reminder> Say hello. And then goodbye. <end>"}
    got = reduced(wrapped)["content"]
    # The longest of what was said, not what is a part of it.
    assert got["said"] == ["Say hello. And then goodbye."]
    assert got["around"]["chars"] == len("<reminder>Mine.</reminder> \0 <end>")


def test_the_same_in_another_run() -> None:
    one = "Today is Wednesday, December 2, 2026, 20:15:31. Wall time: 0.0432 seconds, PID 4711."
    two = "Today is Thu, Jan 14, 2027, 8:05:01. Wall time: 12 seconds, PID 12."
    assert stable(one) == stable(two)
    assert stable("2026-12-02T20:15:31.123Z") == stable("2027-01-03")
    assert stable("12/2/2026") == "DATE"
    assert stable("port 127.0.0.1:4711 of 3 files") == "port 127.0.0.1:PORT of 3 files"
    assert stable("Version 1.2.3 of march") == "Version 1.2.3 of march"


def test_paths_have_their_fixed_names() -> None:
    def normal(text: str) -> str:
        return text.replace("/tmp/a/workspace", "/workspace")

    assert reduced({"system": "In /tmp/a/workspace."}, normal=normal) == reduced(
        {"system": "In /workspace."}
    )


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "latin-1"])
def test_any_character_set(charset: str) -> None:
    data = json.dumps({"model": "m", "system": "Zürich ist schön."}, ensure_ascii=False)
    got = reduced(data.encode(charset), f'application/json; charset="{charset}"')
    assert got == reduced({"model": "m", "system": "Zürich ist schön."})


def test_what_is_no_json() -> None:
    assert reduced(b"a=Say+hello.&model=m", "application/x-www-form-urlencoded") == {
        "a": ["Say hello."],
        "model": ["m"],
    }
    assert reduced(b"plain words")["chars"] == 11
    assert list(reduced(b"\xff\x00")) == ["bytes"]
    assert Reducer(list, lambda: lambda text: text).body(b"", "") == b""
    deep = b"[" * 100_000 + b"]" * 100_000
    assert reduced(deep)["chars"] == 200_000


WORDS = st.text(st.characters(codec="utf-8"), min_size=12).filter(
    lambda t: " " in t and not any(s in t for s in SAID)
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: (
        st.lists(inner) | st.dictionaries(WORDS | st.sampled_from(["text", "name"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_text_is_left_whatever_the_body_is(value: Any) -> None:
    def texts(value: Any) -> list[str]:
        if isinstance(value, str):
            return [value]
        if isinstance(value, list):
            return [text for inner in value for text in texts(inner)]
        if isinstance(value, dict):
            return [t for k, v in value.items() for t in (k, *texts(v)) if " " in t]
        return []

    left = json.dumps(reduced(value), ensure_ascii=False)
    assert [text for text in texts(value) if json.dumps(text, ensure_ascii=False) in left] == []
    assert reduced(value) == reduced(value)
