"""What reading, normalizing and projecting a long cassette costs, against decoding its lines alone.

Prints the ratios: `python benchmarks/normalize.py [FRAMES]`. Exit code 1 where a bound is passed.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.generate import generate  # noqa: E402 - needs the path
from harness.canonical import encode_event  # noqa: E402
from harness.cassette import open_cassette  # noqa: E402
from harness.projection import ChatProjection  # noqa: E402
from harness.surfaces import surface  # noqa: E402

FRAMES = 200_000
ROUNDS = 3
NORMALIZE_AT_MOST = 6.0
PROJECT_AT_MOST = 12.0
MEMORY_AT_MOST = 100.0


def decode(path: Path) -> int:
    """The measure: every line decoded, one by one, by msgspec alone."""
    one = msgspec.json.Decoder().decode
    count = 0
    with path.open("rb") as file:
        for line in file:
            one(line)
            count += 1
    return count


def read(path: Path) -> int:
    with open_cassette(path) as cassette:
        return sum(1 for _ in cassette)


def normalize(path: Path) -> int:
    """Read, normalize, and encode each event to the bytes of its JSON."""
    size = 0
    with open_cassette(path) as cassette:
        normalizer = surface(cassette.header.surface).normalizer(cassette.header)
        feed = normalizer.feed
        for frame in cassette:
            for event in feed(frame):
                size += len(encode_event(event))
        size += sum(len(encode_event(event)) for event in normalizer.close())
    return size


def project(path: Path) -> int:
    """Read, normalize, project into chat events, and encode each of those."""
    size = 0
    encode = msgspec.json.Encoder().encode
    projection = ChatProjection()
    with open_cassette(path) as cassette:
        normalizer = surface(cassette.header.surface).normalizer(cassette.header)
        for frame in cassette:
            for event in normalizer.feed(frame):
                size += sum(len(encode(chat)) for chat in projection.feed(event))
        for event in normalizer.close():
            size += sum(len(encode(chat)) for chat in projection.feed(event))
    return size + sum(len(encode(chat)) for chat in projection.close())


def best(what: Callable[[Path], int], path: Path, rounds: int = ROUNDS) -> float:
    """Return the shortest of some runs, in seconds of this process: others do not count."""
    taken = []
    for _ in range(rounds):
        begun = time.process_time()
        what(path)
        taken.append(time.process_time() - begun)
    return min(taken)


def peak(path: Path) -> float:
    """Return the peak memory, in MB, of a process that normalizes and projects the cassette."""
    command = [sys.executable, __file__, "--memory", str(path)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main(frames: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path, short = Path(folder) / "long.jsonl", Path(folder) / "short.jsonl"
        generate(path, frames)
        generate(short, frames // 10)
        # In turns, so that a slow moment of the machine falls on all of them.
        times = {what: [1e9] for what in (decode, read, normalize, project)}
        for _ in range(ROUNDS):
            for what, taken in times.items():
                taken.append(best(what, path, 1))
        base, reading, whole, projecting = (min(taken) for taken in times.values())
        memory, small = peak(path), peak(short)
    print(f"{frames:,} frames, {base / frames * 1e6:.2f} us a line to decode")
    print(f"reading                           {reading / base:5.2f} times decoding")
    print(f"reading, normalizing, encoding    {whole / base:5.2f} times (at most 6)")
    print(f"reading, normalizing, projecting  {projecting / base:5.2f} times (at most 12)")
    print(f"peak memory                       {memory:5.1f} MB (at most 100)")
    print(f"peak memory, a tenth of the frames {small:4.1f} MB")
    slow = whole / base > NORMALIZE_AT_MOST or projecting / base > PROJECT_AT_MOST
    return int(slow or memory > MEMORY_AT_MOST)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--memory"]:
        project(Path(sys.argv[2]))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else FRAMES))
