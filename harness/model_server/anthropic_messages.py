"""Anthropic's Messages API: `POST /v1/messages`, with the events that the real one streams."""

from collections.abc import Iterator
from typing import Any

import msgspec

from harness.model_server.mint import event, letters, pieces
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

_FAILURES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


_ENDS = {"content_block_stop", "message_delta", "message_stop"}


class AnthropicMessages:
    """The API as `view.Api`."""

    name = "anthropic-messages"
    path = "/v1/messages"

    def call_id(self, key: str) -> str:
        """Return an id such as `toolu_01A09q90qw90lq917835lq9`."""
        return f"toolu_01{letters(22, 'toolu', key)}"

    def read(self, body: dict[str, Any]) -> Request:
        """Return what a request says. Raises ValueError."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not isinstance(body.get("model"), str):
            raise ValueError("`model` and `messages` are needed")  # noqa: TRY004 - a value's form
        return Request(
            api=self.name,
            model=body["model"],
            streamed=body.get("stream") is True,
            items=tuple(_items(messages)),
            tools=tuple(map(_offered, body.get("tools") or ())),
            max_tokens=body.get("max_tokens"),
        )

    def stream(self, request: Request, reply: Reply) -> Iterator[bytes | Silence | Held | Cut]:  # noqa: ARG002 - the protocol's
        """Yield `message_start` to `message_stop`.

        What ends a block and what ends its message go out together: an agent that starts a tool
        at its block's end would else tell of both in an order that differs at each run.
        """
        ending = b""
        for entry in _events(reply):
            if isinstance(entry, dict) and entry["type"] in _ENDS:
                ending += event(entry)
                continue
            if ending:
                yield ending
                ending = b""
            yield event(entry) if isinstance(entry, dict) else entry
        if ending:
            yield ending

    def whole(self, request: Request, reply: Reply) -> dict[str, Any]:  # noqa: ARG002 - the protocol's
        """Return the message at its end."""
        parts = [part for part in reply.parts if isinstance(part, Thought | Text | Call)]
        return {
            **_message(reply),
            "content": [_block(part, f"{reply.key}/{i}") for i, part in enumerate(parts)],
            "stop_reason": _stop_reason(reply),
            "usage": _usage(reply.usage),
        }

    def failure(self, status: int, message: str) -> dict[str, Any]:
        """Return `{"type": "error", "error": {...}}`."""
        return {
            "type": "error",
            "error": {"type": _FAILURES.get(status, "api_error"), "message": message},
            "request_id": f"req_01{letters(22, 'req', status, message)}",
        }


def _items(messages: list[Any]) -> Iterator[Item]:
    for message in messages:
        if not isinstance(message, dict):
            raise ValueError("an item of `messages` is not an object")  # noqa: TRY004
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant"):
            continue
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks or ():
            match block.get("type"):
                case "text":
                    yield Item(role, text=str(block.get("text", "")))
                case "tool_use":
                    yield Item("call", id=str(block.get("id", "")))
                case "tool_result":
                    yield Item("result", id=str(block.get("tool_use_id", "")))


def _offered(tool: dict[str, Any]) -> Offered:
    name = str(tool.get("name", tool.get("type", "")))
    schema = tool.get("input_schema")
    return Offered(name, "function", schema) if isinstance(schema, dict) else Offered(name, "other")


def _events(reply: Reply) -> Iterator[dict[str, Any] | Silence | Held | Cut]:
    yield {"type": "message_start", "message": _message(reply)}
    index = 0
    for part in reply.parts:
        if isinstance(part, Silence | Held | Cut):
            yield part
            continue
        block = _block(part, f"{reply.key}/{index}")
        yield {
            "type": "content_block_start",
            "index": index,
            "content_block": {**block, **_BEGUN[block["type"]]},
        }
        if index == 0:
            yield {"type": "ping"}
        for delta in _deltas(part, block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": _stop_reason(reply), "stop_sequence": None},
        "usage": _usage(reply.usage),
    }
    yield {"type": "message_stop"}


_BEGUN: dict[str, dict[str, Any]] = {
    "thinking": {"thinking": "", "signature": ""},
    "text": {"text": ""},
    "tool_use": {"input": {}},
}
"""What a content block's fields are before it has any content."""


def _deltas(part: Thought | Text | Call, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if isinstance(part, Thought):
        for chunk in part.chunks:
            yield {"type": "thinking_delta", "thinking": chunk}
        yield {"type": "signature_delta", "signature": block["signature"]}
    elif isinstance(part, Text):
        for chunk in part.chunks:
            yield {"type": "text_delta", "text": chunk}
    else:
        yield {"type": "input_json_delta", "partial_json": ""}
        for piece in pieces(msgspec.json.encode(part.input).decode()):
            yield {"type": "input_json_delta", "partial_json": piece}


def _block(part: Thought | Text | Call, key: str) -> dict[str, Any]:
    """Return a content block as it is at its end."""
    if isinstance(part, Thought):
        signature = f"EqQB{letters(60, 'signature', key)}"
        return {"type": "thinking", "thinking": "".join(part.chunks), "signature": signature}
    if isinstance(part, Text):
        return {"type": "text", "text": "".join(part.chunks)}
    return {"type": "tool_use", "id": part.id, "name": part.tool.name, "input": part.input}


def _message(reply: Reply) -> dict[str, Any]:
    return {
        "id": f"msg_01{letters(22, 'msg', reply.key)}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**_usage(reply.usage), "output_tokens": 1},
    }


def _stop_reason(reply: Reply) -> str:
    return "tool_use" if any(isinstance(part, Call) for part in reply.parts) else "end_turn"


def _usage(usage: Usage) -> dict[str, Any]:
    """Return the usage; here, cached tokens are beside `input_tokens`, not a part of them."""
    found: dict[str, Any] = {
        "input_tokens": usage.input - usage.cached_input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_input,
        "output_tokens": usage.output,
    }
    if usage.reasoning_output:
        found["output_tokens_details"] = {"thinking_tokens": usage.reasoning_output}
    return found


API = AnthropicMessages()
