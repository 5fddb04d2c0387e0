#!/usr/bin/env python3
"""No agent: a program that speaks as one would, until the real one is here.

It asks the scripted model (chat completions, streamed), says what that says, and does nothing
else. What is recorded of it is `constructed`, since no agent ran; remove it with its entry in
manifest.yaml.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

VERSION = "0.1.0"
# Offered, never run: the scripted model takes what offers no shell for a request beside the turn.
SHELL = {
    "name": "bash",
    "description": "Runs a command.",
    "parameters": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}


def say(kind: str, **fields: Any) -> None:
    """Write one message."""
    print(json.dumps({"type": kind, **fields}), flush=True)


def asked(messages: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    """Ask the model; yield what it streams, chunk by chunk."""
    question = {
        "model": "scripted",
        "messages": messages,
        "tools": [{"type": "function", "function": SHELL}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    request = urllib.request.Request(  # noqa: S310 - the scripted model's address
        f"{os.environ['MODEL_URL']}/chat/completions",
        json.dumps(question).encode(),
        {
            "Authorization": f"Bearer {os.environ['MODEL_KEY']}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
        for line in answer:
            content = line.strip().removeprefix(b"data: ")
            if content and content != b"[DONE]":
                yield json.loads(content)


def turn(messages: list[dict[str, str]]) -> None:
    """Say what the model says to the conversation so far, and add it."""
    say("turn.started")
    words = ""
    usage: dict[str, Any] = {}
    try:
        for chunk in asked(messages):
            usage = chunk.get("usage") or usage
            for choice in chunk["choices"]:
                if piece := choice["delta"].get("content"):
                    say("text", text=piece)
                    words += piece
    except OSError as error:
        say("turn.failed", message=str(error))
        return
    messages.append({"role": "assistant", "content": words})
    say("turn.completed", usage=usage)


def main() -> None:
    """Take prompts until the client ends its input."""
    if sys.argv[1:] == ["--version"]:
        print(VERSION)
        return
    say("ready", session="session-1")
    messages: list[dict[str, str]] = []
    for line in sys.stdin:
        messages.append({"role": "user", "content": json.loads(line)["text"]})
        turn(messages)


if __name__ == "__main__":
    main()
