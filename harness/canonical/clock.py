"""`createdAt` from the frames' clock: when the recording began, plus a frame's `at`."""

from datetime import UTC, datetime, timedelta

_MILLIS = tuple(f".{millis:03d}Z" for millis in range(1000))


class Clock:
    """Turns a frame's `at` (milliseconds since the start) into an RFC 3339 time in UTC.

    `recorded` is the cassette header's RFC 3339 time. Raises ValueError where it is not one.
    """

    __slots__ = ("_at", "_first", "_prefix", "_start", "_text")

    def __init__(self, recorded: str) -> None:
        start = datetime.fromisoformat(recorded)
        self._start = (start if start.tzinfo else start.replace(tzinfo=UTC)).astimezone(UTC)
        self._at = -1
        self._text = ""
        self._first = 0
        self._prefix = ""

    def iso(self, at: int) -> str:
        """Return the time `at` milliseconds after the start, such as 2026-01-01T00:00:00.250Z."""
        # Deltas arrive many to the millisecond, so the last answer is usually the next one;
        # and a date is formatted once a second alone.
        if at != self._at:
            millis = at - self._first
            if not self._prefix or not 0 <= millis < 1000:  # noqa: PLR2004 - a second
                moment = self._start + timedelta(milliseconds=at)
                millis = moment.microsecond // 1000
                self._first = at - millis
                self._prefix = moment.isoformat()[:19]
            self._text = self._prefix + _MILLIS[millis]
            self._at = at
        return self._text
