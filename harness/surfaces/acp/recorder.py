"""An ACP client: one session, one prompt for each of the scenario's turns.

What an agent needs is in its manifest's entry. Its `options` are:

- `authenticate`: the id of the method to authenticate with;
- `mode`: the id of the mode to set at the start where the agent offers it;
- `modes`: its own ids for the modes that scenarios name;
- `mode_option`: true to set these as a configuration option though it has `modes` too;
- `fs`, `terminal`: true to offer these whatever the scenario says;
- `load_after`: how many seconds to wait before a session is loaded in a new process.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from harness.cassette import Frame
from harness.cassette.scrub import Rules
from harness.scenarios import Client, Say, Turn
from harness.surfaces.acp.modes import Modes
from harness.surfaces.acp.names import Message, is_response, key, read, table, words
from harness.surfaces.acp.serving import Serving
from harness.surfaces.base import (
    Action,
    Do,
    Done,
    End,
    Failed,
    Hands,
    OnceHeld,
    OnceSilent,
    Send,
    Setup,
    Start,
    Unhandled,
)

__all__ = ["CAPABILITIES", "PROTOCOL", "RULES", "capabilities", "make_driver", "prepare"]

PROTOCOL = "ACP, version 1"
CAPABILITIES: Mapping[str, Any] = {"fs": False, "terminal": False}
RULES = Rules(
    patterns=(
        # Gemini CLI tells its model the day in words, and a loaded session says it again.
        (r"(?<=Today's date is )[A-Z][a-z]+, [A-Z][a-z]+ \d+, \d{4}", "Thursday, January 1, 2026"),
        # Cline names a session by its time and five characters that are chance.
        (r"\b(\d{13})_[\w-]{5}(?=_cli\b)", r"\1_00000"),
        # Claude tells it in the text of a task's result.
        (r"(?<=duration_ms: )\d+", "1"),
        # Qwen Code tells the group of a command's process in its text.
        (r"(?<=Process Group PGID: )\d+", "1000"),
        # And where it keeps an output: by its workspace's hash, under a name that is chance.
        (r"(?<=/\.qwen/tmp/)[0-9a-f]{64}", "0" * 64),
        (r"\b(run_shell_command_)[0-9a-f]{12}\b", rf"\1{'0' * 12}"),
    ),
    # Of a task of Claude's, in what claude-agent-acp passes on of its result.
    ids=(r"\ba(?=[0-9a-f]*\d)([0-9a-f]{6}|[0-9a-f]{16})\b",),
    prose={"description": 80},
)

_AUTH_REQUIRED: Final = -32000
_OPENS: Final = ("session/new", "session/load")
UPDATES: Final = (
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
)
"""The values of `sessionUpdate` in version 1."""
_CHANGES: Final = ("session/set_mode", "session/set_config_option")


def prepare(_setup: Setup) -> Mapping[str, str]:
    """Return no variables: the manifest's entries have all that an agent needs."""
    return {}


def capabilities(setup: Setup) -> Mapping[str, Any]:
    """Return the header's `capabilities`: what the client offers the agent."""
    on = _offered(setup)
    more = {"elicitation": True} if _asks(setup) else {}
    return {"fs": "files" in on, "terminal": "terminal" in on, **more}


def _offered(setup: Setup) -> frozenset[str]:
    wanted = {"files": setup.options.get("fs"), "terminal": setup.options.get("terminal")}
    on = {name for name, is_on in wanted.items() if is_on}
    return frozenset(on.union(setup.scenario.capabilities)) - {"questions"}


def _asks(setup: Setup) -> bool:
    """Whether the client answers questions: only then does it offer to."""
    story = setup.scenario
    return "questions" in story.capabilities or any(turn.client.answer for turn in story.turns)


class AcpDriver:
    """Its questions are answered as the scenario says, anything unknown with an error."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.turns = setup.scenario.turns
        self.serving = Serving(setup.workspace, _offered(setup))
        self._requests: dict[Any, str] = {}
        self._next = 0
        self._turn = -1
        self._loads = False
        self._session = ""
        self._modes = Modes()
        self._said = ""
        self._prompting = False
        self._cancelled = False
        self._authenticated = False
        self._methods: list[Any] = []
        self._reported: set[str] = set()

    @property
    def awaiting(self) -> str:
        """See `Driver.awaiting`."""
        what = f"the response to {', '.join(self._requests.values()) or 'nothing'}"
        return f"{what}, after session/cancel" if self._cancelled and self._prompting else what

    @property
    def client(self) -> Client | None:
        """The decisions of the turn that goes on; None outside one, or once it is cancelled."""
        going = self._turn >= 0 and not self._cancelled
        return self.turns[self._turn].client if going else None

    def begin(self) -> Iterable[Action]:
        """See `Driver.begin`."""
        yield Start(list(self.setup.args))
        on = self.serving.offered
        offers: Message = {
            "fs": {"readTextFile": "files" in on, "writeTextFile": "files" in on},
            "terminal": "terminal" in on,
        }
        if _asks(self.setup):
            offers["elicitation"] = {"form": {}}
        yield self.ask(
            "initialize",
            {
                "protocolVersion": 1,
                "clientCapabilities": offers,
                "clientInfo": {"name": "harness", "title": "Harness", "version": "1.0.0"},
            },
        )

    def on_frame(self, frame: Frame) -> Iterator[Action]:
        """See `Driver.on_frame`."""
        if frame.channel == "stdout":
            for message in read(frame).messages:
                yield from self._on_message(message)

    def _on_message(self, message: Message) -> Iterator[Action]:
        method = message.get("method")
        if isinstance(method, str):
            params = table(message.get("params"))
            if "id" in message:
                yield from self.on_request(method, message["id"], params)
            elif method == "session/update":
                yield from self._on_update(params)
            else:
                yield from self.on_notification(method)
        elif is_response(message) and key(message["id"]) in self._requests:
            yield from self._on_response(self._requests.pop(key(message["id"])), message)

    def ask(self, method: str, params: Message) -> Send:
        """Return a request of the client's; its answer is awaited."""
        number = self._next
        self._next += 1
        self._requests[key(number)] = method
        return Send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def _on_response(self, method: str, message: Message) -> Iterator[Action]:
        error = message.get("error")
        if error is not None:
            yield from self._refused(method, table(error))
            return
        result = table(message.get("result"))
        self._modes.told(result)
        if method == "initialize":
            yield self._initialized(result)
        elif method == "authenticate":
            yield self._open()
        elif method in _OPENS:
            # The answer to `session/load` may be null: the id is the request's.
            session = self._session if method == "session/load" else result.get("sessionId")
            if not isinstance(session, str):
                yield Failed("the agent's answer to session/new has no sessionId")
                return
            self._session = session
            mode = self.setup.options.get("mode")
            if mode in self._modes.offered and mode != self._modes.current:
                yield self.ask(*self._modes.change(session, mode))
            else:
                yield from self._opened()
        elif method in _CHANGES:
            yield from self._opened() if self._turn < 0 or self._loads else self._prompt()
        elif method == "session/prompt":
            yield from self._turn_over()

    def _initialized(self, result: Message) -> Action:
        version = result.get("protocolVersion")
        if version != 1 or version is True:
            return Failed(
                f"the agent speaks protocol version {version!r}, "
                "this client version 1; record another version of the agent"
            )
        if self._loads and table(result.get("agentCapabilities")).get("loadSession") is not True:
            return Failed(
                "the agent cannot load a session (its agentCapabilities lack loadSession): "
                "exclude the scenario in the manifest's entry, with that reason"
            )
        methods = result.get("authMethods")
        self._methods = methods if isinstance(methods, list) else []
        wanted = self.setup.options.get("authenticate")
        return self._authenticate(wanted) if wanted else self._open()

    def _refused(self, method: str, error: Message) -> Iterator[Action]:
        ids = [table(m).get("id") for m in self._methods]
        if method in _OPENS and error.get("code") == _AUTH_REQUIRED:
            wanted = self.setup.options.get("authenticate")
            if not self._authenticated and wanted in ids:
                yield self._authenticate(wanted)
                return
            yield Failed(
                f"the agent wants a login ({', '.join(map(str, ids)) or 'no method named'}): put "
                "one that needs no person into the manifest's entry, as `options: {authenticate: "
                "ID}`"
            )
        elif method == "session/prompt":
            yield from self._turn_over()
        else:
            yield Failed(f"the agent refused {method}: {words(error)}")

    def _authenticate(self, method: Any) -> Send:
        self._authenticated = True
        return self.ask("authenticate", {"methodId": method})

    def _open(self) -> Send:
        place = {"cwd": self.setup.workspace, "mcpServers": []}
        if self._loads:
            return self.ask("session/load", {"sessionId": self._session, **place})
        return self.ask("session/new", place)

    def _opened(self) -> Iterator[Action]:
        """The session is open, in the mode that it starts in: go on with the turn that is due."""
        if not self._loads:
            self._turn += 1
        yield from self._set_up()

    def _turn_over(self) -> Iterator[Action]:
        self._prompting = False
        self._turn += 1
        if self._turn == len(self.turns):
            yield Done()
        elif self.turns[self._turn].client.resume:
            self._loads, self._authenticated, self._modes = True, False, Modes()
            self._requests.clear()
            self.serving.terminals.forget()
            yield End()
            if seconds := self.setup.options.get("load_after"):
                yield Do(_waits(float(seconds)))
            yield from self.begin()
        else:
            yield from self._set_up()

    def _set_up(self) -> Iterator[Action]:
        """Change what the turn wants changed before its prompt."""
        name = self.turns[self._turn].client.mode
        if not name:
            yield from self._prompt()
            return
        mode = self._modes.pick(name, table(self.setup.options.get("modes")))
        if not mode:
            offered = ", ".join(self._modes.offered) or "none"
            yield Failed(
                f"the agent offers no mode for {name!r} (it offers: {offered}): name its own in "
                f"the manifest's entry, as `options: {{modes: {{{name}: ID}}}}`, or exclude the "
                "scenario"
            )
            return
        self._loads, waits = False, self._loads
        as_option = bool(self.setup.options.get("mode_option"))
        change = self.ask(*self._modes.change(self._session, mode, as_option=as_option))
        yield OnceSilent(change.data) if waits else change

    def _prompt(self) -> Iterator[Action]:
        turn = self.turns[self._turn]
        self._said = ""
        self._cancelled = False
        self._prompting = True
        text = {"type": "text", "text": turn.typed}
        prompt = self.ask("session/prompt", {"sessionId": self._session, "prompt": [text]})
        # Some agents replay a session after their answer too, and tell their commands late.
        late = self._loads or turn.command
        self._loads = False
        yield OnceSilent(prompt.data) if late else prompt
        if turn.client.interrupt in {"start", "held"}:
            self._cancelled = True
            yield OnceHeld(Send(self._cancel()))

    def interrupt(self) -> Iterator[Action]:
        """See `Driver.interrupt`."""
        if self._prompting and not self._cancelled:
            self._cancelled = True
            yield Send(self._cancel())

    def on_request(self, method: str, id_: Any, params: Message) -> Iterator[Action]:
        """Answer a request of the agent's."""
        yield from self.serving.request(method, id_, params, self.client)

    def on_notification(self, method: str) -> Iterator[Action]:
        """Report a notification that is not known."""
        yield from self._report(f"notification {method}")

    def _report(self, what: str) -> Iterator[Action]:
        if what not in self._reported:
            self._reported.add(what)
            yield Unhandled(what)

    def _on_update(self, params: Message) -> Iterator[Action]:
        update = table(params.get("update"))
        kind = update.get("sessionUpdate")
        if kind not in UPDATES:
            yield from self._report(f"session/update {kind}")
        if params.get("sessionId") != self._session:
            return
        if kind in {"current_mode_update", "config_option_update"}:
            self._modes.told(update)
        if not self._prompting:
            return
        if kind == "agent_message_chunk":
            said = table(update.get("content")).get("text")
            self._said += said if isinstance(said, str) else ""
        if not self._cancelled and _is_time_to_cancel(self.turns[self._turn], update, self._said):
            self._cancelled = True
            yield Send(self._cancel())

    def _cancel(self) -> Message:
        params = {"sessionId": self._session}
        return {"jsonrpc": "2.0", "method": "session/cancel", "params": params}


def _is_time_to_cancel(turn: Turn, update: Message, said: str) -> bool:
    """Whether all that comes before the cancel has come: so each recording is the same."""
    kind = update.get("sessionUpdate")
    if turn.client.interrupt == "command":
        # Not every agent says that a command is in progress; all say what its input is.
        running = update.get("status") == "in_progress" or bool(update.get("rawInput"))
        return kind in {"tool_call", "tool_call_update"} and running
    if turn.client.interrupt != "text" or kind != "agent_message_chunk":
        return False
    says = [step.text for step in turn.model if isinstance(step, Say)]
    return said.endswith(says[-1])


def _waits(seconds: float) -> Callable[[Hands], Awaitable[Iterable[Action]]]:
    async def work(_: Hands) -> Iterable[Action]:
        await asyncio.sleep(seconds)
        return ()

    return work


def make_driver(setup: Setup) -> AcpDriver:
    """See `MakeDriver`."""
    return AcpDriver(setup)
