"""Small cassettes written for the tests, and a client that plays against one."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from harness.cassette import Agent, CassetteWriter, Frame, Header, classify
from harness.playback import Await, End, Player, Write
from harness.playback.paths import Paths
from harness.surfaces.registry import Playback

RPC = Playback(ids="json-rpc")
Entry = tuple[str, str, Any]


def asks(id_: Any, method: str, **params: Any) -> Entry:
    """A request of the client's."""
    return "out", "stdin", {"id": id_, "method": method, "params": params}


def says(**message: Any) -> Entry:
    """A line of the agent's."""
    return "in", "stdout", message


def frames(entries: Iterable[Entry]) -> list[Frame]:
    """Return frames, ten milliseconds apart; content that is bytes is a line as it came."""
    made = []
    for number, (way, channel, content) in enumerate(entries, 1):
        field, value = classify(content) if isinstance(content, bytes) else ("data", content)
        made.append(Frame(number, number * 10, way, channel, **{field: value}))  # type: ignore[arg-type]
    return made


def player(
    entries: Iterable[Entry], playback: Playback = RPC, paths: dict[str, str] | None = None
) -> Player:
    return Player("a/b/c", frames(entries), playback, Paths(paths or {}))


def meet(play: Player, lines: Iterable[Any]) -> list[Any]:
    """Play against lines, JSON values or bytes; return what came, and how it ended last."""
    left = iter(lines)
    came: list[Any] = []
    while True:
        match play.step():
            case Write(channel=channel, line=line):
                came.append(msgspec.json.decode(line) if channel == "stdout" else line)
            case Await():
                line = next(left)
                play.take(line if isinstance(line, bytes) else msgspec.json.encode(line))
            case End(code=code, signal=signal):
                assert list(left) == []
                return [*came, signal or code]


def cassette(  # noqa: PLR0913 - what a header may say
    path: Path,
    entries: Iterable[Entry],
    *,
    surface: str = "acp",
    command: tuple[str, ...] = ("agent", "acp"),
    finish: bool = True,
    started: bool = True,
) -> Path:
    """Write a cassette; with `started`, its first frame starts the process."""
    header = Header(
        cassette=1,
        surface=surface,
        provider="acp",
        agent=Agent("agent", "1.2.3"),
        scenario=path.stem,
        provenance="constructed",
        recorded="2026-01-01T00:00:00Z",
        command=list(command),
    )
    first = [("out", "start", {"command": list(command)})] if started else []
    writer = CassetteWriter(path, header)
    for frame in frames([*first, *entries]):
        field = next(f for f in ("data", "text", "b64") if getattr(frame, f) is not msgspec.UNSET)
        writer.frame(frame.at, frame.dir, frame.channel, field, getattr(frame, field))
    if finish:
        writer.finish(complete=True)
    else:
        path.with_name(path.name + ".part").rename(path)
    return path


def start(
    path: Path, *args: str, options: tuple[str, ...] = (), **how: Any
) -> "subprocess.Popen[bytes]":
    """Start `harness play` on a cassette as a client does."""
    command = [sys.executable, "-P", "-m", "harness.cli", "play", str(path), *options]
    command += ["--", *args] if args else []
    pipe = subprocess.PIPE
    how.setdefault("cwd", path.parent)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}
    how.setdefault("env", environment)
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, **how)


def run(path: Path, said: bytes, *args: str, **how: Any) -> tuple[int, bytes, str]:
    """Run it to its end on this input; return the exit code and what it wrote."""
    with start(path, *args, **how) as process:
        out, err = process.communicate(said, timeout=60)
        return process.returncode, out, err.decode()
