"""A conversation as a scenario's YAML, which the loader reads and `record` replays."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from harness.interactive.seen import Seen
from harness.pending import waiting
from harness.recording.errors import RecordError
from harness.scenarios import (
    Ask,
    Client,
    Disconnect,
    Edit,
    Fail,
    Hold,
    Parallel,
    Pause,
    Read,
    Run,
    Say,
    Scenario,
    ScenarioError,
    Step,
    Task,
    Think,
    Todo,
    Tool,
    Turn,
    Usage,
    load_scenario,
)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - a scenario has none
        return True


def interrupted(turn: Turn, seen: Seen) -> tuple[Step, ...]:
    """Return the steps of a scripted turn that a person has interrupted at this moment.

    They are the script's where it says the same; else they end where the turn did.
    """
    when = seen.moment
    if turn.client.interrupt == when:
        return tuple(turn.model)
    if when == "start":
        return (Hold(),)
    steps: list[Step] = []
    calls = 0
    for step in turn.model:
        if isinstance(step, Tool | Parallel):
            calls += 1
            if calls > seen.tools:
                break
        elif calls == seen.tools:
            break
        steps.append(step)
    if when == "command":
        while steps and not isinstance(steps[-1], Run):
            steps.pop()
        return tuple(steps)
    return (*steps, Say(seen.last_said or (seen.text,)), Hold())


def as_seen(seen: Seen, *, cut: bool) -> tuple[Step, ...]:
    """Return the steps of a real model's turn; where it was `cut`, they end as it did.

    They say what was seen: a replay has the model's recorded answers.
    """
    steps = seen.steps()
    if cut and seen.moment == "start":
        return (Hold(),)
    if cut and seen.moment == "command":
        while not isinstance(steps[-1], Run):
            steps.pop()
        return tuple(steps)
    if not steps or not isinstance(steps[-1], Say):
        steps.append(Say((seen.text or "(nothing is said)",)))
    return (*steps, Hold()) if cut else tuple(steps)


def text_of(story: Scenario) -> str:
    """Return a scenario's YAML: read again, it is the same scenario."""
    root: dict[str, Any] = {"title": story.title, "shows": list(story.shows)}
    if story.permissions != "automatic":
        root["permissions"] = story.permissions
    if story.files:
        root["files"] = dict(story.files)
    if story.capabilities:
        root["capabilities"] = list(story.capabilities)
    if story.wire != "whole":
        root["wire"] = story.wire
    root["turns"] = [_turn(turn) for turn in story.turns]
    return yaml.dump(
        root,
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=None,
        width=96,
    )


def _turn(turn: Turn) -> dict[str, Any]:
    plain: dict[str, Any] = {"prompt": turn.prompt}
    if turn.command:
        plain["command"] = turn.command
    plain["model"] = [_step(step) for step in turn.model]
    client = _client(turn.client)
    return plain | ({"client": client} if client else {})


def _client(client: Client) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    approvals = _shortest(client.decisions or (client.approvals,))
    if approvals != "allow":
        plain["approvals"] = approvals
    if client.interrupt:
        plain["interrupt"] = client.interrupt
    if answer := _shortest(client.answers or (client.answer,)):
        plain["answer"] = answer
    if client.mode:
        plain["mode"] = client.mode
    if client.resume:
        plain["resume"] = True
    return plain


def _shortest(values: Sequence[str]) -> str | list[str]:
    return values[0] if len(set(values)) == 1 else list(values)


def _step(step: Step) -> dict[str, Any]:  # noqa: C901, PLR0911, PLR0912 - one line a kind of step
    match step:
        case Think():
            return {"think": _chunks(step.chunks)}
        case Say():
            return {"propose" if step.plan else "say": _chunks(step.chunks)}
        case Run():
            return {"run": step.command}
        case Edit(before=None):
            return {"edit": {"path": step.path, "content": step.after}}
        case Edit():
            return {"edit": {"path": step.path, "old": step.old, "new": step.new}}
        case Read():
            return {"read": step.path}
        case Todo():
            return {"todo": [{"text": e.text, "status": e.status} for e in step.entries]}
        case Ask():
            return {"ask": {"question": step.question, "options": list(step.options)}}
        case Task():
            return {"task": {"prompt": step.prompt, "say": _chunks(step.chunks)}}
        case Parallel():
            return {"parallel": [_step(inner) for inner in step.steps]}
        case Usage():
            names = ("input", "output", "cached_input", "reasoning_output")
            counts = {name: getattr(step, name) for name in names}
            return {"usage": {n: c for n, c in counts.items() if c or n in names[:2]}}
        case Fail():
            plain: dict[str, Any] = {"status": step.status, "message": step.message}
            if step.retry_after is not None:
                plain["retry_after"] = step.retry_after
            return {"fail": plain | {"times": "always" if step.times is None else step.times}}
        case Disconnect():
            return {"disconnect": True}
        case Hold():
            return {"hold": True}
        case Pause():
            return {"pause_ms": step.ms}


def _chunks(chunks: tuple[str, ...]) -> str | list[str]:
    return chunks[0] if len(chunks) == 1 else list(chunks)


def write(story: Scenario, path: Path) -> Path:
    """Write a draft, or leave it beside another of that name; return where it is.

    The same text is not written again. Raises RecordError (4).
    """
    text = text_of(story).encode("utf-8", "replace")
    try:
        if path.exists():
            if path.read_bytes() == text:
                return path
            path = waiting(path)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".draft-") as folder:
            # Of its own name: the loader takes the id from it.
            part = Path(folder, f"{story.id}.yaml")
            part.write_bytes(text)
            read = load_scenario(part)
            if [turn.typed for turn in read.turns] != [turn.typed for turn in story.turns]:
                raise RecordError(4, f"writing the draft {path}: it is not read as it was typed")
            part.replace(path)
    except ScenarioError as error:
        raise RecordError(4, f"writing the draft {path}: {error}") from error
    except OSError as error:
        raise RecordError(4, f"writing the draft {path}: {error.strerror}") from error
    return path
