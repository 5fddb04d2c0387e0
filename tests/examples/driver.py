"""A normalizer behind a command, spoken to in the plainest way: one frame to a request."""

import subprocess
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.cassette import Frame, Header


class Piped:
    """A `Subject` that is a process. Use it as a context manager."""

    def __init__(self, command: Sequence[str]) -> None:
        self.name = command[-1]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._id = 0
        self._conversations = 0
        self.started = self.ask("start", protocol=1, harness="0")

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """Send a request and return its answer."""
        self._id += 1
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {"cmd": command, "id": self._id, **fields}
        self.process.stdin.write(msgspec.json.encode(request) + b"\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = msgspec.json.decode(self.process.stdout.readline())
        assert answer["id"] == self._id
        return answer

    def open(self, header: Header) -> "Conversation":
        self._conversations += 1
        name = str(self._conversations)
        self.ask("open", conversation=name, header=header)
        return Conversation(self, name)

    def __enter__(self) -> "Piped":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.ask("stop")
            assert self.process.wait(30) == 0
        finally:
            self.process.kill()
            self.process.communicate()


class Conversation:
    """A `Session` of a `Piped`."""

    def __init__(self, subject: Piped, name: str) -> None:
        self._subject = subject
        self._name = name

    def feed(self, frame: Frame) -> list[Any]:
        answer = self._subject.ask("frames", conversation=self._name, frames=[frame])
        (events,) = answer["events"]
        return list(events)

    def close(self) -> list[Any]:
        return list(self._subject.ask("close", conversation=self._name)["events"])
