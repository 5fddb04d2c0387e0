"""JSON Schema of the chat event and of the older event, as `harness schema` prints them."""

from typing import Any

import msgspec
from msgspec import Struct

from harness.canonical.schema import DIALECT


def schema_of(kind: type[Struct], title: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a struct."""
    (root,), definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    return {"$schema": DIALECT, "title": title, **root, "$defs": definitions}
