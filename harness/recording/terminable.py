"""Lets a recording end what it started where a signal asks this process to end."""

import asyncio
import signal
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class TerminatedError(Exception):
    """A signal asked this process to end while it was recording."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


async def terminable(work: Coroutine[Any, Any, T]) -> T:
    """Run it; SIGTERM and SIGHUP cancel it as Ctrl-C does, so that it ends what it started."""
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    came: list[int] = []

    def stop(number: int) -> None:
        came.append(number)
        if task is not None:
            task.cancel()

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            handler = signal.getsignal(number)
            if handler is not signal.SIG_IGN:
                before[number] = handler
                loop.add_signal_handler(number, stop, number)
    try:
        return await work
    except asyncio.CancelledError:
        if came:
            raise TerminatedError(came[0]) from None
        raise
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
