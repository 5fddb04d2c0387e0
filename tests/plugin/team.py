"""A team's project, which has only the package: for the tests of the plugin."""

import sys

import pytest

from tests.project_of_one import project_of_one

PLUGIN = "harness.pytest_plugin"
"""As the entry point names it: naming it again loads it once."""

IDS = ("codex-exec/codex-0.163.0/text", "codex-exec/codex-0.163.0/command", "acp/cline-3.0.65/text")
SUBJECTS = '''
import asyncio
import os
import signal
import subprocess
import sys

import pytest
from msgspec.structs import replace

from harness.surfaces import surface


class Twice:
    def __init__(self, header):
        self.inner = surface(header.surface).normalizer(header)

    def feed(self, frame):
        events = []
        for event in self.inner.feed(frame):
            events.append(event)
            if event.type == "turn.completed":
                events.append(replace(event, eventId=event.eventId + "-again"))
        return events

    def close(self):
        return self.inner.close()


class Right(Twice):
    def feed(self, frame):
        return self.inner.feed(frame)


class Ends(Right):
    """Ends its process at the first frame of a conversation with a command."""

    def __init__(self, header):
        super().__init__(header)
        self.bad = header.scenario == "command"

    def feed(self, frame):
        if self.bad:
            self.end()
        return super().feed(frame)

    def end(self):
        os._exit(0)


class Killed(Ends):
    def end(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Cancels(Ends):
    def end(self):
        raise asyncio.CancelledError("x")


class Skips(Ends):
    def end(self):
        pytest.skip("no time")


class Waits(Ends):
    """Says where it is, has a child, and waits; both hold what it says it on until they end."""

    def end(self):
        said = os.open("here", os.O_WRONLY)
        os.set_inheritable(said, True)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], close_fds=False)
        os.write(said, b"x")
        signal.pause()
'''

SERVED = f"{sys.executable} -m harness.subject.serve"
"""The program that puts one of them behind the protocol."""


def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """Make it: two normalizers, and three cassettes with their expected output."""
    pytester.makepyfile(team=SUBJECTS)
    pytester.syspathinsert()
    project_of_one(pytester.path, *IDS)
    return pytester


def run(team: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest on it, in a process of its own."""
    return team.runpytest_subprocess(
        "-p", "no:cacheprovider", "-p", PLUGIN, "--cassettes", "cassettes", *arguments
    )
