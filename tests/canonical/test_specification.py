"""Every list and every payload field of EVENTS.md section 1, held against the code."""

import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from msgspec import UNSET, UnsetType, structs

from harness.canonical import events as ev
from harness.canonical import names
from harness.canonical.events import EVENT_CLASSES, EventBase, ProviderRefs, Raw

SPEC = (Path(names.__file__).parent / "EVENTS.md").read_text("utf-8").split("\n## 2)")[0]


def union(name: str) -> list[str]:
    """The string literals of a `type NAME = | "a" | "b";` in the specification."""
    text = re.search(rf"type {name} =(.*?);", SPEC, re.DOTALL)
    assert text, name
    return re.findall(r'"([^"]+)"', text[1])


def members(text: str) -> dict[str, str]:
    """`{ a: X; b?: Y }` as field to type text, a trailing `?` kept on the field."""
    fields, depth, start = {}, 0, 0
    for position, char in enumerate(text):
        depth += (char in "{<[") - (char in "}>]")
        if char == ";" and depth == 0:
            field, _, kind = text[start:position].strip().partition(":")
            fields[field.strip()] = " ".join(kind.split())
            start = position + 1
    last = text[start:].strip()
    if last:
        field, _, kind = last.partition(":")
        fields[field.strip()] = " ".join(kind.split())
    return fields


def payloads() -> dict[str, str]:
    """Event type to the text of its payload type."""
    block = re.search(r"type RuntimeEventPayloadByType = \{(.*?)\n\};", SPEC, re.DOTALL)
    assert block
    return {name.strip('"'): kind for name, kind in members(block[1]).items()}


@pytest.mark.parametrize(
    ("name", "literal"),
    [
        ("CanonicalItemType", names.CanonicalItemType),
        ("CanonicalRequestType", names.CanonicalRequestType),
        ("SessionState", names.SessionState),
        ("ThreadState", names.ThreadState),
        ("TurnState", names.TurnState),
        ("ContentStreamKind", names.ContentStreamKind),
    ],
)
def test_a_list_is_the_specifications(name: str, literal: Any) -> None:
    assert list(get_args(literal)) == union(name)


def test_the_event_types_are_the_specifications_45() -> None:
    assert list(EVENT_CLASSES) == union("CanonicalRuntimeEventType")
    assert len(EVENT_CLASSES) == 45
    assert list(EVENT_CLASSES) == list(payloads())


def test_the_raw_sources_begin_with_the_specifications() -> None:
    block = re.search(r"type RuntimeEventRaw = \{(.*?)\n\};", SPEC, re.DOTALL)
    assert block
    sources = re.findall(r'\| "([^"]+)"', block[1])
    assert list(get_args(names.SeedRawSource)) == sources
    assert not set(sources) & set(get_args(names.AddedRawSource))
    assert structs.fields(Raw)[0].name == "source"
    assert {f.name for f in structs.fields(Raw)} == {"source", "method", "messageType", "payload"}


def test_the_envelope_has_the_specifications_fields() -> None:
    block = re.search(r"type RuntimeEventBase<.*?> = \{(.*?)\n\};", SPEC, re.DOTALL)
    assert block
    text = re.sub(r"//.*", "", block[1])
    fields = members(text)
    assert {f.rstrip("?") for f in fields} - {"type"} == {f.name for f in structs.fields(EventBase)}
    for field in structs.fields(EventBase):
        optional = f"{field.name}?" in fields
        assert (field.default is UNSET) == optional, field.name
    refs = members(fields["providerRefs?"].strip("{} "))
    assert list(refs) == [f"{f.name}?" for f in structs.fields(ProviderRefs)]


@pytest.mark.parametrize("kind", list(EVENT_CLASSES))
def test_a_payload_has_the_specifications_fields(kind: str) -> None:
    text = payloads()[kind]
    if not text.startswith("{"):
        block = re.search(rf"type {text} = \{{(.*?)\n\}};", SPEC, re.DOTALL)
        assert block
        text = block[1]
    expected = members(text.strip().removeprefix("{").removesuffix("}"))
    payload = structs.fields(EVENT_CLASSES[kind])[4]
    assert payload.name == "payload"
    fields = {f.encode_name: f for f in structs.fields(payload.type)}
    assert set(fields) == {name.rstrip("?") for name in expected}
    for name, field in fields.items():
        spec = expected.get(name) or expected[f"{name}?"]
        optional = f"{name}?" in expected
        assert (field.default is UNSET) == optional, name
        parts = get_args(field.type)
        assert (type(None) in parts) == (spec.endswith("| null")), name
        literals = re.findall(r'"([^"]+)"', spec)
        if literals and "Array" not in spec:
            known = [a for p in (parts or (field.type,)) for a in get_args(p)] or list(parts)
            assert [k for k in known if k is not UnsetType] == literals, name


def test_an_absent_field_is_left_out_and_null_is_refused() -> None:
    event = ev.SessionStarted("evt-1", "codex", "ses-1", "2026-01-01T00:00:00.000Z", _started())
    line = ev.encode_event(event)
    assert line == (
        b'{"type":"session.started","eventId":"evt-1","provider":"codex","sessionId":"ses-1",'
        b'"createdAt":"2026-01-01T00:00:00.000Z","payload":{}}'
    )
    assert ev.decode_event(line) == event
    with pytest.raises(msgspec.ValidationError, match=r"at `\$.payload.message`"):
        ev.decode_event(line.replace(b'"payload":{}', b'"payload":{"message":null}'))


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (b'"payload":{}', b'"payload":{"mesage":"x"}', r"`mesage` - at `\$.payload`"),
        (b'"provider":"codex"', b'"provider":"gpt"', r"at `\$.provider`"),
        (b'"eventId":"evt-1"', b'"eventId":""', r"at `\$.eventId`"),
        (b"session.started", b"session.begun", r"'session.begun' - at `\$.type`"),
        (b'"payload":{}', b'"payload":{},"extra":1', r"unknown field `extra`"),
    ],
)
def test_the_decoder_is_strict_and_names_the_path(old: bytes, new: bytes, path: str) -> None:
    line = ev.encode_event(
        ev.SessionStarted("evt-1", "codex", "ses-1", "2026-01-01T00:00:00.000Z", _started())
    )
    with pytest.raises(msgspec.ValidationError, match=path):
        ev.decode_event(line.replace(old, new))


def _started() -> Any:
    return structs.fields(ev.SessionStarted)[4].type()
