"""Cassettes as they might have been: what a wire, a client or an agent may do to any of them.

Each mutation takes the frames of a conversation and gives others, numbered anew with their times
in order; the same ones each time. None where the cassette has no place for it. The laws hold on
each, `expected` apart.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from harness.cassette import Frame

Frames = Sequence[Frame]
Mutation = Callable[[Frames], list[Frame] | None]

STORM: Final = 1_000
"""How often a storm repeats its frame."""

_STARTS: Final = ("item.started", "item/started", "tool_call", "tool_use", "running")
_UPDATES: Final = (
    "item.updated",
    "/delta",
    "Delta",
    "tool_call_update",
    "_chunk",
    "_delta",
    ".updated",
)
_ENDS: Final = ("item.completed", "item/completed", "tool_result", '"completed"')


def _text(frame: Frame) -> str:
    """The content as JSON text, to look for words in."""
    return msgspec.json.encode(frame.content).decode()


def _said(frame: Frame) -> bool:
    return frame.dir == "in" and frame.channel in {"stdout", "sse"} and frame.data is not UNSET


def _find(frames: Frames, words: tuple[str, ...]) -> int | None:
    """The index of the first of the agent's frames with one of the words."""
    for at, frame in enumerate(frames):
        if _said(frame) and any(word in _text(frame) for word in words):
            return at
    return None


def _last_said(frames: Frames) -> int | None:
    return next((at for at in reversed(range(len(frames))) if _said(frames[at])), None)


def _numbered(frames: Frames) -> list[Frame]:
    """The frames with `seq` from 1, and times that do not go back."""
    out: list[Frame] = []
    at = 0
    for number, frame in enumerate(frames, 1):
        at = max(at, frame.at)
        out.append(replace(frame, seq=number, at=at))
    return out


def fragmented(frames: Frames) -> list[Frame] | None:
    """A line in the middle comes as two pieces, neither of them JSON."""
    said = [at for at, frame in enumerate(frames) if _said(frame)]
    if not said:
        return None
    at = said[len(said) // 2]
    frame, line = frames[at], _text(frames[at])
    cut = len(line) // 2
    halves = [replace(frame, data=UNSET, text=part) for part in (line[:cut], line[cut:])]
    return _numbered([*frames[:at], *halves, *frames[at + 1 :]])


def tail_dropped(frames: Frames) -> list[Frame] | None:
    """The last third never came."""
    return _numbered(frames[: len(frames) * 2 // 3]) if frames[2:] else None


def _again(frames: Frames, words: tuple[str, ...], times: int = 1) -> list[Frame] | None:
    at = _find(frames, words)
    if at is None:
        return None
    return _numbered([*frames[: at + 1], *[frames[at]] * times, *frames[at + 1 :]])


def start_doubled(frames: Frames) -> list[Frame] | None:
    """The first start of a tool or an item comes twice."""
    return _again(frames, _STARTS)


def update_storm(frames: Frames) -> list[Frame] | None:
    """One update comes 1,000 times more."""
    return _again(frames, _UPDATES, STORM)


def _later(frames: Frames, words: tuple[str, ...], after: int | None) -> list[Frame] | None:
    at = _find(frames, words)
    if at is None or after is None or at > after:
        return None
    return _numbered([*frames[: after + 1], frames[at], *frames[after + 1 :]])


def id_sent_again(frames: Frames) -> list[Frame] | None:
    """A start comes again right after the first completion."""
    return _later(frames, _STARTS, _find(frames, _ENDS))


def late_update(frames: Frames) -> list[Frame] | None:
    """An update comes again after all that the agent said."""
    return _later(frames, _UPDATES, _last_said(frames))


def swapped(frames: Frames) -> list[Frame] | None:
    """Two neighbours that the agent said change places, in the middle: no id in common."""
    pairs = [
        at
        for at in range(len(frames) - 1)
        if _said(frames[at]) and _said(frames[at + 1])
        if not _ids(frames[at].data) & _ids(frames[at + 1].data)
    ]
    if not pairs:
        return None
    at = pairs[len(pairs) // 2]
    return _numbered([*frames[:at], frames[at + 1], frames[at], *frames[at + 2 :]])


def _ids(value: Any) -> set[str]:
    """Every value of a field whose name ends in `id`, of the items and calls alone."""
    if isinstance(value, dict):
        own = {
            v
            for k, v in value.items()
            if isinstance(v, str) and k.lower().endswith("id")
            if k.lower() not in {"sessionid", "threadid", "turnid", "session_id", "thread_id"}
        }
        return own.union(*map(_ids, value.values()))
    return set().union(*map(_ids, value)) if isinstance(value, list) else set()


def replayed(frames: Frames) -> list[Frame] | None:
    """All that the agent said comes again before its end, as a history does."""
    last = _last_said(frames)
    if last is None:
        return None
    history = [frame for frame in frames[: last + 1] if _said(frame)]
    return _numbered([*frames[: last + 1], *history, *frames[last + 1 :]])


MUTATIONS: Final[dict[str, Mutation]] = {
    "fragmented": fragmented,
    "tail-dropped": tail_dropped,
    "start-doubled": start_doubled,
    "id-sent-again": id_sent_again,
    "late-update": late_update,
    "swapped": swapped,
    "replayed": replayed,
    "update-storm": update_storm,
}
"""Every mutation, by its name."""
