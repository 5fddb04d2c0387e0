"""Single keys of a terminal."""

import os
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def keys() -> Iterator[Callable[[], str]]:
    """Give what waits for one key of standard input and returns it, "" at its end.

    Ctrl-C is KeyboardInterrupt as ever. The terminal is put back as it was, however it ends.
    """
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def key() -> str:
        return os.read(descriptor, 1).decode("ascii", "replace").lower()

    try:
        tty.setcbreak(descriptor, termios.TCSADRAIN)
        yield key
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
