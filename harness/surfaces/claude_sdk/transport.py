"""The SDK's transport over the recorder's wire: what passes either way is a frame first.

The wire is held still where the client is to speak: otherwise it would be chance what of the
agent's is read before the client's answer is written, and no two recordings would be the same.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Final

from claude_agent_sdk import Transport

from harness.cassette import Frame
from harness.recording.errors import RecordError
from harness.surfaces.base import Wire
from harness.surfaces.claude_sdk.story import Cue, Story

QUESTIONS: Final = frozenset({"can_use_tool"})
"""The agent's control requests that this client answers; the SDK refuses the others."""


class WireTransport(Transport):
    """Implements the SDK's `Transport` for a `Wire`.

    `cues` says when the client is to speak. An error of the wire is kept in `error`, for the SDK
    turns it into one of its own.
    """

    def __init__(self, wire: Wire, args: list[str], story: Story) -> None:
        self.error: RecordError | None = None
        self.cues: asyncio.Queue[Cue] = asyncio.Queue()
        self._story = story
        self._wire = wire
        self._args = args
        self._ready = False
        self._free = asyncio.Event()
        self._free.set()
        wire.interrupting = self._interrupt

    async def connect(self) -> None:
        """Start the agent."""
        await self._wire.start(self._args)
        self._ready = True

    async def write(self, data: str) -> None:
        """Send what the SDK wrote, which is a line."""
        for line in data.removesuffix("\n").split("\n"):
            await self._wire.send(line.encode())
        self._free.set()

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the agent's messages, read as the SDK reads them: other lines are passed over."""
        try:
            async for frame in self._frames():
                if frame.channel != "stdout":
                    continue
                message = _message(frame.content)
                if message is None:
                    continue
                if message.get("type") == "control_request":
                    self._asked(message)
                cue = self._story.on_message(message)
                if cue is not None:
                    self._cue(cue)
                yield message
                await self._free.wait()
        except RecordError as error:
            self.error = error
            raise
        # Without an error the SDK would wait on for an answer that cannot come.
        self.error = RecordError(5, f"the agent ended too early; awaited: {self._wire.awaiting}")
        raise self.error

    async def _frames(self) -> AsyncIterator[Frame]:
        """Yield the wire's frames; a silence that says something gives its cue in between."""
        frames = self._wire.frames()
        while True:
            coming = asyncio.ensure_future(anext(frames, None))
            try:
                while not await self._comes(coming):
                    self._cue(self._story.on_silence())
                    await self._free.wait()
            except asyncio.CancelledError:
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
                raise
            frame = coming.result()
            if frame is None:
                return
            yield frame

    async def _comes(self, coming: "asyncio.Future[Frame | None]") -> bool:
        """Wait for the next frame; False where a silence says something before it comes."""
        if self._story.waits_for_model and not self._wire.held.is_set():
            holding = asyncio.ensure_future(self._wire.held.wait())
            try:
                either: set[asyncio.Future[Any]] = {coming, holding}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            finally:
                holding.cancel()
        return bool((await asyncio.wait({coming}, timeout=self._story.patience))[0])

    async def _interrupt(self) -> bool:
        """See `Wire.interrupting`."""
        cue = self._story.stop()
        if cue is not None:
            self._cue(cue)
            # The client is to have spoken before the agent is listened to again.
            await self._free.wait()
        return cue is not None

    def _cue(self, cue: Cue) -> None:
        self._free.clear()
        self.cues.put_nowait(cue)

    async def close(self) -> None:
        """Leave the process: the recorder ends it, once it has been heard to the end."""
        self._ready = False
        self._free.set()

    def is_ready(self) -> bool:
        """Whether the agent was started."""
        return self._ready

    async def end_input(self) -> None:
        """Close the agent's stdin."""
        await self._wire.close_stdin()

    def _asked(self, message: dict[str, Any]) -> None:
        request = message.get("request")
        subtype = request.get("subtype") if isinstance(request, dict) else None
        if subtype not in QUESTIONS:
            self._wire.unhandled(f"control_request {subtype}")
        self._free.clear()


def _message(content: Any) -> dict[str, Any] | None:
    if isinstance(content, dict):
        return content
    if not isinstance(content, str) or not content.strip().startswith("{"):
        return None
    try:
        value = json.loads(content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
