"""Exchanges as they went, made a cassette of vcrpy's: filtered, and event by event."""

from typing import Any, Literal

from msgspec import Struct
from vcr.cassette import Cassette
from vcr.filters import decode_response
from vcr.request import Request

from harness.gateway.base import Asked
from harness.gateway.filters import request_filters, response_filters
from harness.gateway.own import own_lines, repeated, without_echo
from harness.gateway.pace import Pace, cut, written
from harness.gateway.reduce import Reducer
from harness.gateway.tape import Exchange, cassette_config
from harness.recording.errors import RecordError


class Kept(Struct):
    """An exchange as it went: filtered only once it is kept."""

    asked: Asked
    status: int
    headers: list[tuple[str, str]]
    body: bytearray
    pace: Pace
    end: str = ""


def keep(exchanges: list[Kept], reducer: Reducer) -> tuple[Cassette, list[Exchange]]:
    """Return the cassette, and what vcrpy's format has no place for.

    Raises RecordError (1) where there is nothing, or where it holds the agent's own texts.
    """
    config = cassette_config(
        list(request_filters(reducer).values()), list(response_filters().values())
    )
    cassette = Cassette(path="", **config)
    known = []
    own: set[str] = set()
    for kept in exchanges:
        if not kept.status:
            continue  # the agent left before anything came
        asked = kept.asked
        own |= own_lines(asked.body, asked.header("content-type"))
        query = f"?{asked.query}" if asked.query else ""
        request = Request(
            asked.method, f"http://agent{asked.path}{query}", asked.body, dict(asked.headers[::-1])
        )
        response, events = _without_echoes(kept)
        if repeated(response["body"]["string"], own):
            raise RecordError(
                1,
                f"the answer to {asked.method} {asked.path} repeats what is the agent's own, its "
                "system prompt or a tool's text; nothing was written",
            )
        cassette.append(request, response)
        end: Literal["whole", "left"] = "left" if kept.end == "left" else "whole"
        known.append(Exchange(asked.api, events, end))
    if not known:
        raise RecordError(1, "the agent asked no model: there is no model's cassette")
    return cassette, known


def _without_echoes(kept: Kept) -> tuple[dict[str, Any], str]:
    """Return an answer as it is kept, and its events as they are written."""
    response = decode_response(response_of(kept))
    body = response["body"]["string"]
    events = kept.pace.close()
    if len(body) != len(kept.body):
        # It was compressed after all: when its events came cannot be told.
        events = [(events[-1][0], len(body))] if body else []
    pieces = [(ms, without_echo(piece)) for ms, piece in cut(body, written(events))]
    response["body"]["string"] = b"".join(piece for _, piece in pieces)
    return response, written([(ms, len(piece)) for ms, piece in pieces])


def response_of(kept: Kept) -> dict[str, Any]:
    """Return an answer as vcrpy has it."""
    headers: dict[str, list[str]] = {}
    for name, value in kept.headers:
        headers.setdefault(name, []).append(value)
    return {
        "status": {"code": kept.status, "message": ""},
        "headers": headers,
        "body": {"string": bytes(kept.body)},
    }


def header_of(kept: Kept, name: str) -> str:
    """Return a header's first value, or an empty text."""
    return next((value for key, value in kept.headers if key.lower() == name), "")
