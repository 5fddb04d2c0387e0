"""Gemini's stream: its exact responses, and that they say what the script says."""

import asyncio
from typing import Any

import pytest

from harness.scenarios import scenario
from tests.model_server.model_client import made_of, playing
from tests.model_server.wires import responses


def ask(name: str, prompt: str, **more: Any) -> Any:
    async def run() -> Any:
        async with playing(scenario(name), "gemini") as (server, agent):
            agent.says(prompt)
            response = await agent.ask(**more)
            assert server.problems == []
            return response

    return asyncio.run(run())


def parts(sent: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part for one in sent for part in one["candidates"][0]["content"]["parts"]]


def test_text_is_streamed_response_by_response() -> None:
    response = ask("text", "Say hello to the world.")
    assert response.headers["content-type"].startswith("text/event-stream")
    sent = responses(response.content)
    assert parts(sent) == [{"text": text} for text in ("Hello", ",", " world", ".")]
    candidates = [one["candidates"] for one in sent]
    assert candidates[0] == [
        {"content": {"parts": [{"text": "Hello"}], "role": "model"}, "index": 0}
    ]
    assert candidates[-1] == [
        {"content": {"parts": [{"text": "."}], "role": "model"}, "finishReason": "STOP", "index": 0}
    ]
    assert {one["modelVersion"] for one in sent} == {"m"}
    assert {one["responseId"] for one in sent} == {sent[0]["responseId"]}
    assert sent[-1]["usageMetadata"] == {
        "promptTokenCount": 120,
        "candidatesTokenCount": 12,
        "totalTokenCount": 132,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 120}],
        "cachedContentTokenCount": 20,
        "cacheTokensDetails": [{"modality": "TEXT", "tokenCount": 20}],
    }


def test_thoughts_are_parts_that_say_so() -> None:
    sent = responses(ask("reasoning", "Which is larger, 9.9 or 9.11?").content)
    assert [part.get("thought") for part in parts(sent)] == [True] * 3 + [None] * 2
    assert "".join(p["text"] for p in parts(sent)) == (
        "Both begin with nine. Then 0.90 is more than 0.11.9.9 is larger."
    )
    usage = sent[-1]["usageMetadata"]
    assert usage["thoughtsTokenCount"] == 32
    assert (
        usage["promptTokenCount"] + usage["candidatesTokenCount"] + 32 == (usage["totalTokenCount"])
    )


def test_a_call_is_one_part_without_an_id() -> None:
    sent = responses(ask("command", "Run echo hi and say what came.").content)
    assert parts(sent)[-1] == {
        "functionCall": {
            "name": "run_shell_command",
            "args": {"command": "echo hi", "is_background": False},
        }
    }


def test_parallel_calls_are_told_by_their_order() -> None:
    async def run() -> Any:
        async with playing(scenario("parallel-tools"), "gemini") as (server, agent):
            calls = await agent.turn("Print first and second, both at once.")
            assert (server.unused(), server.problems) == ([], [])
            return calls, [request.kind for request in server.requests]

    calls, kinds = asyncio.run(run())
    assert [c["args"]["command"] for c in calls] == [
        "sleep 0.6; echo first",
        "sleep 0.8; echo second",
    ]
    assert kinds == ["main", "main"]


def test_results_of_one_turn_are_none_of_the_next(tmp_path: Any) -> None:
    made = made_of(
        tmp_path,
        "- prompt: First.\n  model:\n  - run: echo 1\n  - run: echo 2\n  - say: Done.\n"
        "- prompt: Second.\n  model:\n  - run: echo 3\n  - say: Over.\n",
    )

    async def run() -> Any:
        async with playing(made, "gemini") as (server, agent):
            calls = await agent.turn("First.") + await agent.turn("Second.")
            assert (server.unused(), server.problems) == ([], [])
            return [call["args"]["command"] for call in calls]

    assert asyncio.run(run()) == ["echo 1", "echo 2", "echo 3"]


def test_a_file_is_written_and_then_edited_by_absolute_path() -> None:
    async def run() -> Any:
        async with playing(scenario("file-edit"), "gemini") as (_, agent):
            return await agent.turn("Create greeting.txt, then change one word of it.")

    path = "/workspace/greeting.txt"
    assert [(c["name"], c["args"]) for c in asyncio.run(run())] == [
        ("write_file", {"file_path": path, "content": "Dear reader,\ngood morning.\n"}),
        (
            "replace",
            {"file_path": path, "old_string": "good morning", "new_string": "good evening"},
        ),
    ]


def test_an_answer_that_is_not_streamed_has_its_parts_whole() -> None:
    whole = ask("reasoning", "Which is larger, 9.9 or 9.11?", stream=False).json()
    assert parts([whole]) == [
        {"text": "Both begin with nine. Then 0.90 is more than 0.11.", "thought": True},
        {"text": "9.9 is larger."},
    ]
    assert whole["candidates"][0]["finishReason"] == "STOP"
    sent = responses(ask("command", "Run echo hi and say what came.").content)
    once = ask("command", "Run echo hi and say what came.", stream=False).json()
    assert parts([once])[-1] == parts(sent)[-1]
    assert once["usageMetadata"] == sent[-1]["usageMetadata"]


def test_a_silence_at_the_end_comes_before_the_end(tmp_path: Any) -> None:
    made = made_of(tmp_path, "- prompt: Go.\n  model:\n  - say: There.\n  - pause_ms: 10\n")

    async def run() -> Any:
        async with playing(made, "gemini") as (_, agent):
            agent.says("Go.")
            return parts(responses((await agent.ask()).content))

    assert asyncio.run(run()) == [{"text": "There."}, {"text": ""}]


def test_failures_have_the_apis_form() -> None:
    limited = ask("rate-limited", "Say something, if you may.")
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "1")
    assert limited.json() == {
        "error": {"code": 429, "message": "Rate limit reached", "status": "RESOURCE_EXHAUSTED"}
    }
    broken = ask("model-error", "Say something, if you can.")
    assert (broken.status_code, broken.json()["error"]["status"]) == (500, "INTERNAL")


@pytest.mark.parametrize("method", ["embedContent", "batchGenerateContent"])
def test_another_method_is_a_problem(method: str) -> None:
    async def run() -> Any:
        async with playing(scenario("text"), "gemini") as (server, agent):
            path = f"/v1beta/models/m:{method}"
            response = await agent.client.post(path, json={"contents": []})
            return response.status_code, server.problems[0].what

    expected = f"not a request: the method {method} is not of a model"
    assert asyncio.run(run()) == (400, expected)


def test_side_calls() -> None:
    async def run() -> Any:
        async with playing(scenario("text"), "gemini") as (server, agent):
            count = await agent.client.post("/v1beta/models/m:countTokens", json={"contents": []})
            agent.says("Who speaks next?")
            agent.tools = []
            answer = await agent.ask(stream=False)
            assert server.problems == []
            return count.json(), parts([answer.json()]), [r.kind for r in server.requests]

    assert asyncio.run(run()) == (
        {"totalTokens": 20},
        [{"text": "Scripted conversation"}],
        ["side", "side"],
    )


def test_what_was_only_thought_was_not_said() -> None:
    async def run() -> Any:
        async with playing(scenario("text"), "gemini") as (server, agent):
            agent.says("Say hello to the world.")
            thought = {"text": "Hello, world.", "thought": True}
            agent.items.append({"role": "model", "parts": [thought]})
            response = await agent.ask()
            return response.status_code, server.problems

    assert asyncio.run(run()) == (200, [])
