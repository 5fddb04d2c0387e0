"""The client of a recording: starts the agent, sends each prompt, waits for the turn's end.

`harness.surfaces.base` says what else a client can do: answer a question, interrupt, start anew.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from harness.cassette import Frame
from harness.cassette.scrub import Rules
from harness.surfaces.base import Action, Done, Send, Setup, Start

PROTOCOL: Final = "JSON lines"
CAPABILITIES: Final[dict[str, Any]] = {}
# What of this wire is no agent's but this machine's or this moment's, beyond what is on every wire.
RULES: Final = Rules()


class LineDriver:
    """One process for the whole conversation; a prompt once the agent waits for one."""

    def __init__(self, setup: Setup) -> None:
        self._args = list(setup.args)
        self._prompts = [turn.typed for turn in setup.scenario.turns]
        self._sent = 0
        self.awaiting = "ready"

    def begin(self) -> Iterable[Action]:
        """See `Driver.begin`."""
        yield Start(self._args)

    def on_frame(self, frame: Frame) -> Iterator[Action]:
        """See `Driver.on_frame`."""
        if frame.channel != "stdout" or not isinstance(frame.data, dict):
            return
        if frame.data.get("type") not in {"ready", "turn.completed", "turn.failed"}:
            return
        if self._sent == len(self._prompts):
            yield Done()
            return
        yield Send({"type": "prompt", "text": self._prompts[self._sent]})
        self._sent += 1
        self.awaiting = f"the end of turn {self._sent} of {len(self._prompts)}"


def make_driver(setup: Setup) -> LineDriver:
    """See `MakeDriver`."""
    return LineDriver(setup)
