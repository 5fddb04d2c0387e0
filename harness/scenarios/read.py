"""Turns a scenario's YAML into checked values.

Beside types, it holds what makes a scenario playable on every surface: each turn's prompt is
its own, every step can be reached, and a tool call has an answer. A turn ends in one of:

- what the model says last;
- `hold`, where the client interrupts at the text, or, with nothing said, at the start, or once
  the model is held, whatever it has said;
- `run`, where the client interrupts the command;
- `fail` with `times: always`, or `disconnect`.

Nothing may follow these. So in a whole conversation every step is used, and a step that was not
used is always a fault.
"""

import re
from itertools import combinations
from pathlib import Path
from typing import get_args

from harness.scenarios.model import (
    CAPABILITIES,
    SHOWS,
    Ask,
    Client,
    Decision,
    Disconnect,
    Fail,
    Hold,
    Interrupt,
    Parallel,
    Run,
    Say,
    Scenario,
    Step,
    Task,
    Tool,
    Turn,
    Usage,
)
from harness.scenarios.nodes import Value, read_yaml
from harness.scenarios.steps import Steps, relative

_KEYS = ("title", "shows", "permissions", "files", "capabilities", "turns", "wire")
_TURN = ("prompt", "command", "model", "client")
_CLIENT = ("approvals", "interrupt", "answer", "mode", "resume")
_COMMAND = re.compile(r"[a-z][a-z0-9-]*")


def _scenario(path: Path, root: Value) -> Scenario:
    keys = root.mapping(_KEYS, ("title", "shows", "turns"))
    shows = tuple(v.choice(SHOWS) for v in keys["shows"].list())
    files: dict[str, str] = {}
    for key, value in keys["files"].items() if "files" in keys else []:
        files[relative(key)] = value.text()
    listed = keys["capabilities"].list() if "capabilities" in keys else []
    capabilities = tuple(v.choice(CAPABILITIES) for v in listed)
    reader = Steps(files)
    turns: list[Turn] = []
    for value in keys["turns"].list():
        turn = _turn(value, reader)
        if turn.client.resume and not turns:
            raise value.error("the first turn has nothing to resume", "remove `resume`")
        turns.append(turn)
        _check_prompts(value, turns)
    return Scenario(
        id=path.stem,
        title=keys["title"].text(),
        shows=shows,  # type: ignore[arg-type] # `choice` has held them against SHOWS
        turns=tuple(turns),
        permissions=(
            keys["permissions"].choice(("ask", "automatic"))
            if "permissions" in keys
            else "automatic"
        ),
        files=files,
        capabilities=capabilities,
        wire=keys["wire"].choice(("whole", "split-bytes")) if "wire" in keys else "whole",
        path=str(path),
    )


def _check_prompts(value: Value, turns: list[Turn]) -> None:
    """The prompt says which turn, or which task, a request is of: none is a part of another."""
    told: list[Turn | Task] = [*turns]
    told += [step for turn in turns for step in turn.model if isinstance(step, Task)]
    for old, new in combinations(told, 2):
        if old.prompt in new.prompt or new.prompt in old.prompt:
            raise value.error(
                f"in `{value.name}`, the prompts on lines {old.line} and {new.line} are one a "
                "part of the other",
                "word them apart: a request is told by its prompt",
            )


def _turn(value: Value, reader: Steps) -> Turn:
    keys = value.mapping(_TURN, ("prompt", "model"))
    values = keys["model"].list()
    steps = tuple(reader.step(v) for v in values)
    client = _client(keys.get("client"), steps, value)
    _check_order(values, steps)
    _check_end(values[-1], steps, client)
    prompt = keys["prompt"].text()
    if prompt != prompt.strip():
        raise keys["prompt"].error(
            f"`{keys['prompt'].name}` begins or ends in white space", "agents trim it: trim it"
        )
    command = keys["command"].text() if "command" in keys else ""
    if command and not _COMMAND.fullmatch(command):
        raise keys["command"].error(
            f"`{command}` is no name of a command", "use small letters, digits and hyphens"
        )
    return Turn(prompt, steps, client, command, keys["prompt"].line)


def _client(value: Value | None, steps: tuple[Step, ...], turn: Value) -> Client:
    keys = value.mapping(_CLIENT) if value else {}
    asks = [step for step in steps if isinstance(step, Ask)]
    answers: tuple[str, ...] = ()
    if "answer" in keys:
        options = {option for step in asks for option in step.options}
        if not options:
            raise keys["answer"].error("nothing is asked in this turn", "remove `answer`")
        listed = keys["answer"]
        every = listed.list() if listed.is_list else [listed]
        answers = tuple(_answer(value, options) for value in every)
    elif asks:
        raise turn.error(f"`{turn.name}` asks, and its client has no `answer`", "add it")
    if "resume" in keys:
        keys["resume"].true()
    decisions = _decisions(keys["approvals"]) if "approvals" in keys else ("allow",)
    return Client(
        decisions[0],
        keys["interrupt"].choice(get_args(Interrupt)) if "interrupt" in keys else None,
        answers[0] if answers else "",
        keys["mode"].choice(("plan",)) if "mode" in keys else "",
        "resume" in keys,
        decisions if len(decisions) > 1 else (),
        answers if len(answers) > 1 else (),
    )


def _answer(value: Value, options: set[str]) -> str:
    """Return one of the options, or, where `own` says so, words that are none of them."""
    if value.is_mapping:
        return value.mapping(("own",), ("own",))["own"].text()
    return value.choice(sorted(options))


def _decisions(value: Value) -> tuple[Decision, ...]:
    """Return the answers to questions for permission: one for all, or one for each in order."""
    every = value.list() if value.is_list else [value]
    return tuple(one.choice(get_args(Decision)) for one in every)


def _check_order(values: list[Value], steps: tuple[Step, ...]) -> None:
    """Every step can be reached, and a response fails before it says anything."""
    begun = usage = False
    for i, (value, step) in enumerate(zip(values, steps, strict=True)):
        last = i == len(steps) - 1
        match step:
            case Hold() | Disconnect() | Fail(times=None) if not last:
                raise values[i + 1].error(
                    f"`{values[i + 1].name}` can never be reached", "remove it, or what ends before"
                )
            case Fail() if begun:
                raise value.error(
                    f"`{value.name}` fails after its response has begun",
                    "put `fail` first in its response, or use `disconnect`",
                )
            case Usage() if usage:
                raise value.error(
                    f"`{value.name}` is the second usage of one response", "remove one"
                )
        if isinstance(step, Tool | Parallel):
            begun = usage = False
        elif not isinstance(step, Fail):
            begun = True
            usage = usage or isinstance(step, Usage)


def _check_end(  # noqa: C901, PLR0912 - one branch for each way a turn may end
    value: Value, steps: tuple[Step, ...], client: Client
) -> None:
    """A turn ends in what its client and its model agree on."""
    end = steps[-1]
    if client.interrupt == "text":
        if not isinstance(end, Hold):
            raise value.error("a turn that is interrupted at its text ends in `hold`", "add it")
        final = _final(steps)
        if not any(isinstance(step, Say) for step in final):
            raise value.error("nothing is said before `hold`", "add a `say` before it")
    elif client.interrupt == "start":
        if not isinstance(end, Hold) or steps[1:]:
            raise value.error("a turn that is interrupted at its start is `hold` alone", "mend it")
    elif client.interrupt == "held":
        if not isinstance(end, Hold):
            raise value.error("a turn that is interrupted once held ends in `hold`", "add it")
    elif isinstance(end, Hold):
        raise value.error("`hold` never ends", "add `interrupt: text` to the turn's client")
    elif client.interrupt == "command":
        if not isinstance(end, Run):
            raise value.error(
                "a turn whose command is interrupted ends in `run`", "remove what follows it"
            )
    elif isinstance(end, Tool | Parallel):
        raise value.error("a tool call is not answered", "add what the model says to its result")
    elif isinstance(end, Fail):
        if end.times is not None:
            raise value.error("nothing follows the failure", "add `say`, or `times: always`")
    elif not any(isinstance(step, Say | Disconnect) for step in _final(steps)):
        raise value.error("the last response says nothing", "add a `say`")


def _final(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return Turn("", steps).responses()[-1]


def read_scenario(path: Path, root: Value | None = None) -> Scenario:
    """Return the checked scenario of a file, or of a root read before. Raises ScenarioError."""
    return _scenario(path, root or read_yaml(path))
