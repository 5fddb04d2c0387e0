"""A client of opencode's server: one session, a prompt for each of the scenario's turns.

`opencode serve` is driven over HTTP, as its own interfaces drive it: the events of `GET /event`
say what happens, and the client acts on them. The manifest's entry has what the server needs.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from harness.cassette import Frame
from harness.cassette.scrub import Rules
from harness.recording.errors import RecordError
from harness.surfaces.base import Answer, ServerWire, Setup
from harness.surfaces.opencode.closing import Closing
from harness.surfaces.opencode.names import table, text, unwrap
from harness.surfaces.opencode.story import LATE, Request, TurnStory

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

_LISTENING: Final = re.compile(r"listening on (https?://\S+)")
_REFUSED: Final = 400


async def converse(setup: Setup, wire: ServerWire) -> None:
    """See `Converse`."""
    await _Client(setup, wire).run()


class _Client:
    def __init__(self, setup: Setup, wire: ServerWire) -> None:
        self._setup = setup
        self._wire = wire
        self._frames = wire.frames()
        self._session = ""

    async def run(self) -> None:
        await self._wire.start(list(self._setup.args))
        self._wire.connect(await self._address())
        await self._wire.listen("/event")
        await self._connected()
        title = self._setup.scenario.title
        # With a title of the client's the agent asks no model for one.
        answer = await self._ask(Request("POST", "/session", {"title": title}))
        self._session = text(table(answer.body).get("id"))
        if not self._session:
            raise RecordError(1, "the answer to POST /session has no id of a session")
        for turn in self._setup.scenario.turns:
            await self._turn(TurnStory(turn, self._session))
        await self._close(Closing(self._session, managed=len(self._setup.scenario.turns) > 1))

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
        await self._ask(story.prompt())
        while not story.over:
            self._wire.awaiting = story.awaiting
            frame = await self._next(story.patience)
            if frame is None:
                return
            if frame.channel != "sse":
                continue
            for act in story.on_event(unwrap(frame.data)):
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
            frame = await anext(self._frames, None)
        else:
            frame = await self._wire.coming(patience)
            if frame is None:
                return None
        if frame is None or frame.channel == "exit":
            how = ", ".join(f"{k} {v}" for k, v in table(frame.data if frame else None).items())
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
        if answer.status >= _REFUSED:
            raise RecordError(
                1,
                "the conversation cannot go on: the agent refused "
                f"{request.method} {request.path}: HTTP {answer.status}, {str(answer.body)[:300]}",
            )
        return answer
