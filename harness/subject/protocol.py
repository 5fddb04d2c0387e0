"""The normalizer behind a command: protocol version 1, JSON lines on its stdin and stdout.

Each request is an object with `cmd` and `id`; ids count up from 1. Each answer carries the id of
its request, and answers come in the order of requests. Requests may be sent before earlier ones
are answered, and several conversations may be open at once. stderr is free for logs.

After an `error` the conversation of that request is over: no `close` is sent for it, and a request
that was on its way is answered with an `error` too. The process goes on. An answer may have fields
beside these, which are not read.
"""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from harness.canonical import Event
from harness.canonical.schema import DIALECT
from harness.cassette import Frame, Header

PROTOCOL: Final = 1
"""The protocol version that this harness speaks."""

Level = Literal["schema", "laws", "expected", "coverage"]
"""What a normalizer can be held to. `subject`, that it runs at all, is part of each.

`schema` is the check of that name; `laws` all the others but two: `expected`, the comparison with
pinned output, and `coverage`, that each native frame is accounted for.
"""

Levels = Annotated[list[Level], Meta(min_length=1)]

LEVELS: Final[tuple[Level, ...]] = ("schema", "laws", "expected", "coverage")

_MOST: Final = 2**53 - 1

Id = Annotated[int, Meta(ge=1, le=_MOST)]
Seq = Annotated[int, Meta(ge=0, le=_MOST)]


class Start(Struct, frozen=True, tag_field="cmd", tag="start"):
    """The first request, once for each process. `harness` is the harness's version."""

    id: Id
    protocol: int
    harness: str


class Open(Struct, frozen=True, tag_field="cmd", tag="open"):
    """A conversation begins. `header` is the cassette's."""

    id: Id
    conversation: str
    header: Header


class Frames(Struct, frozen=True, tag_field="cmd", tag="frames"):
    """The next frames of a conversation, in order; how many are sent at once means nothing."""

    id: Id
    conversation: str
    frames: list[Frame]


class Close(Struct, frozen=True, tag_field="cmd", tag="close"):
    """The frames of a conversation have ended."""

    id: Id
    conversation: str


class Stop(Struct, frozen=True, tag_field="cmd", tag="stop"):
    """The last request: the process answers it, and exits with 0."""

    id: Id


Request = Start | Open | Frames | Close | Stop


class Started(Struct, frozen=True):
    """Answer to `start`. `surfaces` and `levels` are what it claims: all, where absent or null."""

    id: Id
    protocol: int
    name: str
    version: str
    language: str
    surfaces: list[str] | None = None
    levels: Levels | None = None


class Done(Struct, frozen=True):
    """Answer to `open` and `stop`."""

    id: Id


class FramesDone(Struct, frozen=True):
    """Answer to `frames`: for each frame, in order, the events that it causes."""

    id: Id
    events: list[list[Event]]


class CloseDone(Struct, frozen=True):
    """Answer to `close`: the events that the end of the frames causes."""

    id: Id
    events: list[Event]


class Fault(Struct, frozen=True):
    """What a normalizer says of its own failure; `frame` is the `seq` that it failed at."""

    message: str
    frame: Seq | None = None


class Failed(Struct, frozen=True):
    """Answer to any request that failed: it ends that conversation alone."""

    id: Id
    error: Fault


MESSAGES: Final[dict[str, tuple[type[Struct], type[Struct]]]] = {
    "start": (Start, Started),
    "open": (Open, Done),
    "frames": (Frames, FramesDone),
    "close": (Close, CloseDone),
    "stop": (Stop, Done),
}
"""Each command's request and answer; any may be answered by `Failed` instead."""


def protocol_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of every message, each by its name in `$defs`.

    The whole is valid for any request: which answer is due only the request says.
    """
    requests = [request for request, _ in MESSAGES.values()]
    kinds = (*requests, Started, FramesDone, CloseDone, Failed, Done)
    roots, definitions = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    return {
        "$schema": DIALECT,
        "title": f"Normalizer protocol, version {PROTOCOL}",
        "anyOf": list(roots[: len(requests)]),
        "$defs": definitions,
    }
