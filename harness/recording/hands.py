"""The client's own work in one recording: tasks beside the conversation, and programs."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

from harness.recording.children import Child, spawn
from harness.recording.isolation import Namespace
from harness.recording.strays import MARKER
from harness.surfaces.base import Action, Failed


class Hands:
    """Implements `harness.surfaces.base.Hands`; what is left at the end is ended.

    `env` is the agent's environment. `put` takes what follows from a work that is done; it waits
    for room. `grace` is how long a program's output may stay open after its end, in seconds.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        namespace: Namespace | None,
        grace: float,
        put: Callable[[list[Action]], Awaitable[None]],
    ) -> None:
        self._env = env
        self._namespace = namespace
        self._grace = grace
        self._put = put
        self._works: set[asyncio.Task[None]] = set()
        self._children: list[Child] = []

    async def spawn(
        self, command: list[str], env: Mapping[str, str], cwd: str, limit: int
    ) -> Child:
        """See `Hands.spawn`."""
        child = await spawn(
            command,
            env={**self._env, **env, MARKER: self._env.get(MARKER, "")},
            cwd=cwd,
            namespace=self._namespace,
            limit=limit,
            grace=self._grace,
        )
        self._children.append(child)
        return child

    def beside(self, work: Awaitable[Iterable[Action]]) -> None:
        """Do work while the conversation goes on."""

        async def run() -> None:
            try:
                actions = list(await work)
            except Exception as error:  # noqa: BLE001 - it is told where the conversation is
                actions = [Failed(f"the client's own work failed: {error!r}")]
            await self._put(actions)

        task = asyncio.create_task(run())
        self._works.add(task)
        task.add_done_callback(self._works.discard)

    async def end(self) -> None:
        """End all that goes on: its work, and the programs that it runs."""
        for task in self._works:
            task.cancel()
        await asyncio.gather(*self._works, return_exceptions=True)
        children, self._children = self._children, []
        for child in children:
            await child.end()
