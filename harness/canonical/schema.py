"""JSON Schema of the canonical event, as `harness schema` prints it."""

from typing import Any

import msgspec

from harness.canonical.events import Event

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def event_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `ProviderRuntimeEventV2`."""
    (root,), definitions = msgspec.json.schema_components([Event], ref_template="#/$defs/{name}")
    return {
        "$schema": DIALECT,
        "title": "ProviderRuntimeEventV2",
        **root,
        "$defs": definitions,
    }
