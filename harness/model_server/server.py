"""The model APIs on a loopback port, inside the running event loop."""

import asyncio
import re
import socket
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from harness.loopback import OnLoopback
from harness.loopback import gone as client_gone
from harness.model_server import anthropic_messages, gemini, openai_chat, openai_responses
from harness.model_server.mint import CREATED
from harness.model_server.script import Place, Problem, Script, UnexpectedError
from harness.model_server.tools import STAGES
from harness.model_server.view import Api, Cut, Held, Logged, Reply, Request, Silence
from harness.scenarios import Fail, Scenario, Step

APIS: tuple[Api, ...] = (openai_responses.API, openai_chat.API, anthropic_messages.API, gemini.API)

_PATHS = [(api, re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/:]+)", api.path))) for api in APIS]
_COUNTS = re.compile(r"/v1/messages/count_tokens|/v1beta/models/[^/:]+:countTokens")

_UNEXPECTED = 400
_NOT_FOUND = 404
_MULTI_BYTE = 0xC0
_SILENCE = 0.15
"""Seconds after which an agent that tells nothing has told all."""


class ModelServer(OnLoopback):
    """A scripted model, from `async with` to its end."""

    def __init__(
        self, scenario: Scenario, workspace: str, sockets: list[socket.socket] | None = None
    ) -> None:
        methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]
        routes = [Route("/{path:path}", self._handle, methods=methods)]
        super().__init__(Starlette(routes=routes), sockets)
        self.scenario = scenario
        self.problems: list[Problem] = []
        """The requests so far that the script does not expect."""
        self.requests: list[Logged] = []
        """All requests so far, in the order in which they came in whole."""
        self.notices: list[str] = []
        self.held = asyncio.Event()
        """Set once a `hold` was reached."""
        self.patient = False
        """Whether it answers only once the agent is silent."""
        self._given: defaultdict[Place, asyncio.Event] = defaultdict(asyncio.Event)
        self._asked: defaultdict[Place, asyncio.Event] = defaultdict(asyncio.Event)
        self._stirred = float("-inf")
        self._script = Script(scenario, workspace)

    def unused(self) -> list[str]:
        """Return the steps never used so far, readable: `text.yaml:6: turn 1, say: Hello`."""
        return self._script.unused()

    def used(self, step: Step) -> bool:
        """See `Model.used`."""
        return self._script.used(step)

    def refusals(self) -> list[str]:
        """Return the requests that the script does not expect, a line each."""
        return [f"a request that the script does not expect: {p}" for p in self.problems]

    def unmet(self) -> list[str]:
        """Return where the script was not followed: `refusals`, and the steps never used."""
        return [*self.refusals(), *(f"a step that was not used: {s}" for s in self.unused())]

    async def _handle(self, http: HttpRequest) -> Response:
        method, path = http.method, http.url.path
        try:
            body = await http.body()
        except ClientDisconnect:
            self._log(method, path, "side")
            return Response(status_code=_UNEXPECTED)
        if method == "POST":
            if _COUNTS.fullmatch(path):
                self._log(method, path, "side")
                return _json({"totalTokens" if "beta" in path else "input_tokens": 20})
            for api, pattern in _PATHS:
                if matched := pattern.fullmatch(path):
                    try:
                        return self._answer(api, path, body, matched.groupdict())
                    except Exception as error:
                        self.failed(error)
                        raise
            self._log(method, path, "unexpected")
            known = " or ".join(api.path for api in APIS)
            return self._refuse(
                None, Problem("no model API has this path", f"{method} {path}", f"POST {known}")
            )
        self._log(method, path, "side")
        if method == "GET" and path == "/v1/models":
            return _json(_models("anthropic-version" in http.headers))
        return Response(status_code=200 if method == "HEAD" else _NOT_FOUND)

    def _answer(self, api: Api, path: str, body: bytes, said: dict[str, str]) -> Response:
        """Answer a request for a model's answer; there is no waiting in it, so it has its turn."""
        try:
            decoded = msgspec.json.decode(body, type=dict[str, Any])
            request = api.read(decoded | said)
        except (ValueError, TypeError, AttributeError) as error:
            self._log("POST", path, "unexpected")
            shown = body[:200].decode("utf-8", "replace")
            return self._refuse(api, Problem(f"not a request: {error}", shown, f"{api.name} JSON"))
        if self._script.is_side(request):
            self._log("POST", path, "side", request)
            return self._send(api, request, self._script.side(request), None)
        try:
            place = self._script.place(request, api.call_id)
            failure = self._script.attempt(place)
            reply = None if failure else self._script.reply(place, request, api.call_id)
        except UnexpectedError as error:
            self._log("POST", path, "unexpected", request)
            return self._refuse(api, error.problem)
        self._log("POST", path, "main", request)
        if reply is None:
            return _failure(api, failure) if failure else Response(status_code=_UNEXPECTED)
        return self._send(api, request, reply, place)

    def _send(self, api: Api, request: Request, reply: Reply, place: Place | None) -> Response:
        if request.streamed:
            entries = api.stream(request, reply)
        else:
            entries = _unstreamed(api, request, reply)
        return _Stream(self, entries, place, streamed=request.streamed)

    def _refuse(self, api: Api | None, problem: Problem) -> Response:
        # Agents repeat what was refused; the same problem is told once.
        if problem not in self.problems:
            self.problems.append(problem)
        message = f"The scripted model does not expect this request: {problem}"
        body = api.failure(_UNEXPECTED, message) if api else {"error": {"message": message}}
        return _json(body, _UNEXPECTED if api else _NOT_FOUND, {"x-should-retry": "false"})

    def _log(
        self,
        method: str,
        path: str,
        kind: Literal["main", "side", "unexpected"],
        view: Request | None = None,
    ) -> None:
        self.requests.append(Logged(method, path, kind, view))

    def failed(self, error: Exception) -> None:
        """Note a fault of this server's own: it is not to look like the agent's."""
        what = f"the model server failed: {type(error).__name__}: {error}"
        self.problems.append(Problem(what, "any", "report this as a bug"))

    def stir(self) -> None:
        """Note that the agent has told its client something: it is not silent."""
        self._stirred = asyncio.get_running_loop().time()

    async def turn_of(self, place: Place | None) -> None:
        """Wait until it is an answer's turn, where what comes first would else be chance.

        A task's agent runs beside its caller: the caller waits for its agent once that has asked,
        the agent is answered once its caller waits, and the caller is asked again when all is
        told. A `patient` server waits for the agent's silence before each answer.
        """
        if place is None:
            return
        first = self._script.staged_at(place)
        if first is None:
            if not self.patient:
                return
        elif place.task:
            self._asked[first].set()
            await self._given[replace(first, stage=STAGES - 1)].wait()
        elif place.stage == STAGES - 1:
            await self._asked[first].wait()
        loop = asyncio.get_running_loop()
        self.stir()
        while (left := self._stirred + _SILENCE - loop.time()) > 0:  # noqa: ASYNC110 - silence is no event
            await asyncio.sleep(left)

    def sent(self, place: Place | None, *, held: bool = False) -> None:
        """Note that an answer was sent to its end, its hold or its cut."""
        if place is not None:
            self._script.sent(place)
            self._given[place].set()
        if held:
            self.held.set()


class _Stream(Response):
    """An answer, written piece by piece; it may be held, or cut."""

    def __init__(
        self,
        server: ModelServer,
        entries: Iterator[bytes | Silence | Held | Cut],
        place: Place | None,
        *,
        streamed: bool,
    ) -> None:
        self.status_code = 200
        self.background = None
        self.media_type = "text/event-stream" if streamed else "application/json"
        self.charset = "utf-8"
        self.init_headers({"cache-control": "no-cache"} if streamed else None)
        self._server = server
        self._entries = entries
        self._place = place
        self._split = server.scenario.wire == "split-bytes"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        gone = asyncio.ensure_future(client_gone(receive))
        try:
            turn = asyncio.ensure_future(self._server.turn_of(self._place))
            await asyncio.wait([gone, turn], return_when=asyncio.FIRST_COMPLETED)
            if turn.done():
                turn.result()
            turn.cancel()
            await self._write(send, gone)
        except Exception as error:
            self._server.failed(error)
            raise
        finally:
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)

    async def _write(self, send: Send, gone: "asyncio.Future[None]") -> None:
        for entry in self._entries:
            match entry:
                case Silence():
                    await asyncio.wait([gone], timeout=entry.ms / 1000)
                case Held():
                    self._server.sent(self._place, held=True)
                    await gone
                    self._server.held.clear()
                    return
                case Cut():
                    # The response is left without its end: the server closes the connection.
                    self._server.sent(self._place)
                    return
                case bytes():
                    for piece in inside_characters(entry) if self._split else (entry,):
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
            if gone.done():
                return
        self._server.sent(self._place)
        await send({"type": "http.response.body", "body": b""})


def inside_characters(data: bytes) -> Iterator[bytes]:
    """Yield the bytes in pieces that end inside each multi-byte UTF-8 character."""
    start = 0
    for at, byte in enumerate(data):
        if byte >= _MULTI_BYTE:
            yield data[start : at + 1]
            start = at + 1
    yield data[start:]


def _unstreamed(api: Api, request: Request, reply: Reply) -> Iterator[bytes | Silence | Held | Cut]:
    """Yield an answer that is not streamed: as in a stream, silences and breaks come in it."""
    body = msgspec.json.encode(api.whole(request, reply))
    waits = [part for part in reply.parts if isinstance(part, Silence | Held | Cut)]
    if waits and not isinstance(waits[-1], Silence):
        body = body[: len(body) // 2]
    yield from (wait for wait in waits if isinstance(wait, Silence))
    yield body
    yield from (wait for wait in waits if not isinstance(wait, Silence))


def _failure(api: Api, fail: Fail) -> Response:
    headers = {} if fail.retry_after is None else {"retry-after": str(fail.retry_after)}
    return _json(api.failure(fail.status, fail.message), fail.status, headers)


def _models(anthropic: bool) -> dict[str, Any]:  # noqa: FBT001 - one caller
    """Return a list of models; the two APIs share the path."""
    if anthropic:
        model = {"type": "model", "id": "scripted", "display_name": "Scripted"}
        listed = [{**model, "created_at": "2025-01-01T00:00:00Z"}]
        return {"data": listed, "has_more": False, "first_id": "scripted", "last_id": "scripted"}
    entry = {"id": "scripted", "object": "model", "created": CREATED, "owned_by": "scripted"}
    return {"object": "list", "data": [entry]}


def _json(
    body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    return Response(msgspec.json.encode(body), status, headers, "application/json")
