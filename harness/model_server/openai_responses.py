"""OpenAI's Responses API: `POST /v1/responses`, with the events that the real one streams."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from harness.model_server.mint import CREATED, event, hexadecimal, letters, pieces
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

_TAG = "<proposed_plan>"
_FOUND = "tool_search_output"
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output", _FOUND)
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call")


class OpenAIResponses:
    """The API as `view.Api`."""

    name = "openai-responses"
    path = "/v1/responses"

    def call_id(self, key: str) -> str:
        """Return an id such as `call_h1TqEzVpW3kz7yHyR4nQx2Lm`."""
        return f"call_{letters(24, 'call', key)}"

    def read(self, body: dict[str, Any]) -> Request:
        """Return what a request says. Raises ValueError."""
        given = body.get("input")
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        if not isinstance(given, list) or not isinstance(body.get("model"), str):
            raise ValueError("`model` and `input` are needed")  # noqa: TRY004 - a value's form
        include = body.get("include")
        return Request(
            api=self.name,
            model=body["model"],
            streamed=body.get("stream") is True,
            items=tuple(_items(given)),
            tools=(*map(_offered, body.get("tools") or ()), *_found(given)),
            max_tokens=body.get("max_output_tokens"),
            tagged_plan=_TAG in msgspec.json.encode([body.get("instructions"), given]).decode(),
            encrypted_reasoning="reasoning.encrypted_content" in (include or ()),
        )

    def stream(self, request: Request, reply: Reply) -> Iterator[bytes | Silence | Held | Cut]:
        """Yield `response.created` to `response.completed`, numbered."""
        number = 0
        for entry in self._events(request, reply):
            if not isinstance(entry, dict):
                yield entry
                continue
            yield event({"type": entry["type"], "sequence_number": number, **entry})
            number += 1

    def whole(self, request: Request, reply: Reply) -> dict[str, Any]:
        """Return the response object at its end."""
        output = [item for _, item in self._outputs(request, reply)]
        return _response(reply, "completed", output)

    def failure(self, status: int, message: str) -> dict[str, Any]:
        """Return `{"error": {...}}`."""
        return failure(status, message)

    def _outputs(
        self, request: Request, reply: Reply
    ) -> Iterator[tuple[Thought | Text | Call, dict[str, Any]]]:
        """Yield each part that is an output item, with the item as it is at its end."""
        index = 0
        for part in reply.parts:
            if isinstance(part, Thought | Text | Call):
                yield part, _item(part, f"{reply.key}/{index}", request)
                index += 1

    def _events(
        self, request: Request, reply: Reply
    ) -> Iterator[dict[str, Any] | Silence | Held | Cut]:
        yield {"type": "response.created", "response": _response(reply, "in_progress", [])}
        yield {"type": "response.in_progress", "response": _response(reply, "in_progress", [])}
        outputs = self._outputs(request, reply)
        done: list[dict[str, Any]] = []
        for part in reply.parts:
            if isinstance(part, Silence | Held | Cut):
                yield part
                continue
            _, item = next(outputs)
            at = {"item_id": item["id"], "output_index": len(done)}
            begun = {**item, **_BEGUN[item["type"]]}
            yield {
                "type": "response.output_item.added",
                "output_index": len(done),
                "item": begun,
            }
            if isinstance(part, Thought):
                yield from _thought(part, at)
            elif isinstance(part, Text):
                yield from _text(part, at)
            else:
                yield from _call(part, at)
            yield {"type": "response.output_item.done", "output_index": len(done), "item": item}
            done.append(item)
        yield {"type": "response.completed", "response": _response(reply, "completed", done)}


_BEGUN: dict[str, dict[str, Any]] = {
    "reasoning": {"summary": []},
    "message": {"status": "in_progress", "content": []},
    "function_call": {"status": "in_progress", "arguments": ""},
    "custom_tool_call": {"status": "in_progress", "input": ""},
    "local_shell_call": {"status": "in_progress"},
    "tool_search_call": {"status": "in_progress"},
}
"""What an output item's fields are before it has any content."""


def _items(given: list[Any]) -> Iterator[Item]:
    for entry in given:
        if not isinstance(entry, dict):
            raise ValueError("an item of `input` is not an object")  # noqa: TRY004
        kind = entry.get("type", "message")
        if kind in _RESULTS:
            id_ = str(entry.get("call_id", entry.get("id", "")))
            yield Item("result", _told(entry.get("output")), id_)
        elif kind in _CALLS:
            yield Item("call", id=str(entry.get("call_id", entry.get("id", ""))))
        elif kind == "message" and entry.get("role") in ("user", "assistant"):
            content = entry.get("content")
            texts = (
                [content]
                if isinstance(content, str)
                else [part.get("text", "") for part in content or () if isinstance(part, dict)]
            )
            for text in texts:
                yield Item(entry["role"], text=str(text))


def _told(output: Any) -> str:
    """Return the text that came of a call: it is a string, or a list of parts."""
    if isinstance(output, list):
        return "".join(str(part.get("text", "")) for part in output if isinstance(part, dict))
    return output if isinstance(output, str) else ""


def _found(given: list[Any]) -> Iterator[Offered]:
    """Yield the tools that earlier searches have found, each with its namespace."""
    for entry in given:
        if isinstance(entry, dict) and entry.get("type") == _FOUND:
            for group in entry.get("tools") or ():
                for tool in group.get("tools") or (group,):
                    name = str(group["name"]) if "tools" in group else ""
                    yield replace(_offered(tool), namespace=name, found=True)


def _offered(tool: dict[str, Any]) -> Offered:
    kind = str(tool.get("type"))
    name = str(tool.get("name", kind))
    if kind == "function":
        return Offered(name, "function", tool.get("parameters") or {})
    if kind == "custom":
        return Offered(name, "custom")
    if kind == "tool_search" and tool.get("execution") == "client":
        return Offered(name, "search", tool.get("parameters") or {})
    return Offered(name, "local_shell" if kind == "local_shell" else "other")


def _thought(part: Thought, at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    at = {**at, "summary_index": 0}
    prefix = "response.reasoning_summary"
    text = "".join(part.chunks)
    empty = {"type": "summary_text", "text": ""}
    yield {"type": f"{prefix}_part.added", **at, "part": empty}
    for chunk in part.chunks:
        yield {"type": f"{prefix}_text.delta", **at, "delta": chunk}
    yield {"type": f"{prefix}_text.done", **at, "text": text}
    yield {"type": f"{prefix}_part.done", **at, "part": {**empty, "text": text}}


def _text(part: Text, at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    at = {**at, "content_index": 0}
    text = "".join(part.chunks)
    empty: dict[str, Any] = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
    yield {"type": "response.content_part.added", **at, "part": empty}
    for chunk in part.chunks:
        yield {"type": "response.output_text.delta", **at, "delta": chunk, "logprobs": []}
    yield {"type": "response.output_text.done", **at, "text": text, "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": {**empty, "text": text}}


def _call(part: Call, at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if part.tool.form in {"local_shell", "search"}:
        return
    custom = isinstance(part.input, str)
    prefix = "response.custom_tool_call_input" if custom else "response.function_call_arguments"
    text = _arguments(part)
    for piece in pieces(text):
        yield {"type": f"{prefix}.delta", **at, "delta": piece}
    yield {"type": f"{prefix}.done", **at, "input" if custom else "arguments": text}


def _arguments(part: Call) -> str:
    return part.input if isinstance(part.input, str) else msgspec.json.encode(part.input).decode()


def _item(part: Thought | Text | Call, key: str, request: Request) -> dict[str, Any]:
    """Return an output item as it is at its end."""
    if isinstance(part, Thought):
        item: dict[str, Any] = {
            "id": f"rs_{hexadecimal(50, 'rs', key)}",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "".join(part.chunks)}],
        }
        if request.encrypted_reasoning:
            item["encrypted_content"] = f"gAAAAA{letters(58, 'encrypted', key)}"
        return item
    if isinstance(part, Text):
        text = {"type": "output_text", "annotations": [], "logprobs": []}
        return {
            "id": f"msg_{hexadecimal(50, 'msg', key)}",
            "type": "message",
            "status": "completed",
            "content": [{**text, "text": "".join(part.chunks)}],
            "role": "assistant",
        }
    if part.tool.form == "local_shell" and isinstance(part.input, dict):
        return {
            "id": f"lsh_{hexadecimal(50, 'lsh', key)}",
            "type": "local_shell_call",
            "status": "completed",
            "call_id": part.id,
            "action": {"type": "exec", "command": part.input["command"], "env": {}},
        }
    if part.tool.form == "search":
        return {
            "id": f"tsc_{hexadecimal(50, 'tsc', key)}",
            "type": "tool_search_call",
            "execution": "client",
            "status": "completed",
            "call_id": part.id,
            "arguments": part.input,
        }
    custom = isinstance(part.input, str)
    prefix = "ctc" if custom else "fc"
    named = {"namespace": part.tool.namespace} if part.tool.namespace else {}
    return {
        "id": f"{prefix}_{hexadecimal(50, prefix, key)}",
        "type": "custom_tool_call" if custom else "function_call",
        "status": "completed",
        "input" if custom else "arguments": _arguments(part),
        "call_id": part.id,
        "name": part.tool.name,
        **named,
    }


def _response(reply: Reply, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"resp_{hexadecimal(50, 'resp', reply.key)}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": reply.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "service_tier": "default",
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": _usage(reply.usage) if status == "completed" else None,
        "user": None,
        "metadata": {},
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached_input},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_output},
        "total_tokens": usage.input + usage.output,
    }


API = OpenAIResponses()
