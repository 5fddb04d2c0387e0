"""The corpus for the projections: the canonical events of each recorded cassette."""

from functools import cache
from pathlib import Path

from harness.canonical import EventBase
from harness.cassette import open_cassette
from harness.project import find_project
from harness.projection import ChatEvent, ChatProjection
from harness.surfaces import surface

PROJECT = find_project(Path(__file__))
ROOT = PROJECT.cassettes
IDS = [PROJECT.cassette_id(path) for path in PROJECT.recorded_paths()]


@cache
def events(cassette: str) -> list[EventBase]:
    """The canonical events, by the reference normalizer."""
    with open_cassette(ROOT / f"{cassette}.jsonl") as opened:
        normalizer = surface(opened.header.surface).normalizer(opened.header)
        given = [event for frame in opened for event in normalizer.feed(frame)]
        return [*given, *normalizer.close()]


def project(canonical: list[EventBase]) -> list[ChatEvent]:
    """The chat events of a whole conversation."""
    projection = ChatProjection()
    given = [chat for event in canonical for chat in projection.feed(event)]
    return [*given, *projection.close()]
