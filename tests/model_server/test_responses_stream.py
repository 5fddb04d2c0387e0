"""The Responses API's stream: its exact events, and that they say what the script says."""

import asyncio
import json
from typing import Any

from harness.scenarios import scenario
from tests.model_server.model_client import playing
from tests.model_server.wires import events


def test_text_is_streamed_event_by_event() -> None:
    async def run() -> Any:
        async with playing(scenario("text")) as (server, agent):
            agent.says("Say hello to the world.")
            response = await agent.ask()
            assert (server.unused(), server.problems) == ([], [])
            return response

    response = asyncio.run(run())
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    sent = events(response.content)
    assert [event["sequence_number"] for event in sent] == list(range(len(sent)))
    assert [event["type"].removeprefix("response.") for event in sent] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert [e["delta"] for e in sent if "delta" in e] == ["Hello", ",", " world", "."]
    assert sent[0]["response"]["status"] == "in_progress"
    assert sent[0]["response"]["usage"] is None
    item = sent[10]["item"]
    assert (sent[2]["item"]["content"], sent[2]["item"]["status"]) == ([], "in_progress")
    assert item["content"][0]["text"] == sent[8]["text"] == "Hello, world."
    assert {event["item_id"] for event in sent[3:10]} == {item["id"]}
    end = sent[-1]["response"]
    assert (end["status"], end["output"], end["created_at"]) == ("completed", [item], 1735689600)
    assert end["usage"] == {
        "input_tokens": 120,
        "input_tokens_details": {"cached_tokens": 20},
        "output_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 132,
    }


def test_reasoning_is_an_item_with_a_summary() -> None:
    async def run() -> Any:
        async with playing(scenario("reasoning")) as (_, agent):
            agent.says("Which is larger, 9.9 or 9.11?")
            return events((await agent.ask(include=["reasoning.encrypted_content"])).content)

    sent = asyncio.run(run())
    assert [event["type"].removeprefix("response.") for event in sent][2:10] == [
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
    ]
    item = sent[9]["item"]
    text = "Both begin with nine. Then 0.90 is more than 0.11."
    assert item["summary"] == [{"type": "summary_text", "text": text}]
    assert "".join(event["delta"] for event in sent[4:7]) == text
    assert item["encrypted_content"].startswith("gAAAAA")
    assert [event["output_index"] for event in sent[2:-1]] == [0] * 8 + [1] * 7
    usage = sent[-1]["response"]["usage"]
    assert usage["output_tokens_details"] == {"reasoning_tokens": 32}


def test_a_function_call_has_its_arguments_in_pieces() -> None:
    async def run() -> Any:
        async with playing(scenario("command-approved")) as (_, agent):
            agent.says("Create the file made.txt with touch.")
            return events((await agent.ask()).content)

    sent = asyncio.run(run())
    assert [event["type"].removeprefix("response.") for event in sent][2:8] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]
    assert (sent[2]["item"]["arguments"], sent[2]["item"]["name"]) == ("", "exec_command")
    joined = "".join(event["delta"] for event in sent[3:6])
    assert joined == sent[6]["arguments"] == sent[7]["item"]["arguments"]
    assert json.loads(joined) == {"cmd": "touch made.txt"}
    assert sent[7]["item"]["call_id"].startswith("call_")
    assert len(sent[7]["item"]["call_id"]) == len("call_") + 24


def test_an_edit_is_a_patch_as_a_custom_tool_call() -> None:
    async def run() -> Any:
        async with playing(scenario("file-edit")) as (server, agent):
            calls = await agent.turn("Create greeting.txt, then change one word of it.")
            assert (server.unused(), server.problems) == ([], [])
            return calls

    calls = asyncio.run(run())
    assert [(c["type"], c["name"]) for c in calls] == [("custom_tool_call", "apply_patch")] * 2
    assert calls[0]["input"] == (
        "*** Begin Patch\n*** Add File: greeting.txt\n+Dear reader,\n+good morning.\n*** End Patch"
    )
    assert calls[1]["input"] == (
        "*** Begin Patch\n*** Update File: greeting.txt\n@@\n"
        " Dear reader,\n-good morning.\n+good evening.\n*** End Patch"
    )


def test_an_answer_that_is_not_streamed_is_the_response_at_its_end() -> None:
    async def run() -> Any:
        async with playing(scenario("text")) as (server, agent):
            agent.says("Say hello to the world.")
            streamed = events((await agent.ask()).content)[-1]["response"]
            whole = await agent.ask(stream=False)
            assert whole.headers["content-type"] == "application/json"
            assert server.unused() == []
            return streamed, whole.json()

    streamed, whole = asyncio.run(run())
    assert whole == streamed


def test_the_same_bytes_at_each_run() -> None:
    async def run() -> Any:
        async with playing(scenario("command")) as (_, agent):
            agent.says("Run echo hi and say what came.")
            return (await agent.ask()).content

    assert asyncio.run(run()) == asyncio.run(run())


def test_failures_have_the_apis_form() -> None:
    async def ask(name: str, prompt: str) -> Any:
        async with playing(scenario(name)) as (server, agent):
            agent.says(prompt)
            response = await agent.ask()
            assert server.unused() == []
            return response

    limited = asyncio.run(ask("rate-limited", "Say something, if you may."))
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "1")
    assert limited.json() == {
        "error": {
            "message": "Rate limit reached",
            "type": "requests",
            "param": None,
            "code": "rate_limit_exceeded",
        }
    }
    broken = asyncio.run(ask("model-error", "Say something, if you can."))
    assert broken.status_code == 500
    assert "retry-after" not in broken.headers
    assert broken.json()["error"]["type"] == "server_error"
