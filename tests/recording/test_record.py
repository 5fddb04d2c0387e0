"""A whole recording: what comes of it, and that a failure leaves all as it was."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.cassette import open_cassette
from harness.cassette.scrub import Rules
from harness.recording.errors import RecordError
from harness.recording.isolation import why_not
from harness.recording.job import Progress, Recording
from harness.recording.record import record
from harness.recording.session import Limits
from harness.recording.terminable import TerminatedError, terminable
from harness.surfaces.base import Setup, Wire
from tests.recording.fakes import (
    QUICK,
    FakeSurface,
    NoModel,
    agent,
    no_temporary_folder_is_left,  # noqa: F401 - a fixture of every test
)

# The package has a function of the module's name.
module = sys.modules["harness.recording.record"]

BYE = "print('{\"bye\":true}', flush=True)\n"
NAME = "fake/fake-1.2.3/text.jsonl"
HANG = "import time\ntime.sleep(60)\n"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeSurface]:
    """Return a function that puts a fake surface in place of all; `model=False` stubs the model."""

    def use(*, model: bool = False, **parts: Any) -> FakeSurface:
        room = FakeSurface(**parts)
        monkeypatch.setattr(module, "surface", lambda _: room)
        if not model:
            monkeypatch.setattr("harness.recording.job.ModelServer", NoModel)
        return room

    return use


def test_the_entry_says_how_long_a_recording_may_take(
    fake: Callable[..., FakeSurface], tmp_path: Path
) -> None:
    room = fake()
    (entry,) = room.manifest.agents
    room.__dict__["manifest"] = msgspec.structs.replace(
        room.manifest, agents=[msgspec.structs.replace(entry, timeout=0.3)]
    )
    with pytest.raises(RecordError, match=r"did not come to the end within 0\.3 s") as caught:
        run(tmp_path, HANG, limits=None)
    assert caught.value.code == 5
    with pytest.raises(RecordError, match=r"did not come to the end within 0\.2 s"):
        run(tmp_path, HANG, limits=None, timeout=0.2)


def run(tmp_path: Path, body: str, **more: Any) -> Recording:
    more.setdefault("limits", QUICK)
    return record("fake", "text", tmp_path / "c", agent_path=agent(tmp_path, body), **more)


def fails(tmp_path: Path, body: str, code: int, **more: Any) -> str:
    """Record over an older cassette; return the error, after a look that nothing has changed."""
    old = tmp_path / "c" / NAME
    old.parent.mkdir(parents=True)
    old.write_text("old")
    with pytest.raises(RecordError) as caught:
        run(tmp_path, body, **more)
    assert caught.value.code == code
    assert [p.name for p in old.parent.iterdir()] == ["text.jsonl"]
    assert old.read_text() == "old"
    return str(caught.value)


def test_a_recording_is_a_cassette_in_its_place(tmp_path: Path, fake: Any) -> None:
    fake()
    steps: list[Progress] = []
    got = run(tmp_path, BYE, on_event=steps.append)
    assert got.path == tmp_path / "c" / NAME
    assert (got.surface, got.scenario, got.agent, got.frames) == ("fake", "text", "fake-1.2.3", 4)
    assert (got.unhandled, got.notices) == ([], [] if got.isolated else got.notices)
    assert got.isolated is (why_not() is None)
    assert got.refused_connections == (0 if got.isolated else None)
    assert 0 < got.seconds < 10
    assert steps[0] == Progress("starting", 0)
    assert steps[-1] == Progress("recording", 4)
    with open_cassette(got.path) as cassette:
        frames = list(cassette)
    assert [(f.dir, f.channel, f.content) for f in frames] == [
        ("out", "start", {"command": ["no-such-agent"]}),
        ("out", "stdin", {"hello": 1}),
        ("in", "stdout", {"bye": True}),
        ("in", "exit", {"code": 0}),
    ]
    head = cassette.header
    assert (head.surface, head.provider, head.agent.id) == ("fake", "acp", "fake-1.2.3")
    assert (head.provenance, head.command) == ("scripted", ["no-such-agent"])
    assert head.scrub == ["paths", "ids", "times", "durations", "processes", "port", "names"]
    assert cassette.footer is not None
    assert (cassette.footer.complete, cassette.footer.exit_code) == (True, 0)


SAYS_ALL = f"""
    import json, os, socket, time, uuid
    print(json.dumps({{
        "cwd": os.getcwd(), "home": os.environ["HOME"], "env": dict(os.environ),
        "id": str(uuid.uuid4()), "time": time.time(), "pid": os.getpid(),
        "files": sorted(os.listdir(".")), "host": socket.gethostname(),
    }}))
    print("log of", os.getcwd())
    {BYE}"""


def test_twice_the_same_though_all_is_random(tmp_path: Path, fake: Any) -> None:
    fake()
    texts = []
    for number in range(2):
        path = run(tmp_path, SAYS_ALL).path
        with open_cassette(path) as cassette:
            texts.append([(f.channel, f.content) for f in cassette])
        assert number == 1 or path.exists()
    assert texts[0] == texts[1]
    said = texts[0][2][1]
    assert said["cwd"] == said["env"]["PWD"] if "PWD" in said["env"] else "/workspace"
    assert (said["cwd"], said["home"], said["pid"]) == ("/workspace", "/home/agent", 1000)
    assert said["env"]["HARNESS_RECORDING"] == "00000000000040008000000000000001"
    assert said["id"] == "00000000-0000-4000-8000-000000000002"
    assert said["time"] == 1767225600.0
    assert said["files"] == [".git"]
    assert "log of /workspace" in [content for _, content in texts[0]]


def test_an_attempt_to_leave_is_in_the_result(tmp_path: Path, fake: Any) -> None:
    if why_not() is not None:
        pytest.skip(f"this machine does not allow isolation: {why_not()}")
    fake()
    body = f"""
        import socket
        with socket.socket() as s: print(s.connect_ex(("192.0.2.1", 443)))
        {BYE}"""
    got = run(tmp_path, body)
    assert (got.isolated, got.refused_connections) == (True, 1)


def test_without_isolation(tmp_path: Path, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fake()
    got = run(tmp_path, BYE, isolate=False)
    assert (got.isolated, got.refused_connections, got.notices) == (False, None, [])
    monkeypatch.setattr("harness.recording.job.why_not", lambda: "Operation not permitted")
    got = run(tmp_path, BYE)
    assert (got.isolated, got.notices) == (False, ["not isolated: Operation not permitted"])
    with pytest.raises(RecordError, match="--no-isolate") as caught:
        run(tmp_path, BYE, isolate=True)
    assert caught.value.code == 5


def test_the_script_must_be_followed(tmp_path: Path, fake: Any) -> None:
    fake(model=True)
    message = fails(tmp_path, BYE, 1)
    first, *unused = message.splitlines()
    assert first == "the script was not followed"
    assert unused
    assert all(line.startswith("  a step that was not used: ") for line in unused)
    assert "turn 1, say: Hello" in message


def test_an_unexpected_request_is_shown_with_what_it_led_to(tmp_path: Path, fake: Any) -> None:
    fake(model=True, prepare=lambda setup: {"PORT": str(setup.port)})
    body = """
        import os, sys, urllib.request, urllib.error
        try: urllib.request.urlopen(f"http://127.0.0.1:{os.environ['PORT']}/v9/think", b"{}")
        except urllib.error.HTTPError as error: sys.exit(f"HTTP {error.code}")
        """
    message = fails(tmp_path, body, 1)
    assert "the agent ended (code 1) too early" in message
    assert "| HTTP 404" in message
    assert "a request that the script does not expect: " in message
    assert "POST /v9/think" in message


def test_an_agent_that_dies_at_once(tmp_path: Path, fake: Any) -> None:
    fake()
    message = fails(tmp_path, "import sys\nsys.exit('bad config')\n", 5)
    assert message == (
        "the agent ended (code 1) too early; awaited: bye\n  it said last:\n  | bad config"
    )


def test_what_an_agent_said_reaches_no_terminal_raw(tmp_path: Path, fake: Any) -> None:
    fake()
    message = fails(tmp_path, "import sys\nsys.exit('\\x1b[2Jgone')\n", 5)
    assert message.endswith("\n  | \\x1b[2Jgone")


def test_a_signal_as_the_work_ends_is_not_lost() -> None:
    async def work() -> Any:
        signal.raise_signal(signal.SIGTERM)
        return "done"  # no await is left at which it could be cancelled

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(TerminatedError) as caught:
        asyncio.run(terminable(work()))
    assert caught.value.number == signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("port", [-1, 65536, 70000])
def test_a_port_that_is_none(tmp_path: Path, fake: Any, port: int) -> None:
    fake()
    with pytest.raises(RecordError, match=f"--port {port}: a number from 0 .* to 65535") as caught:
        run(tmp_path, BYE, port=port)
    assert caught.value.code == 2
    assert not (tmp_path / "c").exists()


def test_a_failure_names_a_version_that_is_not_the_pinned_one(
    tmp_path: Path, fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake()
    monkeypatch.setattr(module, "wrong_version", lambda *_: "the agent is at another")
    message = fails(tmp_path, "import sys\nsys.exit('bad config')\n", 5)
    assert message.endswith("\n  | bad config\n  the agent is at another")


def test_an_agent_that_never_answers(tmp_path: Path, fake: Any) -> None:
    fake()
    message = fails(tmp_path, HANG, 5, limits=Limits(seconds=0.5, grace=0.2))
    assert message == "the agent did not come to the end within 0.5 s, after 2 frames; awaited: bye"


def test_an_agent_that_floods(tmp_path: Path, fake: Any) -> None:
    fake()
    body = "import os\nwhile True: os.write(1, b'x' * 65536)\n"
    message = fails(tmp_path, body, 5, limits=Limits(seconds=30, bytes=1 << 20, grace=0.2))
    assert "more than 1,048,576 bytes" in message


def test_a_missing_agent(tmp_path: Path, fake: Any) -> None:
    fake()
    with pytest.raises(RecordError, match="pip install fake") as caught:
        record("fake", "text", tmp_path / "c")
    assert (caught.value.code, caught.value.missing) == (5, True)
    assert not (tmp_path / "c").exists()


def test_a_busy_port(tmp_path: Path, fake: Any) -> None:
    fake()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = fails(tmp_path, BYE, 5, port=port, isolate=False)
    assert message == (
        f"listening on 127.0.0.1:{port} for the agent: Address already in use; choose another port"
    )


def test_the_port_that_is_asked_for(tmp_path: Path, fake: Any) -> None:
    ports: list[int] = []

    def prepare(setup: Setup) -> dict[str, str]:
        ports.append(setup.port)
        return {}

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    fake(prepare=prepare)
    run(tmp_path, BYE, port=port)
    assert ports == [port]


def test_a_read_only_folder(tmp_path: Path, fake: Any) -> None:
    fake()
    program = agent(tmp_path, BYE)
    with pytest.raises(RecordError, match="could not begin the cassette") as caught:
        record("fake", "text", Path("/proc/harness"), agent_path=program, limits=QUICK)
    assert caught.value.code == 4
    assert "--into" in str(caught.value)


def test_a_file_where_the_folder_should_be(tmp_path: Path, fake: Any) -> None:
    fake()
    (tmp_path / "c").write_text("a file")
    with pytest.raises(RecordError, match="could not begin the cassette") as caught:
        run(tmp_path, BYE)
    assert caught.value.code == 4
    assert (tmp_path / "c").read_text() == "a file"


@pytest.mark.parametrize(
    ("names", "code", "text"),
    [
        (("codex-exek", "text"), 2, "did you mean codex-exec?"),
        (("codex-exec", "txet"), 2, "did you mean 'text'?"),
        (("codex-exec", "command-declined"), 3, "codex exec asks nobody"),
    ],
)
def test_wrong_names(tmp_path: Path, names: tuple[str, str], code: int, text: str) -> None:
    with pytest.raises(RecordError) as caught:
        record(*names, tmp_path / "c")
    assert caught.value.code == code
    assert text in str(caught.value)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    "leak", ["os.environ['HOME'][1:]", "base64.b64encode(os.getcwd().encode()).decode()"]
)
def test_a_leak_fails_the_recording(tmp_path: Path, fake: Any, leak: str) -> None:
    fake()
    body = f"import base64, json, os\nprint(json.dumps({{'a': {leak}}}))\n{BYE}"
    if leak.startswith("os"):
        body = body.replace("[1:]", ".replace('/', '/', 1).encode().hex()")
    message = fails(tmp_path, body, 1)
    assert "must not be in a cassette" in message
    assert "frame 3, at a: the temporary folder's path (" in message
    assert str(tmp_path) not in message


def test_a_secret_of_the_environment_and_the_key(
    tmp_path: Path, fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2hunter2")
    fake(prepare=lambda setup: {"KEY": setup.key})
    body = f"import os\nprint('hunter2' 'hunter2')\nprint(os.environ['KEY'])\n{BYE}"
    message = fails(tmp_path, body, 1)
    assert "2 places hold" in message
    assert "frame 3, at its text: the value of the environment's MY_TOKEN (plain)" in message
    assert "frame 4, at its text: a key that the agent was given (plain)" in message


def test_two_keys_that_become_one(tmp_path: Path, fake: Any) -> None:
    fake(RULES=Rules(patterns=((r"key\d", "key"),)))
    message = fails(tmp_path, f'print(\'{{"key1":1,"key2":2}}\')\n{BYE}', 4)
    assert "two keys of an object become one: key1, key2" in message


def test_a_client_library_of_its_own(tmp_path: Path, fake: Any) -> None:
    async def converse(setup: Setup, wire: Wire) -> None:
        await wire.start(["--stdio"])
        wire.awaiting = "pong"
        await wire.send(b'{"ping": "' + setup.workspace.encode() + b'"}')
        async for frame in wire.frames():
            if frame.channel == "stdout":
                assert frame.data == {"pong": setup.workspace}  # unscrubbed
                wire.unhandled("something")
                return

    fake(converse=converse)
    body = """
        import json, sys
        print(json.dumps({"pong": json.loads(sys.stdin.readline())["ping"]}), flush=True)
        sys.stdin.read()
        """
    got = run(tmp_path, body)
    assert got.unhandled == ["something"]
    with open_cassette(got.path) as cassette:
        assert [f.content for f in cassette] == [
            {"command": ["no-such-agent", "--stdio"]},
            {"ping": "/workspace"},
            {"pong": "/workspace"},
            {"code": 0},
        ]


def test_a_failure_leaves_no_folder_behind(tmp_path: Path, fake: Any) -> None:
    fake()
    with pytest.raises(RecordError):
        run(tmp_path, "import sys\nsys.exit('bad config')\n")
    assert list((tmp_path / "c").rglob("*")) == []
