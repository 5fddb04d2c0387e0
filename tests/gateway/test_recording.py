"""A whole recording through the gateway, and the agent driven again from it."""

import json
import socket
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from harness.cassette import open_cassette
from harness.cli import main
from harness.gateway.live import Gateway
from harness.gateway.tape import cassette_config, load_tape
from harness.pending import waiting
from harness.recording.errors import RecordError
from harness.recording.models import Live, Taped
from tests.gateway.fakes import (
    ASKS,
    BYE,
    HELLO,
    ID,
    KEY,
    PROMPT,
    TAPE,
    VARIABLE,
    Call,
    Provider,
    chat,
    machine,
    providing,
    run,
    saying,
    whole,
)
from tests.recording.fakes import (
    no_temporary_folder_is_left,  # noqa: F401 - a fixture of every test
)

pytestmark = pytest.mark.usefixtures("fake")


def live(provider: Provider, **more: Any) -> Live:
    return Live(provider.url, VARIABLE, **more)


def said(path: Path) -> list[Any]:
    with open_cassette(path) as cassette:
        return [f.data["said"] for f in cassette if f.channel == "stdout" and "said" in f.data]


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def recorded(folder: Path, body: str = HELLO, *answers: Any) -> Path:
    """Return a model's cassette, recorded."""
    with providing(*(answers or (saying(),))) as provider:
        run(folder, body, live(provider))
    return folder / "c" / TAPE


def fails(folder: Path, body: str, model: Any, code: int) -> str:
    """Record with an error; return it, after a look that nothing was written."""
    before = files(folder / "c") if (folder / "c").exists() else []
    with pytest.raises(RecordError) as caught:
        run(folder, body, model)
    assert caught.value.code == code, caught.value
    assert (files(folder / "c") if (folder / "c").exists() else []) == before
    assert KEY not in str(caught.value)
    return str(caught.value)


def test_recorded_once_and_played(tmp_path: Path) -> None:
    with providing(saying()) as provider:
        got = run(tmp_path, HELLO, live(provider))
    assert files(tmp_path / "c") == [f"{ID}.jsonl", TAPE]
    ((path, headers, body),) = provider.seen
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["accept-encoding"] == "identity"
    assert json.loads(body)["messages"][1]["content"] == PROMPT
    assert said(got.path) == [[200, b"".join(chat("Hello")).decode()]]
    again = run(tmp_path, HELLO, Taped(tmp_path / "c" / TAPE), "again")
    assert said(again.path) == said(got.path)
    for recording in (got, again):
        with open_cassette(recording.path) as cassette:
            assert cassette.header.provenance == "live"
            assert cassette.header.sources == ["a real model's answers, in text.model.yaml"]
    assert files(tmp_path / "again") == [f"{ID}.jsonl"]


def test_the_file_is_vcrpys_and_has_no_more_than_matching_needs(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    data = yaml.safe_load(path.read_text("utf-8"))
    assert sorted(data) == ["interactions", "metadata", "version"]
    (pair,) = data["interactions"]
    assert pair["request"] == {
        "method": "POST",
        "uri": "https://model.invalid/v1/chat/completions",
        "headers": {"content-type": ["application/json"]},
        "body": pair["request"]["body"],
    }
    system, user = json.loads(pair["request"]["body"])["messages"]
    assert user == {"role": "user", "content": PROMPT}
    assert system["role"] == "system"
    assert system["content"]["chars"] == len("You are careful.")
    assert pair["response"]["headers"] == {"content-type": ["text/event-stream"]}
    assert pair["response"]["body"] == {"string": b"".join(chat("Hello")).decode()}
    (exchange,) = data["metadata"]["harness"]["exchanges"]
    sizes = [int(event.split(":")[1]) for event in exchange["events"].split()]
    assert sizes == [len(event) for event in chat("Hello")]
    assert (exchange["api"], exchange["end"]) == ("openai-chat", "whole")
    assert "careful" not in path.read_text("utf-8")


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key(tmp_path: Path, status: int) -> None:
    answer = whole(json.dumps({"error": {"message": f"No such key: {KEY}"}}).encode(), status)
    with providing(answer) as provider:
        text = fails(tmp_path, HELLO, live(provider), 5)
    assert f"refused POST /v1/chat/completions with {status}: No such key: …;" in text
    assert len(provider.seen) == 1


def test_another_failure_is_a_part_of_the_conversation(tmp_path: Path) -> None:
    busy = whole(b'{"error":{"message":"Try later"}}', 429, retry_after="1")
    body = f"{ASKS}    say(ask(chat({PROMPT!r})))\n    say(ask(chat({PROMPT!r}))){BYE}"
    with providing(busy, saying()) as provider:
        got = run(tmp_path, body, live(provider))
    assert "the provider answered POST /v1/chat/completions with 429: Try later" in got.notices
    assert [status for status, _ in said(got.path)] == [429, 200]
    again = run(tmp_path, body, Taped(tmp_path / "c" / TAPE), "again")
    # The same request twice: each answer once, in its order.
    assert said(again.path) == said(got.path)


def test_a_provider_that_fails_half_way(tmp_path: Path) -> None:
    def breaks(call: Call) -> None:
        call.begin()
        call.piece(chat("Hello")[0])
        call.close_connection = True

    with providing(breaks) as provider:
        text = fails(tmp_path, HELLO, live(provider), 5)
    assert f"broke off after {len(chat('Hello')[0])} bytes" in text
    assert "nothing is kept" in text


def test_an_answer_that_ends_too_early(tmp_path: Path) -> None:
    def stops(call: Call) -> None:
        call.begin()
        call.piece(chat("Hello")[0])
        call.end()

    with providing(stops) as provider:
        text = fails(tmp_path, HELLO, live(provider), 5)
    assert "without the event that ends it" in text


def test_a_provider_that_is_not_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    text = fails(tmp_path, HELLO, Live(f"http://127.0.0.1:{port}", VARIABLE), 5)
    assert f"asking the model's provider, http://127.0.0.1:{port}/v1/chat/completions:" in text


def test_what_asks_no_model_is_not_for_the_provider(tmp_path: Path) -> None:
    body = f"{ASKS}    say(ask({{}}, '/api/event_logging'))\n    say(ask(chat({PROMPT!r}))){BYE}"
    with providing(saying()) as provider:
        got = run(tmp_path, body, live(provider))
    assert [path for path, _, _ in provider.seen] == ["/v1/chat/completions"]
    assert said(got.path)[0][0] == 404


def test_another_model_is_asked_for(tmp_path: Path) -> None:
    with providing(saying()) as provider:
        run(tmp_path, HELLO, live(provider, model="large-3"))
    assert json.loads(provider.seen[0][2])["model"] == "large-3"
    # What the agent asks for is what it will ask for again.
    assert '"model":"m"' in (tmp_path / "c" / TAPE).read_text("utf-8")


def test_a_request_that_no_longer_matches(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    other = HELLO.replace('"model": "m"', '"model": "m2"')
    text = fails(tmp_path, other, Taped(tape), 1)
    assert "has no answer to POST /v1/chat/completions (Say hello to the world.)" in text
    assert "the closest is 1: POST /v1/chat/completions" in text
    assert "differs in body.model: recorded m, came m2" in text


def test_another_system_prompt_is_another_request(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    text = fails(tmp_path, HELLO.replace("careful", "quick"), Taped(tape), 1)
    assert "differs in body.messages.0.content: recorded {" in text
    assert '"chars":16' in text
    assert '"chars":14' in text


def test_a_request_that_was_played_already(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    body = f"{ASKS}    say(ask(chat({PROMPT!r})))\n    say(ask(chat({PROMPT!r}))){BYE}"
    text = fails(tmp_path, body, Taped(tape), 1)
    assert "the same, and played already" in text


def test_what_was_not_played(tmp_path: Path) -> None:
    body = f"{ASKS}    say(ask(chat({PROMPT!r})))\n    say(ask(chat('More.'))){BYE}"
    tape = recorded(tmp_path, body)
    text = fails(tmp_path, HELLO, Taped(tape), 1)
    assert "the model's cassette was not followed" in text
    assert "an exchange that was not played: 2: POST /v1/chat/completions" in text


def test_what_a_live_recording_never_replaces(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    foreign = b"interactions: []\nversion: 1\n"
    tape.write_bytes(foreign)
    with providing(saying()) as provider:
        text = fails(tmp_path, HELLO, live(provider), 4)
    assert "it has no interactions; it was not touched" in text
    assert tape.read_bytes() == foreign
    assert provider.seen == []


def test_a_changed_one_waits_beside_the_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.recording.placing.in_ci", lambda: False)
    monkeypatch.setattr("harness.recording.placing.differences", lambda *_: ["another answer"])
    before = recorded(tmp_path).read_bytes()
    tape = recorded(tmp_path, HELLO, saying("Good day"))
    assert tape.read_bytes() == before
    new = tape.with_name(f"{TAPE}.new".split("/")[-1])
    assert "Good day" in new.read_text("utf-8")
    # Accepted, they go into place together.
    agents = tape.with_name("text.jsonl")
    pair = [waiting(agents).read_bytes(), new.read_bytes()]
    (tmp_path / "c").rename(tmp_path / "cassettes")
    agents, tape = (
        Path(tmp_path / "cassettes" / "fake/fake-1.2.3", p.name) for p in (agents, tape)
    )
    assert main(["--root", str(tmp_path), "review", "--accept"]) == 0
    assert [agents.read_bytes(), tape.read_bytes()] == pair
    assert [waiting(path).exists() for path in (agents, tape)] == [False, False]


def test_nothing_is_written_over_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.recording.placing.in_ci", lambda: True)
    monkeypatch.setattr("harness.recording.placing.differences", lambda *_: ["another answer"])
    recorded(tmp_path)
    before = files(tmp_path / "c")
    recorded(tmp_path, HELLO, saying("Good day"))
    assert files(tmp_path / "c") == before


def test_no_key_no_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    with providing(saying()) as provider:
        text = fails(tmp_path, HELLO, live(provider), 2)
    assert f"{VARIABLE} is not set" in text


def test_without_vcrpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "harness.gateway.recording", None)
    text = fails(tmp_path, HELLO, Live("", VARIABLE), 5)
    assert "pip install 'agent-wire-conformance[live]'" in text


def test_a_fault_of_the_gateway_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Gateway, "_request", broken)
    with providing(saying()) as provider:
        text = fails(tmp_path, HELLO, live(provider), 1)
    assert "the gateway failed: ZeroDivisionError: oh; report this" in text


def test_played_a_month_later_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    tape = recorded(tmp_path, HELLO, saying(f"It is {today}.", created=int(time.time())))
    assert today in tape.read_text("utf-8")
    later = time.time() + 30 * 86400
    clock = SimpleNamespace(time=lambda: later, monotonic=time.monotonic)
    monkeypatch.setattr(machine, "time", clock)
    again = run(tmp_path, HELLO, Taped(tape), "again")
    assert said(again.path) == said(tmp_path / "c" / f"{ID}.jsonl")
    assert "2026-01-01T00:00:00Z" in said(again.path)[0][1]


def test_no_such_file(tmp_path: Path) -> None:
    text = fails(tmp_path, HELLO, Taped(corpus=tmp_path / "c"), 4)
    assert "no such file; record one with --live" in text
    other = tmp_path / "c" / "fake" / "fake-1.0.0" / "text.model.yaml"
    other.parent.mkdir(parents=True)
    other.touch()
    text = fails(tmp_path, HELLO, Taped(corpus=tmp_path / "c"), 4)
    assert f"there are {other}: name one with --model-cassette FILE" in text


def test_the_folder_is_in_use(tmp_path: Path) -> None:
    import fcntl

    tape = recorded(tmp_path)
    _, meta = load_tape(tape, cassette_config((), ()))
    lock = Path(f"{meta.folder}.lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        text = fails(tmp_path, HELLO, Taped(tape), 4)
        assert "is in use by another recording" in text
        assert not Path(meta.folder).exists()
    lock.unlink(missing_ok=True)


def test_a_file_that_names_another_folder(tmp_path: Path) -> None:
    tape = recorded(tmp_path)
    _, meta = load_tape(tape, cassette_config((), ()))
    tape.write_text(tape.read_text("utf-8").replace(meta.folder, str(tmp_path)), "utf-8")
    text = fails(tmp_path, HELLO, Taped(tape), 4)
    assert "is no folder of a recording" in text
    assert tmp_path.exists()


def test_an_agent_that_leaves_is_left_again(tmp_path: Path) -> None:
    def waits(call: Call) -> None:
        call.begin()
        call.piece(chat("Hello")[0])
        call.rfile.read(1)  # until the gateway has gone

    body = (
        ASKS
        + f"""
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["MODEL_PORT"]), timeout=20)
    connection.request("POST", "/v1/chat/completions", json.dumps(chat({PROMPT!r})).encode())
    answer = connection.getresponse()
    say(answer.readline().decode())
    answer.close()
    connection.close(){BYE}"""
    )
    with providing(waits) as provider:
        got = run(tmp_path, body, live(provider))
    _, meta = load_tape(tmp_path / "c" / TAPE, cassette_config((), ()))
    assert [exchange.end for exchange in meta.exchanges] == ["left"]
    again = run(tmp_path, body, Taped(tmp_path / "c" / TAPE), "again")
    assert said(again.path) == said(got.path) == [chat("Hello")[0].decode().splitlines()[0] + "\n"]
