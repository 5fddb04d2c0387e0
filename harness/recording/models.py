"""What answers the agent in a recording: a scripted model, a real one, or a recorded one."""

import asyncio
import contextlib
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

from msgspec import Struct

from harness.recording.errors import RecordError
from harness.scenarios import Step


class Live(Struct, frozen=True):
    """A real model, through the gateway; what is empty is as the API's own provider has it.

    `url` is the provider's base address, `key_variable` the name of the environment's variable
    with the key, `model` the model that is asked for instead of the one that the agent names.
    """

    url: str = ""
    key_variable: str = ""
    model: str = ""


class Taped(Struct, frozen=True):
    """A real model's recorded answers: by default those beside the agent's cassette in `corpus`."""

    path: Path | None = None
    corpus: Path | None = None


Choice: TypeAlias = Live | Taped | None
"""None is the scenario's scripted model."""


class Model(Protocol):
    """What listens on the port that the agent is pointed at, from `async with` to its end."""

    @property
    def held(self) -> asyncio.Event:
        """Set where the model is silent, and the client waits for that."""

    @property
    def notices(self) -> list[str]:
        """What is worth a person's look."""

    @property
    def port(self) -> int:
        """The port."""

    def stir(self) -> None:
        """Note that the agent has told its client something."""

    def refusals(self) -> list[str]:
        """Return what the agent asked and was not answered, a line each."""

    def used(self, step: Step) -> bool:
        """Whether a step of the script is used up; a real model has none."""

    def unmet(self) -> list[str]:
        """Return why, at the end, the conversation was not the one that was to be had."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


async def unless_failing(talk: Coroutine[Any, Any, None], model: Model) -> None:
    """Await a conversation, but raise the model's failure as soon as there is one."""
    failing: asyncio.Event | None = getattr(model, "failing", None)
    if failing is None:
        await talk
        return
    talking = asyncio.ensure_future(talk)
    waiting = asyncio.ensure_future(failing.wait())
    try:
        await asyncio.wait({talking, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not failing.is_set():
            await talking
    finally:
        for task in (talking, waiting):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(talking, waiting, return_exceptions=True)
    failure: RecordError | None = getattr(model, "failure", None)
    if failure is not None:
        raise failure
