"""A recording that a signal or a full disk ends leaves nothing behind."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.cassette import open_cassette
from tests.recording.fakes import (
    agent,
    no_temporary_folder_is_left,  # noqa: F401 - a fixture of every test
)

# The package has a function of the module's name.
module = sys.modules["harness.recording.record"]

BYE = "print('{\"bye\":true}', flush=True)\n"
NAME = "fake/fake-1.2.3/text.jsonl"
HANG = "import time\ntime.sleep(60)\n"


def _heed_signals() -> None:
    """Undo what a background job or nohup hands down: signals that are ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(tmp_path: Path, body: str, *more: str) -> "subprocess.Popen[str]":
    program = agent(tmp_path, body)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.recording.in_process", program, str(tmp_path / "c"), *more],
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        preexec_fn=_heed_signals,  # noqa: PLW1509 - no threads here
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_to_the_harness_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    old = tmp_path / "c" / NAME
    old.parent.mkdir(parents=True)
    old.write_text("old")
    # The agent and its daemon hold the pipe open: its end is theirs.
    body = f"""
        import os, time
        alive = os.open({str(fifo)!r}, os.O_WRONLY)
        if {number != signal.SIGKILL} and os.fork() == 0:
            os.setsid()
            if os.fork() == 0: os.write(alive, b"daemon\\n"); time.sleep(60)
            os._exit(0)
        os.write(alive, b"agent\\n")
        time.sleep(60)
        """
    harness = start(tmp_path, body)
    watchdog = threading.Timer(20, harness.kill)
    watchdog.start()
    with fifo.open() as alive:
        began = {alive.readline() for _ in range(1 if number == signal.SIGKILL else 2)}
        harness.send_signal(number)
        assert alive.read() == ""  # returns once no process has it open
    said = harness.communicate()[1]
    watchdog.cancel()
    assert "agent\n" in began
    assert harness.returncode == -number
    assert old.read_text() == "old"
    left = {p.name for p in old.parent.iterdir()} - {"text.jsonl"}
    if number == signal.SIGKILL:
        assert left == {"text.jsonl.part"}
        with open_cassette(old.with_name("text.jsonl.part")) as cassette:
            assert [f.channel for f in cassette] == ["start", "stdin"]
            assert cassette.truncated
        for rest in (tmp_path / "temp").iterdir():
            subprocess.run(["rm", "-r", str(rest)], check=True)
    else:
        assert left == set()
        assert number == signal.SIGINT or said == ""


def test_a_full_disk(tmp_path: Path) -> None:
    old = tmp_path / "c" / NAME
    old.parent.mkdir(parents=True)
    old.write_text("old")
    harness = start(tmp_path, f"for n in range(3000): print('[%d]' % n)\n{BYE}", "20000")
    said = harness.communicate(timeout=30)[1]
    assert harness.returncode == 4
    assert "recording fake/fake-1.2.3/text: " in said
    assert "could not write frame" in said
    assert "File too large; free the disk" in said
    assert "Traceback" not in said
    assert [p.name for p in old.parent.iterdir()] == ["text.jsonl"]
    assert old.read_text() == "old"
