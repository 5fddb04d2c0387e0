"""Normalizers behind a command that depend on how their requests come: `python splits.py WAY`."""

import json
import os
import sys

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


def sees_batches() -> None:
    """Names an item that starts in a message of its own."""
    served = server()
    for line in sys.stdin.buffer:
        answer = served.answer(line)
        request = json.loads(line)
        if request["cmd"] == "frames" and len(request["frames"]) == 1:
            value = json.loads(answer)
            for event in value["events"][0]:
                if event["type"] == "item.started":
                    event["payload"]["title"] = "alone"
            answer = json.dumps(value).encode() + b"\n"
        os.write(1, answer)
        if served.stopped:
            return


def looks_ahead() -> None:
    """Names an item after the next frame, where the message has it; not among the first ones."""
    served = server()
    for line in sys.stdin.buffer:
        answer = served.answer(line)
        request = json.loads(line)
        if request["cmd"] == "frames":
            value, frames = json.loads(answer), request["frames"]
            for events, frame, after in zip(value["events"], frames, frames[1:], strict=False):
                for event in events:
                    if event["type"] == "item.started" and frame["seq"] > 8:
                        event["payload"]["title"] = after["data"]["kind"]
            answer = json.dumps(value).encode() + b"\n"
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
    "sees-batches": sees_batches,
    "looks-ahead": looks_ahead,
    "ignores-pieces": ignores_pieces,
    "loses-the-rest": loses_the_rest,
}


if __name__ == "__main__":
    WAYS[sys.argv[1]]()
