"""What the gateway and the played model share: a server on loopback, and the end of a recording."""

import asyncio
import contextlib
import re
import socket
from typing import Any, Final

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from harness.gateway.apis import api_of
from harness.loopback import OnLoopback
from harness.loopback import gone as client_gone
from harness.recording.errors import RecordError
from harness.scenarios import Step

NOT_FOUND: Final = 404
ERROR: Final = 400
_SHOWN: Final = 500


class Asked:
    """A request of the agent's, read whole, and the way to answer it."""

    def __init__(self, api: str, scope: Scope, body: bytes, send: Send) -> None:
        self.api = api
        self.method = str(scope["method"])
        self.path = str(scope["path"])
        self.query = scope["query_string"].decode("latin-1")
        self.headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]]
        self.body = body
        self.send = send

    def header(self, name: str) -> str:
        """Return a header's first value, or an empty text."""
        return next((v for k, v in self.headers if k.lower() == name), "")

    async def start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Begin the answer."""
        await self.send({"type": "http.response.start", "status": status, "headers": headers})

    async def piece(self, data: bytes) -> None:
        """Send a piece of the answer at once."""
        await self.send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        """End the answer; one that is left without it is cut off."""
        await self.send({"type": "http.response.body", "body": b""})

    async def refuse(self, message: str, status: int = ERROR) -> None:
        """Answer with an error of ours, which no agent should try again."""
        kind = [(b"content-type", b"application/json"), (b"x-should-retry", b"false")]
        await self.start(status, kind)
        error = {"error": {"type": "invalid_request_error", "message": message, "code": status}}
        await self.piece(msgspec.json.encode(error))
        await self.end()


class Served(OnLoopback):
    """A model behind a port of loopback, from `async with` to its end.

    What is no request for a model's answer is refused: it is not for the provider.
    """

    def __init__(self, sockets: list[socket.socket] | None = None) -> None:
        super().__init__(self._app, sockets)
        self.held = asyncio.Event()
        """Set while an answer is under way: what waits for the model's silence may look for it."""
        self.failing = asyncio.Event()
        """Set with the first failure: there is no use in going on."""
        self.failure: RecordError | None = None
        self.notices: list[str] = []
        self._open = 0

    def fail(self, code: int, message: str) -> None:
        """Note why the recording cannot come to be; the first reason counts."""
        if self.failure is None:
            self.failure = RecordError(code, message)
        self.failing.set()

    def stir(self) -> None:
        """See `Model.stir`: a real model's answers come when they come."""

    def refusals(self) -> list[str]:
        """See `Model.refusals`."""
        raise NotImplementedError

    def used(self, step: Step) -> bool:  # noqa: ARG002 - there is no script
        """See `Model.used`."""
        return False

    def unmet(self) -> list[str]:
        """See `Model.unmet`."""
        raise NotImplementedError

    async def answer(self, asked: Asked, gone: "asyncio.Future[None]") -> None:
        """Answer a request; `gone` is done once the agent has closed the connection."""
        raise NotImplementedError

    def streaming(self, *, begun: bool) -> None:
        """Note that an answer has begun to come, or has ended."""
        self._open += 1 if begun else -1
        self.held.set() if self._open else self.held.clear()

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        http = Request(scope, receive)
        try:
            body = await http.body()
        except ClientDisconnect:
            return
        api = api_of(http.method, http.url.path)
        if api is None:
            asked = Asked("", scope, body, send)
            await asked.refuse(f"{http.method} {http.url.path} asks no model", NOT_FOUND)
            return
        gone = asyncio.ensure_future(client_gone(receive))
        try:
            await self.answer(Asked(api, scope, body, send), gone)
        except RecordError as error:
            self.fail(error.code, str(error))
        except Exception as error:
            # It is not to look like the provider's, nor like the agent's.
            self.fail(1, f"the gateway failed: {type(error).__name__}: {error}; report this")
            raise
        finally:
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)


def said_in(body: bytes) -> str:
    """Return what an error's body says, on one line, and not all of a long one."""
    text = body.decode("utf-8", "replace")
    found: Any = None
    with contextlib.suppress(msgspec.DecodeError):
        found = msgspec.json.decode(body)
    if isinstance(found, list) and found:
        found = found[0]
    if isinstance(found, dict):
        inner = found.get("error", found)
        message = inner.get("message") if isinstance(inner, dict) else inner
        text = message if isinstance(message, str) else text
    return re.sub(r"\s+", " ", text).strip()[:_SHOWN]
