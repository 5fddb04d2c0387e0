"""The JSON Schema and the strict decoder agree."""

import json
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.canonical import EVENT_CLASSES, decode_event, encode_event
from harness.canonical.clock import Clock
from harness.canonical.schema import DIALECT, event_schema

SCHEMA = event_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def example(kind: str) -> dict[str, Any]:
    """A smallest event of a type, made from the schema itself."""
    definition = next(
        d for d in SCHEMA["$defs"].values() if d["properties"].get("type", {}).get("enum") == [kind]
    )
    event: dict[str, Any] = fill(definition)
    return event


def fill(schema: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return fill(SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]])
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return fill(schema["anyOf"][0])
    kind = schema.get("type")
    if kind == "object":
        return {k: fill(schema["properties"][k]) for k in schema.get("required", [])}
    plain = {"string": "x", "array": [], "boolean": True, "integer": 0, "number": 0}
    return plain.get(kind or "", 1)


def test_the_schema_is_one_and_names_every_type() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == DIALECT
    assert set(SCHEMA["discriminator"]["mapping"]) == set(EVENT_CLASSES)


@pytest.mark.parametrize("kind", list(EVENT_CLASSES))
def test_the_smallest_event_of_each_type_passes_both(kind: str) -> None:
    event = example(kind)
    VALIDATOR.validate(event)
    decoded = decode_event(json.dumps(event))
    assert decoded.type == kind
    assert json.loads(encode_event(decoded)) == event


@given(kind=st.sampled_from(list(EVENT_CLASSES)), name=st.text(max_size=3))
def test_an_unknown_payload_field_is_refused_by_both(kind: str, name: str) -> None:
    event = example(kind)
    event["payload"]["zz" + name] = 1
    assert not VALIDATOR.is_valid(event)
    with pytest.raises(msgspec.ValidationError):
        decode_event(json.dumps(event))


@given(st.integers(0, 10**9))
def test_the_clock_adds_milliseconds_to_the_start(at: int) -> None:
    clock = Clock("2026-01-01T00:00:00Z")
    first = clock.iso(at)
    assert first == clock.iso(at)
    assert len(first) == len("2026-01-01T00:00:00.000Z")
    assert clock.iso(at + 1) > first


def test_the_clock_knows_offsets_and_fractions() -> None:
    assert Clock("2026-01-01T02:00:00.5+02:00").iso(1250) == "2026-01-01T00:00:01.750Z"
    with pytest.raises(ValueError, match="Invalid isoformat"):
        Clock("yesterday")
