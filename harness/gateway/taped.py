"""A model that is played: the recorded answers, each at most once, at the pace they came at."""

import asyncio
import itertools
import socket
import time
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import msgspec
from vcr.request import Request

from harness.cassette.show import printable
from harness.gateway.base import Asked, Served
from harness.gateway.filters import request_filters, response_filters
from harness.gateway.pace import cut
from harness.gateway.reduce import Reducer
from harness.gateway.tape import body_of, cassette_config, load_tape

_SHOWN: Final = 200
_ABSENT: Final = "(nothing)"


class PlayedModel(Served):
    """Answers from a model's cassette; `agent` is the one that asks, as its recordings name it.

    Raises RecordError (4) for a file that cannot be one.
    """

    def __init__(
        self,
        path: Path,
        reducer: Reducer,
        sockets: list[socket.socket] | None = None,
        agent: str = "",
    ) -> None:
        super().__init__(sockets)
        self._agent = agent
        self.refused: list[str] = []
        self.path = path
        self._filters = request_filters(reducer)
        config = cassette_config(list(self._filters.values()), list(response_filters().values()))
        self._cassette, self.meta = load_tape(path, config)

    def refusals(self) -> list[str]:
        """See `Model.refusals`."""
        return [f"the model's cassette {self.path} has no answer to {p}" for p in self.refused]

    def unmet(self) -> list[str]:
        """See `Model.unmet`."""
        played = [f"an exchange that was not played: {exchange}" for exchange in self.unused()]
        return [*self.refusals(), *played]

    def unused(self) -> list[str]:
        """Return the exchanges that were never played; not those that the agent had left."""
        return [
            f"{number}: {_name(request)}"
            for number, (request, exchange) in enumerate(
                zip(self._cassette.requests, self.meta.exchanges, strict=True), 1
            )
            if not self._cassette.play_counts[number - 1]
            and (exchange.end == "whole" or exchange.events)
        ]

    async def answer(self, asked: Asked, gone: "asyncio.Future[None]") -> None:
        """Play the first answer to such a request that was not played yet."""
        begun = time.monotonic()
        query = f"?{asked.query}" if asked.query else ""
        headers = dict(reversed(asked.headers))
        request: Request = self._cassette.filter_request(
            Request(asked.method, f"http://agent{asked.path}{query}", asked.body, headers)
        )
        if not self._cassette.can_play_response_for(request):
            problem = self._nothing_for(request)
            self.refused.append(problem)
            self.fail(1, f"the model's cassette {self.path} has no answer to {problem}")
            await asked.refuse(f"The recorded model has no answer to this request: {problem}")
            return
        response = self._cassette.play_response(request)
        number = next(n for n, r in enumerate(self._cassette.responses) if r is response)
        exchange = self.meta.exchanges[number]
        streams = 200 <= response["status"]["code"] < 300  # noqa: PLR2004 - success
        if streams:
            self.streaming(begun=True)
        try:
            headers_out = [
                (name.lower().encode("latin-1"), value.encode("latin-1"))
                for name, values in response["headers"].items()
                for value in values
            ]
            pieces = cut(response["body"]["string"], exchange.events)
            if pieces and await _left(gone, begun + pieces[0][0] / 1000):
                return
            await asked.start(response["status"]["code"], headers_out)
            # What came together goes together: between two events an agent may do a lot.
            for ms, together in itertools.groupby(pieces, key=itemgetter(0)):
                if await _left(gone, begun + ms / 1000):
                    return
                await asked.piece(b"".join(piece for _, piece in together))
            if exchange.end == "left":
                await gone
                return
            await asked.end()
        finally:
            if streams:
                self.streaming(begun=False)

    def _nothing_for(self, request: Request) -> str:
        """Name the request, the recording that is closest to it, and the field that differs."""
        came = _view(request)
        best: tuple[tuple[int, int], str] | None = None
        for number, recorded in enumerate(self._cassette.requests, 1):
            found = list(_differences(_view(recorded), came, ""))
            played = self._cassette.play_counts[number - 1] > 0
            if found:
                text = f"{number}: {_name(recorded)}, and differs in {found[0]}" + (
                    f" and {len(found) - 1} more" if len(found) > 1 else ""
                )
            else:
                text = f"{number}: {_name(recorded)}, the same, and played already"
            rank = (len(found), int(played))
            if best is None or rank < best[0]:
                best = rank, text
        assert best is not None  # noqa: S101 - a cassette without interactions is refused
        other = self.meta.agent.id
        of = f"; it was recorded of {other}, and this is {self._agent}"
        another = of if self._agent not in {"", other} else ""
        return f"{_name(request)}; the closest is {best[1]}{another}"


async def _left(gone: "asyncio.Future[None]", until: float) -> bool:
    """Wait until a time; say whether the agent has left by then."""
    wait = until - time.monotonic()
    if wait > 0 and not gone.done():
        await asyncio.wait({gone}, timeout=wait)
    return gone.done()


def _name(request: Request) -> str:
    """Return a request in words: its path, and what the developer says in it last."""
    said = list(_said(_view(request)["body"]))
    return f"{request.method} {request.path}" + (f" ({_shown(said[-1])})" if said else "")


def _said(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("said"), list):
            yield from value["said"]
        for key, inner in value.items():
            if key in {"text", "content"} and isinstance(inner, str) and inner:
                yield inner
            else:
                yield from _said(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _said(inner)


def _view(request: Request) -> dict[str, Any]:
    body = body_of(request)
    return {
        "method": request.method,
        "path": request.path,
        "body": msgspec.json.decode(body) if body else None,
    }


def _differences(recorded: Any, came: Any, place: str) -> Iterator[str]:
    """Yield each place where two values differ, with both."""
    if isinstance(recorded, dict) and isinstance(came, dict) and "sha256" not in recorded:
        for key in dict.fromkeys([*recorded, *came]):
            inner = f"{place}.{key}" if place else str(key)
            yield from _differences(recorded.get(key, _ABSENT), came.get(key, _ABSENT), inner)
    elif isinstance(recorded, list) and isinstance(came, list):
        for n in range(max(len(recorded), len(came))):
            one = recorded[n] if n < len(recorded) else _ABSENT
            other = came[n] if n < len(came) else _ABSENT
            yield from _differences(one, other, f"{place}.{n}")
    elif recorded != came:
        yield f"{place}: recorded {_shown(recorded)}, came {_shown(came)}"


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return printable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
