"""JSON Schema of each stage's event, as `harness schema --stage` prints it."""

from typing import Any

import msgspec
from msgspec import Struct

from harness.canonical.schema import DIALECT, event_schema
from harness.projection.chat_event import ChatEvent
from harness.projection.legacy import LegacyEvent


def schema_of(kind: type[Struct], title: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a struct."""
    (root,), definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    return {"$schema": DIALECT, "title": title, **root, "$defs": definitions}


def stage_schema(stage: str) -> dict[str, Any]:
    """Return the JSON Schema of a stage's events: normalized_out, chat_event or legacy_out."""
    if stage == "chat_event":
        return schema_of(ChatEvent, "ChatEvent")
    if stage == "legacy_out":
        return schema_of(LegacyEvent, "ProviderRuntimeEvent")
    return event_schema()
