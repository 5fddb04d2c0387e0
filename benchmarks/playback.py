"""What playing a cassette back costs, against decoding the same lines alone, in one run.

`harness play` runs as a process, as a client has it: the client's lines come from a file, so that
it never waits, and what the agent says is read from a pipe. Prints frames a second and the ratio:
`python benchmarks/playback.py [FRAMES]`. Exit code 1 where a bound is passed.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.generate import generate  # noqa: E402 - needs the path
from benchmarks.normalize import decode  # noqa: E402
from harness.cassette import open_cassette  # noqa: E402

FRAMES = 200_000
ROUNDS = 3
FRAMES_A_SECOND = 20_000
PLAY_AT_MOST = 12.0


def client_lines(cassette: Path, into: Path) -> None:
    """Write what the recorded client said, under other ids: the agent has to put them in."""
    with open_cassette(cassette) as frames, into.open("wb") as file:
        for frame in frames:
            if frame.channel == "stdin":
                message = dict(frame.data)
                if "id" in message and "method" in message:
                    message["id"] = f"request-{message['id']}"
                file.write(msgspec.json.encode(message) + b"\n")


def play(cassette: Path, said: Path) -> tuple[float, float]:
    """Play it; return the seconds it took by the clock, and those of the processor."""
    command = [sys.executable, "-P", "-m", "harness.cli", "play", str(cassette)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    with said.open("rb") as lines:
        process = subprocess.Popen(
            command, stdin=lines, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        )
    assert process.stdout is not None
    assert process.stderr is not None
    while process.stdout.read(1 << 20):
        pass
    assert process.wait() == 0, process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    taken = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timed(cassette: Path) -> float:
    """Return the processor's seconds to decode its lines."""
    begun = time.process_time()
    decode(cassette)
    return time.process_time() - begun


def main(frames: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path, said = Path(folder) / "long.jsonl", Path(folder) / "said.jsonl"
        generate(path, frames)
        client_lines(path, said)
        # In turns, so that a slow moment of the machine falls on all of them.
        runs = [(timed(path), play(path, said)) for _ in range(ROUNDS)]
    base = min(decoding for decoding, _ in runs)
    clock = min(taken for _, (taken, _) in runs)
    processor = min(taken for _, (_, taken) in runs)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{frames:,} frames, {base / frames * 1e6:.2f} us a line to decode")
    print(f"played, start-up and all   {frames / clock:9,.0f} frames/s (at least 20,000)")
    print(f"played                     {processor / base:9.2f} times decoding (at most 12)")
    print(f"peak memory                {peak:9.1f} MB")
    return int(frames / clock < FRAMES_A_SECOND or processor / base > PLAY_AT_MOST)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else FRAMES))
