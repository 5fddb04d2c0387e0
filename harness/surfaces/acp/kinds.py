"""Names the native kind of each frame of an ACP conversation."""

from typing import Any

from harness.cassette import Frame
from harness.surfaces.acp.names import is_response, key, read, table


class Kinds:
    """See `harness.surfaces.base.Kinds`.

    A `session/update` is named with its `sessionUpdate`: `session/update tool_call`. `response
    unknown`, `error unknown` and `client-response unknown` answer a request that was not seen.
    """

    def __init__(self) -> None:
        self._asked: dict[Any, str] = {}
        self._sent: dict[Any, str] = {}

    def of(self, frame: Frame) -> str:
        """Return the frame's kind."""
        channel = frame.channel
        if channel in {"stdout", "stdin"}:
            noise = "noise" if channel == "stdout" else "client noise"
            if type(frame.data) is dict:
                return self._name(channel, frame.data) or noise
            messages = read(frame).messages
            names = [self._name(channel, message) or noise for message in messages]
            return names[0] if names else noise
        if channel == "start":
            self._asked.clear()
            self._sent.clear()
        return channel

    def _name(self, channel: str, message: dict[str, Any]) -> str:
        method = message.get("method")
        if not isinstance(method, str):
            return self._response(channel, message) if is_response(message) else ""
        if channel == "stdin":
            if "id" in message:
                self._sent[key(message["id"])] = method
            return f"client {method}"
        if "id" in message:
            self._asked[key(message["id"])] = method
            return f"request {method}"
        if method == "session/update":
            update = table(table(message.get("params")).get("update")).get("sessionUpdate")
            return f"{method} {update}" if isinstance(update, str) else method
        return method

    def _response(self, channel: str, message: dict[str, Any]) -> str:
        if channel == "stdin":
            return f"client-response {self._asked.pop(key(message['id']), 'unknown')}"
        method = self._sent.pop(key(message["id"]), "unknown")
        return f"error {method}" if "error" in message else f"response {method}"
