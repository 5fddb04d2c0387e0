"""Turns a scenario's YAML into checked values.

Beside types, it holds what makes a scenario playable on every surface: each turn's prompt is
its own, every step can be reached, and a tool call has an answer. A turn ends in one of:

- what the model says last;
- `hold`, where the client interrupts at the text; `run`, where it interrupts the command;
- `fail` with `times: always`, or `disconnect`.

Nothing may follow these. So in a whole conversation every step is used, and a step that was not
used is always a fault.
"""

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from harness.scenarios.model import (
    SHOWS,
    Client,
    Disconnect,
    Edit,
    Fail,
    Hold,
    Parallel,
    Pause,
    Run,
    Say,
    Scenario,
    Step,
    Think,
    Turn,
    Usage,
)
from harness.scenarios.nodes import Value, near, read_yaml

_KEYS = ("title", "shows", "permissions", "files", "turns", "wire")
_LONGEST_PAUSE = 10_000
_MOST_TOKENS = 10**9


class _Reader:
    """Reads one file; it follows the texts of the files that the steps create and change."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.steps: dict[str, Callable[[Value], Step]] = {
            "think": lambda v: Think(_chunks(v), v.line),
            "say": lambda v: Say(_chunks(v), v.line),
            "run": lambda v: Run(v.text(), v.line),
            "edit": self.edit,
            "parallel": self.parallel,
            "usage": _usage,
            "fail": _fail,
            "disconnect": _disconnect,
            "hold": _hold,
            "pause_ms": lambda v: Pause(v.whole(0, _LONGEST_PAUSE), v.line),
        }

    def scenario(self, path: Path, root: Value) -> Scenario:
        keys = root.mapping(_KEYS, ("title", "shows", "turns"))
        shows = tuple(v.choice(SHOWS) for v in keys["shows"].list())
        files: dict[str, str] = {}
        for key, value in keys["files"].items() if "files" in keys else []:
            files[_relative(key)] = value.text()
        turns: list[Turn] = []
        for value in keys["turns"].list():
            turn = self.turn(value)
            for other in turns:
                # The prompt says which turn a request is in.
                if turn.prompt in other.prompt or other.prompt in turn.prompt:
                    raise value.error(
                        f"the prompt of `{value.name}` and the one on line {other.line} "
                        "are one a part of the other",
                        "word them apart: a request is told by its prompt",
                    )
            turns.append(turn)
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
            wire=keys["wire"].choice(("whole", "split-bytes")) if "wire" in keys else "whole",
            path=str(path),
        )

    def turn(self, value: Value) -> Turn:
        keys = value.mapping(("prompt", "model", "client"), ("prompt", "model"))
        client = _client(keys["client"]) if "client" in keys else Client()
        values = keys["model"].list()
        steps = tuple(self.step(v) for v in values)
        _check_order(values, steps)
        _check_end(values[-1], steps, client)
        prompt = keys["prompt"].text()
        if prompt != prompt.strip():
            raise keys["prompt"].error(
                f"`{keys['prompt'].name}` begins or ends in white space", "agents trim it: trim it"
            )
        return Turn(prompt, steps, client, keys["prompt"].line)

    def step(self, value: Value) -> Step:
        pairs = value.items()
        if len(pairs) != 1:
            raise value.error(
                f"`{value.name}` has {len(pairs)} keys, and a step has one",
                "begin each step with `- `",
            )
        key, inner = pairs[0]
        make = self.steps.get(key.text())
        if make is None:
            raise key.error(f"no step is called {key.text()!r}", near(key.text(), self.steps))
        return make(inner)

    def edit(self, value: Value) -> Edit:
        keys = value.mapping(("path", "content", "old", "new"), ("path",))
        path = _relative(keys["path"])
        if "content" in keys:
            if "old" in keys or "new" in keys:
                raise value.error(
                    f"`{value.name}` has `content` beside `old` or `new`",
                    "`content` creates a file, `old` and `new` change one",
                )
            if path in self.texts:
                raise value.error(
                    f"`{path}` was created by an earlier step", "use `old` and `new` to change it"
                )
            text = _whole_lines(keys["content"], keys["content"].text())
            self.texts[path] = text
            return Edit(path, "", text, None, text, value.line)
        for name in ("old", "new"):
            if name not in keys:
                raise value.error(
                    f"`{value.name}` lacks `{name}`", "give `content`, or `old` and `new`"
                )
        before = self.texts.get(path)
        if before is None:
            # Claude refuses to change a file that it has neither read nor written before.
            raise value.error(
                f"no earlier `edit` created `{path}`",
                "create it with `content` first: some agents change only what they wrote",
            )
        old, new = keys["old"].text(), keys["new"].text()
        if before.count(old) != 1:
            raise keys["old"].error(
                f"`old` stands {before.count(old)} times in `{path}`", "it must stand there once"
            )
        if old == new:
            raise keys["new"].error("`new` is the same as `old`", "change something")
        after = self.texts[path] = _whole_lines(keys["new"], before.replace(old, new))
        return Edit(path, old, new, before, after, value.line)

    def parallel(self, value: Value) -> Parallel:
        steps: list[Run | Edit | Pause] = []
        for inner in value.list():
            step = self.step(inner)
            if not isinstance(step, Run | Edit | Pause):
                raise inner.error(f"`{inner.name}` is no tool call", "use `run` or `edit`")
            steps.append(step)
        parallel = Parallel(tuple(steps), value.line)
        if not parallel.tools[1:]:
            raise value.error(f"`{value.name}` has less than two tool calls", "add one")
        return parallel


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
        if isinstance(step, Run | Edit | Parallel):
            begun = usage = False
        elif not isinstance(step, Fail):
            begun = True
            usage = usage or isinstance(step, Usage)


def _check_end(  # noqa: C901 - one branch for each way a turn may end
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
    elif isinstance(end, Hold):
        raise value.error("`hold` never ends", "add `interrupt: text` to the turn's client")
    elif client.interrupt == "command":
        if not isinstance(end, Run):
            raise value.error(
                "a turn whose command is interrupted ends in `run`", "remove what follows it"
            )
    elif isinstance(end, Run | Edit | Parallel):
        raise value.error("a tool call is not answered", "add what the model says to its result")
    elif isinstance(end, Fail):
        if end.times is not None:
            raise value.error("nothing follows the failure", "add `say`, or `times: always`")
    elif not any(isinstance(step, Say | Disconnect) for step in _final(steps)):
        raise value.error("the last response says nothing", "add a `say`")


def _final(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return Turn("", steps).responses()[-1]


def _chunks(value: Value) -> tuple[str, ...]:
    return (value.text(),) if value.is_text else tuple(v.text() for v in value.list())


def _usage(value: Value) -> Usage:
    names = ("input", "output", "cached_input", "reasoning_output")
    keys = value.mapping(names, names[:2])
    numbers = {name: v.whole(0, _MOST_TOKENS) for name, v in keys.items()}
    usage = Usage(**numbers, line=value.line)
    for part, whole in (("cached_input", "input"), ("reasoning_output", "output")):
        if getattr(usage, part) > getattr(usage, whole):
            raise keys[part].error(f"`{part}` is more than `{whole}`", f"it is a part of `{whole}`")
    return usage


def _fail(value: Value) -> Fail:
    keys = value.mapping(("status", "message", "retry_after", "times"), ("status", "message"))
    times: int | None = 1
    if "times" in keys:
        given = keys["times"]
        times = given.whole(1, 100) if given.is_number else None
        if times is None:
            given.choice(("always",))
    retry = keys["retry_after"].whole(0, 60) if "retry_after" in keys else None
    status = keys["status"].whole(400, 599)
    return Fail(status, keys["message"].text(), retry, times, value.line)


def _disconnect(value: Value) -> Disconnect:
    value.true()
    return Disconnect(value.line)


def _hold(value: Value) -> Hold:
    value.true()
    return Hold(value.line)


def _client(value: Value) -> Client:
    keys = value.mapping(("approvals", "interrupt"))
    return Client(
        keys["approvals"].choice(("allow", "decline")) if "approvals" in keys else "allow",
        keys["interrupt"].choice(("text", "command")) if "interrupt" in keys else None,
    )


def _whole_lines(value: Value, text: str) -> str:
    """Check that a file's text ends its last line: Codex's patches always do."""
    if not text.endswith("\n"):
        raise value.error("the file's last line has no line feed", "end it: use `|` for the text")
    return text


def _relative(value: Value) -> str:
    text = value.text()
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or str(path) != text or text == ".":
        raise value.error(
            f"`{text}` is not a plain path in the workspace", "give it relative, such as `a/b.txt`"
        )
    return text


def read_scenario(path: Path, root: Value | None = None) -> Scenario:
    """Return the checked scenario of a file, or of a root read before. Raises ScenarioError."""
    return _Reader().scenario(path, root or read_yaml(path))
