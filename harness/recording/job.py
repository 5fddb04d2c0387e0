"""One recording, from the start of its agent to a cassette that may be put in place."""

import asyncio
import contextlib
import os
import socket
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from harness.cassette import (
    FORMAT_VERSION,
    Agent,
    CassetteError,
    CassetteWriter,
    Header,
    Provenance,
    open_cassette,
)
from harness.cassette.leaks import Secret, find_leaks
from harness.cassette.scrub import Scrubber, ScrubError
from harness.model_server import ModelServer
from harness.playback.shim import PLAYED, Played
from harness.recording.agents import Found, wrong_version
from harness.recording.configure import configure
from harness.recording.deciding import Client, Decider, OneByOne, is_one_by_one, own_copy
from harness.recording.errors import RecordError
from harness.recording.home import KEY, Home
from harness.recording.isolation import IsolationError, Namespace, why_not
from harness.recording.machine import scrubber_of, secrets_of
from harness.recording.models import Choice, Model, unless_failing
from harness.recording.placing import Placing, Result
from harness.recording.played import keep_real, sources_of
from harness.recording.session import Limits, Session, drive
from harness.recording.strays import end_strays
from harness.scenarios import Scenario
from harness.surfaces import Surface
from harness.surfaces.base import Action, Driver, Program, Setup, Start
from harness.surfaces.registry import AgentSource

if TYPE_CHECKING:
    from harness.gateway.recording import RealModel

_LEAKS_SHOWN = 3


class Progress(Struct, frozen=True):
    """Where a recording is: a step in words, and the frames so far."""

    step: str
    frames: int


class Recording(Struct, frozen=True):
    """What came of a recording. `seconds` is wall time; `notices` are worth a person's look.

    `result` and `changed` are what became of it (`Placing`); `path` is the file that is there.

    `refused_connections` counts attempts to leave the network namespace (None: not isolated),
    `unhandled` names what the agent asked and the client did not know, `model` is the cassette
    with a real model's answers.
    """

    surface: str
    scenario: str
    agent: str
    path: Path
    frames: int
    seconds: float
    isolated: bool
    refused_connections: int | None
    unhandled: list[str]
    notices: list[str]
    model: Path | None = None
    result: Result = "new"
    changed: list[str] = []


class Job:
    """One recording; its parts live exactly as long as `run`."""

    def __init__(  # noqa: PLR0913, PLR0917 - as `record`
        self,
        room: Surface,
        program: Program,
        story: Scenario,
        into: Path,
        limits: Limits,
        port: int,
        on_event: Callable[[Progress], None],
        model: Choice,
        placing: Placing,
        client: Client | None = None,
    ) -> None:
        self.client = client
        self.model = model
        self.real: RealModel | None = None
        self.room = room
        self.program = program
        # Decided one by one, a turn's decisions are put into it.
        self.story = replace(story, turns=own_copy(story.turns)) if is_one_by_one(story) else story
        self.into = into
        self.limits = limits
        self.port = port
        self.on_event = on_event
        self.notices: list[str] = []
        self.mark = uuid.uuid4().hex
        self.placing = placing
        self.source = room.manifest.agent(program.agent) or AgentSource(program.agent)

    async def run(self, found: Found, isolate: bool | None) -> Recording:  # noqa: FBT001
        """Record it. Raises RecordError; then nothing was changed, and no process is left."""
        begun = time.monotonic()
        if notice := wrong_version(self.room, found, self.program.agent):
            self.notices.append(notice)
        if self.source.stand_in:
            self.notices.append(f"no agent: {self.source.stand_in}")
        self.on_event(Progress("starting", 0))
        with contextlib.ExitStack() as stack:
            root = self._real(found, stack)
            home = stack.enter_context(Home(self.story.files, self.mark, root))
            namespace = self._isolate(isolate)
            if namespace is not None:
                stack.enter_context(namespace)
            listener = stack.enter_context(namespace.server if namespace else _listen(self.port))
            async with self._serve(found, home, listener) as server:
                path, session = await self._converse(found, home, server, namespace)
                refused = namespace.refused() if namespace else None
        return Recording(
            surface=self.room.name,
            scenario=self.story.id,
            agent=f"{self.program.agent}-{found.version}",
            path=path,
            frames=session.recorded,
            seconds=time.monotonic() - begun,
            isolated=namespace is not None,
            refused_connections=refused,
            unhandled=session.asked,
            notices=self.notices,
            model=self.real.tape if self.real else None,
            result=self.placing.result,
            changed=self.placing.changed,
        )

    def _real(self, found: Found, stack: contextlib.ExitStack) -> Path | None:
        """Return where a recording with a real model's answers works; None where it is any."""
        if self.model is None:
            return None
        try:
            from harness.gateway.recording import (  # noqa: PLC0415 - an extra of its own
                RealModel,
                held_folder,
            )
        except ImportError as error:
            raise RecordError(
                5, f"a real model's answers: {error}; pip install 'agent-wire-conformance[live]'"
            ) from error
        id_ = f"{self.room.name}/{self.program.agent}-{found.version}/{self.story.id}"
        self.real = RealModel(self.model, id_, self.into)
        stack.enter_context(held_folder(self.real.folder))
        return self.real.folder

    def _serve(self, found: Found, home: Home, listener: socket.socket) -> Model:
        if self.real is None:
            server = ModelServer(self.story, workspace=str(home.workspace), sockets=[listener])
            server.patient = self.source.patient
            return server
        port = int(listener.getsockname()[1])
        return self.real.serve(self.story, lambda: self._scrubber(found, home, port).text, listener)

    def _isolate(self, isolate: bool | None) -> Namespace | None:  # noqa: FBT001
        if isolate is False:
            return None
        reason = why_not()
        if reason is None:
            try:
                return Namespace(self.port)
            except (IsolationError, OSError) as error:
                reason = str(error)
        if isolate:
            raise RecordError(
                5, f"isolating the agent: {reason}; --no-isolate records on the machine's network"
            )
        self.notices.append(f"not isolated: {reason}")
        return None

    async def _converse(
        self, found: Found, home: Home, server: Model, namespace: Namespace | None
    ) -> tuple[Path, Session]:
        recorder = self.room.recorder
        setup = Setup(
            scenario=await self._set_up_for(),
            workspace=str(home.workspace),
            home=str(home.home),
            port=server.port,
            program=found.path,
            key=KEY,
        )
        setup, variables = configure(self.source, setup)
        if hasattr(recorder, "prepare"):
            variables |= recorder.prepare(setup)
        if found.played:
            variables |= {PLAYED: "1"}
        environment = home.environment(variables, found.search)
        driver: Driver | None = None
        first: list[Action] = []
        if hasattr(recorder, "make_driver"):
            driver = recorder.make_driver(replace(setup, scenario=self.story))
            first = list(driver.begin())
        scrubber = self._scrubber(found, home, server.port)
        name = self.program.command
        header = self._header(found, scrubber, [name, *_arguments(first)], setup)
        if found.played:
            keep_real(self._path(header))
        made = _missing_folders(self._path(header))
        decider = self._decider(header)
        try:
            with CassetteWriter(self._path(header), header) as writer:
                session = Session(
                    found.path,
                    name,
                    env=environment,
                    cwd=str(home.workspace),
                    writer=writer,
                    scrubber=scrubber,
                    limits=self.limits,
                    namespace=namespace,
                    held=server.held,
                    on_frame=lambda n: self._recorded(n, found, server),
                    decider=decider,
                )
                self._joined(session, header, server)
                setup = replace(setup, scenario=self.story)
                try:
                    await unless_failing(self._talk(session, setup, driver, first), server)
                except RecordError as error:
                    raise _with_problems(error, server) from error
                finally:
                    await asyncio.shield(self._end(session, namespace))
                if found.played is None:
                    self._followed(server)
                self.notices += server.notices
                secrets = secrets_of(home, self.real.keys if self.real else [])
                with self._taped(server, header, secrets, home):
                    self._clean(writer, secrets)
                    self._finish(writer, session)
                if self.client is not None:
                    # Nothing is awaited in between: Ctrl-C comes before both, or after.
                    self.client.placed()
                return writer.path, session
        except (CassetteError, ScrubError) as error:
            raise RecordError(4, f"recording {header.id}: {error}") from error
        finally:
            for folder in made:
                # Only what is empty goes: a recording that came to be keeps its folders.
                with contextlib.suppress(OSError):
                    folder.rmdir()

    async def _set_up_for(self) -> Scenario:
        """Return what the agent is set up for; a person types the first prompt before that."""
        if self.client is None:
            return self.story
        await self.client.begin()
        return self.client.base

    def _joined(self, session: Session, header: Header, server: Model) -> None:
        if self.client is not None:
            self.client.joins(session, self.room.normalizer, header, server.used)

    def _decider(self, header: Header) -> Decider | None:
        if self.client is not None:
            return self.client
        if is_one_by_one(self.story):
            return OneByOne(self.story, self.room.normalizer, header)
        return None

    def _taped(
        self, server: Model, header: Header, secrets: list[Secret], home: Home
    ) -> contextlib.AbstractContextManager[None]:
        """Put a live model's cassette in place once its agent's is; neither without the other."""
        if self.real is None:
            return contextlib.nullcontext()
        # Where the agent works has the same name on each machine: the model may well repeat it.
        of_model = [secret for secret in secrets if secret.value != str(home.root)]
        part = self.real.write(server, header, of_model)
        return self.placing.with_tape(part, self.real.path, self.notices)

    def _recorded(self, frames: int, found: Found, server: Model) -> None:
        self.on_event(Progress("recording", frames))
        server.stir()
        if found.played and frames > 1:
            # A played agent asks no model: it is where a model would be waited for as soon as it
            # has spoken and is silent.
            server.held.set()

    async def _talk(
        self, session: Session, setup: Setup, driver: Driver | None, first: list[Action]
    ) -> None:
        try:
            # A person takes what time it takes.
            async with asyncio.timeout(None if self.client else self.limits.seconds):
                if driver is None:
                    await self.room.recorder.converse(setup, session)
                else:
                    await drive(session, driver, first)
                self.on_event(Progress("ending", session.recorded))
                await session.settle()
        except TimeoutError as error:
            raise RecordError(
                5,
                f"the agent did not come to the end within {self.limits.seconds:g} s, after "
                f"{session.recorded} frames; awaited: {session.awaiting}{session.said()}",
            ) from error

    async def _end(self, session: Session, namespace: Namespace | None) -> None:
        await session.kill()
        left = await end_strays(self.mark, namespace)
        if left:
            self.notices.append(f"{left} processes had left the agent's group; they were ended")

    def _followed(self, server: Model) -> None:
        """Raise where the script, or the recorded model, was not followed."""
        if lines := server.unmet():
            what = "the script" if self.real is None else "the model's cassette"
            raise RecordError(1, "\n  ".join([f"{what} was not followed", *lines]))

    def _clean(self, writer: CassetteWriter, secrets: list[Secret]) -> None:
        if self.real is None:
            leaks = find_leaks(writer.part, secrets)
        else:
            leaks = find_leaks(writer.part, [*secrets, *self.real.taken], self.real.form)
        if leaks:
            shown = "\n  ".join(map(str, leaks[:_LEAKS_SHOWN]))
            raise RecordError(
                1,
                f"{len(leaks)} places hold what must not be in a cassette; nothing was changed:"
                f"\n  {shown}",
            )

    def _finish(self, writer: CassetteWriter, session: Session) -> None:
        end = session.end
        writer.finish(
            complete=True,
            exit_code=end.get("code"),
            signal=end.get("signal"),
            place=lambda part: self.placing.of(writer.path, part),
        )
        if self.placing.written:
            with open_cassette(writer.path) as cassette:
                for _ in cassette:
                    pass

    def _scrubber(self, found: Found, home: Home, port: int) -> Scrubber:
        # What a recorded model says of the time, it said then.
        moments = self.real.moments if self.real else ()
        return scrubber_of(
            self.room.recorder.RULES, found, home, port, str(self.story.path), moments
        )

    def _path(self, header: Header) -> Path:
        return self.into / f"{header.id}.jsonl"

    def _header(self, found: Found, scrubber: Scrubber, command: list[str], setup: Setup) -> Header:
        recorder = self.room.recorder
        played = found.played
        tells = getattr(recorder, "capabilities", None)
        return Header(
            cassette=FORMAT_VERSION,
            surface=self.room.name,
            provider=self.room.manifest.provider,
            agent=Agent(self.program.agent, found.version),
            scenario=self.story.id,
            provenance=self._provenance(found),
            recorded=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            protocol=recorder.PROTOCOL,
            command=scrubber.value(command),
            scrub=scrubber.applied,
            volatile=sorted(self.room.manifest.volatile_for(self.program.agent, self.story.id)),
            capabilities=dict(tells(setup) if tells else recorder.CAPABILITIES),
            sources=self._sources(played),
        )

    def _provenance(self, found: Found) -> Provenance:
        # Where no agent ran, that is never shown as a real one's.
        if found.played or self.source.stand_in:
            return "constructed"
        return "live" if self.real else "scripted"

    def _sources(self, played: Played | None) -> list[str]:
        if played:
            return sources_of(played)
        stand_in = [self.source.stand_in] if self.source.stand_in else []
        return stand_in + (self.real.sources if self.real else [])


def _with_problems(error: RecordError, server: Model) -> RecordError:
    """Add to an error what the model refused: it may well be the cause."""
    refused = [line for line in server.refusals() if line not in str(error)]
    return RecordError(1, "\n  ".join([str(error), *refused])) if refused else error


def _missing_folders(path: Path) -> list[Path]:
    """Return the folders that have to be made for a file, innermost first."""
    return [folder for folder in path.parents if not folder.exists()]


def _arguments(first: list[Action]) -> list[str]:
    return next((action.args for action in first if isinstance(action, Start)), [])


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        # Not `strerror`: socket.create_server adds to it what is said here already.
        why = os.strerror(error.errno or 0)
        raise RecordError(
            5, f"listening on 127.0.0.1:{port} for the agent: {why}; choose another port"
        ) from error
