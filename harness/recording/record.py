"""A whole recording: one scenario, one surface, one real agent, one cassette."""

import asyncio
import contextlib
import getpass
import os
import platform
import signal
import socket
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from harness.cassette import (
    FORMAT_VERSION,
    Agent,
    CassetteError,
    CassetteWriter,
    Header,
    open_cassette,
)
from harness.cassette.leaks import Secret, find_leaks, machine_secrets
from harness.cassette.scrub import Scrubber, ScrubError
from harness.model_server import ModelServer
from harness.pending import in_ci, waiting
from harness.playback.shim import PLAYED
from harness.recording.agents import Found, find_agent, wrong_version
from harness.recording.configure import configure
from harness.recording.errors import RecordError
from harness.recording.home import KEY, Home
from harness.recording.isolation import IsolationError, Namespace, why_not
from harness.recording.models import Choice, Live, Model, unless_failing
from harness.recording.played import keep_real, not_for_the_corpus, sources_of
from harness.recording.session import Limits, Session, drive
from harness.recording.strays import end_strays
from harness.recording.terminable import TerminatedError, terminable
from harness.recording.verify import differences
from harness.scenarios import Scenario, ScenarioError, scenario
from harness.surfaces import Surface, SurfaceError, surface
from harness.surfaces.base import Action, Driver, Program, Setup, Start
from harness.surfaces.registry import AgentSource

if TYPE_CHECKING:
    from harness.gateway.recording import RealModel

_LEAKS_SHOWN = 3
_LAST_PORT = 65535


Result = Literal["new", "unchanged", "waits", "replaced", "differs"]


class Progress(Struct, frozen=True):
    """Where a recording is: a step in words, and the frames so far."""

    step: str
    frames: int


class Recording(Struct, frozen=True):
    """What came of a recording. `seconds` is wall time; `notices` are worth a person's look.

    `result` is what became of it: `new`; `unchanged` and the cassette as it was; `waits` beside
    the cassette that it differs from; `replaced` that one; or `differs` and was not written, in
    CI. `changed` says how it differs. `path` is the file that is there of it.

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


def record(  # noqa: PLR0913 - each is a choice of the command's
    surface_name: str,
    scenario_id: str,
    into: Path,
    *,
    agent: str = "",
    agent_path: str | None = None,
    isolate: bool | None = None,
    timeout: float | None = None,
    port: int = 0,
    corpus: bool = False,
    overwrite: bool = False,
    on_event: Callable[[Progress], None] | None = None,
    limits: Limits | None = None,
    model: Choice = None,
) -> Recording:
    """Record a scenario into `into/SURFACE/AGENT-VERSION/SCENARIO.jsonl`.

    `agent` is the name of one that speaks the surface, by default the first of its manifest.
    `isolate`: None where the machine allows it, True to insist, False not to. `timeout` is in
    seconds, for the whole conversation (None: what the manifest's entry says). `port` is the
    model server's; 0 is any. `corpus`: `into` is the project's own `cassettes/`.

    A cassette that is there already stays: a recording that differs in more than what may waits
    beside it for `harness review`. `overwrite` puts it in its place.

    An agent that is played back from a cassette asks no model: whether the script is followed is
    then not asked. Such a recording is `constructed`, and goes neither into the corpus nor into
    the place of another one.

    `model`: None is the scenario's script. A real model's answers are kept beside the cassette
    (`Live`), or played from there (`Taped`); live, the agent is isolated unless `isolate` is False.

    Raises RecordError; then nothing was changed under `into`, and no process is left. Ctrl-C
    and SIGTERM end it the same way, and then do what they do.
    """
    try:
        room = surface(surface_name)
        story = scenario(scenario_id)
    except (SurfaceError, ScenarioError) as error:
        raise RecordError(2, str(error)) from error
    if room.recorder is None:
        raise RecordError(5, f"{room.name}: this surface has no recorder")
    if not 0 <= port <= _LAST_PORT:
        raise RecordError(2, f"--port {port}: a number from 0 (any) to {_LAST_PORT} is needed")
    try:
        program = room.program(agent)
    except SurfaceError as error:
        raise RecordError(2, str(error)) from error
    excluded = room.manifest.excluded_for(program.agent)
    if scenario_id in excluded:
        reason = excluded[scenario_id]
        raise RecordError(3, f"{room.name} cannot express {scenario_id}: {reason}")
    source = room.manifest.agent(program.agent) or AgentSource(program.agent)
    bounds = limits or Limits(seconds=source.timeout if timeout is None else timeout)
    job = _Job(room, program, story, into, bounds, port, on_event or (lambda _: None), model)
    job.overwrite = overwrite
    found = find_agent(room, agent_path, agent)
    _not_played(found, model, corpus=corpus)
    if isinstance(model, Live) and isolate is None:
        # With a real provider's answers in it, the agent may be led anywhere: fail closed.
        isolate = True
    try:
        return asyncio.run(terminable(job.run(found, isolate)))
    except RecordError as error:
        notice = wrong_version(room, found, program.agent)
        if not notice:
            raise
        raise RecordError(error.code, f"{error}\n  {notice}") from error
    except TerminatedError as error:
        # All is cleaned up: now do what the signal was for.
        signal.raise_signal(error.number)
        raise RecordError(1, f"ended by {signal.Signals(error.number).name}") from None


def _not_played(found: Found, model: Choice, *, corpus: bool) -> None:
    if found.played and corpus:
        raise not_for_the_corpus(found.path)
    if found.played and model is not None:
        raise RecordError(2, f"{found.path} is played back from a cassette: it asks no model")


class _Job:
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
    ) -> None:
        self.model = model
        self.real: RealModel | None = None
        self.room = room
        self.program = program
        self.story = story
        self.into = into
        self.limits = limits
        self.port = port
        self.on_event = on_event
        self.notices: list[str] = []
        self.mark = uuid.uuid4().hex
        self.overwrite = False
        self.result: Result = "new"
        self.changed: list[str] = []

    async def run(self, found: Found, isolate: bool | None) -> Recording:  # noqa: FBT001
        begun = time.monotonic()
        if notice := wrong_version(self.room, found, self.program.agent):
            self.notices.append(notice)
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
            result=self.result,
            changed=self.changed,
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
            return ModelServer(self.story, workspace=str(home.workspace), sockets=[listener])
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
            scenario=self.story,
            workspace=str(home.workspace),
            home=str(home.home),
            port=server.port,
            program=found.path,
            key=KEY,
        )
        source = self.room.manifest.agent(self.program.agent) or AgentSource(self.program.agent)
        setup, variables = configure(source, setup)
        if hasattr(recorder, "prepare"):
            variables |= recorder.prepare(setup)
        if found.played:
            variables |= {PLAYED: "1"}
        environment = home.environment(variables, found.search)
        driver: Driver | None = None
        first: list[Action] = []
        if hasattr(recorder, "make_driver"):
            driver = recorder.make_driver(setup)
            first = list(driver.begin())
        scrubber = self._scrubber(found, home, server.port)
        name = self.program.command
        header = self._header(found, scrubber, [name, *_arguments(first)], setup)
        if found.played:
            keep_real(self._path(header))
        made = _missing_folders(self._path(header))
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
                )
                try:
                    await unless_failing(self._talk(session, setup, driver, first), server)
                except RecordError as error:
                    raise _with_problems(error, server) from error
                finally:
                    await asyncio.shield(self._end(session, namespace))
                if found.played is None:
                    self._followed(server)
                self.notices += server.notices
                secrets = self._secrets(home)
                with self._model_written(server, header, secrets, home):
                    self._clean(writer, secrets)
                    self._finish(writer, session)
                return writer.path, session
        except (CassetteError, ScrubError) as error:
            raise RecordError(4, f"recording {header.id}: {error}") from error
        finally:
            for folder in made:
                # Only what is empty goes: a recording that came to be keeps its folders.
                with contextlib.suppress(OSError):
                    folder.rmdir()

    @contextlib.contextmanager
    def _model_written(
        self, server: Model, header: Header, secrets: list[Secret], home: Home
    ) -> Iterator[None]:
        """Put a live model's cassette in place once its agent's is; neither without the other."""
        if self.real is None:
            yield
            return
        # Where the agent works has the same name on each machine: the model may well repeat it.
        of_model = [secret for secret in secrets if secret.value != str(home.root)]
        part = self.real.write(server, header, of_model)
        try:
            yield
            # It goes with its agent's: the one without the other is of no use.
            if part is None or self.result == "differs":
                return
            if self.result == "waits":
                aside = self.real.path.with_name(f"{self.real.path.name}.new")
                part.replace(aside)
                self.notices.append(f"the model's cassette waits too: {aside}")
            elif self.result != "unchanged" or not self.real.path.exists():
                part.replace(self.real.path)
        except OSError as error:
            raise RecordError(
                4,
                f"putting the model's cassette {self.real.path} in place: {error.strerror}; its "
                "agent's is there, and of no use without it: record it again",
            ) from error
        finally:
            if part is not None:
                part.unlink(missing_ok=True)

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
            async with asyncio.timeout(self.limits.seconds):
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

    def _secrets(self, home: Home) -> list[Secret]:
        return machine_secrets(
            host=socket.gethostname(),
            user=_user(),
            home=os.path.expanduser("~"),  # noqa: PTH111 - Path.home() may raise
            temp=str(home.root),
            environ=os.environ,
            keys=[KEY, *(self.real.keys if self.real else [])],
        )

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
            place=lambda part: self._place(writer.path, part),
        )
        if self.result in {"unchanged", "differs"}:
            return
        with open_cassette(writer.path) as cassette:
            for _ in cassette:
                pass

    def _place(self, path: Path, part: Path) -> Path | None:
        """Say where a whole recording goes; None where nothing is to be written."""
        if not os.path.lexists(path):
            return path
        try:
            self.changed = differences(path, part)
        except (CassetteError, SurfaceError) as error:
            # Also what cannot be read is never recorded over.
            self.changed = [f"the cassette cannot be used: {error}"]
        if not self.changed:
            self.result = "unchanged"
            return None
        if self.overwrite:
            self.result = "replaced"
            return path
        self.result = "differs" if in_ci() else "waits"
        return None if in_ci() else waiting(path)

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
            # No agent ran where it was played back: that is never shown as a real one's.
            provenance="constructed" if played else "live" if self.real else "scripted",
            recorded=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            protocol=recorder.PROTOCOL,
            command=scrubber.value(command),
            scrub=scrubber.applied,
            volatile=sorted(self.room.manifest.volatile_for(self.program.agent, self.story.id)),
            capabilities=dict(tells(setup) if tells else recorder.CAPABILITIES),
            sources=sources_of(played) if played else self.real.sources if self.real else [],
        )

    def _scrubber(self, found: Found, home: Home, port: int) -> Scrubber:
        paths = {str(home.workspace): "/workspace", str(home.home): "/home/agent"}
        paths[str(home.root)] = "/recording"
        paths[found.folder or str(Path(found.path).parent)] = "/opt/agent"
        paths[sys.prefix] = "/opt/python"
        paths |= dict.fromkeys(found.search, "/opt/node/bin")
        for usual in ("/usr/bin", "/usr/local/bin", "/bin", "/usr", "/usr/local"):
            paths.pop(usual, None)
        story = Path(self.story.path)
        return Scrubber(
            self.room.recorder.RULES,
            paths=paths,
            words=_words(),
            port=port,
            now=time.time(),
            keep=story.read_text("utf-8") if story.is_file() else "",
            # What a recorded model says of the time, it said then.
            also=self.real.moments if self.real else (),
        )


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


def _words() -> dict[str, str]:
    """Map the machine's names to fixed ones; those that could be any text's words are left."""
    words = {platform.release(): "6.0.0", socket.gethostname(): "localhost", _user(): "agent"}
    secrets = machine_secrets(
        host=socket.gethostname(), user=_user(), home="", temp="", environ={}, keys=[]
    )
    names = {secret.value for secret in secrets} | {platform.release()}
    return {word: fixed for word, fixed in words.items() if word in names and word}


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return ""
