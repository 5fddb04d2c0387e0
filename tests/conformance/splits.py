"""Normalizers behind a command that depend on how their requests come: `python splits.py WAY`."""

import json
import os
import sys
from typing import Any

from harness.subject.serve import Server
from tests.conformance import toy


def server() -> Server:
    return Server(toy.Normalizer, {"name": "splits", "version": "1", "language": "python"})


def decodes_pieces() -> None:
    """Decodes what it reads at once, though a character may have been cut."""
    served, rest = server(), ""
    while not served.stopped and (data := os.read(0, 1 << 20)):
        *lines, rest = (rest + data.decode("utf-8", "replace")).split("\n")
        for line in lines:
            os.write(1, served.answer(line.encode()))


def ends_batches() -> None:
    """Gives what a batch causes with its last frame."""

    def late(value: dict[str, Any]) -> dict[str, Any]:
        events = value["events"]
        every = [event for each in events for event in each]
        return value | {"events": [[] for _ in events[1:]] + [every]}

    served = server()
    for line in sys.stdin.buffer:
        answer = served.answer(line)
        if json.loads(line)["cmd"] == "frames":
            answer = json.dumps(late(json.loads(answer))).encode() + b"\n"
        os.write(1, answer)
        if served.stopped:
            return


def ignores_pieces() -> None:
    """Takes each read for whole lines."""
    served = server()
    while not served.stopped and (data := os.read(0, 1 << 20)):
        for line in data.splitlines():
            os.write(1, served.answer(line))


def loses_the_rest() -> None:
    """Starts each read with an empty buffer."""
    served = server()
    while not served.stopped and (data := os.read(0, 1 << 20)):
        for line in data.split(b"\n")[:-1]:
            os.write(1, served.answer(line))


WAYS = {
    "decodes-pieces": decodes_pieces,
    "ends-batches": ends_batches,
    "ignores-pieces": ignores_pieces,
    "loses-the-rest": loses_the_rest,
}


if __name__ == "__main__":
    WAYS[sys.argv[1]]()
