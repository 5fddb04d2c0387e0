"""Which step answers: told by what the request says, never by its number."""

import asyncio
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model_server import ModelServer
from harness.model_server.mint import pieces
from harness.model_server.server import inside_characters
from harness.scenarios import Say, Scenario, Turn, scenario
from tests.model_server.model_client import Agent, made_of, playing
from tests.model_server.wires import WIRES

APIS = tuple(WIRES)
# The same wish in the words of each API.
ONE_TOKEN = {
    "max_tokens": 1,
    "max_output_tokens": 1,
    "generationConfig": {"maxOutputTokens": 1},
}


@pytest.mark.parametrize("api", APIS)
def test_a_conversation_of_three_turns_uses_every_step(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("multi-turn"), api) as (server, agent):
            for turn in scenario("multi-turn").turns:
                await agent.turn(turn.prompt)
            assert (server.unused(), server.problems) == ([], [])
            return [(r.kind, r.view.last_user_text) for r in server.requests if r.view]

    assert asyncio.run(run()) == [
        ("main", "Remember the word apple."),
        ("main", "Print the word that I gave you."),
        ("main", "Print the word that I gave you."),
        ("main", "Thank you, and goodbye."),
    ]


@pytest.mark.parametrize("api", APIS)
def test_a_repeated_request_is_the_same_place_again(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("multi-turn"), api) as (server, agent):
            agent.says("Remember the word apple.")
            first, second = await agent.ask(), await agent.ask()
            left = server.unused()
            return first.content, second.content, left

    first, second, left = asyncio.run(run())
    assert first == second
    assert [line.split(", ", 1)[1] for line in left] == [
        "usage: 130 in, 16 out",
        "run: echo apple",
        "say: It was apple.",
        "usage: 160 in, 5 out",
        "say: Goodbye.",
        "usage: 180 in, 3 out",
    ]
    assert left[1] == "multi-turn.yaml:11: turn 2, run: echo apple"


@pytest.mark.parametrize("api", APIS)
def test_failures_answer_so_many_attempts_and_then_the_script_goes_on(
    api: str, tmp_path: Path
) -> None:
    made = made_of(
        tmp_path,
        "- prompt: Go.\n  model:\n"
        "  - fail: {status: 529, message: Busy, times: 2}\n"
        "  - fail: {status: 500, message: Broken}\n"
        "  - say: There.\n",
    )

    async def run() -> Any:
        async with playing(made, api) as (server, agent):
            agent.says("Go.")
            statuses = []
            left = []
            for _ in range(4):
                response = await agent.ask()
                statuses.append(response.status_code)
                left.append(len(server.unused()))
            assert agent.text(response) == "There."
            return statuses, left

    assert asyncio.run(run()) == ([529, 529, 500, 200], [3, 2, 1, 0])


def test_a_failure_that_came_too_seldom_is_told_with_its_count(tmp_path: Path) -> None:
    made = made_of(
        tmp_path,
        "- prompt: Go.\n  model:\n"
        "  - fail: {status: 529, message: Busy, times: 2}\n  - say: There.\n",
    )

    async def run() -> Any:
        async with playing(made) as (server, agent):
            before = server.unused()
            agent.says("Go.")
            await agent.ask()
            return before[0], server.unused()[0]

    before, after = asyncio.run(run())
    assert before == "made.yaml:6: turn 1, fail: HTTP 529, 2 times"
    assert after == "made.yaml:6: turn 1, fail: HTTP 529, 2 times (failed 1 times)"


@pytest.mark.parametrize("api", APIS)
def test_a_prompt_is_found_among_what_agents_add(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("text"), api) as (server, agent):
            agent.says("<environment>a workspace</environment>")
            agent.says("<reminder>be brief</reminder>\nSay hello to the world.\n<hint/>")
            agent.says("<reminder>more</reminder>")
            response = await agent.ask()
            return agent.text(response), server.problems

    assert asyncio.run(run()) == ("Hello, world.", [])


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tools": []}, "Say hello to the world."),
        ({"tools": []}, "Give this conversation a title."),
        (ONE_TOKEN, "quota"),
        (ONE_TOKEN, "Say hello to the world."),
        ({}, "Warmup"),
    ],
)
def test_side_calls_are_answered_without_the_script(
    api: str, change: dict[str, Any], said: str
) -> None:
    async def run() -> Any:
        async with playing(scenario("text"), api) as (server, agent):
            agent.says(said)
            response = await agent.ask(**change)
            whole = await agent.ask(stream=False, **change)
            assert (whole.status_code, server.problems) == (200, [])
            assert len(server.unused()) == 2
            assert [r.kind for r in server.requests] == ["side", "side"]
            return agent.text(response)

    assert asyncio.run(run()) == "Scripted conversation"


def test_a_title_asked_for_as_a_tool_call_is_a_side_call() -> None:
    title = {"name": "set_title", "input_schema": {"properties": {"title": {"type": "string"}}}}

    async def run() -> Any:
        async with playing(scenario("text"), "anthropic") as (server, agent):
            agent.tools = [title]
            agent.says("Name this: Say hello to the world.")
            await agent.ask()
            return server.requests[0].kind

    assert asyncio.run(run()) == "side"


def test_other_paths_are_answered_plausibly() -> None:
    async def run() -> Any:
        async with playing(scenario("text")) as (server, agent):
            client = agent.client
            count = await client.post("/v1/messages/count_tokens?beta=true", json={})
            models = await client.get("/v1/models")
            named = await client.get("/v1/models", headers={"anthropic-version": "2023-06-01"})
            head = await client.head("/")
            none = await client.get("/v1/nothing")
            assert server.problems == []
            kinds = {(r.method, r.path, r.kind, r.view) for r in server.requests}
            return count, models, named, head, none, kinds

    count, models, named, head, none, kinds = asyncio.run(run())
    assert count.json() == {"input_tokens": 20}
    assert models.json()["object"] == "list"
    assert named.json()["data"][0]["type"] == "model"
    assert (head.status_code, none.status_code) == (200, 404)
    assert ("POST", "/v1/messages/count_tokens", "side", None) in kinds


@pytest.mark.parametrize("api", APIS)
def test_an_unknown_prompt_is_a_problem(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("text"), api) as (server, agent):
            agent.says("Do something else.")
            response = await agent.ask()
            await agent.ask()
            (problem,) = server.problems
            assert [r.kind for r in server.requests] == ["unexpected", "unexpected"]
            return response, problem

    response, problem = asyncio.run(run())
    assert response.status_code == 400
    assert response.headers["x-should-retry"] == "false"
    assert problem.what == "no prompt of the script is in the request"
    assert "newest user text 'Do something else.', 0 tool results" in problem.request
    assert problem.expected == "the prompt 'Say hello to the world.'"
    assert str(problem) in response.json()["error"]["message"]


def test_a_long_text_is_shortened_in_a_problem() -> None:
    async def run() -> Any:
        async with playing(scenario("text")) as (server, agent):
            agent.says("word " * 1000)
            await agent.ask()
            return server.problems[0].request

    shown = asyncio.run(run())
    assert "word word" in shown
    assert "…'" in shown
    assert len(shown) < 200


@pytest.mark.parametrize("api", APIS)
def test_a_prompt_in_the_agents_own_words_is_none(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("multi-turn"), api) as (server, agent):
            quote = "Shall I: Print the word that I gave you."
            agent.items.append(agent.wire.assistant(quote))
            agent.says("Yes.")
            await agent.ask()
            return server.problems[0].what

    assert asyncio.run(run()) == "no prompt of the script is in the request"


@pytest.mark.parametrize("api", APIS)
def test_a_turn_that_goes_on_after_its_end_is_a_problem(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("multi-turn"), api) as (server, agent):
            await agent.turn("Remember the word apple.")
            agent.says("And one more thing.")
            response = await agent.ask()
            return response.status_code, server.problems[0]

    status, problem = asyncio.run(run())
    assert (status, problem.what) == (400, "the turn is over")
    assert problem.expected == "the prompt 'Print the word that I gave you.'"


@pytest.mark.parametrize("api", APIS)
def test_a_turn_that_goes_on_after_its_interrupted_command_is_a_problem(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("interrupt-command"), api) as (server, agent):
            agent.says("Start the long command.")
            agent.take(await agent.ask())
            response = await agent.ask()
            return response.status_code, server.problems[0].what, server.unused()

    assert asyncio.run(run()) == (400, "the turn goes on after its last tool call", [])


@pytest.mark.parametrize("api", APIS)
def test_only_some_results_are_a_problem(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("parallel-tools"), api) as (server, agent):
            agent.says("Print first and second, both at once.")
            agent.take(await agent.ask())
            agent.wire.drop_result(agent.items)
            await agent.ask()
            return server.problems[0]

    problem = asyncio.run(run())
    assert problem.what == "only some of the tool calls have results"
    assert problem.expected == "in turn 1, say: Both were printed."


@pytest.mark.parametrize("api", APIS)
def test_a_missing_tool_is_a_problem_that_lists_those_there_are(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("file-edit"), api) as (server, agent):
            agent.tools = agent.tools[:1]
            agent.says("Create greeting.txt, then change one word of it.")
            await agent.ask()
            return server.problems[0].what

    name = WIRES[api].shell
    assert asyncio.run(run()) == f"the agent offers no file edit tool; it offers: {name}"


@pytest.mark.parametrize("path", [wire.path for wire in WIRES.values()])
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"{}", b'{"model": "m", "input": [3], "messages": [3]}', b"\xff"]
)
def test_a_broken_request_is_a_problem(path: str, body: bytes) -> None:
    async def run() -> Any:
        async with playing(scenario("text")) as (server, agent):
            response = await agent.client.post(path, content=body)
            return response.status_code, server.problems[0].what, server.requests[0].kind

    status, what, kind = asyncio.run(run())
    assert (status, kind) == (400, "unexpected")
    assert what.startswith("not a request: ")


def test_a_path_of_no_model_api_is_a_problem() -> None:
    async def run() -> Any:
        async with playing(scenario("text")) as (server, agent):
            response = await agent.client.post("/v1/embeddings", json={})
            return response.status_code, server.problems[0]

    status, problem = asyncio.run(run())
    assert status == 404
    assert problem.request == "POST /v1/embeddings"
    assert problem.expected == (
        "POST /v1/responses or /v1/chat/completions or /v1/messages or "
        "/v1beta/models/{model}:{method}"
    )


chunkings = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1)


@settings(max_examples=40, deadline=None)
@given(chunkings, st.sampled_from(APIS), st.sampled_from(["whole", "split-bytes"]))
def test_any_chunks_join_to_the_text(
    chunks: list[str], api: str, wire: Literal["whole", "split-bytes"]
) -> None:
    made = Scenario("any", "t", ("text",), (Turn("Go.", (Say(tuple(chunks)),)),), wire=wire)

    async def run() -> Any:
        server = ModelServer(made, "/workspace")
        transport = httpx.ASGITransport(server.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://model") as client:
            agent = Agent(client, api)
            agent.says("Go.")
            response = await agent.ask()
            return agent.text(response), server.unused()

    assert asyncio.run(run()) == ("".join(chunks), [])


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_bytes_split_inside_characters_join_to_the_bytes(text: str) -> None:
    data = text.encode()
    split = list(inside_characters(data))
    assert b"".join(split) == data
    multi = sum(len(c.encode()) > 1 for c in text)
    assert len(split) == multi + 1
    for piece in split[:-1]:
        with pytest.raises(UnicodeDecodeError):
            piece.decode()


@given(st.text(), st.integers(1, 9))
def test_pieces_join_to_the_text(text: str, count: int) -> None:
    found = list(pieces(text, count))
    assert "".join(found) == text
    assert len(found) <= count


def test_what_follows_a_declined_tool_need_not_be_used() -> None:
    async def run(name: str) -> list[str]:
        story = scenario(name)
        async with playing(story, APIS[0]) as (server, _):
            return server.unused()

    assert [line.partition(", ")[2] for line in asyncio.run(run("command-declined"))] == [
        "run: touch refused.txt"
    ]
    assert len(asyncio.run(run("command-approved"))) == 4
