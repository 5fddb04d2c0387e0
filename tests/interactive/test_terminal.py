"""The terminal's own settings while it is used, and which bytes are keys."""

import os
import select
import termios

import pytest

from harness.interactive.terminal import Terminal
from harness.pressed import pressed


def test_ctrl_c_leaves_what_was_typed_before_to_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a read that was promised something waits for ever, and all else with it."""
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    with open(slave, closefd=False) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with Terminal():
            os.write(master, b"\x1b\x03")
            assert select.select([slave], [], [], 0)[0] == [slave]
            assert os.read(slave, 9) == b"\x1b"
            # Neither stops nor ends this process: they are bytes as others are.
            os.write(master, b"\x1a\x1c")
            assert os.read(slave, 9) == b"\x1a\x1c"
        assert termios.tcgetattr(slave) == before
    os.close(slave)
    os.close(master)


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        (b"a", "a"),
        (b"AdW", "adw"),
        (b"\x1b[A", ""),
        (b"\x1bOA\x1b[1;5Dd", "d"),
        (b"\x1b[3~a", "a"),
        (b"\x1ba", ""),
        (b"\x1b", ""),
        (b"\xc3\xa4a", "\ufffd\ufffda"),
    ],
)
def test_what_sends_a_sequence_is_no_letter(sent: bytes, keys: str) -> None:
    assert pressed(sent) == keys
