"""A provider that says what a test wants, an agent that asks it, and their recording."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from harness.recording.job import Recording
from harness.recording.record import record
from harness.surfaces.base import Setup
from tests.recording.fakes import QUICK, FakeSurface, agent

KEY = "the-developers-own-key-0042-7731"
VARIABLE = "A_TEST_KEY"
ID = "fake/fake-1.2.3/text"
TAPE = f"{ID}.model.yaml"
PROMPT = "Say hello to the world."
"""What the scenario `text` says."""

module = sys.modules["harness.recording.record"]
machine = sys.modules["harness.recording.machine"]


class Call(BaseHTTPRequestHandler):
    """One request to the provider, and the answer to it, written piece by piece."""

    protocol_version = "HTTP/1.1"
    server: "Provider"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.seen.append((self.path, dict(self.headers.items()), body))
        turn = min(len(self.server.seen), len(self.server.answers)) - 1
        self.server.answers[turn](self)

    def begin(self, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in ({"content-type": "text/event-stream"} | named).items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def piece(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: Any) -> None:
        return


Answer = Callable[[Call], None]


class Provider(ThreadingHTTPServer):
    """Answers in turn, the last answer again and again."""

    daemon_threads = True

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        super().__init__(("127.0.0.1", 0), Call)
        self.answers = answers
        self.seen: list[tuple[str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: Any) -> None:
        """Say nothing: a client that leaves is what some tests are about."""


@contextmanager
def providing(*answers: Answer) -> Iterator[Provider]:
    with Provider(answers) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def chat(text: str, **more: Any) -> list[bytes]:
    """Return a chat completion's events; `more` are members of the first."""
    first = {"choices": [{"index": 0, "delta": {"content": text}}]} | more
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    events = [json.dumps(first).encode(), json.dumps(last).encode(), b"[DONE]"]
    return [b"data: " + event + b"\n\n" for event in events]


def saying(text: str = "Hello", **more: Any) -> Answer:
    def answer(call: Call) -> None:
        call.begin()
        for event in chat(text, **more):
            call.piece(event)
        call.end()

    return answer


def whole(body: bytes, status: int = 200, **headers: str) -> Answer:
    """Answer at once, with a body that is not streamed."""

    def answer(call: Call) -> None:
        call.begin(status, **({"content_type": "application/json"} | headers))
        call.piece(body)
        call.end()

    return answer


ASKS = """
    import http.client, json, os
    def ask(body, path="/v1/chat/completions", **headers):
        port = int(os.environ["MODEL_PORT"])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = {"content-type": "application/json", "authorization": "Bearer " + os.environ["KEY"]}
        for name, value in headers.items():
            head[name.replace("_", "-")] = value
        connection.request("POST", path, data, head)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    def chat(text, system="You are careful."):
        return {"model": "m", "messages": [{"role": "system", "content": system},
                                           {"role": "user", "content": text}]}
    def say(what):
        print(json.dumps({"said": what}), flush=True)
"""
"""What an agent's program begins with."""

BYE = "\n    print('{\"bye\":true}', flush=True)\n"
HELLO = f"{ASKS}    say(ask(chat({PROMPT!r}))){BYE}"


def room() -> FakeSurface:
    def prepare(setup: Setup) -> dict[str, str]:
        return {"MODEL_PORT": str(setup.port), "KEY": setup.key}

    return FakeSurface(prepare=prepare)


def run(folder: Path, body: str, model: Any, into: str = "c", **more: Any) -> Recording:
    """Record the fake agent; the surface is put in place by the fixture `fake`."""
    program = agent(folder, body)
    return record(
        "fake",
        "text",
        folder / into,
        agent_path=program,
        limits=QUICK,
        isolate=False,
        model=model,
        **more,
    )
