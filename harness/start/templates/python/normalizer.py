"""A normalizer to be: it takes every frame, and says of each that it is not mapped yet."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from protocol import Json, serve

SOURCE = "codex.sdk.thread-event"
"""`raw.source` of what the agent says."""


class Normalizer:
    """One conversation. It never looks ahead: the events of a frame are final."""

    def __init__(self, header: Json) -> None:
        self.provider = header["provider"]
        self.recorded = datetime.fromisoformat(header["recorded"])
        self.minted: Counter[str] = Counter()
        self.session = ""
        self.frame: Json = {}
        self.kind: Any = None
        self.events: list[Json] = []

    def feed(self, frame: Json) -> list[Json]:
        """Return the events that this frame causes."""
        self.events = []
        # What the client starts, and log lines, are no events; see `harness show CASSETTE`.
        if frame["channel"] in {"start", "stderr"}:
            return []
        self.frame = frame
        data = frame.get("data")
        message = data if isinstance(data, dict) else {}
        self.kind = message.get("type", message.get("method"))
        if not self.session:
            self.session = self.mint("ses")
            self.emit("session.started", {}, made_up=True)
        self.message(self.kind or frame["channel"], message)
        return self.events

    def close(self) -> list[Json]:
        """Return the events that the end of the frames causes."""
        self.events = []
        # TODO: end what is still open (law `turns`, `items`, `requests`).
        return self.events

    def message(self, kind: str, message: Json) -> None:
        """TODO: a case for each kind of message; EVENTS.md 3 to 5 says what becomes of it."""
        match kind:
            case _:
                # No frame is dropped in silence: what is not known is a warning.
                said = {"message": f"{kind} is not mapped yet", "detail": sorted(message)}
                self.emit("runtime.warning", said)

    def mint(self, prefix: str) -> str:
        """Return a new id of ours: a provider's stands in `providerRefs` alone (law `ids`)."""
        self.minted[prefix] += 1
        return f"{prefix}-{self.minted[prefix]}"

    def emit(self, type_: str, payload: Json, *, made_up: bool = False, **ids: str) -> None:
        """Add an event, caused by this frame; `made_up` where no frame states it (DECISIONS.md 4).

        `ids` are `threadId`, `turnId`, `itemId` and `requestId`.
        """
        frame, channel = self.frame, self.frame["channel"]
        own = f"process.{channel}" if channel in {"stdout", "exit"} else SOURCE
        # The frame's content as it came (law `raw`).
        content = next(frame[name] for name in ("data", "text", "b64") if name in frame)
        raw = {"source": SOURCE if self.kind else own, "payload": content}
        kind = "synthesized" if made_up else self.kind
        if kind:
            raw["messageType"] = kind
        # The frames' clock, not ours (law `clock`).
        when = self.recorded + timedelta(milliseconds=frame["at"])
        self.events.append(
            {
                "type": type_,
                "eventId": self.mint("evt"),
                "provider": self.provider,
                "sessionId": self.session,
                "createdAt": when.isoformat(),
                "payload": payload,
                "raw": raw,
                **ids,
            }
        )


if __name__ == "__main__":
    serve({"name": "my-normalizer", "version": "0.1.0", "surfaces": ["codex-exec"]}, Normalizer)
