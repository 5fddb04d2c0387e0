"""A fake of opencode's server, written for the tests, and how to run the client against it."""

import asyncio
import os
import textwrap
from pathlib import Path
from typing import Any

from harness.cassette import CassetteWriter, Frame, open_cassette
from harness.cassette.scrub import Scrubber
from harness.recording import RecordError
from harness.recording.isolation import Namespace
from harness.recording.session import Limits, Session
from harness.recording.strays import end_strays, strays
from harness.scenarios import Scenario
from harness.surfaces.base import Setup
from harness.surfaces.opencode import recorder
from tests.recording.fakes import QUICK, agent, header, story

_SERVER = """
import http.server, json, os, queue, signal, sys, threading, time

STREAM = queue.Queue()
WRITTEN = threading.Event()
PROMPTED = threading.Event()
MINE = "ses_1"

def raw(data):
    STREAM.put(data)

def tell(type, **properties):
    raw(b"data: " + json.dumps({"type": type, "properties": properties}).encode() + b"\\n\\n")

def say(*words, session=MINE, answer="msg_2"):
    def mine(type, **properties):
        tell(type, sessionID=session, **properties)
    mine("session.status", status={"type": "busy"})
    mine("message.updated", info={"id": "msg_1", "role": "user"})
    mine("message.updated", info={"id": answer, "role": "assistant", "time": {"created": 1}})
    part = {"id": "prt_" + answer, "messageID": answer, "type": "text", "text": ""}
    mine("message.part.updated", part=part)
    for word in words:
        mine("message.part.delta", partID=part["id"], field="text", delta=word)

def end(session=MINE, answer="msg_2"):
    def mine(type, **properties):
        tell(type, sessionID=session, **properties)
    mine("message.updated", info={"id": "msg_1", "role": "user", "summary": {"diffs": []}})
    mine("message.updated", info={"id": answer, "role": "assistant", "time": {"completed": 2}})
    mine("session.status", status={"type": "idle"})
    mine("session.idle")

def prompted():
    say("Hello", ", world.")
    end()

def answer(method, path, body):
    return None

def respond(method, path, body):
    given = answer(method, path, body)
    if given is not None:
        return given
    if (method, path) == ("POST", "/session"):
        return 200, b'{"id":"ses_1"}'
    if path.endswith("/prompt_async"):
        prompted()
        return 204, b""
    return 200, b"[]"

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/event" and answer("GET", "/event", None) is None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            tell("server.connected")
            while (data := STREAM.get()) is not None:
                if callable(data):
                    WRITTEN.set()
                    PROMPTED.wait()  # the answer to the prompt is on its way
                    data()
                self.wfile.write(data)
                self.wfile.flush()
            return
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        status, content = respond(self.command, self.path, json.loads(body) if body else None)
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        if self.path.endswith("/prompt_async"):
            PROMPTED.set()

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

def listen():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("opencode server listening on http://127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()
"""


def fake(folder: Path, body: str = "") -> str:
    """Write the fake with what a test changes of it, as a program; return its path."""
    return agent(folder, f"{_SERVER}\n{textwrap.dedent(body)}\nlisten()\n", "opencode")


class Talked:
    """What came of a conversation: the frames on disk, what was not known, the error if any."""

    def __init__(self, path: Path, session: Session, error: RecordError | None) -> None:
        self.session = session
        self.error = error
        with open_cassette(path) as cassette:
            self.frames: list[Frame] = list(cassette)

    @property
    def requests(self) -> list[str]:
        """What the client asked, in order."""
        sent = [f.data for f in self.frames if (f.dir, f.channel) == ("out", "http")]
        return [f"{request['method']} {request['path']}" for request in sent]

    def answers(self) -> list[dict[str, Any]]:
        """What the server answered, in order."""
        return [f.data for f in self.frames if (f.dir, f.channel) == ("in", "http")]

    def of(self, channel: str) -> list[Any]:
        """Return the contents of the frames on a channel."""
        return [frame.content for frame in self.frames if frame.channel == channel]

    def types(self) -> list[str]:
        """Return the types of the events, in order."""
        return [e["type"] for e in self.of("sse") if isinstance(e, dict)]


def talk(  # noqa: PLR0913 - what a test may choose
    folder: Path,
    body: str = "",
    *,
    told: Scenario | None = None,
    limits: Limits = QUICK,
    namespace: Namespace | None = None,
    hold: bool = False,
    args: tuple[str, ...] = ("serve", "--port", "0"),
) -> Talked:
    """Run the client against the fake to its end, then assert that no process is left.

    With `hold`, the model server holds its stream open from the start.
    """
    program = fake(folder, body)
    mark = f"test-{os.getpid()}-{folder.name}"
    path = folder / "out.jsonl"
    setup = Setup(told or story(), str(folder), str(folder), 1, program, "key", "opencode", args)
    scrubber = Scrubber(recorder.RULES, paths={}, words={}, port=1, now=1_800_000_000)
    problem: RecordError | None = None

    async def run() -> Session:
        nonlocal problem
        with CassetteWriter(path, header()) as writer:
            session = Session(
                program,
                "opencode",
                env={"HARNESS_RECORDING": mark},
                cwd=str(folder),
                writer=writer,
                scrubber=scrubber,
                limits=limits,
                namespace=namespace,
            )
            if hold:
                session.held.set()
            try:
                async with asyncio.timeout(limits.seconds):
                    await recorder.converse(setup, session)
                    await session.settle()
            except RecordError as error:
                problem = error
            finally:
                await session.kill()
                await end_strays(mark, namespace)
            writer.finish(complete=problem is None)
            return session

    try:
        session = asyncio.run(run())
    finally:
        assert strays(mark, namespace) == []
    return Talked(path, session, problem)
