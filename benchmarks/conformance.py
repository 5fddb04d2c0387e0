"""What judging costs, against decoding the same lines alone, in one run.

Prints the ratios: `python benchmarks/conformance.py [FRAMES]`. Exit code 1 where a bound is
passed. Times are of this process, so that others do not count; each is the best of some.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.generate import generate  # noqa: E402 - needs the path
from benchmarks.normalize import decode, normalize, read  # noqa: E402
from harness.cassette import open_cassette  # noqa: E402
from harness.conformance import check, render_terminal, write_expected  # noqa: E402
from harness.project import find_project  # noqa: E402
from harness.subject import InProcess, Subject, reference  # noqa: E402

FRAMES = 200_000
ROUNDS = 3
CHECK_AT_MOST = 12.0
CORPUS_AT_MOST = 20.0
MEMORY_AT_MOST = 100.0
MEMORY_GROWS_AT_MOST = 1.1


def corpus_of(folder: Path, frames: int) -> Path:
    """Make a corpus of one long cassette, with its expected output; return the cassette."""
    made = folder / "made.jsonl"
    generate(made, frames)
    with open_cassette(made) as cassette:
        path = folder / "cassettes" / f"{cassette.header.id}.jsonl"
    path.parent.mkdir(parents=True)
    made.replace(path)
    write_expected(path, cassettes=folder / "cassettes", expected=folder / "expected")
    return path


def judge(folder: Path, *, expected: bool, subject: Subject | None = None) -> None:
    """Check a whole corpus, which must pass."""
    report = check(
        cassettes=folder / "cassettes",
        expected=folder / "expected" if expected else None,
        subject=subject,
    )
    assert report.exit_code == 0, render_terminal(report)


def turns(rounds: int, *runs: Callable[[], object]) -> list[float]:
    """Return the best time of each run, in seconds, one round after the other.

    In turns, so that a slow moment of the machine falls on all of them.
    """
    best = [float("inf")] * len(runs)
    for _ in range(rounds):
        for number, run in enumerate(runs):
            begun = time.process_time()
            run()
            best[number] = min(best[number], time.process_time() - begun)
    return best


def peak(folder: Path) -> float:
    """Return the peak memory, in MB, of a process that checks the corpus."""
    command = [sys.executable, __file__, "--memory", str(folder)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main(frames: int) -> int:
    with tempfile.TemporaryDirectory() as name:
        long, short = Path(name) / "long", Path(name) / "short"
        path = corpus_of(long, frames)
        corpus_of(short, frames // 10)
        times = turns(
            ROUNDS,
            lambda: decode(path),
            lambda: read(path),
            lambda: normalize(path),
            lambda: judge(long, expected=False),
            lambda: judge(long, expected=True),
            lambda: judge(long, expected=True, subject=InProcess(reference, "foreign")),
        )
        memory = [peak(short), peak(long)]
    names = (
        "decoding",
        "reading",
        "normalizing, encoded",
        "with laws",
        "and with comparison",
        "of a foreign one",
    )
    print(f"{frames:,} frames of a generated cassette")
    for what, seconds in zip(names, times, strict=True):
        each = seconds / frames * 1e6
        print(f"  {what:<22} {seconds:6.2f} s {each:6.2f} µs a frame {seconds / times[0]:6.2f} x")
    print(f"  peak memory {memory[0]:.1f} MB for {frames // 10:,}, {memory[1]:.1f} MB for all")
    bounds = [
        ("checking", times[-2] / times[0], CHECK_AT_MOST),
        ("peak memory in MB", memory[1], MEMORY_AT_MOST),
        ("peak memory, long to short", memory[1] / memory[0], MEMORY_GROWS_AT_MOST),
    ]
    return passed([*bounds, *shipped()])


def shipped() -> Sequence[tuple[str, float, float]]:
    """Time the shipped corpus; return its bound, if there is a corpus."""
    project = find_project(ROOT)
    paths = project.cassette_paths()
    if not paths:
        return []
    judge(project.root, expected=True)
    decoding, checking = turns(
        ROUNDS * 3,
        lambda: [decode(path) for path in paths],
        lambda: judge(project.root, expected=True),
    )
    print(f"{len(paths)} shipped cassettes")
    print(f"  decoding {decoding * 1e3:.1f} ms, checking {checking * 1e3:.1f} ms")
    return [("checking the corpus", checking / decoding, CORPUS_AT_MOST)]


def passed(bounds: Sequence[tuple[str, float, float]]) -> int:
    """Print each bound and what was measured; return the exit code."""
    for what, measured, bound in bounds:
        verdict = "ok" if measured <= bound else "TOO MUCH"
        print(f"{what}: {measured:.2f}, at most {bound:g}: {verdict}")
    return int(any(measured > bound for _, measured, bound in bounds))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--memory"]:
        judge(Path(sys.argv[2]), expected=True)
        # Linux counts it in kilobytes, macOS in bytes.
        unit = 1 << 10 if sys.platform.startswith("linux") else 1 << 20
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)
        sys.exit()
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else FRAMES))
