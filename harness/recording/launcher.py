"""Runs by itself (`python -I -S launcher.py`): makes a namespace, or starts an agent in one.

    launcher.py hold FD                     make a network namespace, hand it out, keep it
    launcher.py run STATUS_FD NS_FDS CMD... enter the namespaces (`-`: none) and become CMD

`hold` sends, over the unix socket FD, a listening socket on the namespace's loopback and the
namespaces themselves as descriptors, then a new TCP socket of the namespace for each byte that
comes; the holder ends when the other side closes. `run` writes
the errno to STATUS_FD where CMD could not be started, and nothing where it was.

Only the standard library's start-up modules are used: this runs before each agent.
"""

import ctypes
import os
import signal
import socket
import struct
import sys

_CLONE_NEWUTS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x04000000, 0x10000000, 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_PR_SET_PDEATHSIG = 1
_HOST = b"localhost"

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *args: object) -> None:
    if getattr(_libc, name)(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _unshare() -> list[str]:
    """Leave the network; return the namespaces that were made, in the order to enter them."""
    uid, gid = os.geteuid(), os.getegid()
    try:
        _call("unshare", _CLONE_NEWNET | _CLONE_NEWUTS)
    except PermissionError:
        # Without privilege: a user namespace of one's own, in which one stays who one is.
        _call("unshare", _CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWUTS)
        for name, line in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - pathlib is slow to load
                file.write(line)
        return ["user", "net", "uts"]
    return ["net", "uts"]


def _loopback_up() -> None:
    import fcntl  # noqa: PLC0415 - `run` has no use for it

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = fcntl.ioctl(probe, _SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))
        flags = struct.unpack("16sH14x", request)[1]
        fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def _hold(channel: socket.socket, port: int) -> None:
    try:
        namespaces = _unshare()
        _loopback_up()
        _call("sethostname", _HOST, len(_HOST))
        server = socket.create_server(("127.0.0.1", port), backlog=128)
        files = [os.open(f"/proc/self/ns/{name}", os.O_RDONLY) for name in namespaces]
    except OSError as error:
        channel.sendall(f"!{error.strerror or error}".encode())
        return
    socket.send_fds(channel, [",".join(namespaces).encode()], [server.fileno(), *files])
    server.close()
    while channel.recv(1):
        # Not connected: that is for whoever asked, who need not be in the namespace for it.
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
            socket.send_fds(channel, [b"+"], [made.fileno()])


def _run(status: int, namespaces: str, command: list[str]) -> None:
    os.set_inheritable(status, False)  # noqa: FBT003
    try:
        for descriptor in namespaces.split(",") if namespaces != "-" else ():
            _call("setns", int(descriptor), 0)
            os.close(int(descriptor))
        # An agent never outlives a harness that was killed.
        _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # Python ignores some signals, and a shell may have made us ignore others.
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM,
                       signal.SIGQUIT, signal.SIGHUP):  # fmt: skip
            signal.signal(number, signal.SIG_DFL)
        os.execv(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(status, f"{error.errno}".encode())
        os._exit(127)


def main(args: list[str]) -> None:
    """Do what the command line says; the module's docstring has its forms."""
    if args[0] == "hold":
        with socket.socket(fileno=int(args[1])) as channel:
            _hold(channel, int(args[2]))
    else:
        _run(int(args[1]), args[2], args[3:])


if __name__ == "__main__":
    main(sys.argv[1:])
