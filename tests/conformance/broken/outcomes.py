"""Faults in what is told of outcomes, of what stands inside something else, and of history."""
# ruff: noqa: ARG002 - every handler takes the frame's data

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.cassette import Frame
from tests.conformance.toy import MORE, Normalizer


class More(Normalizer):
    FRAMES = MORE


class FailedIsCompleted(More):
    """Takes the exit code for a detail."""

    def status(self, data: dict[str, Any]) -> Any:
        return "completed" if "code" in data else super().status(data)


class DeclinedIsCompleted(More):
    """Forgets that the client has refused, which the ledger knows."""

    def status(self, data: dict[str, Any]) -> Any:
        self.items[data["itemId"]].refused = False
        return "failed" if "code" in data else "completed"


class FailedTurnIsCompleted(More):
    """Tells an error, and ends its turn as if there had been none."""

    def on_done(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        payload = pl.RuntimeErrorPayload("out of tokens")
        self.ledger.emit(ev.RuntimeError, payload, turn=self.turn.id)
        super().on_done(data)


class ErrorMessageOfSuccess(More):
    """Completes a turn with the message of its failure."""

    def on_done(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        end = pl.TurnCompletedPayload("completed", errorMessage="out of tokens")
        self.ledger.end_turn(self.turn, end)


class FailedHookIsSuccess(More):
    """Takes every hook's end for a success."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            if event.type == "hook.completed":
                yield replace(event, payload=replace(event.payload, outcome="success"))
            else:
                yield event


class DeclinesWhatIsOpen(More):
    """Answers for the client when a turn is interrupted."""

    def on_stop(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        for request in list(self.turn.requests.values()):
            self.ledger.resolve(request, "decline")
        super().on_stop(data)


class ResolvesAfterTheItem(More):
    """Completes what an interrupt leaves open before the question about it."""

    def on_stop(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        for item in list(self.turn.items.values()):
            item.requests.clear()
            self.ledger.complete(item, "failed")
        super().on_stop(data)


class AsksAboutNothing(More):
    """Names an item that never was in a question."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            wrong = event.type == "request.opened"
            yield replace(event, itemId="itm-99") if wrong else event


class AsksForInputLate(More):
    """Asks for input once the request for it is resolved."""

    def on_input(self, data: dict[str, Any]) -> None:
        self.ledger.resolve(self.requests[data["requestId"]], "accept")
        super().on_input(data)


class TaskTwice(More):
    """Starts a task at each word of it."""

    def on_task(self, data: dict[str, Any]) -> None:
        super().on_task(data | {"state": "started"} if data["state"] == "told" else data)


class TaskAfterItsEnd(More):
    """Tells of a task that is over."""

    def on_task(self, data: dict[str, Any]) -> None:
        super().on_task(data)
        if data["state"] == "over":
            super().on_task(data | {"state": "told"})


class TaskWithoutAStart(More):
    """Begins a task with its progress."""

    def on_task(self, data: dict[str, Any]) -> None:
        if data["state"] == "started":
            self.ledger.warn("a task")
        else:
            super().on_task(data)


class HookEndsTwice(More):
    """Completes a hook at each word of it."""

    def on_hook(self, data: dict[str, Any]) -> None:
        super().on_hook(data | {"state": "over", "code": 1} if data["state"] == "told" else data)


class ProvidersTaskId(More):
    """Takes the provider's task id for its own."""

    def task(self, data: dict[str, Any]) -> str:
        return str(data["taskId"])


class UsageOfWhat(More):
    """Hands the provider's count over as it is."""

    def usage(self, data: dict[str, Any]) -> Any:
        return data["tokens"]


class UsageWithoutTokens(More):
    """Counts in words."""

    def usage(self, data: dict[str, Any]) -> Any:
        return {"scope": "thread", "tokens": "seven"}


class NegativeUsage(More):
    """Subtracts what was not counted before."""

    def usage(self, data: dict[str, Any]) -> Any:
        return {"scope": "turn", "tokens": {"output": [1, {"more": -2}]}}


class HistoryAsNews(More):
    """Tells restored messages as new ones."""

    def old(self, data: dict[str, Any]) -> dict[str, Any]:
        return {"text": data["text"]}


class NewsAsHistory(More):
    """Marks what a turn does as restored."""

    def on_run(self, data: dict[str, Any]) -> None:
        payload = pl.ItemLifecyclePayload(
            "command_execution", "inProgress", data={"command": data["command"], "replay": True}
        )
        self.item(data, payload)

    def on_ran(self, data: dict[str, Any]) -> None:
        status = self.status(data)
        payload = pl.ItemLifecyclePayload("command_execution", status, data={"replay": True})
        self.ledger.complete(self.items[data["itemId"]], status, payload)


class ForgetsTheMark(More):
    """Marks the start of restored messages alone."""

    def on_old(self, data: dict[str, Any]) -> None:
        payload = pl.ItemLifecyclePayload("user_message", data=self.old(data))
        item = self.ledger.start_item(None, data["itemId"], payload, thread=self.thread)
        whole = pl.ItemLifecyclePayload("user_message", data={"text": data["text"]})
        self.ledger.complete(item, "completed", whole)


BROKEN = {
    "outcome": {
        "failed-is-completed": FailedIsCompleted,
        "declined-is-completed": DeclinedIsCompleted,
        "failed-turn-is-completed": FailedTurnIsCompleted,
        "error-message-of-success": ErrorMessageOfSuccess,
        "failed-hook-is-success": FailedHookIsSuccess,
    },
    "cancelled": {"declines-what-is-open": DeclinesWhatIsOpen},
    "nesting": {
        "resolves-after-the-item": ResolvesAfterTheItem,
        "asks-about-nothing": AsksAboutNothing,
        "asks-for-input-late": AsksForInputLate,
    },
    "tasks": {
        "task-twice": TaskTwice,
        "task-after-its-end": TaskAfterItsEnd,
        "task-without-a-start": TaskWithoutAStart,
        "hook-ends-twice": HookEndsTwice,
    },
    "payload-ids": {"providers-task-id": ProvidersTaskId},
    "usage": {
        "usage-of-what": UsageOfWhat,
        "usage-without-tokens": UsageWithoutTokens,
        "negative-usage": NegativeUsage,
    },
    "replay": {
        "history-as-news": HistoryAsNews,
        "news-as-history": NewsAsHistory,
        "forgets-the-mark": ForgetsTheMark,
    },
}
