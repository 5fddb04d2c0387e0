"""`harness record --interactive` in a real terminal, and somebody who types at it."""

import os
import re
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import pexpect
import pyte

from harness.project import find_project

PROJECT = find_project(Path(__file__))
_SHELL = """\
trap : INT
before=$(stty -g)
"$@"
code=$?
after=$(stty -g)
[ "$before" = "$after" ] && echo "[as before, exit $code]" || echo "[changed, exit $code]"
"""


class Person:
    """Types at a terminal in which a shell runs one recording; `folder` is where it works.

    At the end the shell says whether the terminal is as it was.
    """

    def __init__(
        self, folder: Path, *arguments: str, width: int = 80, env: dict[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.into = folder / "out"
        # Short, as a machine's own is: Claude has a socket in it, whose path has a limit.
        self.temp = Path(tempfile.mkdtemp(prefix="person-"))
        self._screen = pyte.HistoryScreen(width, 24, history=2000)
        self._feed = pyte.Stream(self._screen)
        plain = {k: v for k, v in os.environ.items() if k not in {"CI", "COLUMNS", "LINES"}}
        command = [sys.executable, "-m", "harness.cli", "record", "--interactive"]
        self.child: Any = pexpect.spawn(
            "/bin/sh",
            ["-c", _SHELL, "sh", *command, "--into", str(self.into), *arguments],
            cwd=str(folder),
            dimensions=(24, width),
            env=plain
            | {"NO_COLOR": "1", "TMPDIR": str(self.temp), "PYTHONDONTWRITEBYTECODE": "1"}
            | {"PYTHONPATH": str(PROJECT.root)}
            | (env or {}),
            encoding="utf-8",
            timeout=90,
        )
        self.child.logfile_read = self
        self.child.delaybeforesend = None
        self.said = ""

    def write(self, text: str) -> None:
        """Take what the terminal shows."""
        self.said += text
        self._feed.feed(text)

    def flush(self) -> None:
        """Do nothing: pexpect asks for it."""

    def sees(self, text: str) -> str:
        """Wait for a text; return what came before it."""
        self.child.expect_exact(text)
        return str(self.child.before)

    def types(self, text: str) -> None:
        self.child.send(text)

    def presses_ctrl_c(self) -> None:
        self.child.sendintr()

    def presses_ctrl_d(self) -> None:
        self.child.sendeof()

    def ends(self, code: int) -> None:
        """Wait for the end: with this code, the terminal as it was, and nothing left behind."""
        self.child.expect(r"\[(as before|changed), exit (\d+)\]")
        end = self.child.match[0]
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert end == f"[as before, exit {code}]", self.said
        self.leaves_nothing()

    def leaves_nothing(self) -> None:
        """Assert that no process of the recording is there any more, and no folder."""
        assert running(self.temp) == []
        # Raises where something is in it.
        self.temp.rmdir()

    @property
    def harness(self) -> int:
        """The harness's process."""
        children = Path(f"/proc/{self.child.pid}/task/{self.child.pid}/children").read_text()
        return int(children.split()[0])

    @property
    def kept(self) -> list[str]:
        """The files that are there, but for the temporary ones."""
        found = [*self.into.rglob("*"), *self.folder.glob("*.yaml*"), *self.folder.glob(".draft*")]
        return sorted(p.relative_to(self.folder).as_posix() for p in found if p.is_file())

    @property
    def screen(self) -> list[str]:
        """The lines that a person has seen, those that have scrolled away too."""
        width = self._screen.columns
        above = ["".join(line[n].data for n in range(width)) for line in self._screen.history.top]
        return [line.rstrip() for line in [*above, *self._screen.display]]


def running(folder: Path) -> list[str]:
    """Return the processes whose environment names a folder: what a recording starts does."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal() or int(process.name) == os.getpid():
            continue
        try:
            environment = (process / "environ").read_bytes()
            state = re.search(r"State:\s+(\S)", (process / "status").read_text())
        except OSError:
            continue
        if str(folder).encode() in environment and state is not None and state[1] != "Z":
            found.append(process.name)
    return found


def stop(pid: int) -> None:
    """Ask a process to end."""
    os.kill(pid, signal.SIGTERM)
