"""`python -m tests.recording.in_process PROGRAM INTO [RLIMIT_FSIZE]`: record a fake agent.

A process of its own, so that a test can send it a signal or take its disk away. It ends with
the error's exit code, as the command does.
"""

import resource
import sys
from pathlib import Path
from typing import Any

from harness.recording import RecordError
from tests.recording.fakes import QUICK, FakeSurface, NoModel

# The package has a function of the module's name.
module: Any = sys.modules["harness.recording.record"]
job: Any = sys.modules["harness.recording.job"]


def main(program: str, into: str, file_size: str = "") -> int:
    """Record; return the exit code."""
    module.surface = lambda _: FakeSurface()
    job.ModelServer = NoModel
    if file_size:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(file_size), int(file_size)))
    try:
        module.record("fake", "text", Path(into), agent_path=program, limits=QUICK)
    except RecordError as error:
        sys.stderr.write(f"{error}\n")
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
