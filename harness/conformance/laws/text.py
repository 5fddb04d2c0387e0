"""`text`: what was streamed and what is said at the end are the same text."""

from collections.abc import Mapping
from io import StringIO
from typing import Any, ClassVar, Final

from msgspec import UNSET

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.conformance.law import Handler, Law, Place, show

FINAL: Final[dict[str, str]] = {
    "assistant_text": "text",
    "plan_text": "text",
    "reasoning_text": "text",
    "reasoning_summary_text": "summary",
    "command_output": "output",
}
"""Stream kind to the field of `payload.data` that holds its whole text at item.completed."""

_CONTEXT = 30


class Text(Law):
    """Keeps the text of open items alone, one buffer for each stream of each."""

    id = "text"
    statement = (
        "the deltas of an item, joined, equal its final text in item.completed: data.text "
        "(assistant_text, plan_text, reasoning_text), data.summary (reasoning_summary_text), "
        "data.output (command_output); an item without the one or the other is not judged"
    )
    source = "DECISIONS.md 11"
    example = "one delta is told twice"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._items: dict[Any, dict[str, StringIO]] = {}

    def _delta(self, event: EventBase) -> None:
        payload = event.payload
        try:
            self._items[event.itemId][payload.streamKind].write(payload.delta)
        except KeyError:
            if event.itemId is UNSET or payload.streamKind not in FINAL:
                return
            streams = self._items.setdefault(event.itemId, {})
            streams[payload.streamKind] = buffer = StringIO(newline="")
            buffer.write(payload.delta)

    def _completed(self, event: EventBase) -> None:
        streams = self._items.pop(event.itemId, None)
        data = event.payload.data
        if streams is None or not isinstance(data, dict):
            return
        for stream, buffer in streams.items():
            field = FINAL[stream]
            final = data.get(field)
            if isinstance(final, str) and final != (streamed := buffer.getvalue()):
                self._differs(stream, field, final, streamed)

    def _differs(self, stream: str, field: str, final: str, streamed: str) -> None:
        at = next(
            (i for i, (a, b) in enumerate(zip(final, streamed, strict=False)) if a != b),
            min(len(final), len(streamed)),
        )
        cut = slice(max(0, at - _CONTEXT), at + _CONTEXT)
        self.fail(
            f"payload.data.{field}",
            f"the joined {stream} deltas: {len(streamed):,} characters, {show(streamed[cut])} "
            f"around {at:,}",
            f"{len(final):,} characters, {show(final[cut])} there",
            "give every delta once; a final text that is another one is data.finalText and its "
            "like, beside a runtime.warning (DECISIONS.md 11)",
        )

    handlers: ClassVar[Mapping[type[EventBase], Handler]] = {
        ev.ContentDelta: _delta,
        ev.ItemCompleted: _completed,
    }
    again: ClassVar[Handler | None] = _delta
