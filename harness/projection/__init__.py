"""Projections of the canonical events: the chat events of the seed, and the older model.

Sans-io: `feed(event)` returns what a canonical event gives, `close()` what their end gives.
"""

from harness.projection.chat_event import KINDS, ChatEvent, ChatKind, Phase
from harness.projection.projector import NOT_PROJECTED, ChatProjection

__all__ = ["KINDS", "NOT_PROJECTED", "ChatEvent", "ChatKind", "ChatProjection", "Phase"]
