"""The server's own life: start, held and cut streams, shutdown, and what it leaves behind."""

import asyncio
import json
import signal
import socket
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness.model_server import ModelServer
from harness.scenarios import scenario
from tests.model_server.model_client import Agent, made_of, playing
from tests.model_server.wires import WIRES, events

APIS = tuple(WIRES)


async def hear(agent: Agent, heard: list[bytes], **more: Any) -> None:
    """Add an answer's pieces as they come; a broken stream is an error after the last."""
    async with agent.client.stream("POST", agent.path(**more), json=agent.body(**more)) as response:
        async for piece in response.aiter_raw():
            heard.append(piece)  # noqa: PERF401 - what came before a break is kept


async def raw(port: int, agent: Agent) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Send the agent's request on a socket of one's own; return what reads its answer."""
    body = httpx.Request("POST", "http://m", json=agent.body()).content
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {agent.wire.path} HTTP/1.1\r\nhost: m\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    return reader, writer


@pytest.mark.parametrize("api", APIS)
def test_a_held_stream_ends_when_the_client_goes(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("interrupt-text"), api) as (server, agent):
            agent.says("Tell a long story.")
            assert not server.held.is_set()
            assert len(server.unused()) == 2
            async with agent.client.stream("POST", agent.wire.path, json=agent.body()) as response:
                heard = b""
                async for piece in response.aiter_raw():
                    heard += piece
                    if b" a time" in heard:
                        break
                await server.held.wait()
            assert server.unused() == []
            again = await agent.ask()
            assert again.status_code == 400
            return server.problems[0].what

    assert asyncio.run(run()) == "the turn goes on after it was interrupted"


@pytest.mark.parametrize("api", APIS)
def test_shutdown_does_not_wait_for_held_streams(api: str) -> None:
    async def run() -> Any:
        server = ModelServer(scenario("interrupt-text"), "/workspace")
        async with server:
            agent = Agent(httpx.AsyncClient(), api)
            await agent.client.aclose()
            agent.says("Tell a long story.")
            reader, writer = await raw(server.port, agent)
            await server.held.wait()
            started = time.perf_counter()
        took = time.perf_counter() - started
        await reader.read()
        writer.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        return took, left

    took, left = asyncio.run(run())
    assert took < 0.1
    assert left == set()


@pytest.mark.parametrize("api", APIS)
def test_shutdown_cuts_connections_that_are_kept_alive(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("text"), api) as (server, agent):
            agent.says("Say hello to the world.")
            reader, writer = await raw(server.port, agent)
            await reader.readuntil(b"\r\n0\r\n\r\n")
            assert server._server is not None
            # The connection is idle once the task of its answer has ended.
            await asyncio.gather(*server._server.server_state.tasks)
            assert not reader.at_eof()
        # A connection that outlived its server would wait here, for the 5 s of an idle one.
        try:
            async with asyncio.timeout(2):
                return await reader.read()
        except ConnectionResetError:
            return b""
        finally:
            writer.close()

    assert asyncio.run(run()) == b""


@pytest.mark.parametrize("api", APIS)
def test_a_cut_stream_breaks_after_its_text(api: str) -> None:
    async def run() -> Any:
        async with playing(scenario("disconnect"), api) as (server, agent):
            agent.says("Say something long.")
            heard: list[bytes] = []
            with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
                await hear(agent, heard)
            # So it is at each attempt, and where the agent falls back to no stream.
            half: list[bytes] = []
            with pytest.raises(httpx.RemoteProtocolError):
                await hear(agent, half, stream=False)
            with pytest.raises(json.JSONDecodeError):
                json.loads(b"".join(half))
            assert not server.held.is_set()
            assert (server.unused(), server.problems) == ([], [])
            return b"".join(heard)

    sent = asyncio.run(run())
    assert b"will never" in sent
    assert sent.endswith((b"\n\n", b"\r\n\r\n"))
    ends = (b"response.completed", b"message_stop", b'"finish_reason":"stop"', b"finishReason")
    assert [end for end in ends if end in sent] == []


@pytest.mark.parametrize("api", APIS)
def test_the_wire_is_split_inside_characters(api: str) -> None:
    prompt = scenario("unicode").turns[0].prompt

    async def run() -> Any:
        async with playing(scenario("unicode"), api) as (server, agent):
            calls = await agent.turn(prompt)
            agent.items = agent.items[:1]
            chunks: list[bytes] = []
            await hear(agent, chunks)
            return calls, chunks, server.unused()

    calls, chunks, unused = asyncio.run(run())
    assert unused == []
    assert "\U0001f600" in str(calls)

    def whole(data: bytes) -> bool:
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
        return True

    assert not all(map(whole, chunks))
    assert whole(b"".join(chunks))


def test_a_pause_ends_early_when_the_client_goes(tmp_path: Path) -> None:
    made = made_of(tmp_path, "- prompt: Go.\n  model: [{say: a}, {pause_ms: 10000}, {say: b}]\n")

    async def run() -> Any:
        async with playing(made) as (server, agent):
            agent.says("Go.")
            reader, writer = await raw(server.port, agent)
            await reader.readuntil(b"output_item.done")
            writer.close()
            await writer.wait_closed()
            started = time.perf_counter()
        return time.perf_counter() - started, len(server.unused())

    took, unused = asyncio.run(run())
    assert took < 0.5
    assert unused == 3


def test_a_pause_is_a_silence_of_its_length(tmp_path: Path) -> None:
    made = made_of(tmp_path, "- prompt: Go.\n  model: [{say: a}, {pause_ms: 60}, {say: b}]\n")

    async def run() -> Any:
        async with playing(made) as (_, agent):
            agent.says("Go.")
            started = time.perf_counter()
            response = await agent.ask()
            return time.perf_counter() - started, response

    took, response = asyncio.run(run())
    assert 0.06 <= took < 0.5
    assert events(response.content)[-1]["type"] == "response.completed"


def test_it_starts_fast_and_touches_no_signal_handler() -> None:
    async def run() -> Any:
        before = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]
        started = time.perf_counter()
        async with ModelServer(scenario("text"), "/workspace") as server:
            took = time.perf_counter() - started
            assert server.port > 0
            during = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)]
        return took, before == during

    took, same = asyncio.run(run())
    assert took < 0.1
    assert same


def test_it_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    async def run() -> Any:
        async with playing(scenario("disconnect")) as (_, agent):
            agent.says("Say something long.")
            with pytest.raises(httpx.RemoteProtocolError):
                await agent.ask()
            await agent.client.post("/v1/responses", content=b"{")

    asyncio.run(run())
    assert capfd.readouterr() == ("", "")


def test_a_socket_may_be_given() -> None:
    given = socket.create_server(("127.0.0.1", 0))
    port = given.getsockname()[1]

    async def run() -> Any:
        async with (
            ModelServer(scenario("text"), "/workspace", [given]) as server,
            httpx.AsyncClient(trust_env=False) as client,
        ):
            response = await client.get(f"http://127.0.0.1:{port}/v1/models")
            return server.port, response.status_code

    assert asyncio.run(run()) == (port, 200)
    assert given.fileno() == -1


def test_the_port_outside_its_life_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="use `async with`"):
        _ = ModelServer(scenario("text"), "/workspace").port


def test_an_end_without_a_start_is_nothing() -> None:
    asyncio.run(ModelServer(scenario("text"), "/workspace").__aexit__(None, None, None))


def test_a_fault_of_its_own_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> Any:
        async with playing(scenario("text")) as (server, agent):

            def broken(*_: object) -> None:
                raise KeyError("x")

            monkeypatch.setattr(server._script, "side", broken)
            monkeypatch.setattr(server._script, "reply", broken)
            agent.says("Say hello to the world.")
            response = await agent.ask()
            return response.status_code, server.problems[0].what

    assert asyncio.run(run()) == (500, "the model server failed: KeyError: 'x'")


def test_requests_at_the_same_time_do_not_disturb_each_other() -> None:
    async def run() -> Any:
        async with playing(scenario("command")) as (server, agent):
            agent.says("Run echo hi and say what came.")
            main = [agent.ask() for _ in range(5)]
            side = [agent.ask(tools=[]) for _ in range(5)]
            answers = await asyncio.gather(*main, *side)
            return [a.content for a in answers], server.problems

    contents, problems = asyncio.run(run())
    assert problems == []
    assert len(set(contents[:5])) == 1
    assert len(set(contents[5:])) == 1
