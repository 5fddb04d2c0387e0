"""The processes of a cassette: which one a command line names, and its frames."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from harness.cassette import CassetteError, Frame, Header, open_cassette
from harness.playback.compare import shown
from harness.playback.errors import MismatchError, PlayError
from harness.playback.paths import Paths
from harness.surfaces import SurfaceError, surface
from harness.surfaces.registry import Playback


class Segment(Struct, frozen=True):
    """One process: the frame that started it (0: none did) and its command line."""

    start: int
    command: list[str]


class Recorded(Struct, frozen=True):
    """A whole cassette that can be played: its processes, in the order in which they started."""

    path: Path
    header: Header
    playback: Playback
    segments: list[Segment]
    http: bool

    def named(self, args: list[str] | None, paths: Paths) -> list[Segment]:
        """Return the processes of this command line; without one, the first.

        Raises MismatchError where none has it.
        """
        if args is None:
            return self.segments[:1]
        came = [paths.recorded(arg) for arg in args]
        own = self._own(came)
        found = [s for s in self.segments if self._own(s.command[1:]) == own]
        return found or self._refuse(args, came)

    def option(self, args: list[str] | None, name: str) -> str:
        """Return what follows an option among arguments, or an empty text."""
        for one, other in pairwise([*(args or []), ""]):
            if one == name:
                return other
            if one.startswith(f"{name}="):
                return one.removeprefix(f"{name}=")
        return ""

    def _own(self, args: list[str]) -> list[str]:
        """Return arguments without what follows the options that are the client's to choose."""
        found: list[str] = []
        for arg in args:
            name = arg.partition("=")[0]
            if found and found[-1] in self.playback.options:
                found[-1] += "="
            elif name in self.playback.options and "=" in arg:
                found.append(f"{name}=")
            else:
                found.append(arg)
        return found

    def frames(self, segment: Segment) -> Iterator[Frame]:
        """Yield the frames of a process, from after its start to its exit."""
        with open_cassette(self.path) as cassette:
            for frame in cassette:
                if frame.seq <= segment.start:
                    continue
                yield frame
                if frame.channel == "exit":
                    return

    def _refuse(self, args: list[str], came: list[str]) -> list[Segment]:
        nearest = max(self.segments, key=lambda s: _alike(s.command[1:], came))
        alike = _alike(nearest.command[1:], came)
        recorded = nearest.command[1:]
        first = shown(recorded[alike]) if alike < len(recorded) else "nothing"
        other = shown(args[alike]) if alike < len(args) else "nothing"
        raise MismatchError(
            nearest.start,
            f"{self.header.id}: no process was started with these arguments; the nearest is "
            f"frame {nearest.start}"
            f"\n  expected: {shown(recorded)}\n  came:     {shown(args)}"
            f"\n  differs:  argument {alike + 1}: recorded {first}, came {other}",
        )


def load(path: Path) -> Recorded:
    """Read a cassette through, and return what of it can be played.

    Raises CassetteError for one that cannot be used or has no end, PlayError (5) for a surface
    whose cassettes cannot be played.
    """
    segments: list[Segment] = []
    http = False
    with open_cassette(path) as cassette:
        header = cassette.header
        for frame in cassette:
            if frame.channel == "start":
                data = frame.data if isinstance(frame.data, dict) else {}
                command = data.get("command")
                if not isinstance(command, list) or not all(isinstance(c, str) for c in command):
                    raise CassetteError(
                        path, frame.seq + 1, "a start without a command line", "record it again"
                    )
                segments.append(Segment(frame.seq, command))
            http = http or frame.channel in {"http", "sse"}
        if cassette.truncated:
            raise CassetteError(
                path, 0, "truncated: it has no footer, so nobody knows how it went on",
                "record it again with `harness record`",
            )  # fmt: skip
    try:
        playback = surface(header.surface).manifest.playback
    except SurfaceError as error:
        raise CassetteError(path, 1, str(error), "play a cassette of a known surface") from error
    if playback is None:
        raise PlayError(
            5,
            f"{header.id}: cassettes of {header.surface} cannot be played back: its manifest.yaml "
            "has no `playback`",
        )
    segments = segments or [Segment(0, header.command or [header.agent.name])]
    return Recorded(path, header, playback, segments, http)


def _alike(one: list[str], other: list[str]) -> int:
    """Return how many arguments are the same from the first on."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
