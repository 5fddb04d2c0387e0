"""Google's Gemini API: `POST /v1beta/models/MODEL:streamGenerateContent`, as the real one streams.

Its function calls have no id: a result is told by its place among the results of the turn.
"""

from collections.abc import Iterator
from typing import Any

from harness.model_server.mint import data, letters
from harness.model_server.view import (
    Call,
    Cut,
    Held,
    Item,
    Offered,
    Part,
    Reply,
    Request,
    Silence,
    Text,
    Thought,
)
from harness.scenarios import Usage

_METHODS = {"streamGenerateContent": True, "generateContent": False}
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_LINE_END = b"\r\n"


class Gemini:
    """The API as `view.Api`."""

    name = "gemini"
    path = "/v1beta/models/{model}:{method}"

    def call_id(self, key: str) -> str:
        """Return an id that is never sent: the API gives its calls none."""
        return f"gemini/{key}"

    def read(self, body: dict[str, Any]) -> Request:
        """Return what a request says; `model` and `method` are its path's. Raises ValueError."""
        contents, method = body.get("contents"), str(body.get("method"))
        if method not in _METHODS:
            raise ValueError(f"the method {method} is not of a model")
        if not isinstance(contents, list):
            raise ValueError("`contents` is needed")  # noqa: TRY004 - a value's form
        tools = [t for tool in body.get("tools") or () for t in _offered(tool)]
        config = body.get("generationConfig") or {}
        return Request(
            api=self.name,
            model=str(body["model"]),
            streamed=_METHODS[method],
            items=tuple(_items(contents)),
            tools=tuple(tools),
            max_tokens=config.get("maxOutputTokens"),
        )

    def stream(self, request: Request, reply: Reply) -> Iterator[bytes | Silence | Held | Cut]:  # noqa: ARG002 - the protocol's
        """Yield a response for each delta; the last has the reason of the end."""
        entries = list(_parts(reply.parts))
        if not entries or not isinstance(entries[-1], dict):
            entries.append({"text": ""})
        for entry in entries[:-1]:
            yield data(_response(reply, [entry]), _LINE_END) if isinstance(entry, dict) else entry
        yield data(_response(reply, entries[-1:], ended=True), _LINE_END)

    def whole(self, request: Request, reply: Reply) -> dict[str, Any]:  # noqa: ARG002 - the protocol's
        """Return the response whose parts are whole."""
        parts: list[Any] = []
        for part in reply.parts:
            if isinstance(part, Thought):
                parts.append({"text": "".join(part.chunks), "thought": True})
            elif isinstance(part, Text):
                parts.append({"text": "".join(part.chunks)})
            elif isinstance(part, Call):
                parts += _parts((part,))
        return _response(reply, parts, ended=True)

    def failure(self, status: int, message: str) -> dict[str, Any]:
        """Return `{"error": {"code", "message", "status"}}`."""
        name = _STATUSES.get(status, "UNKNOWN")
        return {"error": {"code": status, "message": message, "status": name}}


def _items(contents: list[Any]) -> Iterator[Item]:
    for content in contents:
        if not isinstance(content, dict):
            raise ValueError("an item of `contents` is not an object")  # noqa: TRY004
        said = content.get("role") == "model"
        for part in content.get("parts") or ():
            if "functionResponse" in part:
                yield Item("result")
            elif "functionCall" in part:
                yield Item("call")
            elif "text" in part and not part.get("thought"):
                yield Item("assistant" if said else "user", text=str(part["text"]))


def _offered(tool: dict[str, Any]) -> Iterator[Offered]:
    for declared in tool.get("functionDeclarations") or ():
        schema = declared.get("parametersJsonSchema") or declared.get("parameters") or {}
        yield Offered(str(declared.get("name")), "function", _lower(schema))
    for name in tool:
        if name != "functionDeclarations":
            yield Offered(name, "other")


def _lower(schema: Any) -> Any:
    """Return a schema with its types in JSON Schema's letters: the API's own are `STRING`."""
    if isinstance(schema, list):
        return [_lower(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    lowered = {key: _lower(inner) for key, inner in schema.items()}
    if isinstance(lowered.get("type"), str):
        lowered["type"] = lowered["type"].lower()
    return lowered


def _parts(parts: tuple[Part, ...]) -> Iterator[dict[str, Any] | Silence | Held | Cut]:
    for part in parts:
        match part:
            case Silence() | Held() | Cut():
                yield part
            case Thought():
                for chunk in part.chunks:
                    yield {"text": chunk, "thought": True}
            case Text():
                for chunk in part.chunks:
                    yield {"text": chunk}
            case Call():
                yield {"functionCall": {"name": part.tool.name, "args": part.input}}


def _response(reply: Reply, parts: list[Any], *, ended: bool = False) -> dict[str, Any]:
    return {
        "candidates": [
            {
                "content": {"parts": parts, "role": "model"},
                **({"finishReason": "STOP"} if ended else {}),
                "index": 0,
            }
        ],
        "usageMetadata": _usage(reply.usage),
        "modelVersion": reply.model,
        "responseId": letters(22, "gemini", reply.key),
    }


def _usage(usage: Usage) -> dict[str, Any]:
    """Return the usage; here, thoughts are beside the candidates' tokens, not a part of them."""
    said = usage.output - usage.reasoning_output
    found: dict[str, Any] = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": said,
        "totalTokenCount": usage.input + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
    }
    if usage.cached_input:
        found["cachedContentTokenCount"] = usage.cached_input
        found["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": usage.cached_input}]
    if usage.reasoning_output:
        found["thoughtsTokenCount"] = usage.reasoning_output
    return found


API = Gemini()
