"""When the client speaks: the scenario, held against what the agent sends. Sans-io."""

from typing import Any, Literal

from harness.scenarios import Say, Scenario
from harness.scenarios.model import Interrupt, Turn

Cue = Literal["interrupt", "next"]

_RUNNING = 1.0
_OVER = 0.2


class Story:
    """The turns of a scenario, one after the other.

    The client speaks at a place that is the same in each recording: after the last word that
    the model says, after the agent says that it is idle, or where the agent has fallen silent.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._turns = scenario.turns
        self._number = 0
        self._said = ""
        self._interrupted = self._calls = self._stopped = False
        self._over = self._idle = False
        self.session = ""
        """The id that the agent gave the conversation, once it has said it."""

    @property
    def coming(self) -> Turn | None:
        """The turn that is next, or None after the last."""
        return self._turns[self._number] if self._number < len(self._turns) else None

    @property
    def waits_for_model(self) -> bool:
        """Whether the client speaks once the model holds its stream."""
        return self._number > 0 and self._is_to_interrupt("start", "held")

    @property
    def turn(self) -> Turn:
        """The turn that is under way."""
        return self._turns[max(self._number - 1, 0)]

    @property
    def awaiting(self) -> str:
        """What of the agent's is waited for."""
        return f"the result of turn {self._number} of {len(self._turns)}"

    @property
    def patience(self) -> float | None:
        """The seconds of silence that say something; None while silence says nothing."""
        if self._over or self.waits_for_model:
            return _OVER
        if self._calls and self._stopped and self._is_to_interrupt("command"):
            return _RUNNING
        return None

    def next_prompt(self) -> str:
        """Begin the next turn and return its prompt."""
        self._number += 1
        self._begin()
        return self.turn.typed

    def stop(self) -> Cue | None:
        """Return that the client interrupts now, where there is something to interrupt."""
        return None if self._interrupted or self._over or not self._number else self._interrupt()

    def leave(self) -> None:
        """The process is left: what it said last says nothing of the next one."""
        self._begin()

    def on_message(self, message: dict[str, Any]) -> Cue | None:
        """Return what the client does once it has seen this message, if anything."""
        self.session = str(message.get("session_id", self.session))
        match message:
            case {"type": "stream_event", "event": dict(event)}:
                return self._on_event(event)
            case {"type": "result"}:
                self._over = True
                return "next" if self._idle else None
            case {"type": "system", "subtype": "session_state_changed", "state": state}:
                self._idle = state == "idle"
                return "next" if self._idle and self._over else None
        return None

    def on_silence(self) -> Cue:
        """Return what the client does after `patience` seconds without a message."""
        return "next" if self._over else self._interrupt()

    def _begin(self) -> None:
        self._said = ""
        self._interrupted = self._calls = self._stopped = False
        self._over = self._idle = False

    def _on_event(self, event: dict[str, Any]) -> Cue | None:
        match event:
            case {"type": "content_block_start", "content_block": {"type": "tool_use"}}:
                self._calls = True
            case {"type": "message_start"}:
                self._calls = self._stopped = False
            case {"type": "message_stop"}:
                self._stopped = True
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}:
                self._said += text
                says = [step.text for step in self.turn.model if isinstance(step, Say)]
                if self._is_to_interrupt("text") and self._said.endswith(says[-1]):
                    return self._interrupt()
        return None

    def _is_to_interrupt(self, *when: Interrupt) -> bool:
        return self.turn.client.interrupt in when and not self._interrupted

    def _interrupt(self) -> Cue:
        self._interrupted = True
        return "interrupt"
