"""The relay itself: nothing waits in it, and what is played keeps its pace."""

import asyncio
import gzip
import json
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from harness.cassette import Agent
from harness.gateway.live import Gateway
from harness.gateway.reduce import Reducer
from harness.gateway.tape import (
    FORMAT,
    Exchange,
    Meta,
    cassette_config,
    load_tape,
    read_interactions,
    save_tape,
)
from harness.gateway.taped import PlayedModel
from harness.gateway.upstream import Upstream
from harness.recording.home import KEY as PLACEHOLDER
from harness.recording.models import Live
from tests.gateway.fakes import KEY, VARIABLE, Answer, Call, Provider, chat, providing, saying

PATH = "/v1/chat/completions"
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def reducer() -> Reducer:
    return Reducer(lambda: ["Hi"], lambda: lambda text: text)


def gateway(provider: Provider) -> Gateway:
    return Gateway(Upstream(Live(provider.url, VARIABLE), {VARIABLE: KEY}), reducer())


@asynccontextmanager
async def asking(answer: Answer) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    with providing(answer) as provider:
        async with (
            gateway(provider) as server,
            httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{server.port}", trust_env=False, timeout=10
            ) as client,
        ):
            yield server, client


def test_each_piece_is_there_before_the_next_is_made() -> None:
    # The provider makes no piece before the last has arrived: what is kept back is a deadlock.
    arrived = threading.Semaphore(0)
    pieces = [f"data: {n}\n\n".encode() for n in range(50)] + chat("x")

    def answer(call: Call) -> None:
        call.begin()
        for piece in pieces:
            call.piece(piece)
            assert arrived.acquire(timeout=5)
        call.end()

    async def run() -> list[bytes]:
        async with asking(answer) as (_, client), client.stream("POST", PATH, json=BODY) as got:
            came = []
            async for piece in got.aiter_raw():
                came.append(piece)
                arrived.release()
            return came

    assert asyncio.run(run()) == pieces


def test_the_head_is_there_before_the_first_piece() -> None:
    arrived = threading.Event()

    def answer(call: Call) -> None:
        call.begin()
        call.wfile.flush()
        assert arrived.wait(5)
        for piece in chat("x"):
            call.piece(piece)
        call.end()

    async def run() -> int:
        async with asking(answer) as (_, client), client.stream("POST", PATH, json=BODY) as got:
            arrived.set()
            await got.aread()
            return got.status_code

    assert asyncio.run(run()) == 200


def test_the_key_takes_the_place_of_the_agents_wherever_that_stands() -> None:
    async def run(provider: Provider) -> None:
        async with (
            gateway(provider) as server,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client,
        ):
            headers = {"x-api-key": PLACEHOLDER, "authorization": f"Bearer {PLACEHOLDER}"}
            await client.post(f"{PATH}?key={PLACEHOLDER}&alt=sse", json=BODY, headers=headers)

    with providing(saying()) as provider:
        asyncio.run(run(provider))
        ((path, headers, _),) = provider.seen
    assert path == f"{PATH}?key={KEY}&alt=sse"
    assert headers["x-api-key"] == KEY
    assert headers["authorization"] == f"Bearer {KEY}"


def test_another_model_in_each_api() -> None:
    async def run(provider: Provider) -> None:
        live = Live(provider.url, VARIABLE, "large:3")
        async with (
            Gateway(Upstream(live, {VARIABLE: KEY}), reducer()) as server,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}") as client,
        ):
            await client.post("/v1beta/models/gemini-2.5-pro:streamGenerateContent", json={"a": 1})
            await client.post("/v1/messages", json=BODY)
            await client.post("/v1/messages", content=b"no JSON")

    with providing(saying()) as provider:
        asyncio.run(run(provider))
        (gemini, _, one), (_, _, two), (_, _, three) = provider.seen
    assert gemini == "/v1beta/models/large%3A3:streamGenerateContent"
    assert (json.loads(one), json.loads(two)) == ({"a": 1}, BODY | {"model": "large:3"})
    assert three == b"no JSON"


def test_an_answer_that_was_compressed_all_the_same() -> None:
    body = b"".join(chat("Hello"))

    def answer(call: Call) -> None:
        call.begin(content_encoding="gzip")
        call.piece(gzip.compress(body))
        call.end()

    async def run() -> tuple[bytes, Gateway]:
        async with asking(answer) as (server, client):
            return (await client.post(PATH, json=BODY)).content, server

    got, server = asyncio.run(run())
    assert got == body
    # It is kept as it is read, in one piece: when its events came cannot be told.
    cassette, (exchange,) = server.cassette()
    assert cassette.responses[0]["body"]["string"] == body
    assert exchange.events.endswith(f":{len(body)}")
    assert " " not in exchange.events


def test_an_encoding_that_nobody_reads() -> None:
    def answer(call: Call) -> None:
        call.begin(content_encoding="zstd")
        call.piece(b"(/\xb5/\xfd")
        call.end()

    async def run() -> Gateway:
        async with asking(answer) as (server, client):
            async with client.stream("POST", PATH, json=BODY) as got:
                assert [piece async for piece in got.aiter_raw()] == [b"(/\xb5/\xfd"]
            return server

    failure = asyncio.run(run()).failure
    assert failure is not None
    assert failure.code == 5
    assert "is in zstd, though that was not asked for" in str(failure)


def played(folder: Path, events: str) -> Path:
    """Return a model's cassette whose answer came with these times."""

    async def run() -> Gateway:
        async with asking(saying()) as (server, client):
            await client.post(PATH, json=BODY)
            return server

    cassette, _ = asyncio.run(run()).cassette()
    path = folder / "text.model.yaml"
    exchange = Exchange("openai-chat", events, "whole")
    meta = Meta(FORMAT, Agent("fake", "1"), "fake", "text", "2026-01-01", "/tmp/x", [exchange])
    save_tape(path, cassette, meta)
    assert len(read_interactions(path)) == 1
    load_tape(path, cassette_config((), ()))
    return path


def test_what_is_played_keeps_its_pace_event_by_event(tmp_path: Path) -> None:
    one, two, three = chat("Hello")
    times = (50, 150, 350)
    path = played(tmp_path, f"{times[0]}:{len(one)} {times[1]}:{len(two)} {times[2]}:{len(three)}")

    async def run() -> tuple[list[bytes], list[float]]:
        async with (
            PlayedModel(path, reducer()) as model,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{model.port}") as client,
        ):
            begun = time.monotonic()
            came, at = [], []
            async with client.stream("POST", PATH, json=BODY) as got:
                async for piece in got.aiter_raw():
                    came.append(piece)
                    at.append((time.monotonic() - begun) * 1000)
            assert model.unmet() == []
            return came, at

    came, at = asyncio.run(run())
    assert came == [one, two, three]
    assert all(when >= least for when, least in zip(at, times, strict=True))
