"""A person at the terminal, who decides what the client does."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec.structs import replace

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.cassette import Frame, Header
from harness.interactive.draft import as_seen, interrupted
from harness.interactive.seen import Seen, command_in, whole_of
from harness.interactive.terminal import Terminal
from harness.recording.deciding import (
    Question,
    Reading,
    Turns,
    answered,
    decided,
    is_permission,
    questions,
)
from harness.recording.errors import RecordError
from harness.recording.session import Session
from harness.scenarios import Ask, Client, Hold, Scenario, Step, Turn
from harness.scenarios.model import Decision, Show
from harness.surfaces.base import MakeNormalizer

_KEYS: Final[dict[str, Decision]] = {"a": "allow", "d": "decline", "w": "always"}
_ASK: Final = "a)llow d)ecline w) always"
_QUIET: Final = {"user_message", "assistant_message", "reasoning"}
_REFUSED: Final = "interrupt was refused"
"""What the events say where an agent has not taken an interrupt."""
_NO_ANSWER: Final = "(no answer)"
_SILENCE: Final = 0.3
"""Seconds without a frame, after which nothing more comes of a model that is held."""


class Person:
    """The client of one recording. `story` is what the recording plays, a turn at a time.

    `base` is the scenario that it starts from: what the agent is set up for, and, where `live` is
    not set, the script: its nth turn's steps answer the nth prompt. `keep` gets the draft once the
    cassette is in place; `told` are lines to begin with. See `Decider`.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of the command's
        self,
        base: Scenario,
        name: str,
        terminal: Terminal,
        *,
        live: bool,
        keep: Callable[[Scenario], None],
        told: Sequence[str] = (),
    ) -> None:
        asks = live or any(turn.client.answer for turn in base.turns)
        capabilities = dict.fromkeys(base.capabilities)
        if asks:
            capabilities["questions"] = None
        self.base = replace(base, id=name, capabilities=tuple(capabilities))
        self.turns: list[Turn] = []
        self.story = replace(self.base, turns=self.turns)
        self._live = live
        self._terminal = terminal
        self._keep = keep
        self._told = told
        self._session: Session | None = None
        self._used: Callable[[Step], bool] = lambda _: False
        self._reading: Reading | None = None
        self._follows = Turns()
        self._seen: list[Seen] = []
        self._models: dict[int, tuple[Step, ...]] = {}
        self._said: list[tuple[list[Decision], list[str]]] = []
        self._due: deque[EventBase | Literal["prompt"]] = deque()
        self._running = self._ended = self._pressed = False
        self._pressing: asyncio.Task[None] | None = None
        self._holding: asyncio.Task[None] | None = None
        self._whole: tuple[int, Turn] | None = None
        self._frames = 0

    async def begin(self) -> None:
        """Ask for the first prompt. Raises RecordError (3) where there is none."""
        self._terminal.watch(self._press)
        for line in (
            "Esc or Ctrl-C interrupts a turn.",
            "At a prompt, Ctrl-D ends and keeps the",
            "recording, Ctrl-C drops it.",
            *self._told,
        ):
            self._terminal.line(line)
        await self._prompt()
        if self._ended:
            raise RecordError(3, "nothing was typed: nothing is recorded")

    def joins(
        self, session: Session, make: MakeNormalizer, header: Header, used: Callable[[Step], bool]
    ) -> None:
        """See `Client.joins`."""
        self._session = session
        self._used = used
        if not self._live:
            self._holding = asyncio.ensure_future(self._tell_held(session))
        self._reading = Reading(make, header, self._on_event)

    def placed(self) -> None:
        """See `Client.placed`."""
        if self._holding is not None:
            self._holding.cancel()
        self._keep(self.draft())

    def saw(self, frame: Frame) -> None:
        """See `Decider.saw`."""
        self._frames += 1
        if self._reading is not None:
            self._reading.saw(frame)

    async def decide(self) -> None:
        """See `Decider.decide`."""
        while self._due and not self._ended:
            due = self._due.popleft()
            self._running = False
            if due == "prompt":
                await self._prompt()
            elif isinstance(due, ev.UserInputRequested):
                await self._answer(due)
            elif isinstance(due, ev.RequestOpened):
                await self._allow(due)
            self._running = not self._ended

    def interrupted(self) -> None:
        """See `Decider.interrupted`."""
        number = len(self.turns) - 1
        turn, seen = self.turns[number], self._seen[number]
        when = seen.moment(held=self._is_held())
        if self._live:
            model = as_seen(seen, when)
        else:
            model, when = interrupted(turn, self._used, seen, when)
        self._whole = number, turn
        # The client's own `interrupt` is what the script is held against: a person's is done.
        self.turns[number] = replace(turn, client=replace(turn.client, interrupt=when))
        self._models[number] = model

    def draft(self) -> Scenario:
        """Return the scenario that replays the conversation."""
        turns = []
        for number, turn in enumerate(self.turns):
            model = self._models.get(number)
            if model is None:
                seen = self._seen[number]
                model = as_seen(seen, None) if self._live else tuple(turn.model)
            allowed, answers = self._said[number]
            client = replace(
                turn.client,
                approvals=allowed[0] if allowed else "allow",
                decisions=tuple(allowed),
                answer=answers[0] if answers else turn.client.answer,
                answers=tuple(answers),
                together=(),
            )
            if not any(isinstance(step, Ask) for step in model):
                client = replace(client, answer="", answers=())
            turns.append(replace(turn, model=model, client=client))
        shows = self._shows() if self._live else self.base.shows
        return replace(self.base, turns=tuple(turns), shows=shows)

    def _shows(self) -> tuple[Show, ...]:
        shows: list[Show] = ["text"]
        if any(seen.tools for seen in self._seen):
            shows.append("tool")
        if any(allowed for allowed, _ in self._said):
            shows.append("permission")
        if any(answers for _, answers in self._said):
            shows.append("question")
        return tuple(shows)

    async def _prompt(self) -> None:
        """Ask for a prompt until there is one that a scenario can have, or the end is wanted."""
        number = len(self.turns)
        scripted = None
        if not self._live:
            if number == len(self.base.turns):
                self._terminal.line("The script has no further turn.")
                self._ended = True
                return
            scripted = self.base.turns[number]
            self._terminal.line(f"Enter sends: {scripted.typed}")
        while True:
            typed = await self._terminal.ask_line("> ")
            if typed is None or not (typed.strip() or scripted):
                self._ended = True
                return
            typed = typed.strip() or (scripted.typed if scripted else "")
            problem = self._problem(typed, scripted)
            if not problem:
                break
            self._terminal.line(problem)
        own = scripted.client if scripted else Client()
        # How the script is interrupted is the person's to decide, as all else is.
        client = Client(mode=own.mode, resume=own.resume, answer=own.answer)
        if scripted is None:
            self.turns.append(Turn(typed, (), client))
        elif typed == scripted.typed:
            self.turns.append(replace(scripted, client=client))
        else:
            self.turns.append(replace(scripted, prompt=typed, client=client))
        self._seen.append(Seen())
        self._said.append(([], []))
        self._running, self._pressed = True, False

    def _problem(self, typed: str, scripted: Turn | None) -> str:
        if not typed.isprintable():
            return "There is a character in it that nobody sees: type it again."
        if scripted and scripted.command and typed != scripted.typed:
            return f"This turn is the command {scripted.typed}: Enter sends it."
        if any(typed in turn.prompt or turn.prompt in typed for turn in self.turns):
            return "An earlier prompt is a part of it, or it of one: word it otherwise."
        return ""

    async def _allow(self, event: ev.RequestOpened) -> None:
        what = event.payload.detail or command_in(event.payload.args)
        kind = event.payload.requestType.replace("_", " ")
        self._terminal.line(f"? {kind}: {what}" if what else f"? {kind}")
        key = await self._terminal.ask_key(_ASK, _KEYS)
        allowed = self._said[-1][0]
        allowed.append(_KEYS[key])
        decided(self.turns[-1], "approvals", _KEYS[key])
        decided(self.turns[-1], "decisions", tuple(allowed))
        self._terminal.line({"a": "allowed", "d": "declined", "w": "always allowed"}[key])

    async def _answer(self, event: ev.UserInputRequested) -> None:
        """Ask for an answer to each question: the number of an option, or words."""
        answers = [await self._ask(asked) for asked in questions(event.payload.questions)]
        self._said[-1][1].extend(answers)
        answered(self.turns[-1], answers)

    async def _ask(self, asked: Question) -> str:
        options = asked.options
        self._terminal.line(f"? {asked.words}")
        for number, option in enumerate(options, 1):
            self._terminal.line(f"  {number}) {option}")
        label = f"1-{len(options)}, or words> " if options else "words> "
        answer = ""
        while not answer:
            typed = await self._terminal.ask_line(label)
            answer = _NO_ANSWER if typed is None else typed.strip()
            if answer.isdecimal() and 0 < int(answer) <= len(options):
                answer = options[int(answer) - 1]
            elif not answer.isprintable():
                self._terminal.line("There is a character in it that nobody sees: type it again.")
                answer = ""
        self._terminal.line(f"= {answer}")
        return answer

    async def _tell_held(self, session: Session) -> None:
        """Tell of each turn in which the script is silent until somebody interrupts."""
        told = 0
        while True:
            await session.held.wait()
            before, turn = self._frames, len(self.turns)
            await asyncio.sleep(_SILENCE)
            quiet = before == self._frames and self._running
            if session.held.is_set() and self._is_held() and quiet and told != turn:
                told = turn
                self._terminal.line("(the model waits to be interrupted)")

    def _is_held(self) -> bool:
        """Whether the turn's script has come to its `hold`."""
        last = self.turns[-1].model[-1:]
        return bool(last) and isinstance(last[0], Hold) and self._used(last[0])

    def _press(self, *, again: bool) -> bool:
        """Interrupt the turn at a key; False where it is not the key for that.

        `again`: the key drops the recording where it is pressed a second time in a turn.
        """
        session, number = self._session, len(self.turns)
        if not self._running or session is None or (self._pressed and again):
            return False
        if self._pressed:
            return True
        self._pressed = True
        self._terminal.soon(lambda: self._interrupt(session, number))
        return True

    def _interrupt(self, session: Session, number: int) -> None:
        def ended() -> bool:
            return len(self.turns) != number or not self._running or "prompt" in self._due

        self._terminal.line("(interrupting; Ctrl-C again drops all)")
        # The queue may be full, and a key waits for nobody.
        self._pressing = asyncio.ensure_future(session.interrupt(ended))

    def _refused(self) -> None:
        """Take back an interrupt that the agent has refused: the turn goes on, and so do keys."""
        if self._whole is not None:
            number, turn = self._whole
            self.turns[number] = turn
            self._models.pop(number, None)
            self._whole = None
        self._pressed = False

    def _on_event(self, event: EventBase) -> None:
        self._show(event)
        if isinstance(event, ev.RuntimeWarning) and _REFUSED in event.payload.message:
            self._refused()
        if self._seen:
            self._seen[-1].on_event(event)
        if is_permission(event) or isinstance(event, ev.UserInputRequested):
            self._due.append(event)
        if self._follows.on_event(event):
            self._due.append("prompt")

    def _show(self, event: EventBase) -> None:
        shown = self._terminal
        if isinstance(event, ev.ContentDelta):
            shown.stream(event.payload.streamKind, str(event.itemId), event.payload.delta)
        elif isinstance(event, ev.ItemStarted) and event.payload.itemType not in _QUIET:
            what = command_in(event.payload.data) or event.payload.title
            kind = event.payload.itemType.replace("_", " ")
            shown.line(f"- {kind}: {what}" if what else f"- {kind}")
        elif isinstance(event, ev.ItemCompleted) and event.payload.itemType == "assistant_message":
            whole = whole_of(event)
            if whole and not (self._seen and self._seen[-1].told(str(event.itemId))):
                shown.line(whole)
        elif isinstance(event, ev.RuntimeError | ev.RuntimeWarning):
            shown.line(f"! {event.payload.message}")
        elif isinstance(event, ev.TurnCompleted):
            shown.line(f"[{event.payload.state}]")
        elif isinstance(event, ev.TurnAborted):
            shown.line("[aborted]")
