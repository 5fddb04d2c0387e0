"""The terminal of an interactive recording: lines, single keys, and keys while an agent works."""

import asyncio
import contextlib
import os
import signal
import sys
import termios
import tty
from collections.abc import Callable, Container
from types import FrameType, TracebackType
from typing import Any, Final, Protocol, Self

from harness.cassette.show import printable
from harness.pressed import pressed
from harness.recording.errors import RecordError

_ESC: Final = b"\x1b"
_MOST: Final = 4096
"""Bytes of a line, its end included: the terminal drops what is more."""


class OnKey(Protocol):
    """What a key does while the agent works; returns whether it does something.

    `again` says of the key that it may mean another thing when it is pressed again.
    """

    def __call__(self, *, again: bool) -> bool:
        """Do it."""


class Terminal:
    """Standard input and output, from `with` to its end, when all is as it was before.

    Nothing waits in a thread: the event loop says when there is something to be read. Ctrl-C is
    the signal that it always is, but where what watches the keys takes it; the keys that would
    stop this process, or end it at once, do nothing. What is shown of an agent's is shown as text.
    """

    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._fd)
        self._handler: Any = signal.getsignal(signal.SIGINT)
        self._stream: tuple[str, str] | None = None
        self._column = 0
        self._on_key: OnKey | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        self._single()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._on_key is not None:
            signal.signal(signal.SIGINT, self._handler)
        # A terminal that is gone is left as it is.
        with contextlib.suppress(OSError, termios.error):
            self._new_line()
            # What was typed before Ctrl-C is for nobody.
            when = termios.TCSADRAIN if kind is None else termios.TCSAFLUSH
            termios.tcsetattr(self._fd, when, self._before)

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

    def watch(self, on_key: OnKey) -> None:
        """Call `on_key` at each Esc while neither a line nor a key is waited for, and at Ctrl-C.

        Ctrl-C that it does not take is what it was before.
        """
        self._on_key = on_key
        loop = self._loop = asyncio.get_running_loop()
        loop.add_reader(self._fd, self._glance)
        before: Any = signal.getsignal(signal.SIGINT)

        def on_signal(number: int, frame: FrameType | None) -> None:
            if (loop.is_closed() or not on_key(again=True)) and callable(before):
                before(number, frame)

        signal.signal(signal.SIGINT, on_signal)

    def soon(self, what: Callable[[], None]) -> None:
        """Do it in the event loop, which may be waiting: for what a signal's handler wants."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(what)

    async def ask_line(self, prompt: str) -> str | None:
        """Return a line that is typed, without its line feed; None at Ctrl-D.

        Raises RecordError (5) where the terminal is gone.
        """
        self._new_line()
        # The terminal's own editing: a person may correct the line, and it wraps as it does.
        self._whole_lines()
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
                if len(typed) >= _MOST - 1:
                    self.line(f"Longer than the terminal's {_MOST - 1} bytes: type it shorter.")
                    self._write(prompt)
                    typed = b""
        finally:
            self._single()
        return typed.split(b"\n")[0].decode("utf-8", "replace")

    async def ask_key(self, prompt: str, keys: Container[str]) -> str:
        """Return which of some keys is pressed. Raises RecordError (5), as `ask_line`."""
        self._new_line()
        self._write(prompt + "\n")
        while True:
            piece = await self._read()
            for key in pressed(piece):
                if key in keys:
                    return key

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._fd, _set, ready)
        try:
            await ready
            try:
                piece = os.read(self._fd, _MOST)
                if not piece:
                    # Ctrl-D, unless there is nobody any more who could have pressed it.
                    termios.tcgetattr(self._fd)
            except (OSError, termios.error) as error:
                raise RecordError(
                    5, "asking at the terminal: it is gone; nothing is kept: record it again"
                ) from error
            return piece
        finally:
            loop.remove_reader(self._fd)
            if self._on_key is not None:
                loop.add_reader(self._fd, self._glance)

    def _glance(self) -> None:
        try:
            sent = os.read(self._fd, _MOST)
        except OSError:
            sent = b""
        if not sent:
            asyncio.get_running_loop().remove_reader(self._fd)
        # Arrows and the like begin with the same byte: only alone it is the key.
        elif sent == _ESC and self._on_key is not None:
            self._on_key(again=False)

    def _single(self) -> None:
        tty.setcbreak(self._fd, termios.TCSADRAIN)
        self._set(0)

    def _whole_lines(self) -> None:
        self._set(termios.ICANON | termios.ECHO)

    def _set(self, flags: int) -> None:
        settings = termios.tcgetattr(self._fd)
        # Else Ctrl-C empties the input, and a read that was to have something waits for ever.
        settings[3] |= flags | termios.NOFLSH
        for key in (termios.VSUSP, termios.VQUIT):
            settings[6][key] = os.fpathconf(self._fd, "PC_VDISABLE").to_bytes()
        termios.tcsetattr(self._fd, termios.TCSADRAIN, settings)

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
