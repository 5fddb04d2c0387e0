"""`usage`: what is counted is said, and nothing is counted below zero."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from msgspec import UNSET

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.conformance.law import Handler, Law, show

SCOPES: Final = ("turn", "thread", "step")


class Usage(Law):
    """Keeps nothing."""

    id = "usage"
    statement = (
        "usage of a turn and of a thread says what it counts, as `scope` (turn, thread or step) "
        "beside `tokens`, an object; no number in usage, modelUsage or totalCostUsd is negative"
    )
    source = "DECISIONS.md 10 and 54"
    example = "usage is the provider's object alone: of the turn, or of the thread so far?"

    def _thread(self, event: EventBase) -> None:
        self._scoped(event.payload.usage)

    def _turn(self, event: EventBase) -> None:
        payload = event.payload
        if payload.usage is not UNSET:
            self._scoped(payload.usage)
        if payload.modelUsage is not UNSET:
            self._counts(payload.modelUsage, "payload.modelUsage")
        if payload.totalCostUsd is not UNSET:
            self._counts(payload.totalCostUsd, "payload.totalCostUsd")

    def _task(self, event: EventBase) -> None:
        if event.payload.usage is not UNSET:
            self._counts(event.payload.usage, "payload.usage")

    def _scoped(self, usage: Any) -> None:
        if not isinstance(usage, dict) or usage.get("scope") not in SCOPES:
            self.fail(
                "payload.usage.scope",
                f"one of {', '.join(SCOPES)}",
                show(usage.get("scope", UNSET) if isinstance(usage, dict) else usage),
                'give {"scope": "turn" | "thread" | "step", "tokens": NATIVE} (DECISIONS.md 10)',
            )
        elif not isinstance(usage.get("tokens"), dict):
            self.fail("payload.usage.tokens", "the provider's object", show(usage.get("tokens")))
        self._counts(usage, "payload.usage")

    def _counts(self, value: Any, path: str) -> None:
        for where, number in _numbers(value, path):
            if number < 0:
                self.fail(where, "a number that is not negative", number)

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.ThreadTokenUsageUpdated: _thread,
        ev.TurnCompleted: _turn,
        ev.TaskProgress: _task,
        ev.TaskCompleted: _task,
    }


def _numbers(value: Any, path: str) -> Iterator[tuple[str, float]]:
    """Yield each number in a JSON value with its path."""
    todo = [(path, value)]
    while todo:
        where, one = todo.pop()
        if isinstance(one, dict):
            todo += [(f"{where}.{key}", inner) for key, inner in one.items()]
        elif isinstance(one, list):
            todo += [(f"{where}[{number}]", inner) for number, inner in enumerate(one)]
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield where, one
