"""What a surface's folder offers to the rest: its kinds, its normalizer, its driver.

Normalizers and drivers are sans-io. They see frames and say what follows; processes, sockets,
files and clocks are the runner's.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from harness.canonical import EventBase
from harness.cassette import Frame, Header
from harness.cassette.scrub import Rules
from harness.scenarios import Scenario


class Normalizer(Protocol):
    """Turns the frames of one conversation into canonical events. The thing under test."""

    def feed(self, frame: Frame) -> Iterable[EventBase]:
        """Return the events that this frame causes; it never waits for a later frame."""

    def close(self) -> Iterable[EventBase]:
        """Return what the end of the frames causes: whatever is still open is closed."""


class MakeNormalizer(Protocol):
    """A normalizer is made anew for each conversation, from its cassette's header."""

    def __call__(self, header: Header, /) -> Normalizer:
        """Return a normalizer for the conversation of that header."""
        ...


class Kinds(Protocol):
    """Names the native kind of each frame of one conversation, in order.

    It keeps what a name needs: the method that a response answers. Names: an agent's
    notification or message by its own name (`turn/completed`, `assistant`), `request NAME` for
    an agent's request, `response NAME` and `error NAME` for its answer to a client's request,
    `client NAME` and `client-response NAME` for what the client sends, and for every surface
    `start`, `stderr`, `exit`, and `noise` (`client noise`) for a line that is not of the protocol.
    `repeat NAME` is a frame that only says again what an earlier one has said, where NAME itself
    is mapped: a kind of its own can be ignored with a reason.
    """

    def of(self, frame: Frame) -> str:
        """Return the frame's kind."""


class Send(Struct, frozen=True):
    """Write one JSON value and a line feed to the agent's stdin."""

    data: Any


class SendText(Struct, frozen=True):
    """Write one line of text to the agent's stdin."""

    text: str


class CloseStdin(Struct, frozen=True):
    """Close the agent's stdin."""


class Signal(Struct, frozen=True):
    """Send a signal to the agent's process group."""

    name: Literal["SIGINT", "SIGTERM"]


class Start(Struct, frozen=True):
    """Start a process of the agent: its arguments after the program's own path."""

    args: list[str]


class Done(Struct, frozen=True):
    """The conversation has run to its end: collect what still comes, then end the process."""


class Failed(Struct, frozen=True):
    """The conversation cannot go on, and why: the recording fails."""

    what: str


class Unhandled(Struct, frozen=True):
    """The agent asked something that the driver does not know; it was answered with an error."""

    what: str


class OnceSilent(Struct, frozen=True):
    """Send a value once the agent has been silent for a moment: what it does then is done.

    An interrupt in the middle of it would end as chance has it.
    """

    data: Any


class OnceHeld(Struct, frozen=True):
    """Do it once the model server holds its stream open, and the agent is silent.

    So an interrupt comes before the model has said anything, and after it was asked.
    """

    action: Send | Signal


class End(Struct, frozen=True):
    """End the process as at the end of a recording; what it still says is recorded alone.

    A `Start` may follow at once.
    """


class Child(Protocol):
    """A program that the client runs for its agent, with all that it starts (its group)."""

    @property
    def status(self) -> Mapping[str, Any] | None:
        """`{code}` or `{signal}` once it has ended and its output is read, else None."""

    @property
    def output(self) -> tuple[bytes, bool]:
        """The last bytes that came on stdout and stderr, and whether earlier ones are gone."""

    async def wait(self) -> Mapping[str, Any]:
        """Return its `status` once there is one."""

    def kill(self) -> None:
        """Kill its group, if it has not ended."""


class Hands(Protocol):
    """What the runner does for a driver beside the wire; it ends what is left at the end."""

    async def spawn(
        self, command: list[str], env: Mapping[str, str], cwd: str, limit: int
    ) -> Child:
        """Start a program where the agent runs, its environment with `env` added.

        `limit` is how many bytes of its output are kept. Raises OSError where it cannot start.
        """


class Do(Struct, frozen=True):
    """Do the client's own work, then carry out the actions that it returns.

    `beside`: the conversation goes on meanwhile. Otherwise nothing else happens until it is done,
    so that each recording has the answer at the same place; it has to be short.
    """

    work: "Callable[[Hands], Awaitable[Iterable[Action]]]"
    beside: bool = False


Action = (
    Send
    | SendText
    | CloseStdin
    | Signal
    | Start
    | End
    | Do
    | Done
    | Failed
    | Unhandled
    | OnceSilent
    | OnceHeld
)


class Driver(Protocol):
    """The client's side of one conversation, as the scenario tells it. Sans-io."""

    @property
    def awaiting(self) -> str:
        """What of the agent's is waited for now: the time limit's error names it."""

    def begin(self) -> Iterable[Action]:
        """Return the first actions; the first is a `Start`."""

    def on_frame(self, frame: Frame) -> Iterable[Action]:
        """Return what follows from a frame that the agent sent, its exit among them.

        Frames reach the driver as the agent sent them, before they are scrubbed.
        """

    def interrupt(self) -> Iterable[Action]:
        """Return what interrupts the turn that goes on, now; nothing where none does.

        A person asks for it, at any time; the scenario's own interrupts are the driver's.
        """


class Answer(Struct, frozen=True):
    """What a server of the agent's answered: the HTTP status, and the body as its frame has it.

    `body` is a JSON value, a text where it is none, or None where there is nothing.
    """

    status: int
    body: Any


class Wire(Protocol):
    """The runner's side of one conversation, for a client that is not a `Driver`.

    Every line in either direction is a frame on disk before the other side sees it.
    """

    awaiting: str
    held: asyncio.Event
    """Set while the model server holds a stream open and silent."""
    interrupting: Callable[[], Awaitable[bool]]
    """Interrupts the turn that goes on, and returns whether there is one; see `Driver`.

    Who converses puts it there, and it is called between two frames.
    """

    async def start(self, args: list[str]) -> None:
        """Start a process of the agent: its arguments after the program's own path."""

    async def send(self, line: bytes) -> None:
        """Write one line (without its line feed) to the agent's stdin; recorded as `out`.

        A process that has closed its stdin takes nothing: its exit is the next to be seen.
        """

    async def close_stdin(self) -> None:
        """Close the agent's stdin."""

    def signal(self, name: Literal["SIGINT", "SIGTERM"]) -> None:
        """Send a signal to the process's group."""

    def frames(self) -> AsyncIterator[Frame]:
        """Yield what comes, unscrubbed: stdout, stderr, sse and exit, recorded when it is taken.

        Ends after an exit frame unless another process was started meanwhile. Raises RecordError
        (5) where an event stream has ended.
        """

    async def settle(self) -> None:
        """Record what still comes until the agent is silent, then end the process."""

    def unhandled(self, what: str) -> None:
        """Report something that the agent asked and the client did not know."""


class ServerWire(Wire, Protocol):
    """The wire of an agent that is a server: what passes over HTTP is on it too.

    Every request is on disk before it is sent, every answer and event before anyone acts on it.
    """

    async def coming(self, patience: float) -> Frame | None:
        """Return the next of the frames, or None where none comes for so many seconds."""

    async def calm(self) -> Frame | None:
        """Return the next frame, or None once the model server is `held` and the agent silent."""

    def connect(self, url: str) -> None:
        """Say where the agent's server is, as it has told: an address of its own loopback."""

    async def request(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request with a JSON body (None: without one) and return its answer.

        Both are frames, numbered from 1: `out` `{request, method, path, body}` and `in`
        `{request, status, body}`; a body that is no JSON stands as `text` (`b64` where it is
        not even that). What else the agent says meanwhile is taken after the answer: so each
        recording has the same order. Raises RecordError (5) where no answer comes.
        """

    def begin(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request whose answer is long in coming; `answer` takes it, and puts it on disk."""

    async def answer(self, pending: Any) -> Answer:
        """Return the answer to what `begin` has sent. Raises RecordError (5) where none comes."""

    async def listen(self, path: str) -> None:
        """Open a stream of server-sent events; from now on they are among the frames.

        A frame's content is the event's data; of what is no event (a comment, an event that the
        stream's end has cut off) it is the text. Raises RecordError (5) where there is none.
        """

    def said(self) -> str:
        """Return, for an error, the last lines that were not of the protocol."""


class Program(Struct, frozen=True, forbid_unknown_fields=True):
    """How an agent's program is found and asked for its version.

    First in this interpreter's environment, as `inside` of the import package `package`
    (nothing of it is imported); then in the user's cache, as `command` of the npm package `npm`
    at `npm_version`, which `harness agents install` puts there; then as `command` on PATH.
    `agent` is its name in cassettes. `node` is the least major version of Node that it needs.

    `version` is the group of a pattern that is searched in what `command *ask` answers; `say` is
    a line for its stdin, for a program that tells its version on its wire alone.
    """

    agent: str = ""
    command: str = ""
    package: str = ""
    inside: str = ""
    ask: tuple[str, ...] = ("--version",)
    version: str = r"(\d+\.\d+\.\d+[-+.\w]*)"
    npm: str = ""
    npm_version: str = ""
    node: int = 20
    say: str = ""


class Preparation(Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent needs to run on the scripted model: data alone, in a manifest's entry.

    `args` are its arguments, `env` its environment variables, `files` the files that are written
    before it starts, by path: a text as it is, anything else as JSON. `options` are the
    surface's own: what its driver does otherwise with this agent. In every text, keys too,
    `{port}` (the model server's), `{home}`, `{workspace}` and `{key}` are replaced; other braces
    stay. A file's path has to be in `{home}` or `{workspace}`.

    `commands` are the files that give the agent a command of its own, for each turn of a
    scenario that has one: as `files`, and `{name}` and `{prompt}` are replaced too.
    """

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)


class Setup(Struct, frozen=True):
    """Where a driver's agent runs: real paths, and the scripted model server's port.

    `program` is the agent's program. `key` is the only key that the agent gets. `agent` is its
    name, `args` and `options` what its manifest's entry gives for it, filled in; both are empty
    for an agent that the surface's `recorder.py` sets up.
    """

    scenario: Scenario
    workspace: str
    home: str
    port: int
    program: str
    key: str
    agent: str = ""
    args: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


class Recorder(Protocol):
    """What a surface's `recorder.py` has at its top level.

    Either `make_driver(setup) -> Driver`, or, where the provider's own client library is to be
    run, `async converse(setup, wire) -> None`, which returns once the conversation is over.
    `settle` is then the runner's to call. Errors that end a recording: `RecordError`.

    Where the manifest's entries carry the programs, it has no `PROGRAM`, and `prepare` only
    where there is something that no entry can say.
    """

    PROGRAM: Program
    PROTOCOL: str
    """The header's `protocol`."""
    CAPABILITIES: Mapping[str, Any]
    """The header's `capabilities`: what the client declares, and how it was set up.

    Where that is not the same for every scenario, `capabilities(setup)` returns it instead.
    """
    RULES: Rules
    """What of this wire is scrubbed beyond what is scrubbed on every wire."""

    def prepare(self, setup: Setup, /) -> Mapping[str, str]:
        """Write the agent's configuration into `setup.home`; return its environment variables.

        They come on top of the ones that every agent gets (HOME, XDG folders, PATH, locale).
        """


class MakeDriver(Protocol):
    """Makes the driver of one conversation; `prepare` has been called."""

    def __call__(self, setup: Setup, /) -> Driver:
        """Return the driver."""
        ...


class Converse(Protocol):
    """Runs a client library of the provider's over the wire until the conversation is over."""

    async def __call__(self, setup: Setup, wire: Wire, /) -> None:
        """Return once the conversation is over."""
        ...
