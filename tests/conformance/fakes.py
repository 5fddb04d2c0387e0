"""A normalizer behind a command that goes wrong in one way: `python fakes.py WAY [STATE]`.

It is the toy's correct one, until a conversation of the scenario `bad` gets its first frames (or,
of the ways at the end, `start` or `stop`). Each way is a line or two.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from harness.subject.serve import Server
from tests.conformance import toy

Act = Callable[[int, bytes], Any]


def say(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def hang() -> NoReturn:
    while True:
        time.sleep(60)


def says(form: bytes) -> Act:
    """Say this in place of the answer, with the id in it."""
    return lambda id_, _: say(form.replace(b"ID", b"%d" % id_) + b"\n")


def crash(code: int) -> Act:
    return lambda _id, _answer: os._exit(code)


def then(*acts: Act) -> Act:
    def run(id_: int, answer: bytes) -> None:
        for act in acts:
            act(id_, answer)

    return run


def right(_: int, answer: bytes) -> None:
    say(answer)


def kill(_id: int, _answer: bytes) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hangs(_id: int, _answer: bytes) -> None:
    hang()


def dribble(_id: int, _answer: bytes) -> None:
    while True:
        say(b" ")
        time.sleep(0.02)


def eat(_id: int, _answer: bytes) -> None:
    eaten.append(bytearray(os.urandom(1 << 20) * 300))
    hang()


def child_eats(id_: int, answer: bytes) -> None:
    if os.fork() == 0:
        eat(id_, answer)
    hang()


def flood(_id: int, _answer: bytes) -> None:
    while True:
        os.write(2, b"x" * 4000 + b"\n")


def flood_a_while(_id: int, answer: bytes) -> None:
    for _ in range(500):
        os.write(2, b"x" * 4000 + b"\n")
    say(answer)


def in_pieces(_id: int, answer: bytes) -> None:
    for start in range(0, len(answer), 7):
        say(answer[start : start + 7])


def orphan(_id: int, _answer: bytes) -> None:
    if os.fork() == 0:
        hang()
    os._exit(0)


def closes(*descriptors: int) -> Act:
    def run(_id: int, _answer: bytes) -> None:
        for descriptor in descriptors:
            os.close(descriptor)
        hang()

    return run


def fields(**more: Any) -> Act:
    """Say the right answer with other fields."""
    return lambda _, answer: say(json.dumps(json.loads(answer) | more).encode() + b"\n")


def lists(change: Callable[[list[Any]], Any]) -> Act:
    """Say the right answer with other events."""

    def run(_: int, answer: bytes) -> None:
        value = json.loads(answer)
        value["events"] = change(value["events"])
        say(json.dumps(value).encode() + b"\n")

    return run


eaten: list[Any] = []
CLOSES = 3

WAYS: dict[str, tuple[Act, str]] = {
    "crashes": (crash(3), "crashed: it ended with exit code 3, and an answer was due"),
    "is-killed": (kill, "crashed: it ended with SIGKILL, and an answer was due"),
    "aborts": (lambda _i, _a: os.abort(), "crashed: it ended with SIGABRT"),
    "exits-0": (crash(0), "ended: it ended (exit code 0), and an answer was due"),
    "exits-in-a-line": (
        then(lambda i, _: say(b'{"id":%d,"eve' % i), crash(1)),
        "crashed: it ended with exit code 1, and a line was begun and not ended",
    ),
    "leaves-a-child": (orphan, "ended: it ended (exit code 0)"),
    "hangs": (hangs, "hung: no answer within 2 s (--time-limit)"),
    "hangs-in-a-line": (then(lambda _i, _a: say(b'{"id":'), hangs), "hung: "),
    "dribbles": (dribble, "hung: "),
    "floods-stderr": (flood, "hung: "),
    "closes-stdin": (
        then(right, closes(0)),
        "closed: it closed its stdin before it was told to stop",
    ),
    "closes-stdout": (closes(1), "closed: it closed its stdout before it was told to stop"),
    "closes-all": (closes(0, 1, 2), "closed: it closed its stdout"),
    "eats-memory": (eat, "memory: it holds "),
    "lets-a-child-eat-memory": (child_eats, "memory: it holds "),
    "prints": (then(says(b"debug: here"), right), "junk: no answer to `frames`"),
    "prints-an-empty-line": (then(says(b""), right), "junk: no answer to `frames`"),
    "prints-after": (then(right, says(b"done")), "junk: no answer to "),
    "prints-at-the-end": (right, "unasked: nothing was asked: 'goodbye'"),
    "not-utf-8": (says(b"\xff\xfe"), r"'\xff\xfe'"),
    "not-utf-8-inside": (says(b'{"id":ID,"events":[["\xff"]],"x":1}'), "frames"),
    "half-json": (says(b'{"id":ID,'), "Input data was truncated"),
    "an-array": (says(b"[ID]"), "Expected `object`, got `array`"),
    "null": (says(b"null"), "Expected `object`, got `null`"),
    "a-number": (says(b"ID"), "Expected `object`, got `int`"),
    "nan": (says(b'{"id":ID,"events":[[NaN]]}'), "junk: no answer to `frames` (JSON is malformed"),
    "nested": (says(b'{"id":ID,"events":' + b"[" * 50_000 + b"]" * 50_000 + b"}"), "frames"),
    "other-id": (fields(id=9999), "wrong-id: an answer with id 9999, and "),
    "no-id": (says(b'{"events":[[]]}'), "missing required field `id`"),
    "id-is-text": (says(b'{"id":"ID","events":[[]]}'), "Expected `int`, got `str`"),
    "id-is-huge": (says(b'{"id":' + b"9" * 400 + b"}"), "junk: no answer to `frames`"),
    "answers-twice": (then(right, right), "wrong-id: an answer with id "),
    "no-events": (says(b'{"id":ID}'), "wrong-shape: an answer to `frames` without `events`"),
    "events-are-null": (says(b'{"id":ID,"events":null}'), "Expected `array`, got `null`"),
    "events-are-an-object": (lists(lambda _: {}), "Expected `array`, got `object`"),
    "one-list": (
        lists(lambda e: [x for each in e for x in each]),
        "Expected `array`, got `object`",
    ),
    "a-list-too-few": (lists(lambda e: e[:-1]), "16 lists of events for 17 frames"),
    "a-list-too-many": (lists(lambda e: [*e, []]), "18 lists of events for 17 frames"),
    "error-is-text": (says(b'{"id":ID,"error":"no"}'), "Expected `object | null`, got `str`"),
    "error-without-message": (says(b'{"id":ID,"error":{}}'), "missing required field `message`"),
    "too-much": (
        then(lambda _i, _a: say(b"x" * (5 << 20)), hangs),
        "too-much: an answer of more than 4 MB, which is the limit",
    ),
    "too-much-and-right": (
        then(lambda _i, a: say(a[:-1] + b" " * (9 << 20) + b"\n"), hangs),
        "too-much: an answer of more than 4 MB, which is the limit",
    ),
}
"""Way to what it does at the first frames of the bad conversation, and what is said of it."""

HARMLESS: dict[str, Act] = {
    "floods-stderr-a-while": flood_a_while,
    "adds-fields": fields(more=[1], error=None),
    "id-last": lambda _, a: say(
        json.dumps(dict(reversed(json.loads(a).items())), indent=None).encode() + b"\n"
    ),
    "in-pieces": in_pieces,
}
"""Ways that are the protocol's."""

START: dict[str, tuple[Callable[[], Any], str]] = {
    "start-crashes": (lambda: os._exit(7), "crashed: it ended with exit code 7"),
    "start-exits-0": (lambda: os._exit(0), "ended: it ended (exit code 0)"),
    "start-hangs": (hang, "hung: no answer within 2 s"),
    "start-junk": (lambda: say(b"Starting...\n"), "junk: no answer to `start`"),
    "start-array": (lambda: say(b"[]\n"), "junk: no answer to `start`"),
    "start-fails": (
        lambda: say(b'{"id":1,"error":{"message":"no licence"}}\n'),
        "not-started: no licence",
    ),
    "start-of-the-future": (
        lambda: say(b'{"id":1,"protocol":2,"who":{}}\n'),
        "it speaks protocol version 2, and this harness version 1",
    ),
    "start-other-id": (
        lambda: say(b'{"id":2,"protocol":1,"name":"n","version":"v","language":"l"}\n'),
        "wrong-id: an answer with id 2, and 1 (start) was due",
    ),
    "start-in-colour": (
        lambda: say(b'{"id":1,"error":{"message":"\\u001b[31mred"}}\n'),
        "not-started: \\x1b[31mred",
    ),
    "start-nameless": (lambda: say(b'{"id":1,"protocol":1}\n'), "missing required field `name`"),
    "start-levels": (
        lambda: say(
            b'{"id":1,"protocol":1,"name":"n","version":"v","language":"l","levels":["all"]}\n'
        ),
        "Invalid enum value 'all'",
    ),
}

STOP: dict[str, tuple[Act, str]] = {
    "stop-ignored": (hangs, "hung: no answer within 2 s"),
    "stop-without-end": (then(right, hangs), "it answered `stop`, and did not end"),
    "stop-with-3": (then(right, crash(3)), "it answered `stop`, and ended with exit code 3"),
    "stop-with-more": (then(right, says(b"bye")), "nothing was asked: 'bye'"),
    "stop-with-a-line-begun": (then(right, lambda _i, _a: say(b"bye")), "nothing was asked: 'bye'"),
    "stop-with-two-answers": (then(right, right), "nothing was asked: '{"),
    "stop-crashes": (crash(3), "crashed: it ended with exit code 3"),
}


def main(way: str) -> None:
    os.write(2, b"here is the fake %s\n" % way.encode())
    server = Server(toy.Normalizer, {"name": "fake", "version": "1", "language": "python"})
    bad: set[str] = set()
    closes = 0
    act = (WAYS | STOP).get(way, (HARMLESS.get(way, right), ""))[0]
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["cmd"] == "start" and way in START:
            START[way][0]()
            hang()
        if request["cmd"] == "open" and request["header"]["scenario"] == "bad":
            bad.add(request["conversation"])
        answer = server.answer(line)
        closes += request["cmd"] == "close" and request["conversation"] in bad
        # A whole cassette's last answer is the third one to `close`.
        if way == "prints-at-the-end" and closes == CLOSES:
            closes = 0
            os.write(2, b"it does %s\n" % way.encode())
            say(answer + b"goodbye\n")
            continue
        due = request["cmd"] == "frames" and request["conversation"] in bad
        if due:
            os.write(2, b"it does %s\n" % way.encode())
        if (due and way not in STOP) or (request["cmd"] == "stop" and way in STOP):
            act(request["id"], answer)
        else:
            say(answer)
        if server.stopped:
            return


if __name__ == "__main__":
    if len(sys.argv) > 2:
        with Path(sys.argv[2]).open("a") as state:
            state.write(f"{os.getpid()}\n")
    main(sys.argv[1])
