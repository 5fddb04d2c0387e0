"""Conversations with opencode's server, written by hand; the laws are judged each time."""

import json
from collections.abc import Iterable
from typing import Any

from harness.canonical import EventBase
from tests.surfaces.acp.wire import normalize as judged
from tests.surfaces.codex.wire import REPORTS

Entry = tuple[str, str, Any]


def event(kind: str, **properties: Any) -> Entry:
    return "in", "sse", {"type": kind, "properties": properties}


def request(number: int, method: str, path: str, body: Any = None) -> Entry:
    return "out", "http", {"request": number, "method": method, "path": path, "body": body}


def response(number: int, status: int, body: Any = None) -> Entry:
    return "in", "http", {"request": number, "status": status, "body": body}


def normalize(entries: Iterable[Entry]) -> list[EventBase]:
    return judged(entries, "opencode")


def report(name: str) -> list[Entry]:
    """The frames of a field report: events, and exchanges where a note tells of one."""
    found: list[Entry] = []
    for line in REPORTS[name]["native"]:
        words = line.get("line", "")
        if line["dir"] == "note":
            found += [request(1, "POST", "/session/ses1/abort"), response(1, 200, body=True)]
        elif words:
            found.append(("in", "sse", json.loads(words.removeprefix("data: "))))
    return found
