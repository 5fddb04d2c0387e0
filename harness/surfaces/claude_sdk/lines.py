"""What a line carries: one message, several, or none.

An array of messages on one line (`--output-format json`) is as many messages.
"""

from typing import Any

from harness.cassette import Frame
from harness.surfaces.lenient import Reading
from harness.surfaces.lenient import read as read_objects


def read(frame: Frame) -> Reading:
    """Return the messages of a frame, and what is to be said of how it was read."""
    data: Any = frame.data
    if isinstance(data, list) and data and all(_is_message(value) for value in data):
        return Reading(data)
    return read_objects(frame)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)
