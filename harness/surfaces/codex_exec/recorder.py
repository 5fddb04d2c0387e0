"""`codex exec --json`: one process a turn, the prompt on its command line, events on stdout."""

from collections.abc import Iterable, Iterator
from typing import Any

from harness.cassette import Frame
from harness.surfaces.base import Action, CloseStdin, Done, OnceHeld, Setup, Signal, Start
from harness.surfaces.codex_config import PROGRAM, RULES, prepare

__all__ = ["CAPABILITIES", "PROGRAM", "PROTOCOL", "RULES", "make_driver", "prepare"]

PROTOCOL = "codex exec --json"
CAPABILITIES = {"approvals": False, "sandbox": "danger-full-access"}

_FLAGS = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
_OVER = ("turn.completed", "turn.failed")
_NO_PROCESS: dict[str, Any] = {}


class ExecDriver:
    """Starts a process for each turn: the first as `exec`, the others as `exec resume`."""

    def __init__(self, setup: Setup) -> None:
        self._turns = setup.scenario.turns
        self._turn = 0
        self._thread = ""
        self._interrupted = False
        self._over = False

    @property
    def awaiting(self) -> str:
        """See `Driver.awaiting`."""
        return f"the exit of codex exec, turn {self._turn + 1} of {len(self._turns)}"

    def begin(self) -> Iterable[Action]:
        """See `Driver.begin`."""
        yield Start(["exec", *_FLAGS, self._turns[0].prompt])
        yield from self._begun()

    def on_frame(self, frame: Frame) -> Iterator[Action]:
        """See `Driver.on_frame`."""
        if frame.channel == "exit":
            if self._over or self._interrupted:
                yield from self._next_turn()
            # Else it ended too early: with no next process the runner says so, and how.
        elif frame.channel == "stdout" and isinstance(frame.data, dict):
            yield from self._on_event(frame.data)

    def interrupt(self) -> Iterator[Action]:
        """See `Driver.interrupt`."""
        if not self._interrupted and not self._over:
            self._interrupted = True
            yield Signal("SIGINT")

    def _on_event(self, event: dict[str, Any]) -> Iterator[Action]:
        if event.get("type") == "thread.started":
            self._thread = str(event.get("thread_id", ""))
        self._over = self._over or event.get("type") in _OVER
        runs = (
            event.get("type") == "item.started"
            and event.get("item", {}).get("type") == "command_execution"
        )
        wanted = self._turns[self._turn].client.interrupt == "command"
        if runs and wanted and not self._interrupted:
            self._interrupted = True
            yield Signal("SIGINT")

    def _next_turn(self) -> Iterator[Action]:
        self._turn += 1
        self._interrupted = self._over = False
        if self._turn == len(self._turns):
            self._turn -= 1
            yield Done()
            return
        prompt = self._turns[self._turn].prompt
        yield Start(["exec", "resume", *_FLAGS, self._thread, prompt])
        yield from self._begun()

    def _begun(self) -> Iterator[Action]:
        yield CloseStdin()
        if self._turns[self._turn].client.interrupt in {"start", "held"}:
            self._interrupted = True
            yield OnceHeld(Signal("SIGINT"))


def make_driver(setup: Setup) -> ExecDriver:
    """See `MakeDriver`."""
    return ExecDriver(setup)
