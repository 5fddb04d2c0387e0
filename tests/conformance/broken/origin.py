"""Faults in whose events they are, of which session, of which wire."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from harness.cassette import Frame
from tests.conformance.toy import Normalizer


class OtherProvider(Normalizer):
    """Is a copy of another provider's normalizer."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        return [replace(e, provider="cursor") for e in super().feed(frame)]


class OtherProviderOfText(Normalizer):
    """Has another provider for what comes after a text's first part."""

    parts = 0

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            self.parts = self.parts + 1 if event.type == "content.delta" else 0
            yield replace(event, provider="acp") if self.parts > 1 else event


class SessionForEach(Normalizer):
    """Mints a session for each event."""

    sessions = 0

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            self.sessions += 1
            yield replace(event, sessionId=f"s{self.sessions}")


class SessionForEachText(Normalizer):
    """Mints a session for each part of a text."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            text = event.type == "content.delta"
            yield replace(event, sessionId=f"s{frame.seq}") if text else event


class Silent(Normalizer):
    """Gives nothing at all."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        list(super().feed(frame))
        return []

    def close(self) -> Iterable[Any]:
        return []


class OtherSource(Normalizer):
    """Names the source of another wire."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            raw = replace(event.raw, source="acp.notification", method="bogus")
            yield replace(event, raw=raw)


class OtherSourceOfText(Normalizer):
    """Names the source of another wire for texts alone."""

    def feed(self, frame: Frame) -> Iterable[Any]:
        for event in super().feed(frame):
            raw = replace(event.raw, source="opencode.event")
            yield replace(event, raw=raw) if event.type == "content.delta" else event


BROKEN = {
    "provider": {"other-provider": OtherProvider, "other-provider-of-text": OtherProviderOfText},
    "session": {
        "session-for-each": SessionForEach,
        "session-for-each-text": SessionForEachText,
        "silent": Silent,
    },
    "source": {"other-source": OtherSource, "other-source-of-text": OtherSourceOfText},
}
ALSO = {"silent": {"accounted"}}
