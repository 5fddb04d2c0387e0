"""The process that a client has started, sans-io: among those of one command line, whichever fits.

Processes of a cassette may have the same command line: an ACP agent that is started again to load
a session. Then what the client says tells which one it is: where it does not fit, another that
has gone the same way so far takes its place.
"""

import hashlib
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import msgspec

from harness.playback.errors import MismatchError
from harness.playback.paths import Paths
from harness.playback.player import Answer, Await, End, Event, Player, Step, Write
from harness.playback.segments import Recorded, Segment

_decode: Final = msgspec.json.Decoder().decode


class Conversation:
    """Plays the process that `args` name. See `Player`, whose methods it has.

    `started` is how many of that command line the client has started before: the guess with
    which it begins.

    `say` is the line with which a recorder asks an agent for its version, where its command line
    has no way to ask: it is answered as the recorded request of that method was.

    Raises MismatchError for a command line that was not recorded.
    """

    def __init__(
        self,
        recorded: Recorded,
        args: list[str] | None,
        paths: dict[str, str],
        say: str = "",
        started: int = 0,
    ) -> None:
        self._recorded = recorded
        self._real = paths
        named = recorded.named(args, Paths(paths))
        turn = started % len(named)
        first, *self._others = named[turn:] + named[:turn]
        self._segment = first
        self._player = self._play(first)
        self._say = _decode(say) if say else None
        self._asked: list[Write] = []
        self._received: list[bytes] = []
        self._written = hashlib.sha256()
        self._awaits = False

    def step(self) -> Step:
        """See `Player.step`."""
        if self._asked:
            return self._asked.pop()
        if self._awaits:
            return self._player.step_again()
        step = self._player.step()
        if self._others:
            self._written.update(_said(step))
        self._awaits = isinstance(step, Await)
        return step

    def take(self, line: bytes) -> Await:
        """See `Player.take`."""
        try:
            taken = self._player.take(line)
        except MismatchError as error:
            if self._is_question(line):
                return self._player.step_again()
            taken = self._change(line, error)
        self._awaits = False
        self._say = None
        if self._others:
            self._received.append(line)
        return taken

    def foresee(self, line: bytes) -> None:
        """See `Player.foresee`."""
        if not self._others and self._say is None:
            self._player.foresee(line)

    def surplus(self, line: bytes) -> NoReturn:
        """See `Player.surplus`."""
        self._player.surplus(line)

    def awaited(self) -> str:
        """See `Player.awaited`."""
        return self._player.awaited()

    def killed(self) -> bool:
        """See `Player.killed`."""
        return self._player.killed()

    def _play(self, segment: Segment) -> Player:
        return Player(
            self._recorded.header.id,
            self._recorded.frames(segment),
            self._recorded.playback,
            Paths(self._real),
        )

    def _change(self, line: bytes, error: MismatchError) -> Await:
        """Go on with another process that has gone the same way and takes the line."""
        for other in self._others:
            player = self._play(other)
            try:
                if self._follows(player):
                    taken = player.take(line)
                    self._player = player
                    self._others = [s for s in self._others if s is not other]
                    return taken
            except MismatchError:
                continue
        raise error

    def _follows(self, player: Player) -> bool:
        """Whether a process takes all that the client has sent, and says the same up to here."""
        written = hashlib.sha256()
        lines = iter([*self._received, None])
        while not isinstance(step := player.step(), End):
            if not isinstance(step, Await):
                written.update(_said(step))
                continue
            line = next(lines)
            if line is None:
                return written.digest() == self._written.digest()
            player.take(line)
        return False

    def _is_question(self, line: bytes) -> bool:
        """Whether it asks for the version; then the answer is what the next step says."""
        if self._say is None:
            return False
        try:
            came = _decode(line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return False
        if came != self._say or not isinstance(came, dict):
            return False
        answer = _answer(self._recorded, self._segment, came)
        if answer is None:
            return False
        self._asked.append(Write(0, 0, "stdout", msgspec.json.encode(answer) + b"\n"))
        self._say = None
        return True


def _said(step: Step) -> bytes:
    """Return what a client heard of a step, but for stderr: that is for people."""
    match step:
        case Write(channel="stdout", line=line):
            return line
        case Answer(status=status, body=body):
            return b"%d %s\n" % (status, body)
        case Event(block=block):
            return block
    return b""


def _answer(recorded: Recorded, segment: Segment, question: dict[str, Any]) -> Any:
    """Return the answer that was recorded to a request of that method, with the question's id."""
    ids: list[Any] = []
    for message in _messages(recorded, segment):
        if "method" in message and message["method"] == question.get("method"):
            ids.append(message.get("id"))
        elif "method" not in message and message.get("id") in ids:
            return {**message, "id": question.get("id")}
    return None


def _messages(recorded: Recorded, segment: Segment) -> Iterator[dict[str, Any]]:
    for frame in recorded.frames(segment):
        if isinstance(frame.data, dict) and frame.channel in {"stdin", "stdout"}:
            yield frame.data
