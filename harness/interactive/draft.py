"""A conversation as a scenario's YAML, which the loader reads and `record` replays."""

import tempfile
from collections.abc import Callable, Sequence
from itertools import takewhile
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
from harness.scenarios.model import Interrupt


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - a scenario has none
        return True


def interrupted(
    turn: Turn, used: Callable[[Step], bool], seen: Seen, when: Interrupt
) -> tuple[tuple[Step, ...], Interrupt]:
    """Return the steps of a scripted turn that a person has interrupted, and when that was.

    They are those that were `used`, then what was seen of the answer that was under way.
    """
    steps = list(takewhile(used, turn.model))
    if steps and isinstance(steps[-1], Hold):
        return tuple(steps), when
    if when == "command":
        steps = _up_to_command(steps)
        if steps:
            return tuple(steps), when
    while steps and not isinstance(steps[-1], Tool | Parallel):
        steps.pop()
    steps += seen.tail()
    if not steps:
        return (Hold(),), "start"
    return (*steps, Hold()), "text" if isinstance(steps[-1], Say) else "held"


def as_seen(seen: Seen, when: Interrupt | None) -> tuple[Step, ...]:
    """Return the steps of a real model's turn, which a person has interrupted then.

    They say what was seen: a replay has the model's recorded answers.
    """
    steps = seen.steps()
    if when == "start":
        return (Hold(),)
    if when == "command":
        return tuple(_up_to_command(steps))
    if when is not None:
        return (*steps, Hold())
    if not steps or not isinstance(steps[-1], Say):
        steps.append(Say((seen.text or "(nothing is said)",)))
    return tuple(steps)


def _up_to_command(steps: Sequence[Step]) -> list[Step]:
    """Return the steps up to the last command; of several at once, that is the first."""
    for end in range(len(steps), 0, -1):
        match steps[end - 1]:
            case Run():
                return list(steps[:end])
            case Parallel(tools):
                first = next((tool for tool in tools if isinstance(tool, Run)), None)
                if first is not None:
                    return [*steps[: end - 1], first]
    return []


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
    asks = [step for step in turn.model if isinstance(step, Ask)]
    client = _client(turn.client, {option for step in asks for option in step.options})
    return plain | ({"client": client} if client else {})


def _client(client: Client, options: set[str]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    approvals = _shortest(client.decisions or (client.approvals,))
    if approvals != "allow":
        plain["approvals"] = approvals
    if client.interrupt:
        plain["interrupt"] = client.interrupt
    given = client.answers or (client.answer,) * bool(client.answer)
    if given:
        plain["answer"] = _shortest([one if one in options else {"own": one} for one in given])
    if client.mode:
        plain["mode"] = client.mode
    if client.resume:
        plain["resume"] = True
    return plain


def _shortest(values: Sequence[Any]) -> Any:
    return values[0] if all(value == values[0] for value in values) else list(values)


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
