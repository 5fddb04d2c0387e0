"""What a normalizer behind a command costs, against the same one in this process, in one run.

Prints the ratios for the reference normalizers on the whole corpus: `python
benchmarks/subject.py [ROUNDS]`. Exit code 1 where the bound is passed. Wall time is what a user
waits; processor time is of both processes. Each is the median of some rounds, in turns.
"""

import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from harness.conformance import check, render_terminal  # noqa: E402 - needs the path
from harness.project import find_project  # noqa: E402
from harness.subject import InProcess, Stdio, Subject, load_command, reference  # noqa: E402

ROUNDS = 7
AT_MOST = 2.0
SPEC = "harness.subject:reference"


def spent(subject: Subject) -> float:
    """Return the processor time of this process and of the subject's, in seconds."""
    own = time.process_time()
    if isinstance(subject, Stdio):
        fields = Path(f"/proc/{subject.pid}/stat").read_bytes().rpartition(b")")[2].split()
        own += (int(fields[11]) + int(fields[12])) / 100
    return own


def once(subject: Subject) -> tuple[float, float]:
    """Check the corpus; return the wall time and the processor time that it took, in seconds."""
    project = find_project(ROOT)
    wall, processor = time.perf_counter(), spent(subject)
    report = check(cassettes=project.cassettes, expected=project.expected, subject=subject)
    taken = time.perf_counter() - wall, spent(subject) - processor
    assert report.exit_code == 0, render_terminal(report)
    return taken


def main(rounds: int) -> int:
    began = time.perf_counter()
    behind = load_command(f"{sys.executable} -m harness.subject.serve {SPEC}")
    start = time.perf_counter() - began
    inside = InProcess(reference, SPEC)
    try:
        once(inside)
        once(behind)
        pairs = [(once(inside), once(behind)) for _ in range(rounds)]
    finally:
        behind.stop()
    ratios = []
    for number, what in enumerate(("wall", "processor")):
        one, other = (statistics.median(pair[side][number] for pair in pairs) for side in (0, 1))
        # Of each round by itself, so that a slow moment of the machine falls on both.
        ratios.append(statistics.median(b[number] / a[number] for a, b in pairs))
        print(f"{what:<10} {one:5.2f} s in this process, {other:5.2f} s behind a command")
    print(f"started once, in {start:.2f} s")
    late = False
    for what, ratio in zip(("wall", "processor"), ratios, strict=True):
        late = late or ratio > AT_MOST
        print(
            f"{what}: {ratio:.2f}, at most {AT_MOST:g}: {'ok' if ratio <= AT_MOST else 'TOO MUCH'}"
        )
    return int(late)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
