"""OpenAI's chat completions: `POST /v1/chat/completions`, streamed in chunks as the real one.

Most agents that take any provider speak it. Reasoning has no place in OpenAI's own form of it;
`reasoning_content`, which the servers that have it send and the agents read, is used.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from harness.model_server.mint import CREATED, data, hexadecimal, letters, pieces
from harness.model_server.openai_errors import failure
from harness.model_server.view import (
    Call,
    Cut,
    Held,
    Item,
    Offered,
    Reply,
    Request,
    Silence,
    Text,
    Thought,
)
from harness.scenarios import Usage

_END = b"data: [DONE]\n\n"


class OpenAIChat:
    """The API as `view.Api`."""

    name = "openai-chat"
    path = "/v1/chat/completions"

    def call_id(self, key: str) -> str:
        """Return an id such as `call_h1TqEzVpW3kz7yHyR4nQx2Lm`."""
        return f"call_{letters(24, 'call', key)}"

    def read(self, body: dict[str, Any]) -> Request:
        """Return what a request says. Raises ValueError."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not isinstance(body.get("model"), str):
            raise ValueError("`model` and `messages` are needed")  # noqa: TRY004 - a value's form
        options = body.get("stream_options") or {}
        return Request(
            api=self.name,
            model=body["model"],
            streamed=body.get("stream") is True,
            items=tuple(_items(messages)),
            tools=tuple(map(_offered, body.get("tools") or ())),
            max_tokens=body.get("max_completion_tokens", body.get("max_tokens")),
            include_usage=options.get("include_usage") is True,
        )

    def stream(self, request: Request, reply: Reply) -> Iterator[bytes | Silence | Held | Cut]:
        """Yield the role's chunk to the chunk with the usage, if it is asked for, and `[DONE]`."""
        base = _base(reply, "chat.completion.chunk")
        if request.include_usage:
            base["usage"] = None
        for entry in _deltas(reply):
            if isinstance(entry, dict):
                yield data({**base, "choices": [_choice({"delta": entry}, None)]})
            else:
                yield entry
        yield data({**base, "choices": [_choice({"delta": {}}, _finish_reason(reply))]})
        if request.include_usage:
            yield data({**base, "choices": [], "usage": _usage(reply.usage)})
        yield _END

    def whole(self, request: Request, reply: Reply) -> dict[str, Any]:  # noqa: ARG002 - the protocol's
        """Return the completion."""
        said = "".join(c for p in reply.parts if isinstance(p, Text) for c in p.chunks)
        thought = "".join(c for p in reply.parts if isinstance(p, Thought) for c in p.chunks)
        calls = [_call(part, _arguments(part)) for part in reply.parts if isinstance(part, Call)]
        message: dict[str, Any] = {"role": "assistant", "content": said or None, "refusal": None}
        if thought:
            message["reasoning_content"] = thought
        if calls:
            message["tool_calls"] = calls
        return {
            **_base(reply, "chat.completion"),
            "choices": [_choice({"message": message}, _finish_reason(reply))],
            "usage": _usage(reply.usage),
        }

    def failure(self, status: int, message: str) -> dict[str, Any]:
        """Return `{"error": {...}}`."""
        return failure(status, message)


def _items(messages: list[Any]) -> Iterator[Item]:
    for message in messages:
        if not isinstance(message, dict):
            raise ValueError("an item of `messages` is not an object")  # noqa: TRY004
        role, content = message.get("role"), message.get("content")
        if role == "tool":
            yield Item("result", id=str(message.get("tool_call_id", "")))
        if role not in ("user", "assistant"):
            continue
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts or ():
            if part.get("type") == "text":
                yield Item(role, text=str(part.get("text", "")))
        for call in message.get("tool_calls") or ():
            yield Item("call", id=str(call.get("id", "")))


def _offered(tool: dict[str, Any]) -> Offered:
    function = tool.get("function")
    if tool.get("type") != "function" or not isinstance(function, dict):
        return Offered(str(tool.get("type")), "other")
    return Offered(str(function.get("name")), "function", function.get("parameters") or {})


def _deltas(reply: Reply) -> Iterator[dict[str, Any] | Silence | Held | Cut]:
    """Yield the `delta` of each chunk but the last."""
    has_text = any(isinstance(part, Text) for part in reply.parts)
    yield {"role": "assistant", "content": "" if has_text else None, "refusal": None}
    calls = 0
    for part in reply.parts:
        match part:
            case Silence() | Held() | Cut():
                yield part
            case Thought():
                for chunk in part.chunks:
                    yield {"reasoning_content": chunk}
            case Text():
                for chunk in part.chunks:
                    yield {"content": chunk}
            case Call():
                yield {"tool_calls": [{"index": calls, **_call(part, "")}]}
                for piece in pieces(_arguments(part)):
                    yield {"tool_calls": [{"index": calls, "function": {"arguments": piece}}]}
                calls += 1


def _call(part: Call, arguments: str) -> dict[str, Any]:
    function = {"name": part.tool.name, "arguments": arguments}
    return {"id": part.id, "type": "function", "function": function}


def _arguments(part: Call) -> str:
    return part.input if isinstance(part.input, str) else msgspec.json.encode(part.input).decode()


def _choice(content: dict[str, Any], finish_reason: str | None) -> dict[str, Any]:
    return {"index": 0, **content, "logprobs": None, "finish_reason": finish_reason}


def _finish_reason(reply: Reply) -> str:
    return "tool_calls" if any(isinstance(part, Call) for part in reply.parts) else "stop"


def _base(reply: Reply, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{letters(29, 'chatcmpl', reply.key)}",
        "object": kind,
        "created": CREATED,
        "model": reply.model,
        "service_tier": "default",
        "system_fingerprint": f"fp_{hexadecimal(10, 'fp', reply.model)}",
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning_output,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


API = OpenAIChat()
