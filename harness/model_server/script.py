"""Decides which step of the scenario answers a request, from what the request says.

The number of a request says nothing: agents make calls of their own (titles, warm-up), some at
the same time, and repeat what failed. So a request's place in the script is read from its
conversation: which scripted prompt is the newest, and how many of that turn's tool calls, known
by the ids that were minted for them or, where an API has none, by their order, have results. A
repeated request is the same place again, and the next attempt there.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from harness.model_server import tools
from harness.model_server.view import (
    Call,
    Cut,
    Held,
    Item,
    Part,
    Reply,
    Request,
    Silence,
    Text,
    Thought,
)
from harness.scenarios import (
    Ask,
    Disconnect,
    Edit,
    Fail,
    Hold,
    Parallel,
    Pause,
    Read,
    Run,
    Say,
    Scenario,
    Step,
    Task,
    Think,
    Todo,
    Tool,
    Turn,
    Usage,
    describe,
)

_SHORT = 120
_UNDER_WAY = 300
_OPEN, _SHUT = "<proposed_plan>\n", "\n</proposed_plan>"
_WARM_UPS = ("warmup", "quota")
_DEFAULT_USAGE = Usage(input=100, output=10)
_SIDE_USAGE = Usage(input=20, output=4)


class Problem(Struct, frozen=True):
    """A request that the script does not expect.

    `what` is wrong, `request` is the request shortened, `expected` is what the script expects.
    """

    what: str
    request: str
    expected: str

    def __str__(self) -> str:
        return f"{self.what}; the request: {self.request}; the script expects: {self.expected}"


class UnexpectedError(Exception):
    """Carries the Problem of a request that has no place in the script."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


class Place(Struct, frozen=True):
    """A model response in the script: both numbers from 0."""

    turn: int
    response: int
    task: bool = False
    """Whether it is the answer to the agent that got the task which the response ends with."""
    stage: int = 0
    """Which of the calls that have to be made one after the other (`tools.stage`)."""


class Script:
    """A scenario being played for one agent."""

    def __init__(self, scenario: Scenario, workspace: str) -> None:
        self.scenario = scenario
        self.workspace = workspace
        self._split: list[list[tuple[Step, ...]]] = []
        self._attempts: Counter[Place] = Counter()
        self._used: set[int] = set()  # by id(): equal steps may stand in several places
        self._failed: Counter[int] = Counter()
        self._held: set[Place] = set()
        self._answered: set[int] = set()
        self.staged: set[Place] = set()
        """The places whose task was given in stages: its agent runs beside the one that waits."""

    @property
    def _responses(self) -> list[list[tuple[Step, ...]]]:
        """The model responses of each turn; a person's turns become more as they are typed."""
        for turn in self.scenario.turns[len(self._split) :]:
            self._split.append(turn.responses())
        return self._split

    def is_side(self, request: Request) -> bool:
        """Return whether a request is the agent's own, beside the conversation."""
        if not request.tools or request.max_tokens == 1:
            return True
        text = request.last_user_text.strip()
        if text.lower() in _WARM_UPS:
            return True
        if tools.shell_tool(request.tools):
            return False
        # Tools, but not to run anything: a title asked for as a tool call, for example.
        return all(text != turn.prompt for turn in self.scenario.turns)

    def side(self, request: Request) -> Reply:
        """Return a plausible answer to a request beside the conversation."""
        key = f"{self.scenario.id}/side/{request.last_user_text}"
        return Reply(key, request.model, (Text(("Scripted conversation",)),), _SIDE_USAGE)

    def place(self, request: Request, call_id: Callable[[str], str]) -> Place:
        """Return where in the script a request is. Raises UnexpectedError."""
        task = self._task(request)
        if task is not None:
            return task
        found = self._newest_prompt(request.items)
        if found is None:
            raise self._unexpected("no prompt of the script is in the request", request)
        start, turn = found
        responses = self._responses[turn]
        results = [item.id for item in request.items[start:] if item.role == "result"]
        unnamed = results.count("")
        number = stage = 0
        for number, steps in enumerate(responses):
            ids = [call_id(key) for key, _ in self._calls(Place(turn, number), steps, request)]
            with_result = len(set(results).intersection(ids))
            if not with_result:
                # Results that name no call are those of the turn's calls in their order.
                with_result = min(unnamed, len(ids))
                unnamed -= with_result
            if not with_result:
                break
            if with_result < len(ids) and _staged(steps, request):
                stage = with_result
                break
            if with_result < len(ids):
                raise self._unexpected("only some of the tool calls have results", request, turn)
        else:
            raise self._unexpected("the turn goes on after its last tool call", request, turn)
        if self._is_over(request.items[start:], responses[number]):
            raise self._unexpected("the turn is over", request, turn)
        place = Place(turn, number, stage=stage)
        if place in self._held:
            raise self._unexpected("the turn goes on after it was interrupted", request, turn)
        return place

    def _task(self, request: Request) -> Place | None:
        """Return the place of a task whose prompt the request has, and nothing said to it yet."""
        for turn, responses in enumerate(self._responses):
            for number, steps in enumerate(responses):
                last = steps[-1]
                if isinstance(last, Task) and any(
                    item.role == "user" and last.prompt in item.text for item in request.items
                ):
                    return Place(turn, number, task=True)
        return None

    def staged_at(self, place: Place) -> Place | None:
        """Return the place with a task in stages that a place is of, or comes after."""
        for response in (place.response, place.response - 1):
            if (found := Place(place.turn, response)) in self.staged:
                return found
        return None

    def attempt(self, place: Place) -> Fail | None:
        """Count one more attempt at a place; return the failure that it meets, if any."""
        if place.task:
            return None
        attempt = self._attempts[place]
        self._attempts[place] += 1
        for step in self._responses[place.turn][place.response]:
            if not isinstance(step, Fail):
                break
            if step.times is None or attempt < step.times:
                self._failed[id(step)] += 1
                return step
            attempt -= step.times
        return None

    def reply(  # noqa: C901, PLR0912 - one branch for each kind of step
        self, place: Place, request: Request, call_id: Callable[[str], str]
    ) -> Reply:
        """Return the scripted answer at a place. Raises UnexpectedError where a tool lacks."""
        steps = self._responses[place.turn][place.response]
        if place.task:
            return self._answer(place, steps[-1], request)
        if place.stage:
            return self._later(place, steps[-1], request, call_id)
        made = self._calls(place, steps, request)
        usage = _DEFAULT_USAGE
        parts: list[Part] = []
        for step in steps:
            match step:
                case Think():
                    parts.append(Thought(step.chunks))
                case Say():
                    tagged = step.plan and request.tagged_plan
                    parts.append(Text((_OPEN, *step.chunks, _SHUT) if tagged else step.chunks))
                case Run() | Edit() | Read() | Todo() | Ask() | Task() | Parallel():
                    for tool in step.steps if isinstance(step, Parallel) else (step,):
                        if isinstance(tool, Pause):
                            parts.append(Silence(tool.ms))
                            continue
                        keys = [key for key, of in made if of is tool]
                        for key, given in self._made(tool, keys, place, request):
                            parts.append(Call(call_id(key), *given))
                case Usage():
                    usage = step
                case Pause():
                    parts.append(Silence(step.ms))
                case Hold():
                    parts.append(Held())
                case Disconnect():
                    parts.append(Cut())
        key = f"{self.scenario.id}/{place.turn}/{place.response}"
        return Reply(key, request.model, tuple(parts), usage)

    def _later(
        self, place: Place, step: Step, request: Request, call_id: Callable[[str], str]
    ) -> Reply:
        """Return a call that follows from the one before it."""
        head = f"{self.scenario.id}/{place.turn}/{place.response}"
        before = call_id(f"{head}/{place.stage - 1}")
        told = next((item.text for item in request.items if item.id == before and item.text), "")
        self.staged.add(Place(place.turn, place.response))
        if not isinstance(step, Task):
            raise TypeError(f"{describe(step)} has no stages")
        try:
            given = tools.stage(step, place.stage, request.tools, self.workspace, told)
        except tools.NoToolError as error:
            raise self._unexpected(str(error), request, place.turn) from error
        # The call is under way before the answer ends: which is told first would else be chance.
        parts = (Call(call_id(f"{head}/{place.stage}"), *given), Silence(_UNDER_WAY))
        return Reply(f"{head}/stage {place.stage}", request.model, parts, _DEFAULT_USAGE)

    def _answer(self, place: Place, task: Step, request: Request) -> Reply:
        """Return what the model of an agent with a task says."""
        key = f"{self.scenario.id}/{place.turn}/{place.response}/task"
        said = task.chunks if isinstance(task, Task) else ()
        return Reply(key, request.model, (Text(said),), _SIDE_USAGE)

    def sent(self, place: Place) -> None:
        """Note that the answer at a place was sent to its end, or to its hold or cut."""
        if place.task:
            self._answered.add(id(self._responses[place.turn][place.response][-1]))
            return
        for step in self._responses[place.turn][place.response]:
            if isinstance(step, Hold):
                self._held.add(place)
            self._used.add(id(step))

    def used(self, step: Step) -> bool:
        """Whether a step is used up."""
        return self._left(step) is None

    def unused(self) -> list[str]:
        """Return the steps that were never used, readable, in the script's order.

        Some agents end a turn whose tool was declined without asking the model again: what
        follows that tool then need not be used.
        """
        lines: list[str] = []
        for number, turn in enumerate(self.scenario.turns, 1):
            for step in _due(self.scenario, turn):
                note = self._left(step)
                if note is not None:
                    lines.append(
                        f"{self.scenario.id}.yaml:{step.line}: turn {number}, "
                        f"{describe(step)}{note}"
                    )
        return lines

    def _left(self, step: Step) -> str | None:
        """Return None for a step that is used up, else what is to be said about that."""
        if isinstance(step, Fail):
            failed = self._failed[id(step)]
            if failed >= (step.times or 1):
                return None
            return f" (failed {failed} times)" if failed else ""
        if isinstance(step, Task) and id(step) in self._used and id(step) not in self._answered:
            return " (no agent came with it)"
        return None if id(step) in self._used else ""

    def _calls(
        self, place: Place, steps: tuple[Step, ...], request: Request
    ) -> list[tuple[str, Tool]]:
        """Return the tool calls of a response: the key of each, and the step that it is of."""
        last = steps[-1]
        wanted: tuple[Tool, ...] = ()
        if isinstance(last, Parallel):
            wanted = last.tools
        elif isinstance(last, Tool):
            wanted = (last,)
        made = [tool for tool in wanted for _ in range(tools.number(tool, request.tools))]
        head = f"{self.scenario.id}/{place.turn}/{place.response}"
        return [(f"{head}/{i}", tool) for i, tool in enumerate(made)]

    def _made(
        self, tool: Tool, keys: list[str], place: Place, request: Request
    ) -> Iterator[tuple[str, tools.Given]]:
        try:
            if isinstance(tool, Task) and tools.search_tool(tool, request.tools):
                made = [tools.stage(tool, 0, request.tools, self.workspace, "")]
                keys = keys[:1]
            else:
                made = tools.calls(tool, request.tools, self.workspace)
        except tools.NoToolError as error:
            raise self._unexpected(str(error), request, place.turn) from error
        yield from zip(keys, made, strict=True)

    def _newest_prompt(self, items: tuple[Item, ...]) -> tuple[int, int] | None:
        """Return the place of the newest prompt in the conversation, and its turn's number."""
        for place in range(len(items) - 1, -1, -1):
            item = items[place]
            if item.role == "user":
                for number, turn in enumerate(self.scenario.turns):
                    # Agents add to a prompt: reminders, the state of the workspace.
                    if turn.prompt in item.text:
                        return place, number
        return None

    def _is_over(self, items: tuple[Item, ...], steps: tuple[Step, ...]) -> bool:
        """Return whether a turn's last message is in the conversation already."""
        said = _plain("".join(step.text for step in steps if isinstance(step, Say)))
        if isinstance(steps[-1], Tool | Parallel | Hold | Disconnect) or not said:
            return False
        heard = ""
        for item in items:
            heard = "" if item.role == "result" else heard
            heard += item.text if item.role == "assistant" else ""
        return said in _plain(heard)

    def _unexpected(self, what: str, request: Request, turn: int | None = None) -> UnexpectedError:
        text = " ".join(request.last_user_text.split())
        if len(text) > _SHORT:
            text = f"{text[:_SHORT]}…"
        calls = sum(item.role == "result" for item in request.items)
        shown = f"{request.api}, newest user text {text!r}, {calls} tool results"
        return UnexpectedError(Problem(what, shown, self._expects(turn)))

    def _expects(self, turn: int | None) -> str:
        """Return what would come next: after a turn the next prompt, else the first unused."""
        turns: Sequence[Turn] = self.scenario.turns
        if turn is not None:
            left = [s for s in turns[turn].model if self._left(s) is not None]
            if left:
                return f"in turn {turn + 1}, {describe(left[0])}"
            turns = turns[turn + 1 :]
        if not turns:
            return "nothing more"
        return f"the prompt {turns[0].prompt!r}"


def _due(scenario: Scenario, turn: Turn) -> tuple[Step, ...]:
    """Return the steps that every agent comes to."""
    client = turn.client
    if scenario.permissions == "ask" and "decline" in {client.approvals, *client.decisions}:
        return turn.responses()[0]
    if client.interrupt and not isinstance(turn.model[-1], Hold | Run):
        # A person has interrupted where the script says nothing of it.
        return ()
    return turn.model


def _staged(steps: tuple[Step, ...], request: Request) -> bool:
    last = steps[-1]
    return isinstance(last, Task) and tools.search_tool(last, request.tools) is not None


def _plain(text: str) -> str:
    """Return a text without white space, which agents trim."""
    return "".join(text.split())
