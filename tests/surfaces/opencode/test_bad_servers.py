"""Servers that break off, fail, repeat themselves or say nothing: on record, and told clearly."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.cassette import CassetteWriter, open_cassette
from harness.cassette.format import Frame
from harness.cassette.scrub import Rules, Scrubber
from harness.recording import RecordError, record
from harness.recording.session import Limits, Session
from harness.recording.sse import Block
from harness.surfaces import surface
from harness.surfaces.opencode import recorder
from tests.recording.fakes import QUICK, FakeSurface, NoModel, header
from tests.surfaces.opencode.fakes import Talked, fake, talk

module: Any = sys.modules["harness.recording.record"]

CUT = """
        def prompted():
            say("Hello")
            raw(b'data: {"type":"message.part.del')
            raw(None)
        """
DIES = """
        def prompted():
            say("Hello")
            print("out of memory", file=sys.stderr, flush=True)
            raw(b'data: {"type":"mess')
            raw(lambda: os._exit(7))
        """


def failed(done: Talked) -> RecordError:
    assert done.error is not None
    return done.error


def kinds(frames: list[Frame]) -> list[str]:
    namer = surface("opencode").kinds()
    return [namer.of(frame) for frame in frames]


def test_a_stream_that_ends_within_an_event(tmp_path: Path) -> None:
    done = talk(tmp_path, CUT)
    error = failed(done)
    assert error.code == 5
    assert str(error).startswith("the agent's stream of events ended; awaited: session.idle")
    assert done.of("sse")[-1] == 'data: {"type":"message.part.del'
    # The server itself goes on: it was ended, and there is no exit of its own.
    assert kinds(done.frames)[-1] == "incomplete"


def test_a_stream_that_ends_once_all_is_said_fails_nothing(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def answer(method, path, body):
            if path.endswith("/message"):
                raw(b': goodbye\\n\\ndata: {"half')
                raw(None)
        """,
    )
    assert done.error is None
    assert kinds(done.frames)[-3:] == ["comment", "incomplete", "exit"]
    assert done.of("sse")[-2:] == [": goodbye", 'data: {"half']


def test_a_server_that_dies_within_an_event(tmp_path: Path) -> None:
    done = talk(tmp_path, DIES)
    error = failed(done)
    assert error.code == 5
    assert "awaited: session.idle" in str(error)
    assert "(code 7)" in str(error)
    assert str(error).endswith("it said last:\n  | opencode server listening on "
                               f"{_address(done)}\n  | out of memory")  # fmt: skip
    assert kinds(done.frames)[-2:] == ["incomplete", "exit"]
    assert done.frames[-1].data == {"code": 7}


def test_all_that_a_server_said_stands_before_its_end(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def prompted():
            say(*["word"] * 1500)
            raw(lambda: os._exit(7))
            WRITTEN.wait()  # far more than the client reads while it waits for the answer
        """,
        limits=msgspec.structs.replace(QUICK, grace=3.0),
    )
    assert failed(done).code == 5
    assert done.types().count("message.part.delta") == 1500
    assert kinds(done.frames)[-1] == "exit"


def test_the_end_of_a_process_waits_for_what_its_streams_still_hold(tmp_path: Path) -> None:
    async def order() -> list[str]:
        with CassetteWriter(tmp_path / "out.jsonl", header()) as writer:
            session = Session(
                "/none", "none", env={}, cwd="/", writer=writer, limits=QUICK,
                scrubber=Scrubber(Rules(), paths={}, words={}, port=1, now=0.0),
            )  # fmt: skip

            class Late:
                async def heard(self, patience: float) -> None:
                    assert patience == QUICK.grace
                    await session._put("sse", Block("event", "{}"))

            session._server = Late()  # type: ignore[assignment]
            await session._put("exit", {"code": 0})
            return [session._queue.get_nowait()[0] for _ in range(session._queue.qsize())]

    assert asyncio.run(order()) == ["sse", "exit"]


def _address(done: Talked) -> str:
    """The address as it was: what is scrubbed in the file is not in the error."""
    (line,) = [line for line in done.session.last if "listening" in line]
    return line.rpartition(" ")[2]


def test_a_server_that_dies_while_it_is_asked(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def prompted():
            os._exit(9)
        """,
    )
    error = failed(done)
    assert error.code == 5
    assert str(error).startswith("no answer to POST /session/ses_1/prompt_async: ")
    assert "; the agent ended (code 9)" in str(error)
    assert done.requests[-1] == "POST /session/ses_1/prompt_async"
    assert done.frames[-1].data == {"code": 9}


def test_repeated_events_and_other_conversations(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def prompted():
            say("Hello", session="ses_9", answer="msg_9")
            end(session="ses_9", answer="msg_9")
            say("Hello")
            for _ in range(2):
                raw(b'data: {"id":"evt_1","type":"todo.updated","properties":'
                    b'{"sessionID":"ses_1","todos":[]}}\\n\\n')
            end()
        """,
    )
    assert done.error is None
    # The other conversation is on record, and its idle ended nothing.
    assert [f.data for f in done.frames if f.data is not None].count(
        {"type": "session.idle", "properties": {"sessionID": "ses_9"}}
    ) == 1
    assert done.types()[-1] == "session.idle"
    assert done.requests[-1] == "GET /session/ses_1/message"
    named = kinds(done.frames)
    assert [named.count(kind) for kind in ("todo.updated", "repeat event")] == [1, 1]


def test_a_prompt_that_is_refused(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def answer(method, path, body):
            if path.endswith("/prompt_async"):
                return 500, b'{"data":{"message":"no model"}}'
        """,
    )
    error = failed(done)
    assert error.code == 1
    assert str(error) == (
        "the conversation cannot go on: the agent refused POST /session/ses_1/prompt_async: "
        "HTTP 500, {'data': {'message': 'no model'}}"
    )
    assert kinds(done.frames)[-1] == "error POST /session/{id}/prompt_async"
    assert done.answers()[-1]["status"] == 500


def test_a_server_without_a_stream(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def answer(method, path, body):
            if path == "/event":
                return 404, b"Not here"
        """,
    )
    assert (failed(done).code, str(done.error)) == (
        5,
        "GET /event: no stream of events but HTTP 404, no type",
    )
    assert done.answers() == [{"request": 1, "status": 404, "text": "Not here"}]


@pytest.mark.parametrize(
    ("content", "name", "value"),
    [
        (b'{"a": 1,\n "b": [2]}\n', "body", {"a": 1, "b": [2]}),
        (b"", "body", None),
        (b"not JSON", "text", "not JSON"),
        (b'{"a":1,"a":2}', "text", '{"a":1,"a":2}'),  # read and written again it is another
        (b"\xff\xfe", "b64", "//4="),
        (b'1},{"request":7', "text", '1},{"request":7'),
    ],
)
def test_bodies_are_on_record_as_they_are(
    tmp_path: Path, content: bytes, name: str, value: Any
) -> None:
    done = talk(
        tmp_path,
        f"""
        def answer(method, path, body):
            if path.endswith("/message"):
                return 200, {content!r}
        """,
    )
    assert done.error is None
    assert done.answers()[-1] == {"request": 5, "status": 200, name: value}


def test_an_answer_larger_than_is_let_through(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def answer(method, path, body):
            if path.endswith("/message"):
                return 200, b"[" + b" " * 1_000_000 + b"]"
        """,
        limits=msgspec.structs.replace(QUICK, bytes=200_000),
    )
    assert failed(done).code == 5
    assert "more than 200,000 bytes" in str(done.error)
    assert len(done.answers()[-1]["text"]) <= 200_000


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://127.0.0.1:99999", "no answer to GET /event: "),
        (
            "http://127.0.0.1:1",
            "no answer to GET /event: Connection refused; awaited: the stream of events",
        ),
    ],
)
def test_an_address_that_nobody_listens_at(tmp_path: Path, address: str, words: str) -> None:
    done = talk(
        tmp_path,
        f"""
        def listen():
            print("opencode server listening on {address}", flush=True)
            time.sleep(600)
        """,
    )
    assert failed(done).code == 5
    assert words in str(done.error)


def test_an_address_beyond_loopback_is_none(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        """
        def listen():
            print("listening on http://example.com:80", flush=True)
            print("listening on http://127.0.0.1:80.example.com", flush=True)
            sys.exit(3)
        """,
    )
    assert failed(done).code == 5
    assert 'awaited: the line "listening on"' in str(done.error)
    assert done.requests == []


def test_more_events_than_are_let_through(tmp_path: Path) -> None:
    limits = msgspec.structs.replace(QUICK, bytes=20_000)
    done = talk(
        tmp_path,
        """
        def prompted():
            say(*["word" * 100] * 100)
        """,
        limits=limits,
    )
    assert failed(done).code == 5
    assert "more than 20,000 bytes" in str(done.error)
    assert len(done.frames) < 80


SILENT = "def listen():\n    print('starting', flush=True)\n    time.sleep(600)\n"


@pytest.mark.parametrize(
    ("body", "limits", "code", "words"),
    [
        (SILENT, Limits(seconds=1.0), 5, 'awaited: the line "listening on", with the port'),
        ("sys.exit('no such option')", QUICK, 5, "the agent ended (code 1) too early; awaited"),
        (CUT, QUICK, 5, "the agent's stream of events ended"),
        (DIES, QUICK, 5, "(code 7)"),
        ("def prompted():\n    say('Hello')\n", Limits(seconds=1.0), 5, "awaited: session.idle"),
        ("def answer(*_):\n    return 500, b''\n", QUICK, 5, "no stream of events but HTTP 500"),
    ],
    ids=["never listens", "fails", "cut", "dies", "never idle", "only errors"],
)
def test_a_failed_recording_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    limits: Limits,
    code: int,
    words: str,
) -> None:
    room = FakeSurface(converse=recorder.converse, RULES=recorder.RULES, prepare=lambda _: {})
    monkeypatch.setattr(module, "surface", lambda _: room)
    monkeypatch.setattr("harness.recording.job.ModelServer", NoModel)
    into = tmp_path / "into"
    with pytest.raises(RecordError) as caught:
        record("fake", "text", into, agent_path=fake(tmp_path, body), limits=limits)
    assert caught.value.code == code
    assert words in str(caught.value)
    assert not into.exists()


def test_the_fake_is_recorded_as_an_agent_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = FakeSurface(converse=recorder.converse, RULES=recorder.RULES)
    monkeypatch.setattr(module, "surface", lambda _: room)
    monkeypatch.setattr("harness.recording.job.ModelServer", NoModel)
    done = record("fake", "text", tmp_path / "into", agent_path=fake(tmp_path), limits=QUICK)
    with open_cassette(done.path) as cassette:
        frames = list(cassette)
    assert kinds(frames)[-1] == "exit"
    assert cassette.footer is not None
    assert cassette.footer.complete
