"""Faults of form, and of manners."""
# ruff: noqa: ARG002 - every handler takes the frame's data

from collections.abc import Iterable
from typing import Any

import msgspec

from harness.canonical import encode_event
from harness.canonical import payloads as pl
from harness.cassette import Frame
from tests.conformance.toy import Normalizer


class UnknownState(Normalizer):
    """Passes the native status through."""

    def on_done(self, data: dict[str, Any]) -> None:
        assert self.turn is not None
        self.ledger.end_turn(self.turn, pl.TurnCompletedPayload("done"))  # type: ignore[arg-type]


class WrongTypeOfId(Normalizer):
    """Counts sessions with numbers."""

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.ledger.session = 1  # type: ignore[assignment]


class ExtraField(Normalizer):
    """Is foreign: gives JSON text, with a field that the model does not have."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            value = msgspec.json.decode(encode_event(event))
            if value["type"] == "runtime.warning":
                value["payload"]["level"] = "warn"
            yield msgspec.json.encode(value)


class NoEventAtAll(Normalizer):
    """Gives a number among the events."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        yield from super().feed(frame)
        if frame.seq == 5:
            yield 17


class NotJson(Normalizer):
    """Puts into `data` what no JSON can hold."""

    def on_note(self, data: dict[str, Any]) -> None:
        self.ledger.warn(data["text"], {"seen": object()})


class PlainPayload(Normalizer):
    """Builds a struct around a plain object."""

    def delta(self, item: Any, payload: pl.ContentDeltaPayload) -> None:
        super().delta(item, msgspec.to_builtins(payload))


class Raises(Normalizer):
    """Stumbles over a line that it does not know."""

    def on_note(self, data: dict[str, Any]) -> None:
        raise KeyError(data["text"])


class RaisesAtTheEnd(Normalizer):
    """Stumbles over the end."""

    def close(self) -> Iterable[Any]:
        raise RuntimeError("nothing to close")


class GivesNothing(Normalizer):
    """Forgets to return."""

    def feed(self, frame: Frame) -> Any:
        super().feed(frame)


class Exits(Normalizer):
    """Ends the program."""

    def on_note(self, data: dict[str, Any]) -> None:
        raise SystemExit(3)


BROKEN = {
    "schema": {
        "unknown-state": UnknownState,
        "wrong-type-of-id": WrongTypeOfId,
        "extra-field": ExtraField,
        "no-event-at-all": NoEventAtAll,
        "not-json": NotJson,
        "plain-payload": PlainPayload,
    },
    "subject": {
        "raises": Raises,
        "raises-at-the-end": RaisesAtTheEnd,
        "gives-nothing": GivesNothing,
        "exits": Exits,
    },
}
