"""Which answer belongs to which request: the place of the id, on each kind of wire."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Place = tuple[str, ...]


class Pairing(NamedTuple):
    """Where a message has the id of a request, or of the request that it answers; () for none."""

    asks: Callable[[Any], Place]
    answers: Callable[[Any], Place]


def pairing(ids: Literal["json-rpc", "control", "none"]) -> Pairing:
    """Return the pairing of a manifest's `playback.ids`."""
    return {
        "json-rpc": Pairing(_rpc_asks, _rpc_answers),
        "control": Pairing(_control_asks, _control_answers),
        "none": Pairing(lambda _: (), lambda _: ()),
    }[ids]


def look(message: Any, place: Place) -> Any:
    """Return what stands at a place that `asks` or `answers` has named."""
    for key in place:
        message = message[key]
    return message


def put(message: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    """Return the message with another value at a place; the message itself stays as it is."""
    key, *rest = place
    inner = put(message[key], tuple(rest), value) if rest else value
    return {**message, key: inner}


def usable(id_: Any) -> bool:
    """Whether a client's request may carry this id: a text or a number."""
    return isinstance(id_, (str, int, float)) and not isinstance(id_, bool)


def _rpc_asks(message: Any) -> Place:
    asks = isinstance(message, dict) and "method" in message and "id" in message
    return ("id",) if asks else ()


def _rpc_answers(message: Any) -> Place:
    answers = isinstance(message, dict) and "method" not in message and "id" in message
    return ("id",) if answers else ()


def _control_asks(message: Any) -> Place:
    is_one = isinstance(message, dict) and message.get("type") == "control_request"
    return ("request_id",) if is_one and "request_id" in message else ()


def _control_answers(message: Any) -> Place:
    if not isinstance(message, dict) or message.get("type") != "control_response":
        return ()
    response = message.get("response")
    has_one = isinstance(response, dict) and "request_id" in response
    return ("response", "request_id") if has_one else ()
