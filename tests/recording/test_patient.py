"""A `patient` agent's scripted model: it answers once the agent is silent, and not before."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from harness.model_server import ModelServer
from harness.model_server import server as server_module
from harness.model_server.script import Place
from harness.recording.job import Job
from harness.recording.models import Model
from harness.scenarios import scenario
from harness.surfaces import surface, surfaces
from harness.surfaces.registry import AgentSource, Manifest

S = server_module._SILENCE


class Clock:
    """A loop's time that only its own sleep moves; `said` is when the agent tells something."""

    def __init__(self, server: ModelServer, said: list[float]) -> None:
        self.server = server
        self.said = said
        self.now = 0.0
        self.slept: list[float] = []

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.now + seconds
        while self.said and self.said[0] <= until:
            self.now = self.said.pop(0)
            self.server.stir()
        self.now = until


def answered_at(monkeypatch: pytest.MonkeyPatch, *, patient: bool, said: list[float]) -> float:
    """When the first answer of a conversation has its turn, if the agent speaks at these times."""
    server = ModelServer(scenario("text"), workspace="/w")
    server.patient = patient
    clock = Clock(server, said)
    fake: Any = SimpleNamespace(get_running_loop=lambda: clock, sleep=clock.sleep)
    with monkeypatch.context() as patched:
        patched.setattr(server_module, "asyncio", fake)
        asyncio.run(server.turn_of(Place(0, 0)))
    return clock.now


@pytest.mark.parametrize(
    ("said", "due"),
    [
        ([], S),
        ([S / 2], S / 2 + S),
        ([S / 2, S, 1.9 * S], 1.9 * S + S),
        # What it says after a silence comes after the answer.
        ([1.1 * S], S),
    ],
)
def test_it_answers_once_the_agent_is_silent(
    monkeypatch: pytest.MonkeyPatch, said: list[float], due: float
) -> None:
    assert answered_at(monkeypatch, patient=True, said=list(said)) == pytest.approx(due)
    assert answered_at(monkeypatch, patient=False, said=list(said)) == 0


@contextlib.contextmanager
def served(source: AgentSource) -> Iterator[Model]:
    """The model server of a recording of that agent."""
    job = Job.__new__(Job)
    job.real, job.story, job.source = None, scenario("text"), source
    home: Any = SimpleNamespace(workspace=Path("/w"))
    found: Any = None
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        yield job._serve(found, home, listener)


@pytest.mark.parametrize("patient", [True, False])
def test_what_the_entry_says_is_what_its_server_is(patient: bool) -> None:
    entry = f"{{name: some, patient: {str(patient).lower()}}}"
    with served(msgspec.yaml.decode(entry, type=AgentSource)) as server:
        assert isinstance(server, ModelServer)
        assert server.patient is patient
    with served(msgspec.yaml.decode("{name: some}", type=AgentSource)) as server:
        assert isinstance(server, ModelServer)
        assert not server.patient


def test_who_is_patient() -> None:
    manifests: list[Manifest] = [s.manifest for s in surfaces().values()]
    found = {(m.surface, a.name) for m in manifests for a in m.agents if a.patient}
    assert found == {("codex-app-server", "codex-cli"), ("codex-exec", "codex-cli")}
    source = surface("codex-exec").manifest.agent("codex-cli")
    assert source is not None
    with served(source) as server:
        assert isinstance(server, ModelServer)
        assert server.patient
