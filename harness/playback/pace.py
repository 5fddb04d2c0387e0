"""When the recorded timing has the next frame come. The clock is the caller's."""

from collections.abc import Callable


class Pace:
    """Keeps the recorded time between frames; a client that took longer moves all that follows.

    `now` gives the time in seconds, from any origin.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._begun = now()
        self._at = 0

    def taken(self, at: int) -> None:
        """Go on from here: the client's line came now, and was recorded `at` milliseconds."""
        self._begun = self._now()
        self._at = at

    def left(self, at: int) -> float:
        """Return the seconds until the frame recorded `at` milliseconds is due; 0 if it is."""
        due = self._begun + (at - self._at) / 1000
        return max(0.0, due - self._now())
