"""The server that a Python normalizer is put behind, and the schema of what it speaks."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.canonical import EventBase, encode_event
from harness.cassette import Frame
from harness.cli import main
from harness.project import find_project
from harness.subject import coerce
from harness.subject.protocol import MESSAGES, Request, protocol_schema
from harness.subject.serve import Server
from tests.conformance import toy

ROOT = find_project(Path(__file__)).root


def requests(conversations: list[tuple[str, list[dict[str, Any]]]]) -> Iterator[bytes]:
    ids = iter(range(1, 10_000))
    for name, _ in conversations:
        yield msgspec.json.encode(
            {"cmd": "open", "id": next(ids), "conversation": name, "header": toy.HEADER}
        )
    at = 0
    while any(frames[at:] for _, frames in conversations):
        for name, frames in conversations:
            for data in frames[at : at + 1]:
                frame = Frame(at + 1, at * 7, "in", "stdout", data=data)
                yield msgspec.json.encode(
                    {"cmd": "frames", "id": next(ids), "conversation": name, "frames": [frame]}
                )
        at += 1
    for name, _ in conversations:
        yield msgspec.json.encode({"cmd": "close", "id": next(ids), "conversation": name})


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(1, len(toy.CHAT)), min_size=1, max_size=4))
def test_the_server_gives_what_the_normalizer_gives(lengths: list[int]) -> None:
    server = Server(toy.Normalizer, {"name": "toy", "version": "1", "language": "python"})
    given: dict[str, list[bytes]] = {}
    for line in requests([(str(n), toy.CHAT[:length]) for n, length in enumerate(lengths)]):
        asked, answer = json.loads(line), json.loads(server.answer(line))
        assert answer["id"] == asked["id"]
        events = answer.get("events", [])
        for event in events if asked["cmd"] == "close" else chain.from_iterable(events):
            known = coerce(event)
            assert isinstance(known, EventBase)
            given.setdefault(asked["conversation"], []).append(encode_event(known))
    for n, length in enumerate(lengths):
        due = [encode_event(e) for e in toy.events_of(toy.Normalizer, toy.CHAT[:length])]
        assert given[str(n)] == due


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"[]", "not a request of protocol version 1"),
        (b"\xff", "not a request of protocol version 1"),
        (b'{"cmd":"dance","id":4}', "Invalid value 'dance'"),
        (b'{"cmd":"close","id":4,"conversation":"9"}', "no conversation '9' is open"),
        (b'{"cmd":"frames","id":4,"conversation":"9","frames":[]}', "no conversation '9' is open"),
    ],
)
def test_the_server_says_what_it_cannot_do(line: bytes, said: str) -> None:
    server = Server(toy.Normalizer, {})
    answer = json.loads(server.answer(line))
    assert said in answer["error"]["message"]
    assert answer["id"] == (4 if b"4" in line else 0)


def test_the_schema_is_what_the_code_says(capsys: pytest.CaptureFixture[str]) -> None:
    import jsonschema

    schema = protocol_schema()
    assert msgspec.json.decode((ROOT / "docs/protocol.schema.json").read_bytes()) == schema
    assert main(["schema", "--protocol"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out) == schema
    jsonschema.Draft202012Validator.check_schema(schema)
    # Made once: `jsonschema.validate` judges the whole schema again at each message.
    of = {
        name: jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
        for name in {answer.__name__ for _, answer in MESSAGES.values()}
    }
    any_request = jsonschema.Draft202012Validator(schema)
    server = Server(toy.Normalizer, {"name": "toy", "version": "1", "language": "python"})
    start = msgspec.json.encode({"cmd": "start", "id": 1, "protocol": 1, "harness": "1"})
    for line in [start, *requests([("1", toy.CHAT)]), b'{"cmd":"stop","id":99}']:
        msgspec.json.decode(line, type=Request)
        any_request.validate(json.loads(line))
        name = MESSAGES[json.loads(line)["cmd"]][1].__name__
        of[name].validate(json.loads(server.answer(line)))
