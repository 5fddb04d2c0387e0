"""Lets a recording end what it started where a signal asks this process to end."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar, cast

from harness.ending import UnwoundError

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

    def stop(number: int, _: object) -> None:
        came.append(number)
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            handler = signal.getsignal(number)
            if handler is not signal.SIG_IGN:
                # Not the loop's own: it loses a signal that comes after the loop's last round.
                before[number] = signal.signal(number, stop)
    done = None
    try:
        done = await work
    except asyncio.CancelledError:
        if not came:
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        raise TerminatedError(came[0])
    return cast("T", done)


@contextlib.contextmanager
def unwinding() -> Iterator[None]:
    """Within it SIGTERM and SIGHUP end the block as an exception does, then do what they do.

    So that what the block made is removed. Only the main thread can, elsewhere it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def unwind(number: int, _: object) -> None:
        came.append(number)
        raise UnwoundError

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, unwind)
    try:
        yield
    except UnwoundError:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])
