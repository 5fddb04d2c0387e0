"""The steps of a scenario's model, from their YAML."""

from collections.abc import Callable
from pathlib import PurePosixPath

from harness.scenarios.model import (
    Ask,
    Disconnect,
    Edit,
    Entry,
    Fail,
    Hold,
    Parallel,
    Pause,
    Read,
    Run,
    Say,
    Step,
    Task,
    Think,
    Todo,
    Usage,
)
from harness.scenarios.nodes import Value, near

_LONGEST_PAUSE = 10_000
_MOST_TOKENS = 10**9
_STATUSES = ("pending", "in_progress", "completed")


class Steps:
    """Reads steps; it follows the files that they read, create and change, and their list.

    `files` are the texts in the workspace at the start, by relative path.
    """

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files
        self.texts: dict[str, str] = {}
        self.entries: tuple[Entry, ...] = ()
        self.steps: dict[str, Callable[[Value], Step]] = {
            "think": lambda v: Think(_chunks(v), v.line),
            "say": lambda v: Say(_chunks(v), v.line),
            "propose": lambda v: Say(_chunks(v), v.line, plan=True),
            "run": lambda v: Run(v.text(), v.line),
            "edit": self.edit,
            "read": self.read,
            "todo": self.todo,
            "ask": _ask,
            "task": _task,
            "parallel": self.parallel,
            "usage": _usage,
            "fail": _fail,
            "disconnect": _disconnect,
            "hold": _hold,
            "pause_ms": lambda v: Pause(v.whole(0, _LONGEST_PAUSE), v.line),
        }

    def step(self, value: Value) -> Step:
        """Return the step of a value, which has one key: its kind."""
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
        """Return a change of a file that an earlier step has made known, or a new file."""
        keys = value.mapping(("path", "content", "old", "new"), ("path",))
        path = relative(keys["path"])
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
                f"no earlier step created `{path}`, or read it",
                "create it with `content`, or `read` it: some agents change only what they know",
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
        """Return two or more tool calls."""
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

    def read(self, value: Value) -> Read:
        """Return the reading of a file that is there."""
        path = relative(value)
        text = self.texts.get(path, self.files.get(path))
        if text is None:
            raise value.error(f"`{path}` is not there to be read", "put it into `files`")
        self.texts[path] = text
        return Read(path, value.line)

    def todo(self, value: Value) -> Todo:
        """Return a list beside what it was before."""
        entries: list[Entry] = []
        for inner in value.list():
            keys = inner.mapping(("text", "status"), ("text", "status"))
            entries.append(Entry(keys["text"].text(), keys["status"].choice(_STATUSES)))  # type: ignore[arg-type] # `choice` has held it
        # Some agents keep such a list entry by entry: what was there stays, in its order.
        kept = [entry.text for entry in self.entries]
        if kept != [entry.text for entry in entries[: len(kept)]]:
            raise value.error(
                f"`{value.name}` lacks an entry of the list before, or has another order",
                "repeat the entries, then add new ones",
            )
        if tuple(entries) == self.entries:
            raise value.error(f"`{value.name}` changes nothing", "remove it, or change an entry")
        todo = Todo(tuple(entries), self.entries, value.line)
        self.entries = todo.entries
        return todo


def _ask(value: Value) -> Ask:
    keys = value.mapping(("question", "options"), ("question", "options"))
    options = tuple(v.text() for v in keys["options"].list())
    if len(options) < 2 or len(set(options)) < len(options):  # noqa: PLR2004 - a choice
        raise keys["options"].error(
            f"`{keys['options'].name}` is no choice", "give two or more that differ"
        )
    return Ask(keys["question"].text(), options, value.line)


def _task(value: Value) -> Task:
    keys = value.mapping(("prompt", "say"), ("prompt", "say"))
    return Task(keys["prompt"].text(), _chunks(keys["say"]), value.line)


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


def _whole_lines(value: Value, text: str) -> str:
    """Check that a file's text ends its last line: Codex's patches always do."""
    if not text.endswith("\n"):
        raise value.error("the file's last line has no line feed", "end it: use `|` for the text")
    return text


def relative(value: Value) -> str:
    """Return a plain path in the workspace, as it is written."""
    text = value.text()
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or str(path) != text or text == ".":
        raise value.error(
            f"`{text}` is not a plain path in the workspace", "give it relative, such as `a/b.txt`"
        )
    return text
