"""`harness record`: one recording or many, what each came to, and one exit code for all."""

import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from harness import output as out
from harness.recording.agents import find_agent
from harness.recording.deciding import Client
from harness.recording.errors import RecordError
from harness.recording.job import Progress, Recording
from harness.recording.models import Choice, Live, Taped
from harness.recording.record import record
from harness.recording.verify import differences
from harness.scenarios import scenario, scenario_ids
from harness.scenarios.nodes import near
from harness.surfaces import Surface, surface, surfaces


class Batch(Struct, frozen=True):
    """What to record: the command's choices.

    `timeout` is in seconds, for each recording; None is what the manifest says of the agent.
    `corpus`: `into` is the project's own `cassettes/`, where no played-back agent is recorded.
    `agents` are names; without any, a surface's only agent is taken, and of several those that
    are found.
    """

    surfaces: list[str]
    scenarios: list[str]
    all: bool
    into: Path
    agent_path: str | None
    timeout: float | None
    port: int
    isolate: bool | None
    json: bool
    verify: bool = False
    agents: list[str] = []
    corpus: bool = False
    model: Choice = None
    overwrite: bool = False


class Outcome(Struct, frozen=True, omit_defaults=True):
    """What became of one recording: the recording, or why there is none."""

    surface: str
    agent: str
    scenario: str
    recording: Recording | None = None
    problem: str = ""
    code: int = 0
    differences: list[str] | None = None


def record_all(batch: Batch) -> int:
    """Run the command; return its exit code: 0, or that of the first recording that failed."""
    if batch.timeout is not None and not (math.isfinite(batch.timeout) and batch.timeout > 0):
        raise out.UsageError(f"--timeout {batch.timeout}: a number of seconds above 0 is needed")
    work = plan(batch)
    if isinstance(batch.model, Taped) and batch.model.path is not None and len(work) > 1:
        raise out.UsageError(
            "--model-cassette FILE is one recording's: name one --surface (or --agent) and one "
            "--scenario, or give no FILE, for those in cassettes/"
        )
    if isinstance(batch.model, Live):
        from harness.gateway.upstream import Upstream  # noqa: PLC0415 - of live recordings alone

        if notice := Upstream(batch.model, os.environ).notice():
            out.note(f"harness record: {notice}")
    outcomes = [_one(batch, room, agent, name) for room, agent, name in work]
    if batch.json:
        out.say_json([_plain(outcome) for outcome in outcomes])
    failed = [outcome for outcome in outcomes if outcome.code]
    if len(outcomes) > 1 and not batch.json:
        out.say(f"{len(outcomes) - len(failed)} recorded, {len(failed)} failed")
    return failed[0].code if failed else out.OK


def plan(batch: Batch) -> list[tuple[Surface, str, str]]:
    """Return what is to be recorded, in order: the surface, the agent's name, the scenario.

    With `--all`, what a surface cannot express is left out; where a scenario is named, it is
    refused with its reason. Raises UsageError, SurfaceError, ScenarioError and RecordError.
    """
    if batch.all and batch.scenarios:
        raise out.UsageError("--all and --scenario exclude each other")
    if not batch.all and not ((batch.surfaces or batch.agents) and batch.scenarios):
        raise out.UsageError(
            "name a --surface or an --agent, and a --scenario, or say --all (of one or of all); "
            "`harness list surfaces` and `harness list scenarios` give the names"
        )
    rooms = _rooms(batch)
    if batch.agent_path and len(rooms) > 1:
        raise out.UsageError("--agent-path names the agent of one surface: name that --surface")
    names = [_known(name) for name in batch.scenarios] or scenario_ids()
    work = []
    for room in rooms:
        if room.recorder is None:
            raise RecordError(out.NOT_STARTED, f"{room.name}: this surface has no recorder")
        for agent in _agents(batch, room):
            excluded = room.manifest.excluded_for(agent)
            for name in names:
                id_ = Path(name).stem
                if id_ not in excluded:
                    work.append((room, agent, name))
                elif not batch.all:
                    raise RecordError(
                        out.NOTHING_RUN,
                        f"{room.name} cannot express {id_} with {agent}: {excluded[id_]}",
                    )
    return work


def _known(name: str) -> str:
    """Return the name of a scenario, or of its file. Raises ScenarioError."""
    scenario(name)
    return name


def _rooms(batch: Batch) -> list[Surface]:
    """Return the surfaces to record. Raises UsageError for an agent that speaks none of them."""
    rooms = [surface(name) for name in batch.surfaces]
    if not rooms:
        rooms = [s for s in surfaces().values() if s.recorder is not None]
    known = dict.fromkeys(source.name for room in rooms for source in room.manifest.agents)
    for name in batch.agents:
        if name not in known:
            raise out.UsageError(f"no agent is called {name!r}; {near(name, known)}")
    return [r for r in rooms if not batch.agents or any(map(r.manifest.agent, batch.agents))]


def _agents(batch: Batch, room: Surface) -> list[str]:
    """Return the names of the agents to record on a surface. Raises RecordError, UsageError."""
    known = [source.name for source in room.manifest.agents]
    if batch.agents:
        return [name for name in known if name in batch.agents]
    if len(known) == 1:
        return known
    if batch.agent_path:
        raise out.UsageError(
            f"--agent-path names the program of one agent: say with --agent which of {room.name} "
            f"it is: {', '.join(known)}"
        )
    found, missing = [], []
    for name in known:
        try:
            find_agent(room, name=name)
        except RecordError as error:
            missing.append(f"{name}: {error}")
        else:
            found.append(name)
    if not found:
        lines = "\n  ".join(missing)
        raise RecordError(out.NOT_STARTED, f"{room.name}: no agent is found\n  {lines}")
    for line in missing:
        out.note(f"harness record: {room.name}: left out: {line}")
    return found


def record_one(  # noqa: PLR0913 - who hears of it, and who is the client
    batch: Batch,
    room: Surface,
    agent: str,
    name: str,
    *,
    on_event: Callable[[Progress], None] | None = None,
    client: Client | None = None,
) -> Recording:
    """Record one conversation, as the command line has it. Raises RecordError."""
    return record(
        room.name,
        name,
        batch.into,
        agent=agent,
        agent_path=batch.agent_path,
        isolate=batch.isolate,
        timeout=batch.timeout,
        port=batch.port,
        corpus=batch.corpus,
        overwrite=batch.overwrite,
        on_event=on_event,
        model=batch.model,
        client=client,
    )


def _one(batch: Batch, room: Surface, agent: str, name: str) -> Outcome:
    several = len(room.manifest.agents) > 1
    label = f"{room.name}/{agent}/{name}" if several else f"{room.name}/{name}"
    show = out.progress()

    def step(event: Progress) -> None:
        show(f"{label}: {event.step}, {event.frames} frames")

    show(f"{label}: starting")
    try:
        recording = record_one(batch, room, agent, name, on_event=step)
    except RecordError as error:
        show("")
        out.note(f"harness record: {label}: {error}")
        return Outcome(room.name, agent, name, problem=str(error), code=error.code)
    show("")
    if not batch.json:
        out.say(describe(recording))
    if batch.verify and recording.result != "differs":
        return verified(batch, agent, name, recording)
    return _judged(Outcome(room.name, agent, name, recording))


def _judged(outcome: Outcome) -> Outcome:
    """Say of a recording that is another than the cassette that it does not conform."""
    recording = outcome.recording
    if recording is None or outcome.code or recording.result not in {"waits", "differs"}:
        return outcome
    return replace(outcome, problem="not what the cassette says", code=out.NOT_CONFORMING)


def verified(batch: Batch, agent: str, name: str, first: Recording) -> Outcome:
    """Record a second time, elsewhere: it must be the same but for what is volatile.

    What was recorded of a real model is played then: it is asked once.
    """
    model = batch.model
    if isinstance(model, Live):
        model = Taped(path=first.model)
    label = f"{first.surface}/{first.scenario}"
    with tempfile.TemporaryDirectory(prefix="harness-verify-") as folder:
        try:
            second = record(
                first.surface,
                name,
                Path(folder),
                agent=agent,
                agent_path=batch.agent_path,
                isolate=batch.isolate,
                timeout=batch.timeout,
                port=batch.port,
                model=model,
            )
        except RecordError as error:
            out.note(f"harness record: {label}: recording it again: {error}")
            return Outcome(
                first.surface, agent, first.scenario, first, f"the second time: {error}", error.code
            )
        found = differences(first.path, second.path)
    if found:
        lines = "\n  ".join(found)
        out.note(f"harness record: {label}: recorded twice, it differs:\n  {lines}")
        return Outcome(
            first.surface, agent, first.scenario, first, "recorded twice, it differs", 1, found
        )
    if not batch.json:
        out.say("  the same when recorded again")
    return _judged(Outcome(first.surface, agent, first.scenario, first, differences=found))


def describe(recording: Recording) -> str:
    """Return a recording as text: its file, and whatever deserves a look, a line each."""
    lines = [f"{recording.path}: {recording.frames} frames in {recording.seconds:.1f} s"]
    lines += _became(recording)
    if recording.refused_connections:
        lines.append(
            f"  {recording.refused_connections} attempts to reach beyond loopback were refused"
        )
    if recording.model is not None:
        lines.append(f"  the model's answers: {recording.model}")
    lines += [f"  unhandled: {what}" for what in recording.unhandled]
    lines += [f"  {notice}" for notice in recording.notices]
    return "\n".join(lines)


def _became(recording: Recording) -> list[str]:
    """Say what became of the older cassette, where there is one."""
    said = {
        "new": "",
        "unchanged": "  the same but for what may differ: the cassette is as it was",
        "replaced": "  in the place of another recording",
        "waits": "  not what the cassette says: it waits; `harness review` shows what changed",
        "differs": "  not what the cassette says; in CI nothing is written (--overwrite does)",
    }[recording.result]
    return [said] * bool(said) + [f"    {line}" for line in recording.changed]


def _plain(outcome: Outcome) -> dict[str, Any]:
    row: dict[str, Any] = {"surface": outcome.surface, "scenario": outcome.scenario}
    if outcome.recording is None:
        return row | {
            "agent": outcome.agent,
            "problem": outcome.problem,
            "code": outcome.code,
        }
    recording = outcome.recording
    return (
        row
        | {
            "path": str(recording.path),
            "result": recording.result,
            "agent": recording.agent,
            "frames": recording.frames,
            "seconds": round(recording.seconds, 3),
            "isolated": recording.isolated,
            "refused_connections": recording.refused_connections,
            "unhandled": recording.unhandled,
            "notices": recording.notices,
        }
        | ({"model_cassette": str(recording.model)} if recording.model is not None else {})
        | _second(outcome)
    )


def _second(outcome: Outcome) -> dict[str, Any]:
    """What `--verify` found, where it was asked for."""
    row: dict[str, Any] = {}
    if outcome.differences is not None:
        row["differences"] = outcome.differences
    if outcome.code:
        row |= {"problem": outcome.problem, "code": outcome.code}
    return row
