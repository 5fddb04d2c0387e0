"""What the answers to a cassette's reruns are, where these repeat its first run byte for byte."""

from collections.abc import Iterator
from typing import Any, Final

from harness.subject.connection import Connection, Exchange
from harness.subject.faults import FaultError

_CLOSE: Final = -1


class Foretold:
    """The answers that are due after the first run, in the order of their requests.

    Both reruns share it: most normalizers repeat themselves, and then an answer is compared as
    the line that it is, once, and never read.
    """

    def __init__(self, connection: Connection) -> None:
        self.said: list[Any] = []
        """The JSON of the first run's events: a list for each frame."""
        self.last: Any = None
        """The JSON of the events of its end."""
        self._connection = connection
        self._due: list[tuple[Exchange, int, int]] = []
        self._came: bool | None = None

    def frames(self, exchange: Exchange, start: int, end: int) -> None:
        """Expect the answer of the first run for the frames from `start` up to `end`."""
        self._due.append((exchange, start, end))

    def close(self, exchange: Exchange, *, same: bool) -> None:
        """Expect the answer of the first run for its end, or any, where this end is another."""
        self._due.append((exchange, _CLOSE, same))

    def came(self) -> bool:
        """Whether all of them came so. Waits for them; at the first that differs, no longer."""
        if self._came is None:
            try:
                self._came = self._connection.foretold(self._lines)
            except FaultError:
                # Told where it is read.
                self._came = False
        return self._came

    def _lines(self) -> Iterator[tuple[Exchange, bytes | None]]:
        said = self.said
        for exchange, start, end in self._due:
            if start != _CLOSE:
                events = said[start] if end - start == 1 else b",".join(said[start:end])
                yield exchange, b'{"id":%d,"events":[%b]}' % (exchange.id, events)
            elif end:
                yield exchange, b'{"id":%d,"events":%b}' % (exchange.id, self.last)
            else:
                yield exchange, None
