"""Protocol version 1 of the harness: JSON lines on standard input and output.

Nothing in here has to be changed. Standard output is the harness's: logs go to standard error.
"""

import json
import sys
import traceback
from collections.abc import Callable
from typing import Any, Protocol

Json = dict[str, Any]


class Conversation(Protocol):
    """The normalizer of one conversation."""

    def feed(self, frame: Json, /) -> list[Json]:
        """Return the events that a frame causes.

        A frame has `seq` (from 1), `at` (milliseconds since the recording began), `dir` (`in`: from
        the agent to its client, `out`: the other way), `channel` (`start`, `stdout`, `stderr`,
        `stdin`, `http`, `sse`, `exit`), and one of `data` (a JSON value), `text` and `b64`.
        """

    def close(self) -> list[Json]:
        """Return the events that the end of the frames causes."""


def serve(about: Json, make: Callable[[Json], Conversation]) -> None:
    """Answer requests until `stop`. `make` takes a cassette's header."""
    conversations: dict[str, Conversation] = {}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        # In ASCII: whatever the terminal's encoding, these are the bytes of UTF-8.
        print(json.dumps({"id": request["id"], **_answer(request, about, make, conversations)}))
        sys.stdout.flush()
        if request["cmd"] == "stop":
            return


def _answer(
    request: Json,
    about: Json,
    make: Callable[[Json], Conversation],
    conversations: dict[str, Conversation],
) -> Json:
    command, name = request["cmd"], request.get("conversation", "")
    if command == "start":
        return {"protocol": 1, "language": "python", **about}
    if command == "open":
        conversations[name] = make(request["header"])
    if command in {"open", "stop"}:
        return {}
    if name not in conversations:
        return {"error": {"message": f"no conversation {name} is open"}}
    frame = None
    try:
        if command == "close":
            return {"events": conversations.pop(name).close()}
        events = []
        for each in request["frames"]:
            frame = each["seq"]
            events.append(conversations[name].feed(each))
    except Exception as error:  # noqa: BLE001 - it ends this conversation alone
        traceback.print_exc()
        conversations.pop(name, None)
        return {"error": {"message": repr(error), "frame": frame}}
    else:
        return {"events": events}
