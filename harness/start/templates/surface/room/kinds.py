"""Names the native kind of each frame: an agent's message by its `type`, as here `turn.started`.

What the agent says: `ready`, `turn.started`, `text`, `turn.completed`, `turn.failed`; what the
client says: `prompt`.
"""

from harness.cassette import Frame
from harness.surfaces import lenient


class Kinds:
    """See `harness.surfaces.base.Kinds`."""

    def of(self, frame: Frame) -> str:
        """Return the frame's kind."""
        if frame.channel not in {"stdin", "stdout"}:
            return frame.channel
        client = "client " if frame.channel == "stdin" else ""
        messages = lenient.read(frame).messages
        kind = messages[0].get("type") if messages else None
        return client + (kind if isinstance(kind, str) else "noise")
