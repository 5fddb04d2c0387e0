"""Frames as they are sent: each encoded once, whichever runs need it."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from harness.cassette import Frame

BATCH_FRAMES: Final = 64
BATCH_BYTES: Final = 64 << 10
"""What one `frames` message holds at most, but for a single frame that is longer."""
Content = tuple[Any, bytes]
"""The content of a frame, and this as JSON."""
_encode: Final = msgspec.json.Encoder().encode
_NOT_ASCII: Final = re.compile(rb"[\x80-\xff]")


class Coded:
    """Frames as JSON, each encoded once, and their contents with these as JSON."""

    __slots__ = ("contents", "frames")

    def __init__(self, frames: Sequence[Frame]) -> None:
        self.frames = [_encode(frame) for frame in frames]
        self.contents = list(map(_content, frames, self.frames))

    def request(self, conversation: bytes, start: int, end: int) -> bytes:
        """Return a `frames` request for those from `start` up to `end`, from `conversation` on."""
        frames = self.frames
        body = frames[start] if end - start == 1 else b",".join(frames[start:end])
        return b',"conversation":"%b","frames":[%b]' % (conversation, body)

    def cut(self, upto: int) -> int:
        """Choose the frame to cut: the last with a character of several bytes, else the last."""
        for number in range(upto - 1, -1, -1):
            if not self.frames[number].isascii():
                return number
        return upto - 1

    def batches(self, sizes: Iterator[int], upto: int | None = None) -> Iterator[tuple[int, int]]:
        """Part the frames, or the first `upto`: yield where each batch starts and ends.

        Batches have such sizes at most, and about `BATCH_BYTES`.
        """
        frames = self.frames if upto is None else self.frames[:upto]
        if sum(map(len, frames)) <= BATCH_BYTES:
            start = 0
            while start < len(frames):
                end = min(start + next(sizes), len(frames))
                yield start, end
                start = end
            return
        start = size = 0
        most = next(sizes)
        for end, frame in enumerate(frames):
            if end > start and (end - start == most or size + len(frame) > BATCH_BYTES):
                yield start, end
                start, size, most = end, 0, next(sizes)
            size += len(frame)
        if frames:
            yield start, len(frames)


def _content(frame: Frame, coded: bytes) -> Content:
    content, name = frame.data, b'"data":'
    if content is UNSET:
        content, name = frame.content, b'"b64":' if frame.text is UNSET else b'"text":'
    # What stands before it has no such name in it, so that the first is its own.
    return content, coded[coded.index(name) + len(name) : -1]


def within(data: bytes) -> int:
    """Choose where to cut: within a character, where there is one of several bytes."""
    found = _NOT_ASCII.search(data)
    return found.start() + 1 if found else len(data) // 2
