"""A scenario as values: turns, the steps of the scripted model, and the client's decisions.

Provider-neutral: a step says `run`, never `exec_command` or `Bash`.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from msgspec import Struct, field

Show: TypeAlias = Literal[
    "text",
    "thinking",
    "tool",
    "diff",
    "terminal",
    "permission",
    "question",
    "plan",
    "todo",
    "task",
    "usage",
    "mode",
    "status",
]

SHOWS: tuple[str, ...] = get_args(Show)
"""The rows of the compatibility matrix that a scenario may show."""

_SHORT = 60


class Think(Struct, frozen=True):
    """The model reasons. `chunks` are the deltas, `line` the line in the file (1-based)."""

    chunks: tuple[str, ...]
    line: int = 0

    @property
    def text(self) -> str:
        """The whole reasoning."""
        return "".join(self.chunks)


class Say(Struct, frozen=True):
    """The model says something. `chunks` are the deltas; a chunk may end inside a grapheme.

    With `plan` it proposes a plan, in the form that the agent asks of it, if it asks for one.
    """

    chunks: tuple[str, ...]
    line: int = 0
    plan: bool = False

    @property
    def text(self) -> str:
        """The whole message."""
        return "".join(self.chunks)


class Run(Struct, frozen=True):
    """The model calls the agent's shell tool with a command."""

    command: str
    line: int = 0


class Edit(Struct, frozen=True):
    """The model calls the agent's edit tool on a file of the workspace.

    `before` is None where the step creates the file. Both are the file's whole text: what a
    change replaces is `old`, what with, `new`; for a file that is created `old` is empty and
    `new` its text.
    """

    path: str
    old: str
    new: str
    before: str | None
    after: str
    line: int = 0


class Pause(Struct, frozen=True):
    """The stream is silent for so many milliseconds."""

    ms: int
    line: int = 0


class Read(Struct, frozen=True):
    """The model calls the agent's tool that reads a file of the workspace; `cat` without one."""

    path: str
    line: int = 0


class Entry(Struct, frozen=True):
    """One entry of a list of what is to be done."""

    text: str
    status: Literal["pending", "in_progress", "completed"]


class Todo(Struct, frozen=True):
    """The model calls the agent's tool that keeps a list of what is to be done.

    `entries` is the whole list, `before` what the turn's last such step had made of it.
    """

    entries: tuple[Entry, ...]
    before: tuple[Entry, ...] = ()
    line: int = 0


class Ask(Struct, frozen=True):
    """The model calls the agent's tool that asks the user to choose one of some options."""

    question: str
    options: tuple[str, ...]
    line: int = 0


class Task(Struct, frozen=True):
    """The model gives a task to an agent of its own, whose model says `chunks` to it."""

    prompt: str
    chunks: tuple[str, ...]
    line: int = 0

    @property
    def text(self) -> str:
        """All that the model of the agent says."""
        return "".join(self.chunks)


class Parallel(Struct, frozen=True):
    """Several tool calls in one model response, with a pause between two of them if need be."""

    steps: tuple[Run | Edit | Pause, ...]
    line: int = 0

    @property
    def tools(self) -> tuple[Run | Edit, ...]:
        """The tool calls alone."""
        return tuple(step for step in self.steps if not isinstance(step, Pause))


class Usage(Struct, frozen=True):
    """The tokens that the model response it stands in reports.

    `cached_input` is a part of `input`, `reasoning_output` a part of `output`.
    """

    input: int
    output: int
    cached_input: int = 0
    reasoning_output: int = 0
    line: int = 0


class Fail(Struct, frozen=True):
    """The model API answers with an HTTP error.

    `retry_after` is in seconds, for the header of that name. `times` is how many attempts
    fail before the steps that follow answer; None is always.
    """

    status: int
    message: str
    retry_after: int | None = None
    times: int | None = 1
    line: int = 0


class Disconnect(Struct, frozen=True):
    """The connection is cut, in the middle of the stream, at each attempt."""

    line: int = 0


class Hold(Struct, frozen=True):
    """The stream stays open and silent until the client goes away."""

    line: int = 0


Tool: TypeAlias = Run | Edit | Read | Todo | Ask | Task
Step: TypeAlias = Think | Say | Tool | Parallel | Usage | Fail | Disconnect | Hold | Pause

Capability: TypeAlias = Literal["files", "terminal", "questions"]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)
"""What a client may offer to do for the agent.

`questions`, to answer what the model asks, is offered too wherever a turn has an `answer`.
"""

Decision: TypeAlias = Literal["allow", "decline", "always"]
Interrupt: TypeAlias = Literal["text", "command", "start", "held"]


class Client(Struct, frozen=True):
    """What the client decides in a turn.

    `approvals` answers every question for permission; `always` allows what is asked and all
    that is like it. Where they are not all answered the same, `decisions` are the answers in
    order, and `answers` those to the model's questions; what is asked beyond them gets the last.
    `interrupt` is when the client interrupts: at the last text delta, once a
    command is running, at the `start`, before the model has said anything, or once it is `held`:
    silent in its `hold`, whatever it has said; None is never.
    `answer` is the option that it chooses where the model asks, or words of its own. `mode` is
    the mode that it sets before its prompt; `resume` says that before its prompt it leaves the
    agent, and loads the conversation again in a new one.

    `together` are the answers to questions that are asked at once, while they are answered.
    """

    approvals: Decision = "allow"
    interrupt: Interrupt | None = None
    answer: str = ""
    mode: Literal["", "plan"] = ""
    resume: bool = False
    decisions: tuple[Decision, ...] = ()
    answers: tuple[str, ...] = ()
    together: tuple[str, ...] = ()

    def answer_to(self, number: int) -> str:
        """Return the answer to a question: the number of it among those asked at once, from 0."""
        return self.together[number] if number < len(self.together) else self.answer


class Turn(Struct, frozen=True):
    """One prompt, and all that the model does for it.

    With a `command`, the client sends `/COMMAND`, and `prompt` is the text that the agent makes
    of it: the agent is set up to have a command of that name.
    """

    prompt: str
    model: tuple[Step, ...]
    client: Client = Client()
    command: str = ""
    line: int = 0

    @property
    def typed(self) -> str:
        """What the client sends as the prompt."""
        return f"/{self.command}" if self.command else self.prompt

    def responses(self) -> list[tuple[Step, ...]]:
        """Split the steps into model responses: a tool step ends one."""
        found: list[tuple[Step, ...]] = []
        steps: list[Step] = []
        for step in self.model:
            steps.append(step)
            if isinstance(step, Tool | Parallel):
                found.append(tuple(steps))
                steps = []
        if steps:
            found.append(tuple(steps))
        return found


class Scenario(Struct, frozen=True):
    """A scenario: `id` is the stem of its file.

    `permissions` says whether the agent is set up to ask before it acts. `files` are the
    texts in the workspace at the start, by relative path. `capabilities` are what the client
    offers to do for the agent. `wire` is how the model server writes: each event whole, or split
    inside multi-byte characters.
    """

    id: str
    title: str
    shows: tuple[Show, ...]
    turns: Sequence[Turn]
    permissions: Literal["ask", "automatic"] = "automatic"
    files: dict[str, str] = field(default_factory=dict)
    capabilities: tuple[Capability, ...] = ()
    wire: Literal["whole", "split-bytes"] = "whole"
    path: str = ""


def describe(step: Step) -> str:  # noqa: C901, PLR0911, PLR0912 - one line a kind of step
    """Return a step as one short readable line, such as `run: echo hi`."""
    match step:
        case Think():
            return f"think: {shorten(step.text)}"
        case Say():
            return f"say: {shorten(step.text)}"
        case Run():
            return f"run: {shorten(step.command)}"
        case Edit():
            return f"edit: {step.path} ({'create' if step.before is None else 'change'})"
        case Read():
            return f"read: {step.path}"
        case Todo():
            return f"todo: {len(step.entries)} entries"
        case Ask():
            return f"ask: {shorten(step.question)}"
        case Task():
            return f"task: {shorten(step.prompt)}"
        case Parallel():
            return f"parallel: {', '.join(describe(tool) for tool in step.steps)}"
        case Usage():
            return f"usage: {step.input} in, {step.output} out"
        case Fail():
            times = "always" if step.times is None else f"{step.times} times"
            return f"fail: HTTP {step.status}, {times}"
        case Disconnect():
            return "disconnect"
        case Hold():
            return "hold"
        case Pause():
            return f"pause: {step.ms} ms"


def shorten(text: str) -> str:
    """Return a text on one line, cut to a length that fits into a message."""
    line = text.replace("\n", "\\n")
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"
