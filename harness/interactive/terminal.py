"""The terminal of an interactive recording: lines, single keys, and Esc while an agent works."""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Callable, Container
from types import TracebackType
from typing import Final, Self

from harness.cassette.show import printable
from harness.recording.errors import RecordError

_ESC: Final = b"\x1b"
_MOST: Final = 4096
"""Bytes: of a line, as the terminal itself has it."""


class Terminal:
    """Standard input and output, from `with` to its end, when all is as it was before.

    Nothing waits in a thread: the event loop says when there is something to be read. Ctrl-C is
    the signal that it always is. Whatever is shown of an agent's is shown as text.
    """

    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._fd)
        self._stream: tuple[str, str] | None = None
        self._column = 0
        self._on_escape: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        self._single()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._new_line()
        termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def line(self, text: str = "") -> None:
        """Show a line of its own."""
        self._new_line()
        self._write(printable(text) + "\n")

    def stream(self, kind: str, item: str, text: str) -> None:
        """Show a piece of a stream, where the last piece of the same one ended."""
        if self._stream != (kind, item):
            self._new_line()
            self._stream = (kind, item)
        shown = "\n".join(map(printable, text.split("\n")))
        self._write(shown)
        self._column = 0 if shown.endswith("\n") else self._column + len(shown)

    def watch(self, on_escape: Callable[[], None]) -> None:
        """Call `on_escape` at each Esc, while neither a line nor a key is waited for."""
        self._on_escape = on_escape
        asyncio.get_running_loop().add_reader(self._fd, self._glance)

    async def ask_line(self, prompt: str) -> str | None:
        """Return a line that is typed, without its line feed; None at Ctrl-D (or where it ends)."""
        self._new_line()
        # The terminal's own editing: a person may correct the line, and it wraps as it does.
        settings = termios.tcgetattr(self._fd)
        settings[3] |= termios.ICANON | termios.ECHO
        termios.tcsetattr(self._fd, termios.TCSADRAIN, settings)
        self._write(prompt)
        typed = b""
        try:
            while b"\n" not in typed:
                piece = await self._read()
                if not piece:
                    if not typed:
                        self._write("\n")
                        return None
                    break
                typed += piece
        finally:
            self._single()
        return typed.split(b"\n")[0].decode("utf-8", "replace")

    async def ask_key(self, prompt: str, keys: Container[str]) -> str:
        """Return which of some keys is pressed. Raises RecordError (5) where the terminal ends."""
        self._new_line()
        self._write(prompt + "\n")
        while True:
            piece = await self._read()
            if not piece:
                raise RecordError(5, "asking at the terminal: it is gone; record it again")
            for key in piece.decode("ascii", "replace").lower():
                if key in keys:
                    return key

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._fd, _set, ready)
        try:
            await ready
            try:
                return os.read(self._fd, _MOST)
            except OSError:
                return b""
        finally:
            loop.remove_reader(self._fd)
            if self._on_escape is not None:
                loop.add_reader(self._fd, self._glance)

    def _glance(self) -> None:
        try:
            pressed = os.read(self._fd, _MOST)
        except OSError:
            pressed = b""
        if not pressed:
            asyncio.get_running_loop().remove_reader(self._fd)
        # Arrows and the like begin with the same byte: only alone it is the key.
        elif pressed == _ESC and self._on_escape is not None:
            self._on_escape()

    def _single(self) -> None:
        tty.setcbreak(self._fd, termios.TCSADRAIN)

    def _new_line(self) -> None:
        self._stream = None
        if self._column:
            self._column = 0
            self._write("\n")

    def _write(self, text: str) -> None:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()


def _set(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)
