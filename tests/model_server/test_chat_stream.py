"""The chat completions stream: its exact chunks, and that they say what the script says."""

import asyncio
import json
from typing import Any

from harness.scenarios import scenario
from tests.model_server.model_client import playing
from tests.model_server.wires import chunks, completion

USAGE = {"include_usage": True}


def ask(name: str, prompt: str, **more: Any) -> Any:
    async def run() -> Any:
        async with playing(scenario(name), "chat") as (server, agent):
            agent.says(prompt)
            response = await agent.ask(**more)
            assert server.problems == []
            return response

    return asyncio.run(run())


def test_text_is_streamed_chunk_by_chunk() -> None:
    response = ask("text", "Say hello to the world.", stream_options=USAGE)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.content.endswith(b"\n\ndata: [DONE]\n\n")
    sent = chunks(response.content)
    assert [chunk["choices"][0]["delta"] for chunk in sent[:-1]] == [
        {"role": "assistant", "content": "", "refusal": None},
        {"content": "Hello"},
        {"content": ","},
        {"content": " world"},
        {"content": "."},
        {},
    ]
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in sent[:-1]]
    assert reasons == [None] * 5 + ["stop"]
    assert {chunk["id"] for chunk in sent} == {sent[0]["id"]}
    assert len(sent[0]["id"]) == len("chatcmpl-") + 29
    assert {chunk["object"] for chunk in sent} == {"chat.completion.chunk"}
    assert [chunk["usage"] for chunk in sent[:-1]] == [None] * 6
    assert sent[-1]["choices"] == []
    assert sent[-1]["usage"] == {
        "prompt_tokens": 120,
        "completion_tokens": 12,
        "total_tokens": 132,
        "prompt_tokens_details": {"cached_tokens": 20, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def test_usage_is_sent_only_where_it_is_asked_for() -> None:
    for more in ({}, {"stream_options": None}, {"stream_options": {"include_usage": False}}):
        sent = chunks(ask("text", "Say hello to the world.", **more).content)
        assert all("usage" not in chunk for chunk in sent)
        assert sent[-1]["choices"][0]["finish_reason"] == "stop"


def test_reasoning_comes_as_the_agents_read_it() -> None:
    sent = chunks(ask("reasoning", "Which is larger, 9.9 or 9.11?", stream_options=USAGE).content)
    keys = [key for chunk in sent[1:-2] for key in chunk["choices"][0]["delta"]]
    assert keys == ["reasoning_content"] * 3 + ["content"] * 2
    message = completion(sent)["choices"][0]["message"]
    assert message["reasoning_content"] == "Both begin with nine. Then 0.90 is more than 0.11."
    assert message["content"] == "9.9 is larger."
    assert sent[-1]["usage"]["completion_tokens_details"]["reasoning_tokens"] == 32


def test_a_tool_call_has_its_arguments_in_pieces() -> None:
    sent = chunks(ask("command", "Run echo hi and say what came.").content)
    calls = [c for chunk in sent for c in chunk["choices"][0]["delta"].get("tool_calls", ())]
    first, *rest = calls
    assert (first["index"], first["type"]) == (0, "function")
    assert first["function"] == {"name": "bash", "arguments": ""}
    assert len(first["id"]) == len("call_") + 24
    assert all(set(call) == {"index", "function"} for call in rest)
    assert len(rest) == 3
    arguments = "".join(call["function"]["arguments"] for call in rest)
    assert json.loads(arguments) == {"command": "echo hi"}
    assert sent[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_parallel_calls_are_numbered() -> None:
    async def run() -> Any:
        async with playing(scenario("parallel-tools"), "chat") as (server, agent):
            calls = await agent.turn("Print first and second, both at once.")
            assert (server.unused(), server.problems) == ([], [])
            return calls, [request.kind for request in server.requests]

    calls, kinds = asyncio.run(run())
    assert [json.loads(c["function"]["arguments"])["command"] for c in calls] == [
        "sleep 0.6; echo first",
        "sleep 0.8; echo second",
    ]
    assert len({c["id"] for c in calls}) == 2
    assert kinds == ["main", "main"]


def test_a_file_is_written_and_then_edited_by_absolute_path() -> None:
    async def run() -> Any:
        async with playing(scenario("file-edit"), "chat") as (_, agent):
            return await agent.turn("Create greeting.txt, then change one word of it.")

    calls = [
        (c["function"]["name"], json.loads(c["function"]["arguments"])) for c in asyncio.run(run())
    ]
    path = "/workspace/greeting.txt"
    assert calls == [
        ("write", {"filePath": path, "content": "Dear reader,\ngood morning.\n"}),
        ("edit", {"filePath": path, "oldString": "good morning", "newString": "good evening"}),
    ]


def test_an_answer_that_is_not_streamed_is_the_completion_of_the_chunks() -> None:
    for name, prompt in (
        ("command", "Run echo hi and say what came."),
        ("reasoning", "Which is larger, 9.9 or 9.11?"),
    ):
        whole = ask(name, prompt, stream=False).json()
        assert whole == completion(chunks(ask(name, prompt, stream_options=USAGE).content))


def test_failures_have_the_apis_form() -> None:
    limited = ask("rate-limited", "Say something, if you may.")
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "1")
    assert limited.json() == {
        "error": {
            "message": "Rate limit reached",
            "type": "requests",
            "param": None,
            "code": "rate_limit_exceeded",
        }
    }
    broken = ask("model-error", "Say something, if you can.")
    assert (broken.status_code, broken.json()["error"]["type"]) == (500, "server_error")


def test_a_title_is_a_side_call() -> None:
    async def run() -> Any:
        async with playing(scenario("text"), "chat") as (server, agent):
            agent.says("Generate a title for this conversation: Say hello to the world.")
            agent.tools = []
            response = await agent.ask(stream_options=USAGE)
            assert server.problems == []
            return chunks(response.content), server.requests[0].kind

    sent, kind = asyncio.run(run())
    assert kind == "side"
    assert completion(sent)["choices"][0]["message"]["content"] == "Scripted conversation"
