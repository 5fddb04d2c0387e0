"""A played server: exchanges in order, the stream of events, the port, the ways to end."""

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness.playback.exchange import answer_of, sse_block
from tests.playback.tapes import Entry, cassette, start

COMMAND = ("opencode", "serve", "--port", "0", "--pure")
KILLED: Entry = ("in", "exit", {"signal": "SIGTERM"})


def request(number: int, method: str, path: str, body: Any = None) -> Entry:
    return "out", "http", {"request": number, "method": method, "path": path, "body": body}


def answer(number: int, status: int, **body: Any) -> Entry:
    return "in", "http", {"request": number, "status": status, **body}


LISTENING: Entry = ("in", "stdout", b"opencode server listening on http://127.0.0.1:4096")
TALK = [
    LISTENING,
    request(1, "GET", "/event"),
    answer(1, 200, body=None),
    ("in", "sse", {"type": "server.connected", "properties": {}}),
    request(2, "POST", "/session", {"title": "a", "messageID": "msg_1"}),
    answer(2, 200, body={"id": "ses_1", "messageID": "msg_1"}),
    ("in", "sse", b": a comment"),
    ("in", "sse", b"no JSON\nin two lines"),
    ("in", "sse", {"type": "told", "id": "msg_1"}),
    request(3, "GET", "/doc?directory=%2Fworkspace"),
    answer(3, 404, text="<html>"),
    request(4, "POST", "/abort"),
    answer(4, 204, body=None),
    ("in", "sse", b'data: {"cut":'),
    KILLED,
]
EVENTS = (
    'data: {"type":"server.connected","properties":{}}\n\n: a comment\n\n'
    'data: no JSON\ndata: in two lines\n\ndata: {"type":"told","id":"mine"}\n\ndata: {"cut":'
)


def played(folder: Path, entries: list[Entry]) -> Path:
    return cassette(folder / "t.jsonl", entries, surface="opencode", command=COMMAND)


@contextmanager
def serving(
    path: Path, *args: str, options: tuple[str, ...] = ()
) -> Iterator[tuple["subprocess.Popen[bytes]", httpx.Client]]:
    """Start it, and yield it with a client of the address that it says."""
    with start(path, *(args or COMMAND[1:]), options=options) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline().decode()
            assert line.startswith("opencode server listening on http://127.0.0.1:")
            with httpx.Client(base_url=line.split()[-1], trust_env=False, timeout=30) as client:
                yield process, client
        finally:
            process.kill()


@pytest.mark.parametrize("options", [(), ("--pace",)], ids=["fast", "paced"])
def test_exchanges_and_events_as_recorded(tmp_path: Path, options: tuple[str, ...]) -> None:
    path = played(tmp_path, TALK)
    with (
        serving(path, options=options) as (process, client),
        client.stream("GET", "/event") as stream,
    ):
        assert (stream.status_code, stream.headers["content-type"]) == (200, "text/event-stream")
        made = client.post("/session", json={"messageID": "mine", "title": "a"})
        assert (made.status_code, made.json()) == (200, {"id": "ses_1", "messageID": "mine"})
        assert made.headers["content-type"] == "application/json"
        # The folder that it runs in is the recorded one.
        doc = client.get("/doc", params={"directory": str(tmp_path)})
        assert (doc.status_code, doc.text) == (404, "<html>")
        aborted = client.post("/abort")
        assert (aborted.status_code, aborted.content) == (204, b"")
        process.send_signal(signal.SIGTERM)
        assert "".join(stream.iter_text()) == EVENTS
        assert process.wait(timeout=60) == -signal.SIGTERM
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_wrong_client_is_told_both_ways(tmp_path: Path) -> None:
    path = played(tmp_path, TALK)
    with serving(path) as (process, client), client.stream("GET", "/event") as stream:
        refused = client.post("/session", json={"title": "b", "messageID": "mine"})
        assert refused.status_code == 409
        words = 'differs:  body.title: recorded "a", came "b"'
        assert "frame 6 was expected of the client" in refused.text
        assert words in refused.text
        assert process.wait(timeout=60) == 1
        assert process.stderr is not None
        assert words.encode() in process.stderr.read()
        # Nothing of what follows was said.
        assert "".join(stream.iter_text()) == EVENTS.split(": a comment", maxsplit=1)[0]


@pytest.mark.parametrize(
    ("method", "path", "differs"),
    [
        ("GET", "/session", 'method: recorded "POST", came "GET"'),
        ("POST", "/sessions", 'path: recorded "/session", came "/sessions"'),
        ("POST", "/session?x=1", 'path: recorded "/session", came "/session?x=1"'),
        ("POST", "/session", 'body: recorded {"title":"a"}, came null'),
    ],
)
def test_what_may_not_differ(tmp_path: Path, method: str, path: str, differs: str) -> None:
    talk = [LISTENING, request(1, "POST", "/session", {"title": "a"}), answer(1, 200, body={})]
    with serving(played(tmp_path, [*talk, KILLED])) as (process, client):
        assert f"differs:  {differs}" in client.request(method, path).text
        assert process.wait(timeout=60) == 1


def test_a_body_that_is_no_json_and_one_request_too_many(tmp_path: Path) -> None:
    talk = [LISTENING, request(1, "POST", "/session", {"a": 1}), answer(1, 200, body={}), KILLED]
    with serving(played(tmp_path, talk)) as (process, client):
        refused = client.post("/session", content=b"\xff{")
        assert 'body: recorded {"a":1}, came "\\ufffd{"' in refused.text.replace("�", "\\ufffd")
        assert process.wait(timeout=60) == 1
    with serving(played(tmp_path, talk)) as (process, client):
        assert client.post("/session", json={"a": 1}).status_code == 200
        refused = client.get("/session")
        assert (refused.status_code, "nothing more was expected" in refused.text) == (409, True)
        assert process.wait(timeout=60) == 1


def test_the_port_is_the_clients_to_choose(tmp_path: Path) -> None:
    path = played(tmp_path, [LISTENING, request(1, "GET", "/a"), answer(1, 200, body=1), KILLED])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with start(path, "serve", "--port", str(port), "--pure") as process:
            _, err = process.communicate(timeout=60)
        assert process.returncode == 5
        assert f"listening on 127.0.0.1:{port}: Address already in use".encode() in err
    for args, options in (
        (("serve", f"--port={port}", "--pure"), ()),
        (COMMAND[1:], ("--port", str(port))),
    ):
        with serving(path, *args, options=options) as (_, client):
            assert (client.base_url.port, client.get("/a").json()) == (port, 1)
    with start(path, "serve", "--pure") as process:
        _, err = process.communicate(timeout=60)
    assert (process.returncode, b"no process was started with these" in err) == (1, True)


@pytest.mark.parametrize(("second", "status"), [(1, 200), (2, 409)])
def test_a_process_that_was_not_guessed(tmp_path: Path, second: int, status: int) -> None:
    """Its request is answered under its own number; one that has said another thing is not it."""
    talk = [LISTENING, request(1, "GET", "/a"), answer(1, 200, body=1), request(2, "GET", "/b")]
    other = [request(3, "GET", "/a"), answer(3, 200, body=second), request(4, "GET", "/c")]
    entries = [*talk, answer(2, 200, body=2), KILLED, ("out", "start", {"command": [*COMMAND]})]
    path = played(tmp_path, [*entries, LISTENING, *other, answer(4, 200, body=3), KILLED])
    with serving(path) as (_, client):
        assert client.get("/a").json() == 1
        told = client.get("/c")
        assert (told.status_code, told.text == "3") == (status, status == 200)


def test_a_signal_in_the_middle(tmp_path: Path) -> None:
    with serving(played(tmp_path, TALK)) as (process, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == -signal.SIGINT
        assert process.stderr is not None
        assert b"ended by SIGINT, awaited was frame 3: {" in process.stderr.read()


def test_a_server_that_ended_by_itself(tmp_path: Path) -> None:
    talk = [LISTENING, request(1, "GET", "/a"), answer(1, 500, body={"e": 1})]
    with serving(played(tmp_path, [*talk, ("in", "exit", {"code": 7})])) as (process, client):
        assert client.get("/a").json() == {"e": 1}
        assert process.wait(timeout=60) == 7


def test_frames_that_no_server_sends(tmp_path: Path) -> None:
    for frame, words in (
        (answer(1, 1, body=None), "frame 3 is no answer to a request"),
        (("in", "sse", {"a": 1}), "frame 3 is an event, and no stream of events was opened"),
    ):
        with start(played(tmp_path, [LISTENING, frame, KILLED]), *COMMAND[1:]) as process:
            _, err = process.communicate(timeout=60)
        assert (process.returncode, words in err.decode()) == (5, True)


def test_blocks_and_bodies() -> None:
    assert sse_block("data", [1]) == b"data: [1]\n\n"
    assert sse_block("text", "event: ping\nid: 3") == b"event: ping\nid: 3\n\n"
    assert sse_block("text", "event: ping\ndata: x") == b"event: ping\ndata: x"
    assert sse_block("text", "") == b"data: \n\n"
    assert answer_of({"request": 1, "status": 200, "body": "x"}) == (1, 200, b'"x"')
    assert answer_of({"request": 1, "status": 200, "text": "x"}) == (1, 200, b"x")
    assert answer_of({"request": 1, "status": 200, "b64": "/w=="}) == (1, 200, b"\xff")


def test_without_arguments_it_is_the_first_process(tmp_path: Path) -> None:
    talk = [LISTENING, request(1, "GET", "/a"), answer(1, 200, body={"e": 1})]
    path = played(tmp_path, [*talk, ("in", "exit", {"code": 0})])
    with start(path) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().split()[-1]
        with httpx.Client(base_url=url, trust_env=False, timeout=30) as client:
            assert client.get("/a").json() == {"e": 1}
        assert process.wait(timeout=60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
