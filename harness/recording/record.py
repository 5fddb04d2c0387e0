"""A whole recording: one scenario, one surface, one real agent, one cassette."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

from harness.recording.agents import Found, find_agent, wrong_version
from harness.recording.deciding import Client
from harness.recording.errors import RecordError
from harness.recording.job import Job, Progress, Recording
from harness.recording.models import Choice, Live
from harness.recording.placing import Placing
from harness.recording.played import not_for_the_corpus
from harness.recording.session import Limits
from harness.recording.terminable import TerminatedError, terminable
from harness.scenarios import ScenarioError, scenario
from harness.surfaces import SurfaceError, surface
from harness.surfaces.registry import AgentSource

_LAST_PORT = 65535


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
    client: Client | None = None,
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

    `client` decides instead of the scenario, and there is no time limit; what is recorded is then
    its `story`, into that one's name.

    Raises RecordError; then nothing was changed under `into`, and no process is left. Ctrl-C
    and SIGTERM end it the same way, and then do what they do.
    """
    try:
        room = surface(surface_name)
        story = client.base if client else scenario(scenario_id)
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
    if (id_ := Path(scenario_id).stem) in excluded:
        raise RecordError(3, f"{room.name} cannot express {id_}: {excluded[id_]}")
    source = room.manifest.agent(program.agent) or AgentSource(program.agent)
    bounds = limits or Limits(seconds=source.timeout if timeout is None else timeout)
    placing = Placing(overwrite=overwrite)
    told = on_event or (lambda _: None)
    played = client.story if client else story
    job = Job(room, program, played, into, bounds, port, told, model, placing, client)
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
