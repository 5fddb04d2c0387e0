"""`terminal/*`, served for real: programs that run in the workspace, where the agent runs.

A command without arguments is a line for the shell, as it is in editors: some agents send a whole
line. The output is what came on stdout and stderr; of more than is to be kept the end stays, cut
between two characters. `terminal/wait_for_exit` is answered at the end, whatever else goes on.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from harness.surfaces.acp.files import INVALID, NOT_FOUND, RefusedError, inside
from harness.surfaces.acp.names import Message, table
from harness.surfaces.base import Action, Child, Do, Hands, Send

MOST: Final = 1 << 20
"""How many bytes of a terminal's output are kept where the agent sets no limit, and at most."""

_GOES_ON: Final = 0x80
"""The two leading bits of a byte that goes on with a character."""


def answer(id_: Any, result: Any) -> Send:
    """Return the answer to a request of the agent's."""
    return Send({"jsonrpc": "2.0", "id": id_, "result": result})


def refuse(id_: Any, code: int, why: str) -> Send:
    """Return the error that answers a request of the agent's."""
    return Send({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": why}})


class Terminals:
    """The terminals of a recording, by `terminalId`; each belongs to the session that made it."""

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace
        self._open: dict[str, tuple[Any, Child]] = {}
        self._made = 0
        self._serve: Mapping[str, Callable[[str, Child], Awaitable[Message]]] = {
            "terminal/output": self._output,
            "terminal/wait_for_exit": self._wait,
            "terminal/kill": self._kill,
            "terminal/release": self._release,
        }

    def forget(self) -> None:
        """The agent's process is over, and its terminals with it."""
        self._open.clear()

    def request(self, method: str, id_: Any, params: Message) -> Do | None:
        """Return what answers a request; None for a method that is not of terminals."""
        if method != "terminal/create" and method not in self._serve:
            return None

        async def work(hands: Hands) -> Iterable[Action]:
            try:
                if method == "terminal/create":
                    return [answer(id_, await self._create(hands, params))]
                return [answer(id_, await self._serve[method](*self._find(params)))]
            except RefusedError as error:
                return [refuse(id_, error.code, str(error))]

        return Do(work, beside=method == "terminal/wait_for_exit")

    async def _create(self, hands: Hands, params: Message) -> Message:
        line, args = params.get("command"), params.get("args") or []
        if not isinstance(line, str) or not line or "\0" in line:
            raise RefusedError(INVALID, "command is not a text that says something")
        if not isinstance(args, list) or not all(
            isinstance(a, str) and "\0" not in a for a in args
        ):
            raise RefusedError(INVALID, "args are not texts")
        limit = params.get("outputByteLimit")
        if limit is not None and (type(limit) is not int or limit < 0):
            raise RefusedError(INVALID, f"outputByteLimit is not a count: {limit!r}")
        cwd = params.get("cwd")
        folder = self._workspace if cwd is None else str(inside(cwd, self._workspace))
        command = [line, *args] if args else ["bash", "-c", line]
        try:
            child = await hands.spawn(
                command,
                _variables(params.get("env")),
                folder,
                MOST if limit is None else min(limit, MOST),
            )
        except OSError as error:
            raise RefusedError(INVALID, f"{line} cannot be started: {error.strerror}") from None
        self._made += 1
        name = f"terminal-{self._made}"
        self._open[name] = params.get("sessionId"), child
        return {"terminalId": name}

    async def _output(self, _: str, child: Child) -> Message:
        kept, truncated = child.output
        over = child.status is not None
        said: Message = {"output": text(kept, truncated=truncated, over=over)}
        said["truncated"] = truncated
        if child.status is not None:
            said["exitStatus"] = _exit(child.status)
        return said

    async def _wait(self, _: str, child: Child) -> Message:
        return _exit(await child.wait())

    async def _kill(self, _: str, child: Child) -> Message:
        child.kill()
        await child.wait()
        return {}

    async def _release(self, name: str, child: Child) -> Message:
        self._open.pop(name, None)
        return await self._kill(name, child)

    def _find(self, params: Message) -> tuple[str, Child]:
        name = params.get("terminalId")
        found = self._open.get(name) if isinstance(name, str) else None
        if found is None or found[0] != params.get("sessionId"):
            raise RefusedError(NOT_FOUND, f"no terminal of this session is called {name!r}")
        return str(name), found[1]


def text(kept: bytes, *, truncated: bool, over: bool) -> str:
    """Return output as text, with no half of a character where it is cut.

    Nor is there one at its end while the rest may still come (`over` is false).
    """
    first = 0
    # A character has at most three bytes that go on with it.
    while truncated and first < min(3, len(kept)) and kept[first] & 0xC0 == _GOES_ON:
        first += 1
    last = len(kept) if over else len(kept) - _unfinished(kept)
    return kept[first:last].decode("utf-8", "replace")


def _unfinished(kept: bytes) -> int:
    """Return how many bytes at the end begin a character that needs more."""
    for back in range(1, min(3, len(kept)) + 1):
        byte = kept[-back]
        if byte & 0xC0 != _GOES_ON:
            # The leading ones of a character's first byte say how many bytes it has.
            ones = 8 - (byte ^ 0xFF).bit_length()
            return back if ones > back else 0
    return 0


def _variables(value: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in value if isinstance(value, list) else []:
        name, said = table(entry).get("name"), table(entry).get("value")
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise RefusedError(INVALID, f"env has no name for a variable: {entry!r}")
        if not isinstance(said, str) or "\0" in said:
            raise RefusedError(INVALID, f"env: the value of {name} is not a text")
        found[name] = said
    return found


def _exit(status: Mapping[str, Any]) -> Message:
    return {"exitCode": status.get("code"), "signal": status.get("signal")}
