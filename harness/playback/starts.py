"""How often a client has started an agent before: a file, for processes that look the same.

Only where several processes of a cassette have one command line is anything kept, and only by a
shim, which has the file beside it. Another client begins anew: another recording, or else another
parent process.
"""

import contextlib
import os
from pathlib import Path

import msgspec
from msgspec import Struct, field

from harness.playback.paths import Paths
from harness.playback.segments import Recorded
from harness.playback.shim import RECORDING
from harness.regular import read_bytes


class _Starts(Struct):
    client: str
    counts: dict[str, int] = field(default_factory=dict)


def started_before(
    recorded: Recorded, args: list[str] | None, paths: dict[str, str], state: Path | None
) -> int:
    """Return how many processes of this command line were started, and count this one.

    0 where nothing is kept, or where the file cannot be read. Raises MismatchError.
    """
    named = recorded.named(args, Paths(paths))
    if state is None or len(named) < 2:  # noqa: PLR2004 - one has no other like it
        return 0
    starts = _Starts(os.environ.get(RECORDING) or str(os.getppid()))
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        kept = msgspec.json.decode(read_bytes(state), type=_Starts)
        starts = kept if kept.client == starts.client else starts
    key = str(named[0].start)
    before = starts.counts.get(key, 0)
    starts.counts[key] = before + 1
    part = state.with_name(f"{state.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        part.write_bytes(msgspec.json.encode(starts))
        part.replace(state)
    return before
