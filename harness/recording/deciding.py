"""What the client decides while the conversation goes on: of a person, or one by one.

One place for every surface. The surface's reference normalizer says in canonical events what
the frames mean; what is asked is decided before the frame is handed to the surface's client,
which finds the decision in the turn, as it finds a scenario's.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.cassette import Frame, Header
from harness.scenarios import Scenario, Step
from harness.scenarios.model import Decision, Turn
from harness.surfaces.base import MakeNormalizer

if TYPE_CHECKING:
    from harness.recording.session import Session


class Decider(Protocol):
    """Sees a conversation and decides what its client does."""

    def saw(self, frame: Frame) -> None:
        """Note a frame of either direction, as it was sent, once it is on disk."""

    async def decide(self) -> None:
        """Decide what was asked so far, before the client acts on the last frame."""

    def interrupted(self) -> None:
        """Note that the client has interrupted the turn, as a person wanted."""


class Client(Decider, Protocol):
    """A decider that is the whole client: it types the prompts too.

    `base` is what the agent is set up for, `story` what is played: its turns become more.
    """

    base: Scenario
    story: Scenario

    async def begin(self) -> None:
        """Decide on the first prompt. Raises RecordError."""

    def joins(
        self, session: "Session", make: MakeNormalizer, header: Header, used: Callable[[Step], bool]
    ) -> None:
        """Say of which conversation it is the client, and which steps its model has `used`."""

    def placed(self) -> None:
        """Note that the cassette is where it belongs. Raises RecordError."""


class Reading:
    """Reads the frames as events, for a decider. `on_event` gets each."""

    def __init__(
        self, make: MakeNormalizer, header: Header, on_event: Callable[[EventBase], None]
    ) -> None:
        self._normalizer = make(header)
        self._on_event = on_event

    def saw(self, frame: Frame) -> None:
        """See `Decider.saw`."""
        for event in self._normalizer.feed(frame):
            self._on_event(event)


class Turns:
    """Which turn of the scenario goes on, as the events tell it: those of sub-agents are not one.

    `number` counts from 0; -1 is before the first.
    """

    def __init__(self) -> None:
        self.number = -1
        self._id: str | None = None

    def on_event(self, event: EventBase) -> bool:
        """Note an event; return whether with it the turn is over."""
        if isinstance(event, ev.TurnStarted) and self._id is None:
            self._id = str(event.turnId)
            self.number += 1
        elif isinstance(event, ev.TurnCompleted | ev.TurnAborted) and event.turnId == self._id:
            self._id = None
            return True
        return False


def decided(client_turn: Turn, name: str, value: object) -> None:
    """Put a decision into the turn that goes on, where the surface's client looks for it."""
    # Scenarios are values; this one is a recording's own copy, of which one decision is made now.
    force_setattr(client_turn.client, name, value)


def answered(client_turn: Turn, answers: Sequence[str]) -> None:
    """Put the answers to what is asked at once into the turn that goes on."""
    decided(client_turn, "answer", answers[-1])
    decided(client_turn, "together", tuple(answers))


def own_copy(turns: Sequence[Turn]) -> list[Turn]:
    """Return turns whose clients are nobody else's."""
    return [replace(turn, client=replace(turn.client)) for turn in turns]


def is_one_by_one(story: Scenario) -> bool:
    """Whether a scenario answers in a turn one thing so and the next otherwise."""
    return any(turn.client.decisions or turn.client.answers for turn in story.turns)


class OneByOne:
    """Decides as the scenario's lists say; what is asked beyond them gets the last."""

    def __init__(self, story: Scenario, make: MakeNormalizer, header: Header) -> None:
        self._story = story
        self._reading = Reading(make, header, self._on_event)
        self._turns = Turns()
        self._allowed: list[Decision] = []
        self._answers: list[str] = []
        self.saw = self._reading.saw

    def _on_event(self, event: EventBase) -> None:
        before = self._turns.number
        self._turns.on_event(event)
        turn = self._story.turns[min(max(self._turns.number, 0), len(self._story.turns) - 1)]
        if self._turns.number != before:
            self._allowed = list(turn.client.decisions)
            self._answers = list(turn.client.answers)
        if isinstance(event, ev.UserInputRequested) and self._answers:
            number = len(questions(event.payload.questions))
            answers, self._answers = self._answers[:number], self._answers[number:]
            answered(turn, answers)
        elif is_permission(event) and self._allowed:
            decided(turn, "approvals", self._allowed.pop(0))

    async def decide(self) -> None:
        """See `Decider.decide`: all is decided as it is seen."""

    def interrupted(self) -> None:
        """See `Decider.interrupted`: the scenario's own interrupts are the driver's."""


class Question(Struct, frozen=True):
    """What the agent asks the user: in words, and what it offers to choose from."""

    words: str
    options: list[str]


def questions(native: Any) -> list[Question]:
    """Return the questions of an event, whatever wire they are of; one at least."""
    found: list[Question] = []
    if isinstance(native, dict):
        message = str(native.get("message", ""))
        schema = native.get("requestedSchema")
        fields = schema.get("properties") if isinstance(schema, dict) else None
        for name, field in fields.items() if isinstance(fields, dict) else ():
            if choices := _choices(field):
                words = field.get("description") or field.get("title") or name
                found.append(Question(str(words), choices))
        if len(found) < 2:  # noqa: PLR2004 - of one field, the message is the question
            return [Question(message, found[0].options if found else [])]
        return [replace(found[0], words=f"{message} {found[0].words}"), *found[1:]]
    for asked in native if isinstance(native, list) else []:
        options = asked.get("options") if isinstance(asked, dict) else None
        labels = [str(o["label"]) for o in options or [] if isinstance(o, dict) and o.get("label")]
        if isinstance(asked, dict):
            found.append(Question(str(asked.get("question", "")), labels))
    return found or [Question("", [])]


def _choices(field: Any) -> list[str]:
    listed = (field.get("enum") or field.get("oneOf")) if isinstance(field, dict) else None
    choices = listed if isinstance(listed, list) else []
    return [str(one.get("const")) if isinstance(one, dict) else str(one) for one in choices]


def is_permission(event: EventBase) -> bool:
    """Whether the agent asks for permission: not for an answer, nor for a login."""
    return isinstance(event, ev.RequestOpened) and event.payload.requestType not in {
        "tool_user_input",
        "auth_tokens_refresh",
    }
