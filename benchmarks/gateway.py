"""What the gateway adds to a streamed answer, against the same provider asked directly.

Provider, gateway and client are a process each, as they are in a live recording. Each round asks
once directly and once through the gateway. Prints the median time to the first streamed byte of
each, what is added, and how far the gaps between events differ: `python benchmarks/gateway.py
[ROUNDS]`. Exit code 1 where a bound is passed, or an event is missing or out of order.
"""

import asyncio
import http.client
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from starlette.types import Receive, Scope, Send  # noqa: E402 - needs the path

from harness.gateway.live import Gateway  # noqa: E402
from harness.gateway.reduce import Reducer  # noqa: E402
from harness.gateway.upstream import Upstream  # noqa: E402
from harness.loopback import serve  # noqa: E402
from harness.recording.models import Live  # noqa: E402

ROUNDS = 100
EVENTS = 20
GAP = 0.005
"""Seconds between the provider's events."""
ADDED = 5.0
"""Milliseconds that may be added to the first byte, and to a gap."""

PATH = "/v1/chat/completions"
SYSTEM = "You are a careful agent. " * 2000
BODY = json.dumps({"model": "m", "messages": [{"role": "system", "content": SYSTEM}]}).encode()


async def _provide(_: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    head = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    for n in range(EVENTS):
        body = f"data: {n}\n\n".encode() if n < EVENTS - 1 else b"data: [DONE]\n\n"
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await asyncio.sleep(GAP)
    await send({"type": "http.response.body", "body": b""})


async def _serve(what: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    if what == "provider":
        await serve(_provide, [listener])
        print(listener.getsockname()[1], flush=True)
        await asyncio.Event().wait()
    upstream = Upstream(Live(f"http://127.0.0.1:{what}"), {"OPENAI_API_KEY": "benchmark-key-0000"})
    async with Gateway(upstream, Reducer(list, lambda: lambda text: text), [listener]):
        print(listener.getsockname()[1], flush=True)
        await asyncio.Event().wait()


def ask(port: int) -> tuple[float, list[float], list[bytes]]:
    """Return milliseconds to the first byte, those between events, and the events."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.connect()
    begun = time.perf_counter()
    connection.request("POST", PATH, BODY, {"content-type": "application/json"})
    answer = connection.getresponse()
    events: list[bytes] = []
    times: list[float] = []
    while line := answer.readline():
        if line.strip():
            times.append((time.perf_counter() - begun) * 1000)
            events.append(line)
    connection.close()
    gaps = [later - before for before, later in itertools.pairwise(times)]
    return times[0], gaps, events


def start(what: str) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", what], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def main(rounds: int) -> int:
    provider, direct = start("provider")
    gateway, through = start(str(direct))
    try:
        for port in (direct, through):
            ask(port)
        asked = [(ask(direct), ask(through)) for _ in range(rounds)]
    finally:
        for process in (gateway, provider):
            process.kill()
            process.wait()
    first = [statistics.median(pair[n][0] for pair in asked) for n in (0, 1)]
    gaps = [statistics.median(gap for pair in asked for gap in pair[n][1]) for n in (0, 1)]
    added = statistics.median(pair[1][0] - pair[0][0] for pair in asked)
    same = all(pair[0][2] == pair[1][2] and len(pair[0][2]) == EVENTS for pair in asked)
    print(f"first byte, direct      {first[0]:7.2f} ms   (median of {rounds})")
    print(f"first byte, gateway     {first[1]:7.2f} ms")
    print(f"added                   {added:7.2f} ms   (bound {ADDED:g})")
    print(f"between events          {gaps[0]:7.2f} ms direct, {gaps[1]:.2f} ms through the gateway")
    print(f"events                  {'the same, in order' if same else 'NOT THE SAME'}")
    return 0 if same and added < ADDED and abs(gaps[1] - gaps[0]) < ADDED else 1


if __name__ == "__main__":
    os.environ.pop("HARNESS_UPSTREAM", None)
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(_serve(sys.argv[2]))
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
