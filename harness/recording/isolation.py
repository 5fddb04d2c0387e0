"""A network namespace with loopback alone: the agent runs in it, the model server listens in it.

A socket keeps the namespace that it was made in. So a holder process makes the namespace and
the listening socket and hands both over; the model server accepts on that socket from here,
and each process of the recording is started inside (`launcher.py run`). To a server of the
agent's, one connects from here over sockets that the holder makes.
"""

import contextlib
import errno
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Self

LAUNCHER = str(Path(__file__).with_name("launcher.py"))

# A counter of the kernel's, and what makes it grow: no route out, or a question to a name
# server that a loopback address stands for.
_COUNTERS = {
    "snmp": (("Ip", "OutNoRoutes"), ("Udp", "NoPorts")),
    "snmp6": (("Ip6OutNoRoutes",), ("Udp6NoPorts",)),
}


class IsolationError(Exception):
    """The machine does not let this user make a network namespace; the message says why."""


class Namespace:
    """A namespace that is held open: close it, or use it as a context manager.

    `server` listens on its 127.0.0.1; `files` are its descriptors in the order to enter them.
    Raises IsolationError where the machine does not allow it, OSError where the port is taken.
    """

    def __init__(self, port: int = 0) -> None:
        ours, theirs = socket.socketpair()
        self._channel = ours
        with theirs:
            self._holder = subprocess.Popen(
                [sys.executable, "-I", "-S", LAUNCHER, "hold", str(theirs.fileno()), str(port)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the harness alone
            )
        message, files, _, _ = socket.recv_fds(ours, 200, 4)
        self.files: list[int] = files[1:]
        if not files:
            self.close()
            raise IsolationError(message.decode(errors="replace").lstrip("!") or "no holder")
        self.server = socket.socket(fileno=files[0])
        names = message.decode().split(",")
        self.inode = os.fstat(self.files[names.index("net")]).st_ino

    def tcp(self) -> socket.socket:
        """Return a new TCP socket of the namespace, not connected. Raises OSError."""
        self._channel.sendall(b"+")
        _, files, _, _ = socket.recv_fds(self._channel, 1, 1)
        if not files:
            raise OSError(errno.ENETDOWN, "the holder of the namespace is gone")
        return socket.socket(fileno=files[0])

    def refused(self) -> int:
        """Return how many packets the kernel refused to let out so far."""
        return sum(self._counters())

    def _counters(self) -> Iterator[int]:
        root = Path(f"/proc/{self._holder.pid}/net")
        for name, counters in _COUNTERS.items():
            with contextlib.suppress(OSError):  # a kernel without IPv6 has no snmp6
                rows = [line.split() for line in (root / name).read_text().splitlines()]
                for counter in counters:
                    yield _value(rows, counter)

    def close(self) -> None:
        """Let the namespace go; it ends with the last process in it."""
        if hasattr(self, "server"):
            self.server.close()
        for file in self.files:
            os.close(file)
        self.files = []
        self._channel.close()
        self._holder.wait()

    @property
    def holder(self) -> int:
        """The process id of the holder."""
        return self._holder.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _value(rows: list[list[str]], counter: tuple[str, ...]) -> int:
    """`snmp` has a row of names and a row of numbers for each protocol, `snmp6` a pair a row."""
    if len(counter) == 1:
        return next((int(row[1]) for row in rows if row[0] == counter[0]), 0)
    protocol, name = counter
    names, numbers = (row for row in rows if row[0] == f"{protocol}:")
    return int(numbers[names.index(name)]) if name in names else 0


@cache
def why_not() -> str | None:
    """Return None where this machine allows isolation, else the reason. Tried once."""
    if sys.platform != "linux":
        return "network namespaces are Linux's"
    try:
        Namespace().close()
    except (IsolationError, OSError) as error:
        return str(error)
    return None
