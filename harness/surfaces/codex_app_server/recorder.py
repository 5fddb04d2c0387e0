"""`codex app-server`: JSON-RPC over stdio, with questions that the client answers."""

from collections.abc import Iterable, Iterator
from typing import Any

from harness.cassette import Frame
from harness.scenarios import Ask, Say
from harness.surfaces.base import (
    Action,
    CloseStdin,
    Done,
    Failed,
    OnceHeld,
    OnceSilent,
    Send,
    Setup,
    Start,
    Unhandled,
)
from harness.surfaces.codex_config import MODEL, PROGRAM, RULES, prepare

__all__ = ["CAPABILITIES", "PROGRAM", "PROTOCOL", "RULES", "make_driver", "prepare"]

PROTOCOL = "codex app-server, v2"
CAPABILITIES = {"experimentalApi": True}

_METHOD_NOT_FOUND = -32601
_ANSWERS = {"allow": "accept", "decline": "decline", "always": "acceptForSession"}
_QUESTIONS = {
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
}
_CLIENT = {"name": "harness", "title": "Conformance harness", "version": "1.0.0"}


class AppServerDriver:
    """One thread, one turn for each of the scenario's, its questions answered as it says."""

    def __init__(self, setup: Setup) -> None:
        self._turns = setup.scenario.turns
        self._policy = "untrusted" if setup.scenario.permissions == "ask" else "never"
        self._workspace = setup.workspace
        self._turn = -1
        self._next = 0
        self._requests: dict[int, str] = {}
        self._thread = ""
        self._turn_id = ""
        self._said = ""
        self._interrupted = self._by_hand = False
        self._leaving = False

    @property
    def awaiting(self) -> str:
        """See `Driver.awaiting`."""
        if self._requests:
            return f"the response to {', '.join(self._requests.values())}"
        return f"turn/completed of turn {self._turn + 1} of {len(self._turns)}"

    def begin(self) -> Iterable[Action]:
        """See `Driver.begin`."""
        yield Start(["app-server"])
        yield self._request(
            "initialize", {"clientInfo": _CLIENT, "capabilities": dict(CAPABILITIES)}
        )

    def on_frame(self, frame: Frame) -> Iterator[Action]:
        """See `Driver.on_frame`."""
        if frame.channel == "exit" and self._leaving:
            # A new process is a new connection: what was asked of the old one went with it.
            self._requests.clear()
            self._next = 0
            yield from self.begin()
        if frame.channel != "stdout" or not isinstance(frame.data, dict):
            return
        message = frame.data
        if "method" in message and "id" in message:
            yield from self._on_request(message)
        elif "method" in message:
            yield from self._on_notification(message["method"], message.get("params") or {})
        elif message.get("id") in self._requests:
            yield from self._on_response(self._requests.pop(message["id"]), message)

    def _request(self, method: str, params: dict[str, Any]) -> Send:
        number = self._next
        self._next += 1
        self._requests[number] = method
        return Send({"method": method, "id": number, "params": params})

    def _on_response(self, method: str, message: dict[str, Any]) -> Iterator[Action]:
        if "error" in message:
            # An interrupt that came too late does no harm; nothing else can be done without.
            if method == "turn/interrupt" and self._by_hand:
                # A person may press again.
                self._interrupted = self._by_hand = False
            if method != "turn/interrupt":
                said = message["error"].get("message", message["error"])
                yield Failed(f"the agent refused {method}: {said}")
            return
        result = message.get("result") or {}
        if method == "initialize":
            yield Send({"method": "initialized"})
            resumed = {"threadId": self._thread} if self._leaving else {}
            yield self._request(
                "thread/resume" if resumed else "thread/start",
                {
                    **resumed,
                    "model": MODEL,
                    "cwd": self._workspace,
                    "approvalPolicy": self._policy,
                    "sandbox": "danger-full-access",
                },
            )
        elif method in {"thread/start", "thread/resume"}:
            self._thread = result["thread"]["id"]
            self._leaving = False
            yield from self._start_turn()
        elif method == "turn/start":
            self._turn_id = result["turn"]["id"]
            if self._turns[self._turn].client.interrupt in {"start", "held"}:
                self._interrupted = True
                yield OnceHeld(self._interrupt())

    def _next_turn(self) -> Iterator[Action]:
        if self._turn + 1 == len(self._turns):
            yield Done()
        elif self._turns[self._turn + 1].client.resume:
            self._leaving = True
            yield CloseStdin()
        else:
            yield from self._start_turn()

    def _start_turn(self) -> Iterator[Action]:
        self._turn += 1
        turn = self._turns[self._turn]
        self._said = ""
        self._turn_id = ""
        self._interrupted = self._by_hand = False
        text = {"type": "text", "text": turn.typed, "text_elements": []}
        params: dict[str, Any] = {"threadId": self._thread, "input": [text]}
        # Codex lets its model ask in the plan mode alone.
        if turn.client.mode == "plan" or any(isinstance(step, Ask) for step in turn.model):
            params["collaborationMode"] = {"mode": "plan", "settings": {"model": MODEL}}
        yield self._request("turn/start", params)

    def _interrupt(self) -> Send:
        params = {"threadId": self._thread, "turnId": self._turn_id}
        return self._request("turn/interrupt", params)

    def interrupt(self) -> Iterator[Action]:
        """See `Driver.interrupt`."""
        if self._turn_id and not self._interrupted:
            self._interrupted = self._by_hand = True
            yield self._interrupt()

    def _on_request(self, message: dict[str, Any]) -> Iterator[Action]:
        method, number = message["method"], message["id"]
        if method in _QUESTIONS and self._turn >= 0:
            decision = _ANSWERS[self._turns[self._turn].client.approvals]
            yield Send({"id": number, "result": {"decision": decision}})
            return
        if method == "item/tool/requestUserInput" and self._turn >= 0:
            client = self._turns[self._turn].client
            asked = enumerate(message["params"]["questions"])
            answers = {q["id"]: {"answers": [client.answer_to(n)]} for n, q in asked}
            yield Send({"id": number, "result": {"answers": answers}})
            return
        error = {"code": _METHOD_NOT_FOUND, "message": f"this client does not know {method}"}
        yield Send({"id": number, "error": error})
        yield Unhandled(method)

    def _on_notification(self, method: str, params: dict[str, Any]) -> Iterator[Action]:
        if params.get("threadId") != self._thread or self._turn < 0:
            return
        if method == "turn/completed":
            yield from self._next_turn()
            return
        if method == "turn/started":
            self._turn_id = params["turn"]["id"]
        elif method == "item/agentMessage/delta":
            self._said += params["delta"]
        if self._is_time_to_interrupt(method):
            self._interrupted = True
            # At once after a delta, the agent completes the message or not, as chance has it.
            yield OnceSilent(self._interrupt().data)

    def _is_time_to_interrupt(self, method: str) -> bool:
        """Whether all that comes before the interrupt has come: so each recording is the same."""
        turn = self._turns[self._turn]
        if self._interrupted or turn.client.interrupt is None:
            return False
        if turn.client.interrupt == "command":
            return method == "item/commandExecution/outputDelta"
        says = [step.text for step in turn.model if isinstance(step, Say)]
        return method == "item/agentMessage/delta" and self._said.endswith(says[-1])


def make_driver(setup: Setup) -> AppServerDriver:
    """See `MakeDriver`."""
    return AppServerDriver(setup)
