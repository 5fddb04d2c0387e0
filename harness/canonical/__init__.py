"""EVENTS.md as types: the canonical provider-runtime event model (V2)."""

from harness.canonical.clock import Clock
from harness.canonical.events import (
    EVENT_CLASSES,
    Event,
    EventBase,
    ProviderRefs,
    Raw,
    decode_event,
    encode_event,
)

__all__ = [
    "EVENT_CLASSES",
    "Clock",
    "Event",
    "EventBase",
    "ProviderRefs",
    "Raw",
    "decode_event",
    "encode_event",
]
