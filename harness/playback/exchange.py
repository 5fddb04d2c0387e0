"""What a server's frames are on the wire: answers to requests, blocks of an event stream."""

import base64
import re
from typing import Any, Final

import msgspec

_FIELDS: Final = re.compile(r"(data|event|id|retry)(:|$)", re.MULTILINE)

_STATUSES: Final = range(200, 1000)


def answer_of(frame: Any) -> tuple[int, int, bytes]:
    """Return the number of the request, the status and the body of an answer's content.

    Raises TypeError, KeyError and ValueError for what is none.
    """
    number, status = frame["request"], frame["status"]
    if not isinstance(number, int) or not isinstance(status, int) or status not in _STATUSES:
        raise ValueError("a number of a request and a status are needed")
    if "text" in frame:
        return number, status, str(frame["text"]).encode()
    if "b64" in frame:
        return number, status, base64.b64decode(frame["b64"], validate=True)
    body = frame["body"]
    return number, status, b"" if body is None else msgspec.json.encode(body)


def request_of(method: str, path: str, body: bytes) -> bytes:
    """Return a client's request as the content of its frame, as a line of JSON.

    Its number is nobody's but the recorder's.
    """
    value: Any = None
    if body:
        try:
            value = msgspec.json.decode(body)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            value = body.decode(errors="replace")
    return msgspec.json.encode({"method": method, "path": path, "body": value})


def sse_block(field: str, value: Any) -> bytes:
    """Return the block of an event's data, of a comment, or of an event that was cut off.

    `field` is the frame's content field: a text that is not an event's data is of whole lines.
    """
    if field == "data":
        return b"data: %s\n\n" % msgspec.json.encode(value)
    text = str(value)
    if text.startswith(":") and "\n" not in text:
        return f"{text}\n\n".encode()
    if _FIELDS.match(text):
        # Fields without data are a block of their own; with data, the end of the stream cut it.
        cut = any(line.startswith("data") for line in text.split("\n"))
        return text.encode() if cut else f"{text}\n\n".encode()
    return "".join(f"data: {line}\n" for line in text.split("\n")).encode() + b"\n"
