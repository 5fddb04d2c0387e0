"""Small ACP agents, each odd in its own way, recorded and normalized as any agent is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.cassette import Frame
from harness.recording.session import Limits
from harness.scenarios import Client, Scenario, scenario
from harness.surfaces.acp.recorder import make_driver
from harness.surfaces.base import Setup
from tests.recording.fakes import QUICK, Talk, talk
from tests.surfaces.acp.wire import events_of, violations

BODY = """
import json, os, sys
def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()
def hear():
    return json.loads(sys.stdin.readline())
def answer(result):
    heard = hear()
    say({"id": heard["id"], "result": result})
    return heard
def update(what, /, **fields):
    return {"method": "session/update",
            "params": {"sessionId": "s1", "update": {"sessionUpdate": what, **fields}}}
def speak(words, kind="agent_message_chunk"):
    return update(kind, content={"type": "text", "text": words})
def ask(id_, method, **params):
    say({"id": id_, "method": method, "params": {"sessionId": "s1", **params}})
def begin(**capabilities):
    answer({"protocolVersion": 1, "agentCapabilities": capabilities})
    answer({"sessionId": "s1"})
    return hear()
def end(prompt):
    say({"id": prompt["id"], "result": {"stopReason": "end_turn"}})
"""


class Odd:
    """What came of a recording: the talk, the events, and what was said of it."""

    def __init__(self, done: Talk) -> None:
        self.frames: list[Frame] = done.frames
        self.asked = done.session.asked
        found = violations(self.frames)
        assert not found, "\n".join(found)
        self.events = events_of(self.frames)

    def of(self, kind: type[EventBase]) -> list[Any]:
        """Return the payloads of the events of a kind."""
        return [event.payload for event in self.events if isinstance(event, kind)]

    @property
    def warnings(self) -> list[str]:
        """Return what the warnings say."""
        return [payload.message for payload in self.of(ev.RuntimeWarning)]

    @property
    def sent(self) -> list[Any]:
        """Return what the client wrote."""
        return [frame.data for frame in self.frames if frame.channel == "stdin"]


def story(*clients: Client, name: str = "text", **fields: Any) -> Scenario:
    """Return a scenario with other decisions of its client, turn by turn."""
    told = structs.replace(scenario(name), **fields)
    first = told.turns[0]
    turns = [structs.replace(first, client=client) for client in clients or (Client(),)]
    return structs.replace(told, turns=tuple(turns))


def driver(told: Scenario, folder: Path, options: Mapping[str, Any] | None = None) -> Any:
    """Return the driver of a conversation in a folder."""
    return make_driver(Setup(told, str(folder), "/h", 1, "/some", "k", "odd", (), options or {}))


def meet(
    folder: Path,
    body: str,
    told: Scenario | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    limits: Limits = QUICK,
) -> Odd:
    """Record an agent whose body begins with the words of `BODY`."""
    client = driver(told or story(), folder, options)
    return Odd(talk(folder, BODY + body, client, limits=limits))
