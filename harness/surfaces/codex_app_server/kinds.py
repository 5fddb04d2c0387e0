"""Names the native kind of each frame of `codex app-server`.

Messages carry no `jsonrpc` field. The ids of the two directions are apart: the server's begin
at 0 and collide with the client's.
"""

from typing import Any, Final

from harness.cassette import Frame
from harness.surfaces import lenient
from harness.surfaces.codex_app_server.families import LEGACY_PREFIX, Families, legacy_parts
from harness.surfaces.codex_app_server.methods import OPENS_THREAD
from harness.surfaces.codex_app_server.requests import key
from harness.surfaces.codex_eventmsg import kind_of

REPEATED_EVENT: Final = "repeat codex/event"
REPEATED_RESOLUTION: Final = "repeat serverRequest/resolved"
_RESOLVED: Final = 1024


class Questions:
    """The agent's open requests, and the ids of those that are resolved."""

    def __init__(self) -> None:
        self.open: dict[Any, tuple[str, Any, Any]] = {}
        self.resolved: dict[Any, str] = {}

    def ask(self, id_: Any, method: str, params: Any) -> None:
        """The agent asks; it may be answered, or its turn may end first."""
        params = params if isinstance(params, dict) else {}
        thread = params.get("threadId", params.get("conversationId"))
        self.open[key(id_)] = (method, thread, params.get("turnId"))
        self.resolved.pop(key(id_), None)

    def close(self, id_: Any) -> str:
        """Return the method of the open request with that id, resolved from now on, or ""."""
        name = key(id_)
        entry = self.open.pop(name, None)
        if entry is None:
            return ""
        self._note(name, entry[0])
        return entry[0]

    def _note(self, name: Any, method: str) -> None:
        self.resolved[name] = method
        if len(self.resolved) > _RESOLVED:
            del self.resolved[next(iter(self.resolved))]

    def turn_ended(self, thread: Any, turn: Any) -> None:
        """The end of a turn resolves what is still open in it (DECISIONS.md 4)."""
        if turn is not None:
            of_turn = [k for k, v in self.open.items() if v[1] == thread and v[2] == turn]
            for name in of_turn:
                self._note(name, self.open.pop(name)[0])

    def was(self, id_: Any) -> str:
        """Return the method of a request that was asked and is resolved already, or ""."""
        return self.resolved.get(key(id_), "")


class Kinds:
    """See `harness.surfaces.base.Kinds`.

    Beside those: `repeat codex/event` and `repeat serverRequest/resolved` are notifications that
    tell again what was told; `response unknown`, `error unknown` and `client-response unknown`
    answer a request that was not seen.
    """

    def __init__(self) -> None:
        self._families = Families()
        self._questions = Questions()
        self._asked: dict[Any, str] = {}

    def of(self, frame: Frame) -> str:
        """Return the frame's kind."""
        channel = frame.channel
        data = frame.data
        if channel in {"stdout", "stdin"}:
            if type(data) is not dict:
                messages = lenient.read(frame).messages
                if not messages:
                    return "noise" if channel == "stdout" else "client noise"
                names = [self._name(channel, message) for message in messages]
                return names[0]
            return self._name(channel, data)
        if channel == "start":
            self._asked.clear()
            self._questions = Questions()
        return channel

    def _name(self, channel: str, message: dict[str, Any]) -> str:
        method = message.get("method")
        if not isinstance(method, str):
            if "id" not in message or not ("result" in message or "error" in message):
                return "noise" if channel == "stdout" else "client noise"
            return self._response(channel, message)
        if "id" in message:
            return self._request(channel, method, message)
        if channel == "stdin":
            return f"client {method}"
        return self._notification(method, message.get("params"))

    def _notification(self, method: str, params: Any) -> str:
        if not isinstance(params, dict):
            return method
        if method.startswith(LEGACY_PREFIX):
            if self._families.legacy_repeats(params):
                return REPEATED_EVENT
            return f"{LEGACY_PREFIX}{kind_of(legacy_parts(params)[1])}"
        thread = params.get("threadId")
        if type(thread) is not str or thread not in self._families.v2:
            self._families.repeats(method, params)
        if method == "turn/completed":
            turn = params.get("turn")
            if isinstance(turn, dict):
                self._questions.turn_ended(params.get("threadId"), turn.get("id"))
        elif method == "thread/started":
            thread = params.get("thread")
            self._families.prefer_v2(thread.get("id") if isinstance(thread, dict) else None)
        elif method == "serverRequest/resolved":
            id_ = params.get("requestId")
            if not self._questions.close(id_) and self._questions.was(id_):
                return REPEATED_RESOLUTION
        return method

    def _request(self, channel: str, method: str, message: dict[str, Any]) -> str:
        params = message.get("params")
        if channel == "stdout":
            self._questions.ask(message["id"], method, params)
            return f"request {method}"
        self._asked[key(message["id"])] = method
        if method == "turn/start" and isinstance(params, dict):
            self._families.prefer_v2(params.get("threadId"))
        return f"client {method}"

    def _response(self, channel: str, message: dict[str, Any]) -> str:
        if channel == "stdin":
            method = self._questions.close(message["id"]) or self._questions.was(message["id"])
            return f"client-response {method or 'unknown'}"
        method = self._asked.pop(key(message["id"]), "unknown")
        if "error" in message:
            return f"error {method}"
        result = message.get("result")
        if method in OPENS_THREAD and isinstance(result, dict):
            thread = result.get("thread")
            self._families.prefer_v2(thread.get("id") if isinstance(thread, dict) else None)
        return f"response {method}"
