"""`harness play`: the agent itself, its answer to `--version`, or a shim for it."""

import os
import resource
import signal
import time
from pathlib import Path
from typing import Final

from msgspec import Struct

from harness import output as out
from harness.playback.conversation import Conversation
from harness.playback.errors import PlayError
from harness.playback.pace import Pace
from harness.playback.segments import Recorded, load
from harness.playback.shim import PLAYED, RECORDING, write_shim
from harness.playback.starts import started_before
from harness.playback.stdio import SIGNALS, EndedError, Process
from harness.surfaces import SurfaceError, surface
from harness.surfaces.base import Program

_VERSION: Final = (["--version"], ["-v"], ["-V"])


class Choices(Struct, frozen=True):
    """The command's choices. `args` are the agent's arguments; None where none were given."""

    args: list[str] | None = None
    pace: bool = False
    port: int = 0
    shim: Path | None = None
    state: Path | None = None


def play_command(path: Path, choices: Choices) -> int:
    """Run the command; return its exit code, which is the recorded one where all was as recorded.

    Ends by a signal where the recorded agent did. Raises PlayError and CassetteError.
    """
    recorded = load(path)
    if choices.shim is not None:
        out.say(str(write_shim(choices.shim, path, recorded.header, pace=choices.pace)))
        return out.OK
    if RECORDING in os.environ and PLAYED not in os.environ:
        raise PlayError(
            2,
            f"{recorded.header.id}: a recorder has started this without knowing it, and would "
            "take it for a real agent; name the shim itself with --agent-path",
        )
    program = _program(recorded)
    if choices.args is not None and _asks_version(recorded, program, choices.args):
        header = recorded.header
        out.say(f"{header.agent.version} (harness play {header.id}, {header.provenance})")
        return out.OK
    if choices.port and not recorded.http:
        raise PlayError(2, f"--port: {recorded.header.surface} does not listen on any")
    say = program.say if program else ""
    started = started_before(recorded, choices.args, _here(), choices.state)
    conversation = Conversation(recorded, choices.args, _here(), say=say, started=started)
    pace = Pace(time.monotonic) if choices.pace else None
    # Once this has said its last word, a signal that comes too late changes nothing of its end.
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    try:
        if recorded.http:
            return _serve(recorded, conversation, choices, pace)
        _stdin_is_open()
        works = recorded.playback.exits == "work"
        return Process(conversation, works=works, pace=pace).run()
    except EndedError as ended:
        if str(ended):
            out.note(f"harness play: {recorded.header.id}: {ended}")
        # A crash is played too: without the file that a real one may leave.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(ended.number, signal.SIG_DFL)
        signal.raise_signal(ended.number)
        raise  # never: the signal has ended this


def _serve(
    recorded: Recorded, conversation: Conversation, choices: Choices, pace: Pace | None
) -> int:
    import asyncio  # noqa: PLC0415 - start-up: an agent on stdio has no use for them

    from harness.playback.server import Server, listen  # noqa: PLC0415

    wanted = recorded.option(choices.args, "--port")
    with listen(choices.port or (int(wanted) if wanted.isdecimal() else 0)) as listener:
        return asyncio.run(Server(conversation, listener, recorded.playback, pace).run())


def _program(recorded: Recorded) -> Program | None:
    try:
        return surface(recorded.header.surface).program(recorded.header.agent.name)
    except SurfaceError:
        return None  # an agent that no manifest names any more is played all the same


def _asks_version(recorded: Recorded, program: Program | None, args: list[str]) -> bool:
    """Whether these arguments ask an agent for its version, and start no recorded process."""
    asks = [*_VERSION, *([list(program.ask)] if program and program.ask else [])]
    return args in asks and all(args != s.command[1:] for s in recorded.segments)


def _here() -> dict[str, str]:
    """Return this process's folders, with the recorded ones that stand for them."""
    known = {os.environ.get("HOME", ""): "/home/agent", os.getcwd(): "/workspace"}  # noqa: PTH109 - as text
    return {real: recorded for real, recorded in known.items() if Path(real).is_absolute()}


def _stdin_is_open() -> None:
    """A client may have closed it: then it has ended, and no other file may take its number."""
    try:
        os.fstat(0)
    except OSError:
        os.open(os.devnull, os.O_RDONLY)
