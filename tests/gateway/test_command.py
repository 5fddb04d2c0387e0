"""`harness record --live` and `--model-cassette`, as they are typed."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.gateway.upstream import Upstream
from harness.project import project_at
from harness.recording.errors import RecordError
from harness.recording.isolation import why_not
from harness.recording.models import Live
from harness.recording.record import record
from tests.gateway.fakes import (
    BYE,
    HELLO,
    ID,
    KEY,
    TAPE,
    VARIABLE,
    Call,
    chat,
    providing,
    run,
    saying,
)
from tests.gateway.upstream import folder
from tests.recording.fakes import QUICK, agent

RECORD = ["record", "--surface", "codex-exec", "--scenario", "text"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--upstream", "http://x"], "--upstream is a choice of --live"),
        (["--key-env", "X"], "--key-env is a choice of --live"),
        (["--model", "x", "--model-cassette"], "--model is a choice of --live"),
        (["--live", "--upstream", "ftp://x"], "an address such as https://api.openai.com"),
        (["--live", "--upstream", "https://u:secret@x"], "without user, query and fragment"),
        (["--live", "--upstream", "https://x/?key=secret"], "without user, query and fragment"),
        (["--live", "--upstream", "https://x:port"], "Port could not be cast"),
        (["--live", "--key-env", "NO_SUCH_KEY"], "NO_SUCH_KEY is not set"),
        (["--live"], "OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY are not"),
        (["--model-cassette", "x.yaml", "--scenario", "unicode"], "is one recording's"),
    ],
)
def test_usage(
    arguments: list[str],
    text: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HARNESS_UPSTREAM", raising=False)
    assert main([*RECORD, *arguments]) == 2
    error = capsys.readouterr().err
    assert text in error
    assert "secret" not in error


def test_live_and_played_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*RECORD, "--live", "--model-cassette"])
    assert caught.value.code == 2
    assert "not allowed with argument" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://models.example", True),
        ("https://models.example", False),
        ("http://127.0.0.1:1", False),
        ("http://[::1]:1", False),
        ("http://localhost", False),
        ("http://127.0.0.1.example", True),
        ("", False),
    ],
)
def test_a_provider_in_the_clear(url: str, warned: bool) -> None:
    upstream = Upstream(Live(url), {"OPENAI_API_KEY": KEY})
    assert ("is not https" in upstream.notice()) is warned


def test_addresses() -> None:
    path = "/v1/chat/completions"
    for base, whole in (
        ("", f"https://api.openai.com{path}"),
        ("https://x", f"https://x{path}"),
        ("https://x/", f"https://x{path}"),
        ("https://x/v1", f"https://x{path}"),
        ("https://x/api/v1/", f"https://x/api{path}"),
        ("https://x/api", f"https://x/api{path}"),
    ):
        upstream = Upstream(Live(base), {"OPENAI_API_KEY": KEY})
        assert upstream.url("openai-chat", path, "") == whole
    assert upstream.url("gemini", "/v1beta/models/m:generateContent", "alt=sse") == (
        "https://x/api/v1beta/models/m:generateContent?alt=sse"
    )
    assert (
        Upstream(Live(), {"HARNESS_UPSTREAM": "https://y", "OPENAI_API_KEY": KEY}).url(
            "openai-chat", path, ""
        )
        == f"https://y{path}"
    )


def test_each_api_has_its_own_key() -> None:
    upstream = Upstream(Live(), {"GOOGLE_API_KEY": KEY, "ANTHROPIC_API_KEY": f"{KEY}-2\n"})
    assert upstream.key("gemini") == KEY
    assert upstream.key("anthropic-messages") == f"{KEY}-2"
    with pytest.raises(RecordError, match="OPENAI_API_KEY is not set") as caught:
        upstream.key("openai-responses")
    assert caught.value.code == 2
    named = Upstream(Live("", "MINE"), {"MINE": KEY, "GOOGLE_API_KEY": "another-one"})
    assert [named.key(api) for api in ("gemini", "openai-chat")] == [KEY, KEY]
    assert named.keys == [KEY]
    for bad in ("short", "with\nline", "ünicode-key-here"):
        with pytest.raises(RecordError, match="is no key") as caught:
            Upstream(Live("", "MINE"), {"MINE": bad})
        assert bad not in str(caught.value)


@pytest.mark.usefixtures("fake")
def test_live_an_agent_is_isolated_or_there_is_no_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.recording.job.why_not", lambda: "no namespaces here")
    with providing(saying()) as provider, pytest.raises(RecordError) as caught:
        record(
            "fake",
            "text",
            tmp_path,
            agent_path=agent(tmp_path, HELLO),
            limits=QUICK,
            model=Live(provider.url, VARIABLE),
        )
    assert caught.value.code == 5
    assert "isolating the agent: no namespaces here" in str(caught.value)
    assert provider.seen == []


@pytest.mark.usefixtures("fake")
@pytest.mark.skipif(why_not() is not None, reason=f"no isolation: {why_not()}")
def test_an_isolated_agent_reaches_the_gateway_alone(tmp_path: Path) -> None:
    with providing(saying()) as provider:
        direct = f"""
    import socket
    try:
        socket.create_connection(("127.0.0.1", {provider.server_address[1]}), 5)
        say("reached")
    except OSError as error:
        say(type(error).__name__){BYE}"""
        body = HELLO.replace(BYE, direct)
        got = record(
            "fake",
            "text",
            tmp_path,
            agent_path=agent(tmp_path, body),
            limits=QUICK,
            model=Live(provider.url, VARIABLE),
        )
        assert len(provider.seen) == 1
    assert got.isolated
    assert '"said":"ConnectionRefusedError"' in got.path.read_text("utf-8")


@pytest.mark.usefixtures("fake")
def test_a_models_cassette_is_no_cassette_of_the_corpus(tmp_path: Path) -> None:
    with providing(saying()) as provider:
        run(tmp_path, HELLO, Live(provider.url, VARIABLE), "cassettes")
    project = project_at(tmp_path)
    assert [project.cassette_id(path) for path in project.cassette_paths()] == [ID]
    assert (project.cassettes / TAPE).is_file()


KILLED = """
import sys
from pathlib import Path
import harness.recording.record
from harness.recording.models import Live
from tests.gateway import fakes
room = fakes.room()
fakes.module.surface = lambda _: room
from tests.gateway.fakes import HELLO, VARIABLE, run
run(Path(sys.argv[1]), HELLO, Live(sys.argv[2], VARIABLE))
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_ended_in_the_middle_nothing_is_left(tmp_path: Path, name: str) -> None:
    begun = threading.Event()

    def waits(call: Call) -> None:
        call.begin()
        call.piece(chat("Hello")[0])
        begun.set()
        call.rfile.read(1)

    with providing(waits) as provider:
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), provider.url],
            env={**os.environ, VARIABLE: KEY},
            cwd=Path(__file__).parents[2],
            stderr=subprocess.PIPE,
        )
        with process:
            assert begun.wait(20)
            process.send_signal(signal.Signals[name])
            assert process.wait(20) != 0
    assert [p for p in tmp_path.glob("c/**/*") if p.is_file()] == []
    assert not folder(ID).exists()
    assert not folder(ID).with_name(f"{folder(ID).name}.lock").exists()


@pytest.mark.agents
@pytest.mark.slow
@pytest.mark.skipif(why_not() is not None, reason=f"no isolation: {why_not()}")
def test_verified_means_driven_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.gateway.test_real_agents import found
    from tests.gateway.upstream import provider

    monkeypatch.setenv(VARIABLE, KEY)
    id_ = f"{found('codex-exec', 'codex')}/text"
    with provider("text", id_) as upstream:
        chosen = ["--agent", "codex", "--live", "--key-env", VARIABLE, "--verify", "--json"]
        address = ["--upstream", f"http://127.0.0.1:{upstream.port}", "--into", str(tmp_path)]
        assert main([*RECORD, *chosen, *address]) == 0
        assert len(upstream.requests) == 1
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert rows[0]["differences"] == []
    assert rows[0]["model_cassette"] == str(tmp_path / f"{id_}.model.yaml")
    played = ["--agent", "codex", "--model-cassette", rows[0]["model_cassette"]]
    assert main([*RECORD, *played, "--into", str(tmp_path / "again"), "--verify"]) == 0
    assert "the same when recorded again" in capsys.readouterr().out
