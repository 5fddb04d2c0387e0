"""Small agents written for the tests, the surface that they speak, and how to run them."""

import asyncio
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import pytest

from harness.cassette import Agent, CassetteWriter, Frame, Header, open_cassette
from harness.cassette.scrub import Rules, Scrubber
from harness.recording.isolation import Namespace
from harness.recording.session import Limits, Session, drive
from harness.recording.strays import end_strays, strays
from harness.scenarios import Scenario, Step, scenario
from harness.surfaces import Manifest, Surface
from harness.surfaces.base import Action, Done, Program, Send, Setup, Start
from harness.surfaces.registry import AgentSource

QUICK = Limits(seconds=10, quiet=0.05, grace=0.3, chatter=0.5)
VERSION = 'import sys\nif sys.argv[1:] == ["--version"]: print("fake 1.2.3"); sys.exit()\n'


def agent(folder: Path, body: str, name: str = "agent") -> str:
    """Write an agent as a Python script that can be executed; return its path."""
    path = folder / name
    path.write_text(f"#!{sys.executable} -IS\n{VERSION}{textwrap.dedent(body)}", "utf-8")
    path.chmod(0o755)
    return str(path)


class FakeDriver:
    """Says hello, and is done at a line whose `bye` is true. `answer` decides the rest."""

    def __init__(self, answer: Callable[[Frame], Iterable[Action]] = lambda _: ()) -> None:
        self._answer = answer
        self.seen: list[Frame] = []

    awaiting = "bye"

    def begin(self) -> Iterable[Action]:
        return [Start([]), Send({"hello": 1})]

    def interrupt(self) -> Iterable[Action]:
        return ()

    def on_frame(self, frame: Frame) -> Iterator[Action]:
        self.seen.append(frame)
        yield from self._answer(frame)
        if isinstance(frame.data, dict) and frame.data.get("bye"):
            yield Done()


class Talk:
    """What came of a conversation: the session, the driver, the frames on disk."""

    def __init__(self, session: Session, driver: FakeDriver, path: Path) -> None:
        self.session = session
        self.driver = driver
        with open_cassette(path) as cassette:
            self.frames = list(cassette)

    def of(self, channel: str) -> list[Any]:
        """Return the contents of the frames on a channel."""
        return [frame.content for frame in self.frames if frame.channel == channel]


def talk(  # noqa: PLR0913 - what a session needs
    folder: Path,
    body: str,
    driver: FakeDriver | None = None,
    *,
    limits: Limits = QUICK,
    namespace: Namespace | None = None,
    held: asyncio.Event | None = None,
) -> Talk:
    """Run an agent with a driver to its end, then assert that no process is left."""
    driver = driver or FakeDriver()
    program = agent(folder, body)
    mark = f"test-{os.getpid()}-{folder.name}"
    path = folder / "out.jsonl"
    scrubber = Scrubber(Rules(), paths={}, words={}, port=1, now=1_800_000_000)

    async def run() -> Session:
        with CassetteWriter(path, header()) as writer:
            session = Session(
                program,
                "agent",
                env={"HARNESS_RECORDING": mark, "FOLDER": str(folder)},
                cwd=str(folder),
                writer=writer,
                scrubber=scrubber,
                limits=limits,
                namespace=namespace,
                held=held,
            )
            try:
                async with asyncio.timeout(limits.seconds):
                    await drive(session, driver, driver.begin())
                    await session.settle()
            finally:
                await session.kill()
                await end_strays(mark, namespace)
            writer.finish(complete=True)
            return session

    try:
        session = asyncio.run(run())
    finally:
        assert strays(mark, namespace) == []
    return Talk(session, driver, path)


def header() -> Header:
    """Return a header for a fake recording."""
    return Header(
        cassette=1,
        surface="fake",
        provider="acp",
        agent=Agent("fake", "1.2.3"),
        scenario="text",
        provenance="scripted",
        recorded="2026-01-01T00:00:00Z",
    )


class FakeSurface(Surface):
    """A surface that no folder holds; its agent is whatever `--agent-path` names."""

    def __init__(self, driver: Callable[[Setup], Any] | None = None, **parts: Any) -> None:
        super().__init__(Path("fake"))
        self.__dict__["manifest"] = Manifest(
            surface="fake",
            provider="acp",
            title="Fake",
            tier="base",
            tier_reason="none",
            agents=[AgentSource("fake", "pip install fake")],
            excluded={"reasoning": "it does not think"},
        )
        make = driver or (lambda _: FakeDriver())
        usual = {
            "PROGRAM": Program(agent="fake", command="no-such-agent"),
            "PROTOCOL": "fake",
            "CAPABILITIES": {},
            "RULES": Rules(),
            "prepare": lambda _: {},
        }
        # With a `converse` of its own it has no driver.
        if "converse" not in parts:
            usual["make_driver"] = make
        self._recorder = SimpleNamespace(**(usual | parts))

    @property
    def recorder(self) -> Any:
        return self._recorder


class NoModel:
    """Stands in for the model server where the agent asks no model."""

    def __init__(self, scenario: Scenario, workspace: str, sockets: list[Any]) -> None:  # noqa: ARG002
        self.port = int(sockets[0].getsockname()[1])
        self.notices: list[str] = []
        self.held = asyncio.Event()

    def refusals(self) -> list[str]:
        return []

    def used(self, step: Step) -> bool:  # noqa: ARG002 - as `Model`
        return False

    def unmet(self) -> list[str]:
        return []

    def stir(self) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


def story() -> Scenario:
    """Return the simplest scenario."""
    return scenario("text")


@pytest.fixture(autouse=True)
def no_temporary_folder_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    temp = tmp_path / "temp"
    temp.mkdir()
    monkeypatch.setenv("TMPDIR", str(temp))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield
    assert list(temp.iterdir()) == []
