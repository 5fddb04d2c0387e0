"""The client's side of each model API: how a conversation is asked for, read and gone on with."""

import json
from typing import Any, Protocol

CODEX_TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "name": "exec_command",
        "parameters": {
            "type": "object",
            "properties": {"cmd": {"type": "string"}, "login": {"type": "boolean"}},
            "required": ["cmd"],
        },
    },
    {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
    {"type": "web_search"},
]


def _schema(*required: str) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in required}
    return {"type": "object", "properties": properties, "required": list(required)}


CLAUDE_TOOLS: list[dict[str, Any]] = [
    {
        "name": "Bash",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string"}, "timeout": {"type": "number"}},
            "required": ["command"],
        },
    },
    {"name": "Edit", "input_schema": _schema("file_path", "old_string", "new_string")},
    {"name": "Write", "input_schema": _schema("file_path", "content")},
]

CHAT_TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in (
        ("bash", _schema("command")),
        ("edit", _schema("filePath", "oldString", "newString")),
        ("write", _schema("filePath", "content")),
    )
]


GEMINI_TOOLS: list[dict[str, Any]] = [
    {
        "name": "run_shell_command",
        # The API's own form of a schema, beside JSON Schema: agents send the one or the other.
        "parameters": {
            "type": "OBJECT",
            "properties": {"command": {"type": "STRING"}, "is_background": {"type": "BOOLEAN"}},
            "required": ["command", "is_background"],
        },
    },
    {"name": "replace", "parametersJsonSchema": _schema("file_path", "old_string", "new_string")},
    {"name": "write_file", "parametersJsonSchema": _schema("file_path", "content")},
]


class Wire(Protocol):
    path: str
    unstreamed: str
    tools: list[dict[str, Any]]
    shell: str

    def body(self, items: list[Any], tools: list[Any], *, stream: bool) -> dict[str, Any]:
        """Return the body of a request."""

    def user(self, text: str) -> dict[str, Any]:
        """Return an item that the user says."""

    def assistant(self, text: str) -> dict[str, Any]:
        """Return an item that the model said."""

    def read(self, content: bytes) -> list[dict[str, Any]]:
        """Read a stream."""

    def text(self, sent: list[dict[str, Any]]) -> str:
        """Return the message that a stream's values make."""

    def take(self, sent: list[dict[str, Any]], items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Add an answer, and the results of its calls, to the items. Return its calls."""

    def drop_result(self, items: list[dict[str, Any]]) -> None:
        """Take the newest result away again."""


class Responses:
    """OpenAI's Responses API."""

    path = unstreamed = "/v1/responses"
    tools = CODEX_TOOLS
    shell = "exec_command"

    def body(self, items: list[Any], tools: list[Any], *, stream: bool) -> dict[str, Any]:
        return {"model": "m", "stream": stream, "input": items, "tools": tools}

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "input_text", "text": text}]}

    def assistant(self, text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": [{"type": "output_text", "text": text}]}

    def read(self, content: bytes) -> list[dict[str, Any]]:
        return events(content)

    def text(self, sent: list[dict[str, Any]]) -> str:
        items = sent[-1]["response"]["output"]
        return "".join(p["text"] for i in items for p in i.get("content", ()))

    def take(self, sent: list[dict[str, Any]], items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        output = sent[-1]["response"]["output"]
        items += output
        calls = [item for item in output if "call_id" in item]
        items += [
            {"type": f"{c['type']}_output", "call_id": c["call_id"], "output": "done"}
            for c in calls
        ]
        return calls

    def drop_result(self, items: list[dict[str, Any]]) -> None:
        items.pop()


class Messages:
    """Anthropic's Messages API."""

    path = unstreamed = "/v1/messages"
    tools = CLAUDE_TOOLS
    shell = "Bash"

    def body(self, items: list[Any], tools: list[Any], *, stream: bool) -> dict[str, Any]:
        return {"model": "m", "stream": stream, "messages": items, "tools": tools}

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "text", "text": text}]}

    def assistant(self, text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": [{"type": "text", "text": text}]}

    def read(self, content: bytes) -> list[dict[str, Any]]:
        return events(content)

    def text(self, sent: list[dict[str, Any]]) -> str:
        return "".join(block.get("text", "") for block in message(sent)["content"])

    def take(self, sent: list[dict[str, Any]], items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        blocks = message(sent)["content"]
        items.append({"role": "assistant", "content": blocks})
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if calls:
            results = [
                {"type": "tool_result", "tool_use_id": c["id"], "content": "done"} for c in calls
            ]
            items.append({"role": "user", "content": results})
        return calls

    def drop_result(self, items: list[dict[str, Any]]) -> None:
        items[-1]["content"].pop()


class Chat:
    """OpenAI's chat completions."""

    path = unstreamed = "/v1/chat/completions"
    tools = CHAT_TOOLS
    shell = "bash"

    def body(self, items: list[Any], tools: list[Any], *, stream: bool) -> dict[str, Any]:
        system = {"role": "system", "content": "You are an agent."}
        return {"model": "m", "stream": stream, "messages": [system, *items], "tools": tools}

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    def assistant(self, text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": [{"type": "text", "text": text}]}

    def read(self, content: bytes) -> list[dict[str, Any]]:
        return chunks(content)

    def text(self, sent: list[dict[str, Any]]) -> str:
        return str(completion(sent)["choices"][0]["message"]["content"] or "")

    def take(self, sent: list[dict[str, Any]], items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        said = completion(sent)["choices"][0]["message"]
        items.append(said)
        calls: list[dict[str, Any]] = said.get("tool_calls", [])
        items += [{"role": "tool", "tool_call_id": c["id"], "content": "done"} for c in calls]
        return calls

    def drop_result(self, items: list[dict[str, Any]]) -> None:
        items.pop()


class Gemini:
    """Google's Gemini API."""

    path = "/v1beta/models/m:streamGenerateContent?alt=sse"
    unstreamed = "/v1beta/models/m:generateContent"
    tools = GEMINI_TOOLS
    shell = "run_shell_command"

    def body(self, items: list[Any], tools: list[Any], *, stream: bool) -> dict[str, Any]:  # noqa: ARG002
        return {
            "contents": items,
            "tools": [{"functionDeclarations": tools}] if tools else [],
            "systemInstruction": {"role": "user", "parts": [{"text": "You are an agent."}]},
            "generationConfig": {"temperature": 0},
        }

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "parts": [{"text": text}]}

    def assistant(self, text: str) -> dict[str, Any]:
        return {"role": "model", "parts": [{"text": text}]}

    def read(self, content: bytes) -> list[dict[str, Any]]:
        return responses(content)

    def text(self, sent: list[dict[str, Any]]) -> str:
        parts = [p for r in sent for p in r["candidates"][0]["content"]["parts"]]
        return "".join(p.get("text", "") for p in parts if not p.get("thought"))

    def take(self, sent: list[dict[str, Any]], items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        parts = [p for r in sent for p in r["candidates"][0]["content"]["parts"]]
        items.append({"role": "model", "parts": parts})
        calls = [p["functionCall"] for p in parts if "functionCall" in p]
        results = [
            {"functionResponse": {"name": c["name"], "id": f"own-{i}", "response": {"output": ""}}}
            for i, c in enumerate(calls)
        ]
        if results:
            items.append({"role": "user", "parts": results})
        return calls

    def drop_result(self, items: list[dict[str, Any]]) -> None:
        items[-1]["parts"].pop()


WIRES: dict[str, Wire] = {
    "openai": Responses(),
    "anthropic": Messages(),
    "chat": Chat(),
    "gemini": Gemini(),
}


def events(content: bytes) -> list[dict[str, Any]]:
    """Read server-sent events, and check that each is named by its type."""
    found = []
    for block in content.decode().split("\n\n")[:-1]:
        name, data = block.split("\n")
        value = json.loads(data.removeprefix("data: "))
        assert name == f"event: {value['type']}"
        found.append(value)
    return found


def chunks(content: bytes) -> list[dict[str, Any]]:
    """Read the chunks of a chat completion, and check that `[DONE]` ends them."""
    *found, done, rest = content.decode().split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    return [json.loads(line.removeprefix("data: ")) for line in found]


def responses(content: bytes) -> list[dict[str, Any]]:
    """Read the responses of a Gemini stream, and check that the last alone says how it ended."""
    *found, rest = content.decode().split("\r\n\r\n")
    assert rest == ""
    sent = [json.loads(line.removeprefix("data: ")) for line in found]
    ends = [response["candidates"][0].get("finishReason") for response in sent]
    assert ends == [None] * (len(sent) - 1) + ["STOP"]
    return sent


def completion(sent: list[dict[str, Any]]) -> dict[str, Any]:
    """Put a chat completion together from its chunks."""
    message: dict[str, Any] = {}
    calls: list[dict[str, Any]] = []
    choice: dict[str, Any] = {}
    usage = None
    for chunk in sent:
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            delta = dict(choice["delta"])
            for call in delta.pop("tool_calls", ()):
                if call["index"] == len(calls):
                    calls.append({"id": call["id"], "type": "function", "function": {}})
                for key, piece in call["function"].items():
                    whole = calls[call["index"]]["function"]
                    whole[key] = whole.get(key, "") + piece
            for key, piece in delta.items():
                old = message.get(key)
                message[key] = old + piece if old and isinstance(piece, str) else piece
    if calls:
        message["tool_calls"] = calls
    whole = {key: sent[0][key] for key in sent[0] if key not in {"choices", "usage"}}
    end = {"index": 0, "message": message, "logprobs": None}
    return {
        **whole,
        "object": "chat.completion",
        "choices": [{**end, "finish_reason": choice["finish_reason"]}],
        "usage": usage,
    }


def message(sent: list[dict[str, Any]]) -> dict[str, Any]:
    """Put the message of a Messages stream together from its deltas."""
    whole: dict[str, Any] = dict(sent[0]["message"])
    blocks: list[dict[str, Any]] = []
    partial = ""
    for event in sent[1:]:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(blocks)
                blocks.append(dict(event["content_block"]))
                partial = ""
            case "content_block_delta":
                delta = dict(event["delta"])
                kind = delta.pop("type")
                if kind == "input_json_delta":
                    partial += delta["partial_json"]
                else:
                    ((key, piece),) = delta.items()
                    blocks[-1][key] += piece
            case "content_block_stop" if partial:
                blocks[-1]["input"] = json.loads(partial)
            case "message_delta":
                whole |= event["delta"] | {"usage": event["usage"]}
    return {**whole, "content": blocks}
