"""The program: one command, its errors in words, its exit code."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from harness.commands.parser import Handler

_INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code. No error that a user can cause is a traceback."""
    own, agents = _split(sys.argv[1:] if argv is None else argv)
    try:
        # Here, so that Ctrl-C while they are loaded is no traceback.
        from pathlib import Path  # noqa: PLC0415

        from harness import output as out  # noqa: PLC0415
        from harness.commands.parser import make_parser  # noqa: PLC0415

        # Closed by the caller: what is said goes nowhere, and the exit code is what counts.
        sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 - for the whole process
        sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115 - the same
        arguments = make_parser().parse_args(own)
    except KeyboardInterrupt:
        return _INTERRUPTED
    arguments.agent_args = agents
    run: Handler = arguments.run
    try:
        code = run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        out.note("harness: interrupted")
        return out.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does: that is no error of ours.
        sys.stderr.close()
        return out.OK
    except Exception as error:
        failed = out.exit_code(error)
        if failed is None:
            raise
        out.note(f"harness {arguments.command}: {out.text_of(error)}")
        return failed
    return code


def _split(argv: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Part the agent's arguments from ours: of `play`, all after the first `--`, as they are."""
    own = list(argv)
    if "play" not in own or "--" not in own[own.index("play") :]:
        return own, None
    cut = own.index("--", own.index("play"))
    return own[:cut], own[cut + 1 :]


def entry() -> NoReturn:
    """Run as the `harness` program."""
    try:
        code = main()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    entry()
