"""A client of opencode's server: one session, a prompt for each of the scenario's turns.

`opencode serve` is driven over HTTP, as its own interfaces drive it: the events of `GET /event`
say what happens, and the client acts on them. The manifest's entry has what the server needs.
"""

import re
from collections.abc import Awaitable, Mapping
from typing import Any, Final

from harness.cassette import Frame
from harness.cassette.scrub import Rules
from harness.recording.errors import RecordError
from harness.surfaces.base import Answer, ServerWire, Setup
from harness.surfaces.opencode.closing import Closing
from harness.surfaces.opencode.names import table, text, unwrap
from harness.surfaces.opencode.story import LATE, Request, TurnStory, Unknown

__all__ = ["CAPABILITIES", "PROTOCOL", "RULES", "converse"]

PROTOCOL = "opencode server, HTTP and server-sent events"
CAPABILITIES: Mapping[str, Any] = {"events": "GET /event"}
RULES = Rules(
    # A session's slug is two words by chance.
    constants={"slug": "quiet-harbor"},
    patterns=(
        (r"(listening on http://127\.0\.0\.1):\d+", r"\1:4096"),  # whichever port was free
    ),
)

_LISTENING: Final = re.compile(r"listening on (http://(?:127\.0\.0\.1|localhost):\d+)(?!\S)")
_REFUSED: Final = 400
_LONG: Final = 3
"""The turns of a conversation that is worth managing."""


async def converse(setup: Setup, wire: ServerWire) -> None:
    """See `Converse`."""
    await _Client(setup, wire).run()


class _Client:
    def __init__(self, setup: Setup, wire: ServerWire) -> None:
        self._setup = setup
        self._wire = wire
        self._frames = wire.frames()
        self._session = ""
        self._story: TurnStory | None = None
        wire.interrupting = self._interrupt

    async def run(self) -> None:
        await self._open()
        title = self._setup.scenario.title
        # With a title of the client's the agent asks no model for one.
        answer = await self._ask(Request("POST", "/session", {"title": title}))
        self._session = text(table(answer.body).get("id"))
        if not self._session:
            raise RecordError(1, "the answer to POST /session has no id of a session")
        for turn in self._setup.scenario.turns:
            if turn.client.resume:
                await self._resume()
            self._story = TurnStory(turn, self._session)
            await self._turn(self._story)
        await self._close(Closing(self._session, managed=len(self._setup.scenario.turns) >= _LONG))

    async def _open(self) -> None:
        """Start the server and listen to it."""
        await self._wire.start(list(self._setup.args))
        self._frames = self._wire.frames()
        self._wire.connect(await self._address())
        self._wire.awaiting = "the stream of events"
        await self._wire.listen("/event")
        await self._connected()

    async def _resume(self) -> None:
        """Leave the server, and load the session in another one: it is on the agent's disk."""
        await self._wire.settle()
        await self._open()
        await self._ask(Request("GET", "/session"))
        await self._ask(Request("GET", f"/session/{self._session}"))
        await self._ask(Request("GET", f"/session/{self._session}/message"))

    async def _address(self) -> str:
        """Return where the server listens: it says so, whatever port it was asked to take."""
        self._wire.awaiting = 'the line "listening on", with the port'
        while True:
            frame = await self._next(None)
            found = _LISTENING.search(str(frame.content)) if frame else None
            if found is not None:
                return found[1]

    async def _connected(self) -> None:
        """Wait for what the stream begins with; a server that says nothing is not waited for."""
        self._wire.awaiting = "server.connected"
        while (frame := await self._next(LATE)) is not None:
            if unwrap(frame.data).get("type") == "server.connected":
                return

    async def _turn(self, story: TurnStory) -> None:
        prompt = story.prompt()
        if prompt.long:
            pending = self._wire.begin(prompt.method, prompt.path, prompt.body)
            await self._listen(story)
            _taken(prompt, await self._wire.answer(pending))
        else:
            await self._ask(prompt)
            await self._listen(story)

    async def _interrupt(self) -> bool:
        """See `Wire.interrupting`."""
        if self._story is None or self._story.stopped:
            return False
        await self._ask(self._story.stop())
        return True

    async def _listen(self, story: TurnStory) -> None:
        """Do what follows from the events until the turn is over."""
        while not story.over:
            self._wire.awaiting = story.awaiting
            acts: list[Request | Unknown] = []
            if story.is_to_stop_once_held:
                frame = await self._usable(self._wire.calm())
                if frame is None:
                    acts = [story.stop()]
            else:
                frame = await self._next(story.patience)
                if frame is None:
                    return
            if frame is not None and frame.channel == "sse":
                acts = story.on_event(unwrap(frame.data))
            for act in acts:
                if isinstance(act, Request):
                    await self._ask(act)
                else:
                    self._wire.unhandled(act.what)

    async def _close(self, closing: Closing) -> None:
        for act in closing.acts():
            answer = await self._ask(act.request)
            closing.answers.append(answer.body)
            self._wire.awaiting = f"the events of {act.request.method} {act.request.path}"
            due = list(act.told)
            while due and (frame := await self._next(LATE)) is not None:
                event = unwrap(frame.data) if frame.channel == "sse" else {}
                due = [told for told in due if not told(event)]

    async def _next(self, patience: float | None) -> Frame | None:
        """Return the next frame, None after so many seconds without one."""
        if patience is None:
            return await self._usable(anext(self._frames))
        return await self._usable(self._wire.coming(patience))

    async def _usable(self, coming: Awaitable[Frame | None]) -> Frame | None:
        """Return what comes. Raises RecordError (5) where it is the agent's end."""
        frame = await coming
        if frame is not None and frame.channel == "exit":
            how = ", ".join(f"{k} {v}" for k, v in table(frame.data).items())
            raise RecordError(
                5,
                f"the agent ended ({how}) too early; awaited: {self._wire.awaiting}"
                f"{self._wire.said()}",
            )
        return frame

    async def _ask(self, request: Request) -> Answer:
        """Send a request. Raises RecordError (1) where it is refused."""
        self._wire.awaiting = f"the answer to {request.method} {request.path}"
        answer = await self._wire.request(request.method, request.path, request.body)
        return _taken(request, answer)


def _taken(request: Request, answer: Answer) -> Answer:
    """Return the answer. Raises RecordError (1) where the request is refused."""
    if answer.status >= _REFUSED:
        raise RecordError(
            1,
            "the conversation cannot go on: the agent refused "
            f"{request.method} {request.path}: HTTP {answer.status}, {str(answer.body)[:300]}",
        )
    return answer
