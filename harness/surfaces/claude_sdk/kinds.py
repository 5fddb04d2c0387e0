"""Names the native kind of each frame between the SDK and its CLI.

The ids of the two directions are apart: each side mints its own.
"""

from typing import Any

from harness.cassette import Frame
from harness.surfaces.claude_sdk.lines import read
from harness.surfaces.claude_sdk.names import Message, answer_of, name_of, subtype_of

_REMEMBERED = 1024


class Asked:
    """The subtypes of one side's last control requests, by their id."""

    def __init__(self) -> None:
        self._subtypes: dict[str, str] = {}

    def add(self, message: Message) -> str:
        """Remember a control request and return its subtype."""
        subtype = subtype_of(message)
        self._subtypes[str(message.get("request_id", ""))] = subtype
        if len(self._subtypes) > _REMEMBERED:
            del self._subtypes[next(iter(self._subtypes))]
        return subtype

    def of(self, id_: str) -> str:
        """Return the subtype of the request with that id."""
        return self._subtypes.get(id_, "unknown")


class Kinds:
    """See `harness.surfaces.base.Kinds`.

    Beside those: `control_cancel_request` and `client control_cancel_request` take a request
    back, and an answer to a request that was not seen is to `unknown`. A line with several
    messages has the kind of its first.
    """

    def __init__(self) -> None:
        self._agent = Asked()
        self._client = Asked()

    def of(self, frame: Frame) -> str:
        """Return the frame's kind."""
        channel = frame.channel
        if channel not in {"stdout", "stdin"}:
            return channel
        data = frame.data
        messages: list[Any] = [data] if type(data) is dict else read(frame).messages
        own = channel == "stdin"
        names = [self._name(message, own=own) for message in messages]
        if names and names[0]:
            return names[0]
        return "client noise" if own else "noise"

    def _name(self, message: Message, *, own: bool) -> str:
        type_ = message.get("type")
        if type_ == "control_request":
            asked = self._client if own else self._agent
            return f"{'client' if own else 'request'} {asked.add(message)}"
        if type_ == "control_response":
            id_, failed, _ = answer_of(message)
            if own:
                return f"client-response {self._agent.of(id_)}"
            return f"{'error' if failed else 'response'} {self._client.of(id_)}"
        name = name_of(message)
        return f"client {name}" if own and name else name
