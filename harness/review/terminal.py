"""Single keys of a terminal."""

import os
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from harness.pressed import pressed

_MOST: Final = 1024


@contextmanager
def keys() -> Iterator[Callable[[], str]]:
    """Give what waits for one key of standard input and returns it, "" at its end.

    Ctrl-C is KeyboardInterrupt as ever. The terminal is put back as it was, however it ends.
    """
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    waiting: list[str] = []

    def key() -> str:
        while not waiting:
            sent = os.read(descriptor, _MOST)
            if not sent:
                return ""
            waiting.extend(pressed(sent))
        return waiting.pop(0)

    try:
        tty.setcbreak(descriptor, termios.TCSADRAIN)
        yield key
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
