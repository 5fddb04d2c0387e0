"""The Messages API's stream: its exact events, and that they say what the script says."""

import asyncio
from typing import Any

from harness.model_server.anthropic_messages import API
from harness.model_server.view import Reply, Text
from harness.scenarios import Usage, scenario
from tests.model_server.model_client import playing
from tests.model_server.wires import events, message


def ask(name: str, prompt: str, **more: Any) -> Any:
    async def run() -> Any:
        async with playing(scenario(name), "anthropic") as (server, agent):
            agent.says(prompt)
            response = await agent.ask(**more)
            assert server.problems == []
            return response

    return asyncio.run(run())


def test_text_is_streamed_event_by_event() -> None:
    sent = events(ask("text", "Say hello to the world.").content)
    assert [event["type"] for event in sent] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    start = sent[0]["message"]
    assert (start["content"], start["stop_reason"], start["model"]) == ([], None, "m")
    assert start["id"].startswith("msg_01")
    assert start["usage"] == {
        "input_tokens": 100,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 20,
        "output_tokens": 1,
    }
    assert sent[1]["content_block"] == {"type": "text", "text": ""}
    assert [e["delta"]["text"] for e in sent[3:7]] == ["Hello", ",", " world", "."]
    assert sent[8]["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
    assert sent[8]["usage"]["output_tokens"] == 12


def test_thinking_has_deltas_and_a_signature() -> None:
    sent = events(ask("reasoning", "Which is larger, 9.9 or 9.11?").content)
    deltas = [e["delta"]["type"] for e in sent if e["type"] == "content_block_delta"]
    assert deltas == ["thinking_delta"] * 3 + ["signature_delta"] + ["text_delta"] * 2
    assert sent[1]["content_block"] == {"type": "thinking", "thinking": "", "signature": ""}
    thinking, text = message(sent)["content"]
    assert thinking["thinking"] == "Both begin with nine. Then 0.90 is more than 0.11."
    assert thinking["signature"].startswith("EqQB")
    assert text == {"type": "text", "text": "9.9 is larger."}
    assert sent[-2]["usage"]["output_tokens_details"] == {"thinking_tokens": 32}


def test_a_tool_call_has_its_input_in_pieces() -> None:
    sent = events(ask("command", "Run echo hi and say what came.").content)
    starts = [e["content_block"] for e in sent if e["type"] == "content_block_start"]
    assert starts[1]["input"] == {}
    pieces = [e["delta"]["partial_json"] for e in sent if "partial_json" in e.get("delta", {})]
    assert pieces[0] == ""
    assert len(pieces) == 4
    assert "".join(pieces) == '{"command":"echo hi"}'
    whole = message(sent)
    assert whole["stop_reason"] == "tool_use"
    assert [block["type"] for block in whole["content"]] == ["text", "tool_use"]
    assert len(whole["content"][1]["id"]) == len("toolu_01") + 22
    assert [e["type"] for e in sent].count("ping") == 1


def test_parallel_calls_are_blocks_of_one_message() -> None:
    async def run() -> Any:
        async with playing(scenario("parallel-tools"), "anthropic") as (server, agent):
            calls = await agent.turn("Print first and second, both at once.")
            assert (server.unused(), server.problems) == ([], [])
            return calls, [request.kind for request in server.requests]

    calls, kinds = asyncio.run(run())
    assert [c["input"]["command"] for c in calls] == [
        "sleep 0.6; echo first",
        "sleep 0.8; echo second",
    ]
    assert len({c["id"] for c in calls}) == 2
    assert kinds == ["main", "main"]


def test_a_file_is_written_and_then_edited_by_absolute_path() -> None:
    async def run() -> Any:
        async with playing(scenario("file-edit"), "anthropic") as (_, agent):
            return await agent.turn("Create greeting.txt, then change one word of it.")

    calls = asyncio.run(run())
    path = "/workspace/greeting.txt"
    assert [(c["name"], c["input"]) for c in calls] == [
        ("Write", {"file_path": path, "content": "Dear reader,\ngood morning.\n"}),
        (
            "Edit",
            {"file_path": path, "old_string": "good morning", "new_string": "good evening"},
        ),
    ]


def test_an_answer_that_is_not_streamed_is_the_message_at_its_end() -> None:
    prompt = "Run echo hi and say what came."
    whole = ask("command", prompt, stream=False).json()
    assert whole == message(events(ask("command", prompt).content))


def test_failures_have_the_apis_form() -> None:
    limited = ask("rate-limited", "Say something, if you may.")
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "1")
    body = limited.json()
    assert body["type"] == "error"
    assert body["error"] == {"type": "rate_limit_error", "message": "Rate limit reached"}
    broken = ask("model-error", "Say something, if you can.")
    assert (broken.status_code, broken.json()["error"]["type"]) == (500, "api_error")


def test_the_end_of_a_block_goes_out_with_the_end_of_its_message() -> None:
    # An agent starts a tool at its block's end: with the rest still on its way, it would tell
    # of both in an order that differs at each run.
    reply = Reply("key", "m", (Text(("a", "b")), Text(("c",))), Usage(1, 1))
    request = API.read({"model": "m", "messages": []})
    whole = [entry for entry in API.stream(request, reply) if isinstance(entry, bytes)]
    ends = [[event["type"] for event in events(entry)] for entry in whole]
    assert [types for types in ends if len(types) > 1] == [
        ["content_block_stop", "message_delta", "message_stop"]
    ]
    assert [types[0] for types in ends if len(types) == 1].count("content_block_stop") == 1
