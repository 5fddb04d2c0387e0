"""Which requests are a model API's, where its provider is, and how an answer of it ends."""

import re
from typing import Final

from msgspec import Struct

from harness.model_server.server import APIS


class Provider(Struct, frozen=True):
    """Where an API's own provider listens, and the variables that its key is looked for in."""

    url: str
    keys: tuple[str, ...]


_OPENAI: Final = Provider("https://api.openai.com", ("OPENAI_API_KEY",))
PROVIDERS: Final = {
    "openai-responses": _OPENAI,
    "openai-chat": _OPENAI,
    "anthropic-messages": Provider("https://api.anthropic.com", ("ANTHROPIC_API_KEY",)),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com", ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    ),
}

_PATHS: Final = [
    *(
        (api.name, re.compile(re.sub(r"\\?\{\w+\\?\}", "[^/:]+", re.escape(api.path))))
        for api in APIS
    ),
    ("anthropic-messages", re.compile("/v1/messages/count_tokens")),
]
_ENDS: Final = {
    "openai-responses": re.compile(
        rb'"type"\s*:\s*"(response\.(completed|failed|incomplete)|error)"'
    ),
    "openai-chat": re.compile(rb'^data:\s*\[DONE\]|"finish_reason"\s*:\s*"', re.MULTILINE),
    "anthropic-messages": re.compile(rb'"type"\s*:\s*"(message_stop|error)"'),
    "gemini": re.compile(rb'"finishReason"\s*:\s*"|"error"\s*:|"blockReason"\s*:\s*"'),
}


def api_of(method: str, path: str) -> str | None:
    """Return the name of the model API that a request asks, or None."""
    if method != "POST":
        return None
    return next((name for name, pattern in _PATHS if pattern.fullmatch(path)), None)


def is_whole(api: str, content_type: str, body: bytes) -> bool:
    """Say whether a streamed answer has the event that ends it; others end with their body."""
    return "event-stream" not in content_type or _ENDS[api].search(body) is not None
