"""What a normalizer behind a command costs, against the same one in this process, in one run.

Prints the ratios for the reference normalizers, on the recorded cassettes and on these with the
conversations that were written by hand: `python benchmarks/subject.py [ROUNDS]`. Exit code 1 where
the bound is passed. Wall time is what a user waits; processor time is of both processes. Each ratio
is the median over some rounds, in turns. The process is started once, which is not in them.
"""

import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from harness.conformance import check, render_terminal  # noqa: E402 - needs the path
from harness.project import find_project  # noqa: E402
from harness.subject import InProcess, Stdio, Subject, load_command, reference  # noqa: E402

ROUNDS = 7
AT_MOST = 2.0
SPEC = "harness.subject:reference"
PROJECT = find_project(ROOT)
TIMES = ("wall", "processor")


def spent(subject: Subject) -> float:
    """Return the processor time of this process and of the subject's, in seconds."""
    own = time.process_time()
    if isinstance(subject, Stdio):
        fields = Path(f"/proc/{subject.pid}/stat").read_bytes().rpartition(b")")[2].split()
        own += (int(fields[11]) + int(fields[12])) / 100
    return own


def once(subject: Subject, paths: list[Path]) -> tuple[float, float]:
    """Check the cassettes; return the wall time and the processor time that it took, in seconds."""
    wall, processor = time.perf_counter(), spent(subject)
    report = check(paths, cassettes=PROJECT.cassettes, expected=PROJECT.expected, subject=subject)
    taken = time.perf_counter() - wall, spent(subject) - processor
    assert report.exit_code == 0, render_terminal(report)
    assert len(report.cassettes) == len(paths)
    return taken


def main(rounds: int) -> int:
    began = time.perf_counter()
    behind = load_command(f"{sys.executable} -m harness.subject.serve {SPEC}")
    print(f"started in {time.perf_counter() - began:.2f} s, once")
    inside = InProcess(reference, SPEC)
    late = False
    try:
        for what, paths in (
            ("recorded", PROJECT.recorded_paths()),
            ("recorded and written by hand", PROJECT.cassette_paths()),
        ):
            once(inside, paths)
            once(behind, paths)
            pairs = [(once(inside, paths), once(behind, paths)) for _ in range(rounds)]
            late = told(what, len(paths), pairs) or late
    finally:
        behind.stop()
    return int(late)


def told(
    what: str, count: int, pairs: Sequence[tuple[tuple[float, float], tuple[float, float]]]
) -> bool:
    """Print what was measured; return whether it is too much."""
    late = False
    print(f"{count} cassettes, {what}")
    for number, name in enumerate(TIMES):
        one, other = (statistics.median(pair[side][number] for pair in pairs) for side in (0, 1))
        # Of each round by itself, so that a slow moment of the machine falls on both.
        ratio = statistics.median(b[number] / a[number] for a, b in pairs)
        late = late or ratio > AT_MOST
        print(
            f"  {name:<10} {one:5.2f} s in this process, {other:5.2f} s behind a command: "
            f"{ratio:.2f}, at most {AT_MOST:g}: {'ok' if ratio <= AT_MOST else 'TOO MUCH'}"
        )
    return late


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
