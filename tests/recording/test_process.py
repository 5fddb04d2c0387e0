"""The process runner: lines, order, limits, and ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cassette import Frame, open_cassette, restore
from harness.recording.errors import RecordError
from harness.recording.session import Limits
from harness.surfaces.base import Action, CloseStdin, Failed, Send, SendText, Signal, Start
from tests.recording.fakes import QUICK, FakeDriver, talk

BYE = "print('{\"bye\":true}', flush=True)\n"


def test_lines_end_at_line_feeds_alone_and_a_last_one_needs_none(tmp_path: Path) -> None:
    raw = 'one\r\n\x0btwo\x0c\u2028three\x85\n\n{"a": 1, "a": 2}\n\xff'.encode("latin-1", "replace")
    raw = b'one\r\n\x0btwo\x0c\xe2\x80\xa8three\xc2\x85\n\n{"a":1,"a":2}\n\xff\xfe\n{"bye":true}'
    done = talk(tmp_path, f"import os\nos.write(1, {raw!r})\n")
    lines = [
        restore(
            *next(
                (f, v)
                for f in ("data", "text", "b64")
                if isinstance(v := getattr(x, f), (str, dict))
            )
        )
        for x in done.frames
        if x.channel == "stdout"
    ]
    assert lines == raw.split(b"\n")


def test_a_line_of_five_megabytes_stays_whole(tmp_path: Path) -> None:
    done = talk(tmp_path, f"print('x' * 5_000_000)\n{BYE}")
    assert done.of("stdout")[0] == "x" * 5_000_000


def test_pipes_a_session_of_its_own_and_default_signals(tmp_path: Path) -> None:
    done = talk(
        tmp_path,
        f"""
        import json, os, signal, sys
        print(json.dumps([
            [os.isatty(n) for n in (0, 1, 2)],
            os.getsid(0) == os.getpid() == os.getpgrp(),
            open("/proc/self/status").read().split("SigIgn:")[1].split()[0],
        ]), flush=True)
        {BYE}""",
    )
    ttys, own, ignored = done.of("stdout")[0]
    assert ttys == [False, False, False]
    assert own is True
    # Python itself ignores SIGPIPE (13) and SIGXFSZ (25) once it runs; nothing else is.
    assert int(ignored, 16) & ~(1 << 12 | 1 << 24) == 0


def test_stderr_is_apart_and_the_start_and_the_exit_are_frames(tmp_path: Path) -> None:
    done = talk(
        tmp_path, f"import sys\nprint('log', file=sys.stderr, flush=True)\n{BYE}sys.exit(3)\n"
    )
    assert done.of("start") == [{"command": ["agent"]}]
    assert done.of("stderr") == ["log"]
    assert done.of("exit") == [{"code": 3}]
    assert [f.dir for f in done.frames if f.channel in ("start", "stdin")] == ["out", "out"]
    assert done.session.end == {"code": 3}


def test_a_frame_is_on_disk_before_the_driver_sees_it(tmp_path: Path) -> None:
    part = tmp_path / "out.jsonl.part"
    on_disk: list[int] = []

    def look(frame: Frame) -> Iterator[Action]:
        with open_cassette(part) as cassette:
            on_disk.append(list(cassette)[-1].seq - frame.seq)
        return iter(())

    done = talk(tmp_path, f"print('[1]')\nprint('[2]')\n{BYE}", FakeDriver(look))
    assert done.of("stdout") == [[1], [2], {"bye": True}]
    assert on_disk == [0] * len(on_disk)
    assert len(on_disk) == 3


def test_an_answer_follows_what_it_answers_however_far_the_agent_is(tmp_path: Path) -> None:
    def answer(frame: Frame) -> Iterator[Action]:
        if isinstance(frame.data, list):
            yield Send({"answer": frame.data[0]})
            yield SendText("as text")

    body = f"for n in range(50): print([n])\n{BYE}import sys\nprint(len(sys.stdin.readlines()))\n"
    done = talk(tmp_path, body, FakeDriver(answer))
    said = [f.content for f in done.frames if f.channel in ("stdout", "stdin")][1:]
    assert said[:150] == [x for n in range(50) for x in ([n], {"answer": n}, "as text")]
    assert said[150:] == [{"bye": True}, 101]


def test_a_second_process_of_one_conversation(tmp_path: Path) -> None:
    starts = iter([Start(["again"])])

    def answer(frame: Frame) -> Iterator[Action]:
        if frame.channel == "exit":
            yield from starts

    body = f"import sys\nif sys.argv[1:]: {BYE}"
    done = talk(tmp_path, body, FakeDriver(answer))
    assert done.of("start") == [{"command": ["agent"]}, {"command": ["agent", "again"]}]
    assert done.of("exit") == [{"code": 0}, {"code": 0}]


def test_an_agent_that_dies_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(RecordError) as caught:
        talk(tmp_path, "import sys\nsys.exit('no config')\n")
    assert caught.value.code == 5
    assert str(caught.value) == (
        "the agent ended (code 1) too early; awaited: bye\n  it said last:\n  | no config"
    )
    assert list(tmp_path.glob("*.jsonl*")) == []


def test_a_driver_that_gives_up_fails_the_recording(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot go on: refused") as caught:
        talk(tmp_path, "print(1, flush=True)\nimport time\ntime.sleep(60)\n",
             FakeDriver(lambda _: [Failed("refused")]))  # fmt: skip
    assert caught.value.code == 1


@pytest.mark.parametrize("line", ["b'x' * 65536", "b'y\\n' * 32768"], ids=["no line feed", "lines"])
def test_a_flood_is_stopped(tmp_path: Path, line: str) -> None:
    limits = Limits(seconds=30, bytes=1 << 20, frames=1000, grace=0.3)
    with pytest.raises(RecordError, match=r"more than 1,048,576 bytes or 1,000 lines") as caught:
        talk(tmp_path, f"import os\nwhile True: os.write(1, {line})\n", limits=limits)
    assert caught.value.code == 5
    assert "awaited: bye" in str(caught.value)


def test_memory_does_not_grow_with_a_flood(tmp_path: Path) -> None:
    import tracemalloc

    limits = Limits(seconds=30, bytes=8 << 20, frames=200, grace=0.3)
    tracemalloc.start()
    try:
        with pytest.raises(RecordError, match="more than"):
            talk(tmp_path, "import os\nfor _ in range(1000): os.write(1, b'z\\n' * 524288)\n",
                 limits=limits)  # fmt: skip
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("import sys; sys.stdin.read()", {"code": 0}),
        ("import time; time.sleep(60)", {"signal": "SIGTERM"}),
        ("import signal, time; signal.signal(15, signal.SIG_IGN); _()\ntime.sleep(60)",
         {"signal": "SIGKILL"}),
    ],
    ids=["stdin", "SIGTERM", "SIGKILL"],
)  # fmt: skip
def test_the_end_is_asked_for_then_forced(tmp_path: Path, body: str, end: dict[str, str]) -> None:
    before, _, after = body.partition("_()")
    done = talk(tmp_path, f"{before}\n{BYE}{after}" if after else f"{BYE}{body}\n")
    assert done.of("exit") == [end]


def test_what_comes_after_the_end_of_the_conversation_is_recorded(tmp_path: Path) -> None:
    body = (
        f"{BYE}import sys\nprint('[1]', flush=True)\nsys.stdin.read()\nprint('[2]', flush=True)\n"
    )
    assert talk(tmp_path, body).of("stdout") == [{"bye": True}, [1], [2]]


def test_an_agent_that_is_never_silent_is_ended(tmp_path: Path) -> None:
    body = f"""
        import time
        {BYE}
        while True: print('[0]', flush=True); time.sleep(0.01)
        """
    limits = Limits(seconds=10, quiet=1.0, chatter=0.3, grace=0.3)
    done = talk(tmp_path, body, limits=limits)
    assert done.of("exit") == [{"signal": "SIGTERM"}]


def test_a_signal_reaches_the_whole_group(tmp_path: Path) -> None:
    def answer(frame: Frame) -> Iterator[Action]:
        if frame.data == ["ready"]:
            yield Signal("SIGINT")

    body = """
        import os, signal, sys
        signal.signal(signal.SIGINT, lambda *_: None)
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGINT, lambda *_: (os.write(1, b'["child"]\\n'), os._exit(0)))
            os.write(1, b'["ready"]\\n')
            signal.pause()
        os.waitpid(child, 0)
        os.write(1, b'{"bye":true}\\n')
        """
    done = talk(tmp_path, body, FakeDriver(answer))
    assert done.of("stdout") == [["ready"], ["child"], {"bye": True}]


def test_a_daemon_that_holds_the_pipe_is_ended(tmp_path: Path) -> None:
    body = f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(1, b'["daemon",%d]\\n' % os.getpid())
                time.sleep(60)
            os._exit(0)
        os.wait()
        {BYE}"""
    done = talk(tmp_path, body)  # which asserts that nothing with the mark is left
    daemon = next(line[1] for line in done.of("stdout") if isinstance(line, list))
    assert done.of("exit") == [{"code": 0}]
    assert not Path(f"/proc/{daemon}").exists() or "Z" in Path(f"/proc/{daemon}/stat").read_text()


def test_a_daemon_that_writes_on_is_ended(tmp_path: Path) -> None:
    body = f"""
        import os, time
        if os.fork() == 0:
            os.setsid()
            while True: os.write(1, b"[0]\\n"); time.sleep(0.01)
        {BYE}"""
    done = talk(tmp_path, body, limits=Limits(seconds=10, quiet=0.05, grace=0.1, chatter=0.2))
    assert done.of("exit") == [{"code": 0}]


def test_an_agent_that_reads_nothing_loses_no_frame(tmp_path: Path) -> None:
    def answer(frame: Frame) -> Iterator[Action]:
        if frame.data == 1:
            yield CloseStdin()
            yield Send({"late": True})

    done = talk(tmp_path, f"print(1, flush=True)\n{BYE}", FakeDriver(answer))
    assert done.of("stdin") == [{"hello": 1}, {"late": True}]
    assert done.of("exit") == [{"code": 0}]


def test_time_goes_on_from_frame_to_frame(tmp_path: Path) -> None:
    done = talk(tmp_path, f"import time\nprint(1, flush=True)\ntime.sleep(0.1)\n{BYE}")
    times = [frame.at for frame in done.frames]
    assert times == sorted(times)
    assert times[-1] - times[0] >= 100


def test_a_limit_of_time(tmp_path: Path) -> None:
    limits = Limits(seconds=0.3, grace=0.2)
    with pytest.raises(TimeoutError):
        talk(tmp_path, "import time\ntime.sleep(60)\n", limits=limits)
    assert QUICK.seconds > limits.seconds
