"""Names of native messages, as the vocabulary lists them: EVENTS.md 4.

`assistant`, `user`, `user/replay`, `result/SUBTYPE`, `system/SUBTYPE`, `stream_event/EVENT` (with
the type of its block or delta where it has one), and any other message by its own `type`.
"""

from typing import Any, Final

Message = dict[str, Any]

WITH_SUBTYPE: Final = frozenset({"result", "system"})
CONTROL: Final = frozenset({"control_request", "control_response", "control_cancel_request"})


def name_of(message: Message) -> str:
    """Return the name of a message that is not of the control channel; "" where it has none."""
    type_ = message.get("type")
    if not isinstance(type_, str):
        return ""
    if type_ == "stream_event":
        return _event(message.get("event"))
    if type_ in WITH_SUBTYPE:
        return f"{type_}/{message.get('subtype')}"
    if type_ == "user" and message.get("isReplay") is True:
        return "user/replay"
    return type_


def _event(event: Any) -> str:
    type_ = event.get("type") if isinstance(event, dict) else None
    name = f"stream_event/{type_}"
    part = {"content_block_start": "content_block", "content_block_delta": "delta"}.get(str(type_))
    if part is None:
        return name
    inner = event.get(part)
    return f"{name}/{inner.get('type') if isinstance(inner, dict) else None}"


def subtype_of(message: Message) -> str:
    """Return the subtype of a control request."""
    request = message.get("request")
    subtype = request.get("subtype") if isinstance(request, dict) else None
    return subtype if isinstance(subtype, str) else "unknown"


def answer_of(message: Message) -> tuple[str, bool, Any]:
    """Return what a control response says: the request's id, whether it is an error, the rest.

    The rest is the `response`, or the text of the `error`.
    """
    response = message.get("response")
    if not isinstance(response, dict):
        return "", False, None
    failed = response.get("subtype") == "error"
    rest = response.get("error" if failed else "response")
    return str(response.get("request_id", "")), failed, rest
