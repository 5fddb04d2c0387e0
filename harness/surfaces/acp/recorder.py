"""An ACP client: one session, one prompt for each of the scenario's turns.

What an agent needs is in its manifest's entry. Its `options` are: `authenticate`, the id of the
method to authenticate with; `mode`, the id of the mode to set where the agent offers it; `fs`,
whether the client offers to read and write files.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from harness.cassette import Frame
from harness.cassette.scrub import Rules
from harness.scenarios import Say
from harness.surfaces import lenient
from harness.surfaces.acp import files
from harness.surfaces.acp.names import Message, is_response, key, table
from harness.surfaces.base import Action, Done, Failed, Send, Setup, Start, Unhandled

__all__ = ["CAPABILITIES", "PROTOCOL", "RULES", "make_driver", "prepare"]

PROTOCOL = "ACP, version 1"
CAPABILITIES: Mapping[str, Any] = {"fs": False, "terminal": False}
RULES = Rules(prose={"description": 80})

_METHOD_NOT_FOUND: Final = -32601
_AUTH_REQUIRED: Final = -32000
_KINDS: Final = {
    "allow": ("allow_once", "allow_always"),
    "decline": ("reject_once", "reject_always"),
}


def prepare(_setup: Setup) -> Mapping[str, str]:
    """Return no variables: the manifest's entries have all that an agent needs."""
    return {}


class AcpDriver:
    """Its questions are answered as the scenario says, anything unknown with an error."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.turns = setup.scenario.turns
        self._requests: dict[Any, str] = {}
        self._next = 0
        self._turn = -1
        self._session = ""
        self._said = ""
        self._cancelled = False
        self._authenticated = False
        self._methods: list[Any] = []

    @property
    def awaiting(self) -> str:
        """See `Driver.awaiting`."""
        return f"the response to {', '.join(self._requests.values()) or 'nothing'}"

    def begin(self) -> Iterable[Action]:
        """See `Driver.begin`."""
        yield Start(list(self.setup.args))
        has_files = bool(self.setup.options.get("fs"))
        yield self.ask(
            "initialize",
            {
                "protocolVersion": 1,
                "clientCapabilities": {
                    "fs": {"readTextFile": has_files, "writeTextFile": has_files},
                    "terminal": False,
                },
                "clientInfo": {"name": "harness", "title": "Harness", "version": "1.0.0"},
            },
        )

    def on_frame(self, frame: Frame) -> Iterator[Action]:
        """See `Driver.on_frame`."""
        if frame.channel == "stdout":
            for message in lenient.read(frame).messages:
                yield from self._on_message(message)

    def _on_message(self, message: Message) -> Iterator[Action]:
        method = message.get("method")
        if isinstance(method, str):
            if "id" in message:
                yield from self.on_request(method, message["id"], table(message.get("params")))
            elif method == "session/update":
                yield from self._on_update(table(message.get("params")))
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
        if method == "initialize":
            if result.get("protocolVersion") != 1:
                yield Failed(
                    f"the agent speaks protocol version {result.get('protocolVersion')!r}, "
                    "this client version 1; record another version of the agent"
                )
                return
            methods = result.get("authMethods")
            self._methods = methods if isinstance(methods, list) else []
            wanted = self.setup.options.get("authenticate")
            yield self._authenticate(wanted) if wanted else self._new()
        elif method == "authenticate":
            yield self._new()
        elif method == "session/new":
            session = result.get("sessionId")
            if not isinstance(session, str):
                yield Failed("the agent's answer to session/new has no sessionId")
                return
            self._session = session
            mode = self._mode(result)
            yield (
                self.ask("session/set_mode", {"sessionId": session, "modeId": mode})
                if mode
                else self._prompt()
            )
        elif method == "session/set_mode":
            yield self._prompt()
        elif method == "session/prompt":
            yield from self._turn_over()

    def _refused(self, method: str, error: Message) -> Iterator[Action]:
        ids = [table(m).get("id") for m in self._methods]
        if method == "session/new" and error.get("code") == _AUTH_REQUIRED:
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
            yield Failed(f"the agent refused {method}: {error.get('message', error)}")

    def _turn_over(self) -> Iterator[Action]:
        yield Done() if self._turn + 1 == len(self.turns) else self._prompt()

    def _authenticate(self, method: Any) -> Send:
        self._authenticated = True
        return self.ask("authenticate", {"methodId": method})

    def _new(self) -> Send:
        return self.ask("session/new", {"cwd": self.setup.workspace, "mcpServers": []})

    def _mode(self, result: Message) -> str:
        """The mode to set, where the agent offers it and is not in it."""
        modes = table(result.get("modes"))
        wanted = self.setup.options.get("mode")
        offered = modes.get("availableModes")
        ids = [table(mode).get("id") for mode in (offered if isinstance(offered, list) else [])]
        if isinstance(wanted, str) and wanted in ids and modes.get("currentModeId") != wanted:
            return wanted
        return ""

    def _prompt(self) -> Send:
        self._turn += 1
        self._said = ""
        self._cancelled = False
        text = {"type": "text", "text": self.turns[self._turn].prompt}
        return self.ask("session/prompt", {"sessionId": self._session, "prompt": [text]})

    def on_request(self, method: str, id_: Any, params: Message) -> Iterator[Action]:
        """Answer a request of the agent's."""
        if method == "session/request_permission":
            yield _answer(id_, {"outcome": self._outcome(params)})
        elif method.startswith("fs/") and self.setup.options.get("fs"):
            try:
                yield _answer(id_, files.serve(method, params, self.setup.workspace))
            except files.RefusedError as error:
                yield _error(id_, error.code, str(error))
        else:
            yield _error(id_, _METHOD_NOT_FOUND, f"this client does not know {method}")
            yield Unhandled(method)

    def _outcome(self, params: Message) -> Message:
        """The option of the kind that the scenario wants; without one, no decision is made up."""
        offered = params.get("options")
        options = [table(o) for o in (offered if isinstance(offered, list) else [])]
        if self._turn >= 0 and not self._cancelled:
            for kind in _KINDS[self.turns[self._turn].client.approvals]:
                for option in options:
                    if option.get("kind") == kind and "optionId" in option:
                        return {"outcome": "selected", "optionId": option["optionId"]}
        return {"outcome": "cancelled"}

    def _on_update(self, params: Message) -> Iterator[Action]:
        update = table(params.get("update"))
        if params.get("sessionId") != self._session or self._turn < 0:
            return
        kind = update.get("sessionUpdate")
        if kind == "agent_message_chunk":
            words = table(update.get("content")).get("text")
            self._said += words if isinstance(words, str) else ""
        if self._is_time_to_cancel(kind, update):
            self._cancelled = True
            params = {"sessionId": self._session}
            yield Send({"jsonrpc": "2.0", "method": "session/cancel", "params": params})

    def _is_time_to_cancel(self, kind: Any, update: Message) -> bool:
        """Whether all that comes before the cancel has come: so each recording is the same."""
        turn = self.turns[self._turn]
        if self._cancelled or turn.client.interrupt is None:
            return False
        if turn.client.interrupt == "command":
            # Not every agent says that a command is in progress; all say what its input is.
            running = update.get("status") == "in_progress" or bool(update.get("rawInput"))
            return kind in {"tool_call", "tool_call_update"} and running
        says = [step.text for step in turn.model if isinstance(step, Say)]
        return kind == "agent_message_chunk" and self._said.endswith(says[-1])


def _answer(id_: Any, result: Any) -> Send:
    return Send({"jsonrpc": "2.0", "id": id_, "result": result})


def _error(id_: Any, code: int, message: str) -> Send:
    return Send({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}})


def make_driver(setup: Setup) -> AcpDriver:
    """See `MakeDriver`."""
    return AcpDriver(setup)
