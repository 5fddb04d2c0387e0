"""What a client has seen of one turn, as the steps that a scenario would have for it."""

from typing import Any

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.recording.deciding import questions
from harness.scenarios import Ask, Run, Say, Step, Think
from harness.scenarios.model import Interrupt

_REASONING = {"reasoning_text", "reasoning_summary_text"}


class Seen:
    """The steps so far: what is said, reasoned, run and asked, in order.

    `text` is what the model has said that came in deltas, `tools` counts its tool calls.
    """

    def __init__(self) -> None:
        self.text = ""
        self.tools = 0
        self._steps: list[tuple[str, str, list[Any]]] = []
        self._at: dict[str, list[Any]] = {}
        self._open: set[str] = set()
        self._told: set[str] = set()

    def moment(self, *, held: bool) -> Interrupt:
        """When an interrupt that comes now comes, as a scenario has it.

        `held`: the scripted model has fallen silent in its `hold`.
        """
        if held:
            return "held" if self._steps else "start"
        if self._open:
            return "command"
        if not self._steps:
            return "start"
        return "text" if self.last_said else "held"

    @property
    def last_said(self) -> tuple[str, ...]:
        """The deltas of what was said since the last tool call."""
        kind, _, parts = self._steps[-1] if self._steps else ("", "", [])
        return tuple(parts) if kind == "say" else ()

    def on_event(self, event: EventBase) -> None:
        """Note an event of the turn."""
        item = str(event.itemId)
        if isinstance(event, ev.ContentDelta):
            if event.payload.streamKind == "assistant_text" and event.payload.delta:
                self.text += event.payload.delta
                self._add("say", item, event.payload.delta)
            elif event.payload.streamKind in _REASONING and event.payload.delta:
                self._add("think", item, event.payload.delta)
        elif isinstance(event, ev.ItemStarted | ev.ItemUpdated | ev.ItemCompleted):
            self._on_item(event, item)
        elif isinstance(event, ev.UserInputRequested):
            self.tools += 1
            for asked in questions(event.payload.questions):
                self._steps.append(("ask", item, [asked.words, *asked.options]))
        elif isinstance(event, ev.RequestOpened) and item in self._at and event.payload.detail:
            self._at[item][:] = [str(event.payload.detail)]

    def _on_item(
        self, event: ev.ItemStarted | ev.ItemUpdated | ev.ItemCompleted, item: str
    ) -> None:
        payload = event.payload
        if payload.itemType == "command_execution":
            if item not in self._at:
                self._at[item] = [""]
                self._steps.append(("run", item, self._at[item]))
                self._open.add(item)
                self.tools += 1
            self._at[item][:] = [command_in(payload.data) or self._at[item][0]]
            if isinstance(event, ev.ItemCompleted):
                self._open.discard(item)
        elif payload.itemType == "assistant_message" and isinstance(event, ev.ItemCompleted):
            whole = whole_of(event)
            if whole and not self.told(item):
                self._add("say", item, whole)

    def told(self, item: str) -> bool:
        """Whether something of an item came before it was whole."""
        return item in self._told

    def _add(self, kind: str, item: str, part: str) -> None:
        self._told.add(item)
        if self._steps and self._steps[-1][:2] == (kind, item):
            self._steps[-1][2].append(part)
        else:
            self._steps.append((kind, item, [part]))

    def tail(self) -> list[Step]:
        """Return what was said and reasoned since the last tool call."""
        found = self.steps()
        last = [n for n, step in enumerate(found) if not isinstance(step, Say | Think)]
        return found[last[-1] + 1 :] if last else found

    def steps(self) -> list[Step]:
        """Return them as steps of a scenario; a text that is none says so."""
        found: list[Step] = []
        for kind, _, parts in self._steps:
            if kind == "say":
                found.append(Say(tuple(parts)))
            elif kind == "think":
                found.append(Think(tuple(parts)))
            elif kind == "run":
                found.append(Run(parts[0] or "(a command)"))
            else:
                options = tuple(dict.fromkeys(parts[1:]))
                # A scenario's question is a choice.
                others = ("(another answer)", "(no answer)")[: max(2 - len(options), 0)]
                found.append(Ask(parts[0] or "(a question)", options + others))
        return found


def command_in(data: Any) -> str:
    """Return the command that an item or a request is of, "" where nothing says it."""
    fields = data if isinstance(data, dict) else {}
    for place in (fields, fields.get("rawInput"), fields.get("input")):
        if isinstance(place, dict) and isinstance(place.get("command"), str):
            return str(place["command"])
    return ""


def whole_of(event: ev.ItemCompleted) -> str:
    """Return the text that a whole message has."""
    data = event.payload.data
    text = data.get("text") if isinstance(data, dict) else None
    return text if isinstance(text, str) else ""
