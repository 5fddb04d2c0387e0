"""One process of a cassette's agent, sans-io: what it says next, and what it takes."""

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, NoReturn

import msgspec
from msgspec import UNSET, Struct

from harness.cassette import Frame, restore
from harness.cassette.show import printable
from harness.playback.compare import ABSENT, SHOWN, Change, Difference, compare, places, shown
from harness.playback.errors import MismatchError, PlayError
from harness.playback.exchange import answer_of, sse_block
from harness.playback.pairing import Pairing, look, pairing, put, usable
from harness.playback.paths import Paths
from harness.surfaces.registry import Playback

_decode: Final = msgspec.json.Decoder().decode
_BROKEN: Final = (msgspec.MsgspecError, UnicodeError, RecursionError)


class Write(Struct, frozen=True, gc=False):
    """The agent writes a line, its line feed included. `at` is the recorded time in milliseconds.

    `seq` is the frame.
    """

    seq: int
    at: int
    channel: Literal["stdout", "stderr"]
    line: bytes


class Await(Struct, frozen=True, gc=False):
    """The agent waits for a line of the client's: `Player.take` has to come before `step`.

    `request` is the number of the request that is waited for, on a wire of HTTP.
    """

    seq: int
    at: int
    request: int = 0


class Answer(Struct, frozen=True, gc=False):
    """A server answers the request of that number. `text` is whether the body is no JSON."""

    seq: int
    at: int
    request: int
    status: int
    body: bytes
    text: bool = False


class Event(Struct, frozen=True, gc=False):
    """A server's stream of events goes on by this block, as it stands on the wire."""

    seq: int
    at: int
    block: bytes


class End(Struct, frozen=True, gc=False):
    """The process ends with an exit code or by a signal."""

    seq: int
    at: int
    code: int | None = None
    signal: str | None = None


Step = Write | Await | Answer | Event | End


class Player:
    """Plays the frames of one process, from after its `start` to its `exit`.

    `name` is the cassette's, for errors. Raises PlayError and CassetteError while it steps.
    """

    def __init__(
        self, name: str, frames: Iterable[Frame], playback: Playback, paths: Paths
    ) -> None:
        self.name = name
        self.paths = paths
        self._frames = iter(frames)
        self._ahead: deque[Frame] = deque()
        # The number of a request is the recorder's own count.
        self._places = (*places(playback.may_differ), (("request",), "any"))
        self._pairing: Pairing = pairing(playback.ids)
        self._carried_out = playback.carried_out
        self._awaited: Frame | None = None
        self._given: dict[Any, Any] = {}
        self._minted: dict[str, str] = {}
        self._last = (0, 0)

    def step(self) -> Step:
        """Return what comes next. After an `End` there is nothing, and it comes again."""
        frame = self._ahead.popleft() if self._ahead else next(self._frames, None)
        if frame is None:
            seq, at = self._last
            return End(seq, at, 0)
        self._last = frame.seq, frame.at
        match frame.channel, frame.dir:
            case ("stdout" | "stderr") as channel, "in":
                return Write(frame.seq, frame.at, channel, self._line(frame))
            case (("stdin" | "http"), "out"):
                self._awaited = frame
                return self.step_again()
            case "http", "in":
                return self._answer(frame)
            case "sse", "in":
                return Event(frame.seq, frame.at, sse_block(*self._content(frame)))
            case "exit", "in":
                return self._end(frame)
        raise PlayError(
            5, f"{self.name}: frame {frame.seq}: {frame.dir} on {frame.channel} cannot be played"
        )

    def step_again(self) -> Await:
        """Return the `Await` of the line that is still waited for."""
        assert self._awaited is not None  # noqa: S101 - the caller's contract
        frame = self._awaited
        number = frame.data.get("request") if isinstance(frame.data, dict) else None
        number = number if frame.channel == "http" and isinstance(number, int) else 0
        return Await(frame.seq, frame.at, number)

    def take(self, line: bytes) -> Await:
        """Take the line (without its line feed) that an `Await` waits for, and return that.

        Raises MismatchError.
        """
        assert self._awaited is not None  # noqa: S101 - the caller's contract
        self._hold(self._awaited, line, self._keep)
        taken = self.step_again()
        self._awaited = None
        return taken

    def foresee(self, line: bytes) -> None:
        """Check a line that came before it is waited for; `take` it all the same when it is.

        Raises MismatchError.
        """
        awaited = self._awaited or self._next_out()
        if awaited is None:
            self.surplus(line)
        else:
            self._hold(awaited, line, lambda *_: None)

    def surplus(self, line: bytes) -> NoReturn:
        """Raise MismatchError for a line where the client had nothing more to say."""
        raise MismatchError(
            self._last[0],
            f"{self.name}: nothing more was expected of the client after frame {self._last[0]}"
            f"\n  came:     {_text(line)}",
        )

    def awaited(self) -> str:
        """Return, for an error, what of the client's is waited for; empty where nothing is."""
        frame = self._awaited or self._next_out()
        return f"frame {frame.seq}: {shown(frame.content)}" if frame else ""

    def killed(self) -> bool:
        """Whether, nothing more being awaited, the process ends by a signal."""
        last = self._ahead[-1] if self._ahead else None
        return last is not None and isinstance(last.data, dict) and "signal" in last.data

    def _next_out(self) -> Frame | None:
        """Return the next frame of the client's, read ahead as far as it lies."""
        for frame in self._ahead:
            if frame.dir == "out":
                return frame
        for frame in self._frames:
            self._ahead.append(frame)
            if frame.dir == "out":
                return frame
        return None

    def _hold(
        self, frame: Frame, line: bytes, keep: Callable[[Any, Any, list[Change]], None]
    ) -> None:
        if frame.data is UNSET:
            if restore(*_field(frame)) != self._recorded(line):
                raise self._wrong(frame, line, Difference("", frame.content, _text(line)))
            return
        try:
            came = _decode(line)
        except _BROKEN as error:
            raise self._wrong(frame, line, f"it is not JSON ({error})") from error
        recorded = frame.data
        place = self._pairing.asks(recorded)
        if place and self._pairing.asks(came) == place:
            # The id is the client's to choose: put the recorded one there to compare the rest.
            id_ = look(came, place)
            if not usable(id_):
                where = Difference(".".join(place), look(recorded, place), id_)
                raise self._wrong(frame, line, where)
            if _key(id_) in {_key(given) for given in self._given.values()}:
                what = f"{'.'.join(place)}: {shown(id_)} is that of a request with no answer yet"
                raise self._wrong(frame, line, what)
            came = put(came, place, look(recorded, place))
        else:
            id_ = ABSENT
        found, changes = compare(recorded, came, self._places, self.paths)
        if found is not None:
            raise self._wrong(frame, line, found)
        keep(look(recorded, place) if place else ABSENT, id_, changes)

    def _keep(self, recorded: Any, given: Any, changes: list[Change]) -> None:
        if recorded is not ABSENT:
            self._given[_key(recorded)] = given
        for change in changes:
            if change.way == "path":
                self.paths.learn(change.came, change.recorded)
            else:
                self._minted[change.recorded] = change.came

    def _line(self, frame: Frame) -> bytes:
        return restore(*self._content(frame)) + b"\n"

    def _content(self, frame: Frame) -> tuple[str, Any]:
        field, value = _field(frame)
        if field == "data" and frame.channel != "stderr" and isinstance(value, dict):
            value = self._said(value)
        return field, value

    def _end(self, frame: Frame) -> End:
        how = frame.data if isinstance(frame.data, dict) else {}
        code, name = how.get("code"), how.get("signal")
        if isinstance(name, str) and name in signal.Signals.__members__:
            return End(frame.seq, frame.at, signal=name)
        if not isinstance(code, int) or name is not None:
            raise PlayError(
                5, f"{self.name}: frame {frame.seq}: no way to end: {shown(frame.content)}"
            )
        return End(frame.seq, frame.at, code)

    def _answer(self, frame: Frame) -> Answer:
        _, value = self._content(frame)
        try:
            number, status, body = answer_of(value)
        except (TypeError, KeyError, ValueError) as error:
            raise PlayError(
                5, f"{self.name}: frame {frame.seq} is no answer to a request ({error})"
            ) from error
        return Answer(frame.seq, frame.at, number, status, body, "body" not in value)

    def _said(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message of the agent's with the client's ids, and paths where it acts on them.

        All else stays as it was recorded.
        """
        if self._given:
            place = self._pairing.answers(message)
            if place:
                recorded = look(message, place)
                given = self._given.pop(_key(recorded), ABSENT)
                if given is not ABSENT:
                    message = put(message, place, given)
        if self._carried_out and self._pairing.asks(message):
            method = str(message.get("method"))
            if any(fnmatchcase(method, pattern) for pattern in self._carried_out):
                message = self.paths.real(message)
        return _exchanged(message, self._minted) if self._minted else message

    def _recorded(self, line: bytes) -> bytes:
        try:
            return self.paths.recorded(line.decode()).encode()
        except UnicodeDecodeError:
            return line

    def _wrong(self, frame: Frame, line: bytes, what: Difference | str) -> MismatchError:
        return MismatchError(
            frame.seq,
            f"{self.name}: frame {frame.seq} was expected of the client, and another came"
            f"\n  expected: {shown(frame.content)}"
            f"\n  came:     {_text(line)}"
            f"\n  differs:  {what}",
        )


def _field(frame: Frame) -> tuple[str, Any]:
    if frame.data is not UNSET:
        return "data", frame.data
    return ("b64", frame.b64) if frame.text is UNSET else ("text", frame.text)


def _key(id_: Any) -> tuple[bool, Any]:
    """A number is not the text that looks like it."""
    return isinstance(id_, str), id_ if usable(id_) else str(id_)


def _exchanged(value: Any, table: dict[str, str]) -> Any:
    if isinstance(value, str):
        return table.get(value, value)
    if isinstance(value, list):
        return [_exchanged(inner, table) for inner in value]
    if isinstance(value, dict):
        return {key: _exchanged(inner, table) for key, inner in value.items()}
    return value


def _text(line: bytes) -> str:
    text = printable(line[: SHOWN + 1].decode(errors="replace"))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def steps(player: Player) -> Iterator[Step]:
    """Yield the steps of a player, `End` the last."""
    while True:
        step = player.step()
        yield step
        if isinstance(step, End):
            return
