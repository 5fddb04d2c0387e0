"""Real agents through the gateway, and driven again from what it kept: the same cassette."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cassette import open_cassette
from harness.gateway.live import Gateway
from harness.recording import RecordError, record
from harness.recording.agents import find_agent
from harness.recording.isolation import why_not
from harness.recording.models import Live, Taped
from harness.recording.verify import differences
from harness.surfaces import surface
from tests.gateway.upstream import KEY, VARIABLE, provider

# Each of the four APIs once, then others; what takes long is left to CI.
CASES = [
    ("codex-exec", "codex", "multi-turn", "openai-responses"),
    ("claude-sdk", "claude-code", "command-approved", "anthropic-messages"),
]
SLOW = [
    ("opencode", "opencode", "command", "openai-chat"),
    ("acp", "gemini-cli", "command-approved", "gemini"),
    ("codex-exec", "codex", "file-edit", "openai-responses"),
    ("codex-exec", "codex", "cancel-before-first-token", "openai-responses"),
    ("codex-app-server", "codex", "interrupt-text", "openai-responses"),
    ("codex-app-server", "codex", "command-declined", "openai-responses"),
    ("codex-app-server", "codex", "rate-limited", "openai-responses"),
    ("claude-sdk", "claude-code", "file-edit", "anthropic-messages"),
    ("claude-sdk", "claude-code", "rate-limited", "anthropic-messages"),
    ("claude-sdk", "claude-code", "subagent", "anthropic-messages"),
    ("acp", "opencode", "multi-turn", "openai-chat"),
    ("acp", "cline", "command", "openai-chat"),
    ("acp", "opencode", "file-edit", "openai-chat"),
    ("acp", "gemini-cli", "multi-turn", "gemini"),
]
pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(why_not() is not None, reason=f"no isolation: {why_not()}"),
    pytest.mark.timeout(300),
]


def found(room: str, agent: str) -> str:
    """Return the id of its cassettes; skip where there is none."""
    try:
        version = find_agent(surface(room), None, agent).version
    except RecordError as error:
        pytest.skip(str(error))
    return f"{room}/{agent}-{version}"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the bodies that the agent sends, as they are."""
    bodies: list[bytes] = []
    keep = Gateway.cassette

    def cassette(self: Gateway) -> Any:
        bodies.extend(kept.asked.body for kept in self.kept)
        return keep(self)

    monkeypatch.setattr(Gateway, "cassette", cassette)
    monkeypatch.setenv(VARIABLE, KEY)
    return bodies


@pytest.mark.parametrize(
    ("room", "agent", "story", "api"),
    [*CASES, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
)
def test_recorded_and_driven_again(
    tmp_path: Path, sent: list[bytes], room: str, agent: str, story: str, api: str
) -> None:
    id_ = f"{found(room, agent)}/{story}"
    with provider(story, id_) as upstream:
        address = f"http://127.0.0.1:{upstream.port}"
        one = record(room, story, tmp_path / "a", agent=agent, model=Live(address, VARIABLE))
        assert upstream.problems == []
        assert upstream.unused() == []
    assert one.isolated
    tape = tmp_path / "a" / f"{id_}.model.yaml"
    other = record(room, story, tmp_path / "b", agent=agent, model=Taped(tape))
    assert differences(one.path, other.path) == []
    with open_cassette(one.path) as cassette:
        assert cassette.header.provenance == "live"
    data = yaml.safe_load(tape.read_text("utf-8"))
    assert {e["api"] for e in data["metadata"]["harness"]["exchanges"]} == {api}
    own = list(texts_of_the_agent(sent))
    # It has said a lot to its model.
    assert sum(map(len, own)) > 2000
    said = "\n".join(strings(data)) + tape.read_text("utf-8")
    wire = one.path.read_text("utf-8")
    assert [line for line in own if line in said] == []
    assert [line for line in own if json.dumps(line)[1:-1] in wire] == []
    for name in (KEY, os.uname().nodename):
        assert name not in said


def texts_of_the_agent(sent: list[bytes]) -> Iterator[str]:
    """Yield the lines of the system prompts and of the texts of tools, those that say anything."""
    seen = set()
    for body in map(json.loads, sent):
        parts = [body.get(name) for name in ("system", "instructions", "systemInstruction")]
        listed = [*body.get("input", []), *body.get("messages", [])]
        parts += [m for m in listed if m.get("role") in {"system", "developer"}]
        for text in [*strings(parts), *described(body.get("tools"))]:
            for line in text.splitlines():
                if len(line.strip()) >= 40 and line not in seen:
                    seen.add(line)
                    yield line.strip()


def described(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "description" and isinstance(inner, str):
                yield inner
            yield from described(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from described(inner)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (str(key), *strings(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


@pytest.mark.usefixtures("sent")
def test_what_another_version_asks(tmp_path: Path) -> None:
    """A recording of another Codex: the closest request is named, and where it differs."""
    room, agent = "codex-exec", "codex"
    id_ = f"{found(room, agent)}/text"
    older = found(room, "codex-cli")
    with provider("text", id_) as upstream:
        address = f"http://127.0.0.1:{upstream.port}"
        record(room, "text", tmp_path, agent=agent, model=Live(address, VARIABLE))
    tape = tmp_path / f"{id_}.model.yaml"
    with pytest.raises(RecordError) as caught:
        record(room, "text", tmp_path, agent="codex-cli", model=Taped(tape))
    assert caught.value.code == 1
    text = str(caught.value)
    assert "has no answer to POST /v1/responses (Say hello to the world.)" in text
    assert "the closest is 1: POST /v1/responses" in text
    assert "differs in body." in text
    of = id_.split("/")[1]
    assert f"it was recorded of {of}, and this is {older.split('/')[1]}" in text
    assert not (tmp_path / f"{older}/text.jsonl").exists()
