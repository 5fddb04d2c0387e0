"""What a surface's folder offers to the rest: its kinds, its normalizer, its driver.

Normalizers and drivers are sans-io. They see frames and say what follows; processes, sockets,
files and clocks are the runner's.
"""

from collections.abc import Iterable
from typing import Any, Literal, Protocol

from msgspec import Struct

from harness.canonical import EventBase
from harness.cassette import Frame, Header
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
    `start`, `stderr`, `exit`, and `noise` for a line on stdout that is not of the protocol.
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


class Unhandled(Struct, frozen=True):
    """The agent asked something that the driver does not know; it was answered with an error."""

    what: str


Action = Send | SendText | CloseStdin | Signal | Start | Done | Unhandled


class Driver(Protocol):
    """The client's side of one conversation, as the scenario tells it."""

    def begin(self) -> Iterable[Action]:
        """Return the first actions; the first is a `Start`."""

    def on_frame(self, frame: Frame) -> Iterable[Action]:
        """Return what follows from a frame that the agent sent, its exit among them.

        Frames reach the driver as the agent sent them, before they are scrubbed.
        """


class Setup(Struct, frozen=True):
    """Where a driver's agent runs: real paths, and the scripted model server's port."""

    scenario: Scenario
    workspace: str
    home: str
    port: int


class MakeDriver(Protocol):
    """Writes the agent's configuration into `setup.home`, and makes the driver."""

    def __call__(self, setup: Setup, /) -> Driver:
        """Return the driver of one recording."""
        ...
