"""The played agent as a process: lines, ends, signals, time."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.playback import MismatchError
from harness.playback.conversation import Conversation
from harness.playback.pace import Pace
from harness.playback.segments import load
from harness.playback.stdio import LONGEST, Process, _waits, due
from tests.playback.tapes import Entry, asks, cassette, run, says, start

OVER: Entry = ("in", "exit", {"code": 0})
HELLO = b'{"id":7,"method":"hello","params":{}}\n'
TALK = [
    asks(0, "hello"),
    says(id=0, result=1),
    ("in", "stderr", b"log"),
    ("in", "stdout", b"\xff\xfe"),
    ("in", "exit", {"code": 3}),
]


def test_it_says_what_was_recorded_and_ends_as_it_did(tmp_path: Path) -> None:
    path = cassette(tmp_path / "talk.jsonl", TALK)
    assert run(path, HELLO) == (3, b'{"id":7,"result":1}\n\xff\xfe\n', "log\n")
    assert run(path, HELLO, "acp")[0] == 3
    # A last line without a line feed is a line.
    assert run(path, HELLO.rstrip())[0] == 3


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", "closed the agent's input, awaited was frame 2: {"),
        (b"garbage\n", "it is not JSON"),
        (b"\xff\xfe\n", "it is not JSON"),
        (b"\n", "it is not JSON"),
        (b'{"id":7,"method":"bye"}\n', 'method: recorded "hello", came "bye"'),
        (HELLO + b"{}\n", "nothing more was expected of the client after frame 2"),
    ],
)
def test_a_wrong_client_is_told(tmp_path: Path, said: bytes, words: str) -> None:
    path = cassette(tmp_path / "talk.jsonl", TALK)
    code, out, err = run(path, said)
    assert code == 1
    assert out in {b"", b'{"id":7,"result":1}\n\xff\xfe\n'}
    assert words in err
    assert "Traceback" not in err


def test_nothing_follows_a_wrong_line(tmp_path: Path) -> None:
    """Though the line comes long before it is due."""
    many = [says(method="said", params={"text": "x" * 100}) for _ in range(20_000)]
    path = cassette(tmp_path / "t.jsonl", [asks(0, "hello"), *many, asks(1, "more"), OVER])
    code, out, err = run(path, HELLO + b'{"id":8,"method":"less","params":{}}\n')
    assert (code, out) == (1, b"")
    assert "frame 20003 was expected" in err
    assert 'method: recorded "more", came "less"' in err


def test_a_client_that_says_all_before_it_reads(tmp_path: Path) -> None:
    """More than the pipes hold, both ways: an agent reads while it is not read."""
    many = [
        entry
        for n in range(2000)
        for entry in (asks(n, "hello", text="x" * 300), says(id=n, result="y" * 300))
    ]
    path = cassette(tmp_path / "t.jsonl", [*many, OVER])
    line = b'{"id":%d,"method":"hello","params":{"text":"%s"}}\n'
    with start(path) as process:
        assert process.stdin is not None
        for n in range(2000):
            process.stdin.write(line % (n, b"x" * 300))
        process.stdin.close()
        process.stdin = None
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, len(out.splitlines())) == (0, 2000)


def test_a_line_without_an_end_is_given_up(tmp_path: Path) -> None:
    path = cassette(tmp_path / "talk.jsonl", TALK)
    code, out, err = run(path, b"x" * (LONGEST + (2 << 20)))
    assert (code, out) == (1, b"")
    assert f"a line of more than {LONGEST:,} bytes, awaited was frame 2" in err


def test_a_long_line_is_compared(tmp_path: Path) -> None:
    text = "x" * (1 << 20)
    path = cassette(tmp_path / "talk.jsonl", [asks(0, "hello", text=text), OVER])
    line = b'{"id":0,"method":"hello","params":{"text":"%s"}}\n'
    assert run(path, line % text.encode())[0] == 0
    code, _, err = run(path, line % text[:-1].encode())
    assert (code, "params.text: recorded" in err, len(err) < 2000) == (1, True, True)


def reads(process: "subprocess.Popen[bytes]", line: bytes) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == line


@pytest.mark.parametrize(("end", "sent"), [("SIGTERM", "SIGTERM"), ("SIGINT", "SIGINT")])
def test_it_waits_for_the_signal_that_ended_it(tmp_path: Path, end: str, sent: str) -> None:
    path = cassette(tmp_path / "t.jsonl", [says(a=1), ("in", "exit", {"signal": end})])
    with start(path) as process:
        reads(process, b'{"a":1}\n')
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
        assert process.poll() is None
        process.send_signal(signal.Signals[sent])
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (-signal.Signals[sent], b"")


@pytest.mark.parametrize(
    ("recorded", "heard", "ends"),
    [
        ("SIGTERM", [], None),
        ("SIGTERM", ["SIGINT", "SIGTERM"], "SIGTERM"),
        ("SIGTERM", ["SIGINT"], "SIGINT"),
        ("SIGKILL", ["SIGTERM"], None),
        ("SIGKILL", ["SIGTERM", "SIGINT"], "SIGINT"),
        ("SIGSEGV", [], "SIGSEGV"),
    ],
)
def test_which_signal_ends_it(recorded: str, heard: list[str], ends: str | None) -> None:
    number = due(recorded, [signal.Signals[name] for name in heard])
    assert number == (ends and signal.Signals[ends])


@pytest.mark.parametrize("how", [{"signal": "SIGWHAT"}, {"code": "x"}, {}, {"signal": []}])
def test_no_way_to_end(tmp_path: Path, how: Any) -> None:
    code, _, err = run(cassette(tmp_path / "t.jsonl", [("in", "exit", how)]), b"")
    assert (code, "frame 2: no way to end: {" in err) == (5, True)


def test_an_agent_that_crashed_and_one_whose_end_is_not_known(tmp_path: Path) -> None:
    path = cassette(tmp_path / "t.jsonl", [says(a=1), ("in", "exit", {"signal": "SIGABRT"})])
    assert run(path, b"") == (-signal.SIGABRT, b'{"a":1}\n', "")
    assert run(cassette(tmp_path / "u.jsonl", [says(a=1)]), b"") == (0, b'{"a":1}\n', "")
    path = cassette(tmp_path / "v.jsonl", [("in", "exit", {"signal": "SIGTERM"})])
    code, _, err = run(path, b"more\n")
    assert (code, "nothing more was expected" in err) == (1, True)


def test_a_signal_in_the_middle_ends_it_and_says_what_was_awaited(tmp_path: Path) -> None:
    path = cassette(tmp_path / "t.jsonl", [says(a=1), *TALK])
    with start(path) as process:
        reads(process, b'{"a":1}\n')
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert b"ended by SIGTERM, awaited was frame 3: {" in err
    assert [p.name for p in tmp_path.iterdir()] == ["t.jsonl"]


def test_a_signal_while_the_client_does_not_read(tmp_path: Path) -> None:
    many = [says(text="x" * 1000) for _ in range(1000)]
    path = cassette(tmp_path / "t.jsonl", [*many, *TALK])
    with start(path) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == -signal.SIGTERM


def test_codex_exec_goes_on_to_its_end_after_an_interrupt(tmp_path: Path) -> None:
    many = [says(text="x" * 1000) for _ in range(1000)]
    path = cassette(
        tmp_path / "t.jsonl",
        [says(a=1), *many, ("in", "exit", {"code": 1})],
        surface="codex-exec",
        command=("codex", "exec", "hi"),
    )
    with start(path, "exec", "hi") as process:
        reads(process, b'{"a":1}\n')
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, len(out.splitlines())) == (1, 1000)
    code, _, err = run(path, b"more to do\n", "exec", "hi")
    assert (code, "nothing more was expected" in err) == (1, True)


def test_an_agent_that_has_nothing_to_say_looks_at_its_input_all_the_same(tmp_path: Path) -> None:
    path = cassette(tmp_path / "t.jsonl", [OVER], surface="codex-exec")
    for said, works in ((b"more\n", True), (b"more", False)):
        theirs, say = os.pipe()
        os.write(say, said)
        os.close(say)
        process = Process(Conversation(load(path), None, {}), works=works, files=(theirs, 1, 2))
        with pytest.raises(MismatchError, match="nothing more was expected"):
            process.run()
        os.close(theirs)


def test_a_client_that_stops_reading(tmp_path: Path) -> None:
    many = [says(text="x" * 1000) for _ in range(1000)]
    path = cassette(tmp_path / "t.jsonl", [*many, OVER])
    with start(path) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"the client has stopped reading, before frame" in err


class Watch:
    """A clock that only waiting moves; it notes how long each wait is."""

    def __init__(self) -> None:
        self.time = 100.0
        self.waited: list[float] = []
        self.on_wait: Callable[[], None] = lambda: None

    def now(self) -> float:
        return self.time

    def waits(self, reads: list[int], writes: list[int], seconds: float | None) -> Any:
        if seconds:
            self.waited.append(round(seconds, 6))
            self.time += seconds
            self.on_wait()
            return _waits(reads, writes, 0)
        return _waits(reads, writes, seconds)


def paced(path: Path, watch: Watch) -> tuple[Process, int, int]:
    """Return a paced process on pipes, and the client's ends of its input and its output."""
    (theirs, say), (hear, ours) = os.pipe(), os.pipe()
    process = Process(
        Conversation(load(path), None, {}),
        works=False,
        pace=Pace(watch.now),
        files=(theirs, ours, 2),
        waits=watch.waits,
    )
    return process, say, hear


def test_the_recorded_time_is_kept_from_the_clients_line_on(tmp_path: Path) -> None:
    # Frames are ten milliseconds apart; the start is the first.
    path = cassette(
        tmp_path / "t.jsonl", [says(a=1), says(a=2), asks(0, "hello"), says(id=0, result=1), OVER]
    )
    watch = Watch()
    process, say, hear = paced(path, watch)
    os.write(say, HELLO)
    os.close(say)
    watch.time += 0.005  # it took so long to start
    assert process.run() == 0
    assert watch.waited == [0.015, 0.01, 0.01, 0.01]
    assert os.read(hear, 1000) == b'{"a":1}\n{"a":2}\n{"id":7,"result":1}\n'


def test_a_wrong_line_is_told_before_the_time_of_its_frame(tmp_path: Path) -> None:
    path = cassette(tmp_path / "t.jsonl", [says(a=1), says(a=2), asks(0, "hello"), OVER])
    watch = Watch()
    process, say, hear = paced(path, watch)
    watch.on_wait = lambda: None if len(watch.waited) > 1 else void(os.write(say, b"{}\n"))
    with pytest.raises(MismatchError) as caught:
        process.run()
    assert (caught.value.seq, watch.waited) == (4, [0.02])
    os.close(process._stdout)
    assert os.read(hear, 1000) == b""


def void(_: object) -> None:
    """Nothing of a value."""
