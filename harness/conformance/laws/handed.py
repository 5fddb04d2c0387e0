"""What a normalizer of this process is given: frames of its own.

It could change in place what it was fed, or what it returned before. So it gets a copy of each
frame, and its `raw` is held, by value and at once, to the frame that the cassette has. Copying
costs about as much as decoding: the reference normalizers go without, and what is behind a
command gets bytes (`trusted`).
"""

from collections import deque
from typing import Any, Final

import msgspec
from msgspec import UNSET

from harness.cassette import Frame
from harness.conformance.laws.frames import BACK, Window
from harness.ending import ENDS

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode


class Handed(Window):
    """A window whose frames nobody else holds."""

    def __init__(self) -> None:
        super().__init__()
        self._own: deque[tuple[Any, bytes]] = deque(maxlen=BACK)

    def hand(self, frame: Frame) -> Frame:
        """Return a copy of a frame, to be fed. It is the last one of `frames`."""
        data, content = frame.data, frame.content
        sealed = _encode(content)
        if data is not UNSET:
            data = content = _decode(sealed)
        self._own.append((content, sealed))
        return Frame(frame.seq, frame.at, frame.dir, frame.channel, data, frame.text, frame.b64)

    def find(self, payload: Any) -> tuple[int, int]:
        """See `Window.find`. What is no JSON equals nothing, whatever it says of itself."""
        try:
            said = _encode(payload)
        except ENDS:
            raise
        except BaseException:  # noqa: BLE001 - whatever a foreign value does when written
            return 0, 0
        for (own, sealed), (seq, at, _) in zip(
            reversed(self._own), reversed(self.frames), strict=True
        ):
            if own is payload and said == sealed:
                return seq, at
        return super().find(_decode(said))


def window(subject: Any) -> Window:
    """Return the window for the frames of a run: handed, but where the subject is `trusted`."""
    return Window() if getattr(subject, "trusted", False) else Handed()
