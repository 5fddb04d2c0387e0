"""Normalizers with one fault each, around the correct one of `toy`.

A fault that `toy.CHAT` has no occasion for names its own frames as `FRAMES`.

`BROKEN` maps the law that a fault breaks to the normalizers that break it; `ALSO` names, for a
fault that cannot break one law alone, the laws that it breaks besides.
"""

from tests.conformance.broken import frames, ids, lifecycle, origin, outcomes, reruns, schema

_MODULES = (schema, ids, origin, lifecycle, outcomes, frames, reruns)

BROKEN = [
    (law, name, make)
    for module in _MODULES
    for law, faults in module.BROKEN.items()
    for name, make in faults.items()
]
ALSO: dict[str, set[str]] = {}
for _module in _MODULES:
    ALSO |= getattr(_module, "ALSO", {})
