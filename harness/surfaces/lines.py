"""What normalizers of agents that speak JSON lines over stdio have in common.

Which frame is a message, which a line that is not of the protocol, how a process ended, what the
end of the frames closes. What the messages mean is each surface's own.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import UNSET

from harness.canonical import EventBase
from harness.canonical import payloads as pl
from harness.cassette import Frame
from harness.surfaces import lenient
from harness.surfaces.ledger import Ledger

Message = dict[str, Any]


class LineNormalizer(ABC):
    """Base of a `Normalizer`: a surface says what its messages mean, and what is closed."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.last: Frame | None = None
        self.errors = ""

    def feed(self, frame: Frame) -> Iterable[EventBase]:
        """Return the events that this frame causes."""
        self.last = frame
        if frame.channel == "stdout":
            if type(frame.data) is dict:
                self.message(frame, frame.data)
            else:
                self.line(frame)
        else:
            self.beside(frame)
        return self.ledger.take()

    def close(self) -> Iterable[EventBase]:
        """Return what the end of the frames causes: whatever is still open is closed."""
        if self.last is not None:
            self.ledger.cause(self.last, self.source(self.last))
        self.close_all()
        return self.ledger.take()

    @abstractmethod
    def message(self, frame: Frame, message: Message) -> None:
        """Handle what the agent sent."""

    @abstractmethod
    def client(self, frame: Frame, message: Message) -> None:
        """Handle what the client sent."""

    @abstractmethod
    def new_process(self, frame: Frame) -> None:
        """A process starts: what its command line says, and ids that begin anew."""

    @abstractmethod
    def warn(self, message: str) -> None:
        """Emit a `runtime.warning` for the frame."""

    @abstractmethod
    def begin(self) -> bool:
        """Start the session, as synthesized, if none is open; return whether one was."""

    @abstractmethod
    def ended(self, payload: pl.SessionExitedPayload) -> None:
        """Emit `session.exited`, and forget what was the session's."""

    @abstractmethod
    def close_all(self) -> None:
        """Close whatever is open."""

    @abstractmethod
    def wire(self, frame: Frame) -> Any:
        """Return the `raw.source` of a message."""

    def source(self, frame: Frame) -> Any:
        """Return the `raw.source` of a frame after which nothing came."""
        if frame.channel in {"exit", "stderr"}:
            return f"process.{frame.channel}"
        return self.wire(frame) if type(frame.data) is dict else "process.stdout"

    def read(self, frame: Frame) -> lenient.Reading:
        """Return the messages of a line that is not plainly one."""
        return lenient.read(frame)

    def beside(self, frame: Frame) -> None:
        """Handle what does not come on the agent's stdout."""
        if frame.channel == "stdin":
            if type(frame.data) is dict:
                self.client(frame, frame.data)
            else:
                self.line(frame)
        elif frame.channel == "exit":
            self.exit(frame)
        elif frame.channel == "stderr":
            self.errors = str(frame.content)
        elif frame.channel == "start":
            self.new_process(frame)

    def line(self, frame: Frame) -> None:
        """Handle what is in a line that is not plainly a message, and tell what was odd."""
        reading = self.read(frame)
        for message in reading.messages:
            if frame.channel == "stdout":
                self.message(frame, message)
            else:
                self.client(frame, message)
        if not reading.messages:
            self.noise(frame)
        elif reading.flaw:
            self.warn(reading.flaw)

    def noise(self, frame: Frame) -> None:
        """Tell of a line that is not of the protocol."""
        self.ledger.cause(frame, "process.stdout")
        who = "the agent" if frame.channel == "stdout" else "the client"
        self.warn(f"{who} sent a line that is not of the protocol")

    def guard(self, handler: Callable[[Message], None], message: Message, kind: str) -> None:
        """Handle a message; one that has not the shape of its kind gives a warning."""
        try:
            handler(message)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self.warn(f"{kind} has not the shape that it should: {error!r}")

    def exit(self, frame: Frame) -> None:
        """Close what is open, then the session, with how the process ended."""
        self.ledger.cause(frame, "process.exit")
        self.close_all()
        # Why a process failed that said nothing is on its stderr.
        said = self.begin()
        self.ended(exited(frame, "" if said else self.errors))
        self.errors = ""


def exited(frame: Frame, last_error: str) -> pl.SessionExitedPayload:
    """Return the payload of `session.exited` for an exit frame: `{code}` or `{signal}`.

    `last_error` is the last line on stderr, which tells why a process that failed did so.
    """
    data = frame.data if isinstance(frame.data, dict) else {}
    code, signal = data.get("code"), data.get("signal")
    if code == 0:
        return pl.SessionExitedPayload("exit code 0", exitKind="graceful")
    reason = f"signal {signal}" if signal is not None else f"exit code {code}"
    if code is not None and last_error:
        reason += f": {last_error}"
    known = code is not None or signal is not None
    return pl.SessionExitedPayload(reason, exitKind="error" if known else UNSET)
