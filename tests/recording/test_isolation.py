"""The network namespace: nothing leaves, and who tries is counted."""

import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cassette import Frame
from harness.recording import isolation
from harness.recording.isolation import LAUNCHER, Namespace, why_not
from harness.surfaces.base import Action, Start
from tests.recording.fakes import FakeDriver, talk

pytestmark = pytest.mark.skipif(
    why_not() is not None, reason=f"this machine does not allow isolation: {why_not()}"
)

LEAVE = """
import errno, json, socket, sys
def attempt(family, address):
    with socket.socket(family) as s:
        try: s.connect(address)
        except OSError as error: return errno.errorcode[error.errno]
print(json.dumps([
    attempt(socket.AF_INET, ("192.0.2.1", 443)),
    attempt(socket.AF_INET6, ("2001:db8::1", 443)),
]))
print('{"bye":true}', flush=True)
"""


def test_an_agent_that_tries_to_leave_is_refused_and_counted(tmp_path: Path) -> None:
    with Namespace() as namespace:
        assert namespace.refused() == 0
        done = talk(tmp_path, LEAVE, namespace=namespace)
        assert done.of("stdout")[0] == ["ENETUNREACH", "ENETUNREACH"]
        assert namespace.refused() == 2


def test_a_question_to_a_name_server_is_counted(tmp_path: Path) -> None:
    body = """
        import socket
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.sendto(b"who is example.invalid?", ("127.0.0.53", 53))
        print('{"bye":true}', flush=True)
        """
    with Namespace() as namespace:
        talk(tmp_path, body, namespace=namespace)
        assert namespace.refused() == 1


def test_the_server_is_reached_from_inside_alone(tmp_path: Path) -> None:
    with Namespace() as namespace:
        port = namespace.server.getsockname()[1]
        namespace.server.setblocking(False)  # noqa: FBT003 - its only form
        got: list[bytes] = []

        def answer(frame: Frame) -> Iterator[Action]:
            if frame.data == ["sent"]:
                client, _ = namespace.server.accept()
                with client:
                    got.append(client.recv(10))
            return iter(())

        body = f"""
            import socket
            with socket.create_connection(("127.0.0.1", {port})) as s:
                s.sendall(b"inside")
                print('["sent"]', flush=True)
                s.recv(1)
            print('["%s"]' % socket.gethostname())
            print('{{"bye":true}}', flush=True)
            """
        done = talk(tmp_path, body, FakeDriver(answer), namespace=namespace)
        assert got == [b"inside"]
        assert done.of("stdout")[1] == ["localhost"]
        with socket.socket() as outside:
            assert outside.connect_ex(("127.0.0.1", port)) != 0


def test_all_processes_of_a_recording_share_the_namespace(tmp_path: Path) -> None:
    starts = iter([Start([])])

    def answer(frame: Frame) -> Iterator[Action]:
        if frame.channel == "exit":
            yield from starts

    body = """
        import json, os
        if os.path.exists("twice"): print('{"bye":true}')
        open("twice", "w").close()
        print(json.dumps(os.readlink("/proc/self/ns/net")), flush=True)
        """
    with Namespace() as namespace:
        done = talk(tmp_path, body, FakeDriver(answer), namespace=namespace)
        inode = f"net:[{namespace.inode}]"
    assert [x for x in done.of("stdout") if isinstance(x, str)] == [inode, inode]
    assert str(Path("/proc/self/ns/net").readlink()) != inode


def test_closing_it_ends_the_holder() -> None:
    namespace = Namespace()
    holder = namespace.holder
    namespace.close()
    assert not Path(f"/proc/{holder}").exists()


def test_a_holder_ends_with_the_harness() -> None:
    program = (
        "import os; from harness.recording.isolation import Namespace; n = Namespace(); "
        "print(n.holder, flush=True); os._exit(0)"
    )
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    handle = select.poll()
    try:
        holder = os.pidfd_open(int(child.stdout))
    except ProcessLookupError:
        return  # it is gone already
    handle.register(holder)
    ended = handle.poll(5000)
    os.close(holder)
    assert ended


def test_a_machine_that_does_not_allow_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise isolation.IsolationError("Operation not permitted")

    monkeypatch.setattr(isolation, "Namespace", refuse)
    assert why_not.__wrapped__() == "Operation not permitted"


def test_without_privilege_a_user_namespace_does_it() -> None:
    drop = ["setpriv", "--bounding-set=-sys_admin,-net_admin", "--inh-caps=-sys_admin,-net_admin"]
    if os.geteuid() != 0:
        drop = []
    program = (
        "from harness.recording.isolation import Namespace\n"
        "with Namespace() as n: print(len(n.files))"
    )
    done = subprocess.run(
        [*drop, sys.executable, "-c", program], capture_output=True, check=False, text=True
    )
    if "setpriv" in done.stderr:
        pytest.skip(f"setpriv: {done.stderr}")
    assert done.stdout == "3\n", done.stderr  # user, net and uts


def test_the_launcher_stands_alone() -> None:
    text = Path(LAUNCHER).read_text("utf-8")
    assert "import harness" not in text
    assert "from harness" not in text
