"""The gateway: the agent's requests go to the provider, and its answers come back as they come.

The agent has a key that is none; the developer's takes its place here, in memory alone.
"""

import asyncio
import logging
import re
import socket
import time
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

import httpx
import msgspec
from vcr.cassette import Cassette
from vcr.filters import decode_response

from harness.cassette.show import printable
from harness.gateway.apis import is_whole
from harness.gateway.base import NOT_FOUND, Asked, Served, said_in
from harness.gateway.keeping import Kept, header_of, keep, response_of
from harness.gateway.pace import Pace
from harness.gateway.reduce import Reducer
from harness.gateway.tape import Exchange
from harness.gateway.upstream import Upstream
from harness.recording.home import KEY

_HOPS: Final = frozenset(
    {
        "expect",
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
    }
    | {"transfer-encoding", "upgrade", "host", "content-length", "proxy-connection"}
)
_REFUSED: Final = frozenset({401, 403, NOT_FOUND})
"""Answers after which there is nothing to record: the key, or the address, is wrong."""

for _name in ("vcr", "httpx", "httpcore"):
    # They log addresses, headers and answers as they are, keys and cookies too.
    logging.getLogger(_name).setLevel(logging.CRITICAL)

_CONNECTING: Final = 30.0
"""Seconds."""

_MOST: Final = 64 << 20
"""Bytes of an answer."""


class Gateway(Served):
    """Stands between an agent and the provider of its model.

    Nothing waits here: each piece that comes from the provider is sent on before anything else
    is done with it. `kept` are the exchanges in the order of the requests.
    """

    def __init__(
        self, upstream: Upstream, reducer: Reducer, sockets: list[socket.socket] | None = None
    ) -> None:
        super().__init__(sockets)
        self.kept: list[Kept] = []
        self._upstream = upstream
        self._reducer = reducer
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        # A proxy of the developer's stands before the provider's network, not before this machine.
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=_CONNECTING),
            trust_env=not self._upstream.loopback,
            follow_redirects=False,
        )
        await super().__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await super().__aexit__(kind, error, trace)
        if self._client is not None:
            await self._client.aclose()

    async def answer(self, asked: Asked, gone: "asyncio.Future[None]") -> None:
        """Ask the provider, and send on what it says, until it ends or the agent leaves."""
        kept = Kept(asked, 0, [], bytearray(), Pace())
        self.kept.append(kept)
        relay = asyncio.ensure_future(self._relay(asked, kept))
        try:
            await asyncio.wait({relay, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not relay.done():
                kept.end = "left"
                relay.cancel()
            await asyncio.gather(relay, return_exceptions=True)
        if not relay.cancelled() and (error := relay.exception()) is not None:
            raise error

    async def _relay(self, asked: Asked, kept: Kept) -> None:
        assert self._client is not None  # noqa: S101 - it is served within `async with`
        request, where = self._request(asked)
        begun = time.monotonic()
        try:
            answer = await self._client.send(request, stream=True)
        except httpx.TransportError as error:
            kept.end = "lost"
            self.fail(5, f"asking the model's provider, {where}: {_why(error)}")
            await asked.refuse("The gateway cannot reach the model's provider.", 502)
            return
        try:
            kept.status = answer.status_code
            kept.headers = answer.headers.multi_items()
            streams = answer.is_success
            if streams:
                self.streaming(begun=True)
            try:
                await asked.start(answer.status_code, _sent_on(answer.headers))
                async for piece in answer.aiter_raw():
                    await asked.piece(piece)
                    kept.body += piece
                    kept.pace.chunk(piece, int((time.monotonic() - begun) * 1000))
                    if len(kept.body) > _MOST:
                        self.fail(5, f"the provider's answer is of more than {_MOST:,} bytes")
                        return
            finally:
                if streams:
                    self.streaming(begun=False)
        except httpx.TransportError as error:
            kept.end = "lost"
            self.fail(
                5,
                f"the provider's answer to {asked.method} {asked.path} broke off after "
                f"{len(kept.body):,} bytes: {_why(error)}; nothing is kept: record it again",
            )
            return  # without its end, so that the agent sees it cut off too
        finally:
            await answer.aclose()
        self._ended(asked, kept)
        await asked.end()

    def _ended(self, asked: Asked, kept: Kept) -> None:
        kept.end = "whole"
        what = f"{asked.method} {asked.path}"
        plain = decode_response(response_of(kept))
        body: bytes = plain["body"]["string"]
        if (encoding := header_of(kept, "content-encoding")) and body and body == kept.body:
            self.fail(5, f"the answer to {what} is in {encoding}, though that was not asked for")
        if kept.status in _REFUSED:
            self.fail(
                5,
                f"the model's provider refused {what} with {kept.status}: "
                f"{self._without_keys(said_in(body))}; nothing is kept: correct the "
                "key, --upstream or --model",
            )
        elif kept.status >= 300:  # noqa: PLR2004 - all but success
            said = self._without_keys(said_in(body))
            self.notices.append(f"the provider answered {what} with {kept.status}: {said}")
        elif not is_whole(asked.api, header_of(kept, "content-type"), body):
            self.fail(
                5,
                f"the provider's answer to {what} ended after {len(kept.body):,} bytes without "
                "the event that ends it; nothing is kept: record it again",
            )

    def _without_keys(self, text: str) -> str:
        for key in self._upstream.keys:
            text = text.replace(key, "…")
        return printable(text)

    def _request(self, asked: Asked) -> tuple[httpx.Request, str]:
        """Return the provider's request, and its address as it may be shown."""
        assert self._client is not None  # noqa: S101 - see above
        key = self._upstream.key(asked.api)
        path, body = self._with_model(asked)
        headers = [
            (name, value.replace(KEY, key))
            for name, value in asked.headers
            if name.lower() not in _HOPS and name.lower() != "accept-encoding"
        ]
        # What is compressed cannot be told event by event.
        headers.append(("accept-encoding", "identity"))
        query = asked.query.replace(KEY, quote(key, safe=""))
        url = self._upstream.url(asked.api, path, query)
        request = self._client.build_request(asked.method, url, headers=headers, content=body)
        return request, self._upstream.url(asked.api, path, "")

    def _with_model(self, asked: Asked) -> tuple[str, bytes]:
        if not self._upstream.model:
            return asked.path, asked.body
        path = re.sub(r"(?<=/models/)[^/:]+", quote(self._upstream.model, safe=""), asked.path)
        try:
            body = msgspec.json.decode(asked.body)
        except msgspec.DecodeError:
            return path, asked.body
        if not isinstance(body, dict) or "model" not in body:
            return path, asked.body
        return path, msgspec.json.encode({**body, "model": self._upstream.model})

    def refusals(self) -> list[str]:
        """See `Model.refusals`: what went wrong is the `failure`."""
        return []

    def unmet(self) -> list[str]:
        """See `Model.unmet`: a real model follows no script."""
        return []

    def cassette(self) -> tuple[Cassette, list[Exchange]]:
        """Return what is kept as vcrpy's cassette, filtered. Raises RecordError (1, 5)."""
        if self.failure is not None:
            raise self.failure
        return keep(self.kept, self._reducer)


def _sent_on(headers: httpx.Headers) -> list[tuple[bytes, bytes]]:
    return [(k.lower(), v) for k, v in headers.raw if k.decode("latin-1").lower() not in _HOPS]


def _why(error: httpx.TransportError) -> str:
    return printable(str(error)) or type(error).__name__
