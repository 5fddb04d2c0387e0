"""The reference normalizer of `codex app-server`: EVENTS.md 3.

A table from method to handler, and one short way for deltas, which are most of what comes.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Final

from msgspec import UNSET

from harness.canonical import EventBase, Raw
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.names import ContentStreamKind
from harness.cassette import Frame, Header
from harness.surfaces.codex_app_server.families import LEGACY_PREFIX, Families, legacy_parts
from harness.surfaces.codex_app_server.methods import IGNORED, OPENS_THREAD
from harness.surfaces.codex_app_server.requests import RequestHandlers
from harness.surfaces.codex_app_server.telemetry import TelemetryHandlers
from harness.surfaces.codex_app_server.threads import STREAMS, ThreadHandlers
from harness.surfaces.codex_eventmsg import IGNORED as IGNORED_EVENTS
from harness.surfaces.codex_eventmsg import EventMsgs, kind_of
from harness.surfaces.codex_state import Conversation
from harness.surfaces.ledger import Ledger
from harness.surfaces.lines import LineNormalizer

Message = dict[str, Any]


def _content_index(stream: ContentStreamKind, delta: str, params: Message) -> pl.Payload:
    return pl.ContentDeltaPayload(stream, delta, _index(params["contentIndex"]))


def _summary_index(stream: ContentStreamKind, delta: str, params: Message) -> pl.Payload:
    return pl.ContentDeltaPayload(stream, delta, UNSET, _index(params["summaryIndex"]))


def _index(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("an index is a count")
    return value


Short = tuple[str, ContentStreamKind, Callable[[ContentStreamKind, str, Message], Any] | None]

_SHORT: Final[dict[str, Short]] = {
    method: (
        method,
        stream,
        _content_index if content else _summary_index if summary else None,
    )
    for method, (stream, _, content, summary) in STREAMS.items()
}
"""Delta method to itself, its stream kind, and what makes a payload with an index."""

QUESTIONS: Final = frozenset(
    {
        "exec_approval_request",
        "apply_patch_approval_request",
        "request_user_input",
        "request_permissions",
        "elicitation_request",
    }
)
"""EventMsgs beside which a request of the protocol asks the same."""


class Normalizer(LineNormalizer):
    """See `harness.surfaces.base.Normalizer`."""

    def __init__(self, header: Header) -> None:
        ledger = Ledger(header)
        super().__init__(ledger)
        self.conversation = conversation = Conversation(ledger)
        self.threads = ThreadHandlers(conversation)
        self.requests = RequestHandlers(conversation, self.threads)
        self.families = Families()
        self.table: dict[str, Callable[[str, Message], None]] = {
            **self.threads.table,
            **TelemetryHandlers(conversation).table,
            "serverRequest/resolved": lambda _method, params: self.requests.resolved(params),
        }
        self._fast = conversation.fast
        self._iso = ledger.clock.iso

    @cached_property
    def events(self) -> EventMsgs:
        """The events of older versions; most conversations have none."""
        return EventMsgs(self.conversation, asks=False)

    def feed(self, frame: Frame) -> Iterable[EventBase]:
        """Return the events that this frame causes."""
        self.last = frame
        data = frame.data
        channel = frame.channel
        if channel == "stdout":
            if type(data) is not dict:
                self.line(frame)
                return self.ledger.take()
            # The short way: a delta of an open item, which is most of what comes. Calls would
            # double its cost.
            try:
                method, stream, index = _SHORT[data["method"]]
                params = data["params"]
                live = self._fast[params["itemId"]]
                delta = params["delta"]
                if (
                    live.turn == params["turnId"]
                    and live.thread == params["threadId"]
                    and type(delta) is str
                ):
                    ledger = self.ledger
                    if index is None:
                        payload = pl.ContentDeltaPayload(stream, delta)
                    else:
                        payload = index(stream, delta, params)
                    live.parts[stream].append(delta)
                    ledger.count = number = ledger.count + 1
                    return [
                        ev.ContentDelta(
                            f"evt-{number}",
                            "codex",
                            ledger.session,
                            self._iso(frame.at),
                            payload,
                            Raw("codex.app-server.notification", data, method),
                            live.thread_id,
                            live.turn_id,
                            live.item_id,
                            UNSET,
                            live.refs,
                        )
                    ]
            except (KeyError, TypeError):
                pass
            self.message(frame, data)
        else:
            self.beside(frame)
        return self.ledger.take()

    def message(self, frame: Frame, message: Message) -> None:
        """See `LineNormalizer`."""
        method = message.get("method")
        if not isinstance(method, str):
            if "id" in message and ("result" in message or "error" in message):
                self.ledger.cause(frame, "codex.app-server.response")
                self._guard(self._response, message)
                return
            self.noise(frame)
        elif "id" in message:
            self.ledger.cause(frame, "codex.app-server.request", method)
            self._guard(self.requests.asked, message)
        elif method.startswith(LEGACY_PREFIX):
            self._event(frame, method, message)
        else:
            self.ledger.cause(frame, "codex.app-server.notification", method)
            self._guard(self._notification, message)

    def _guard(self, handler: Callable[[Message], None], message: Message) -> None:
        self.guard(handler, message, str(message.get("method", "a response")))

    def _notification(self, message: Message) -> None:
        method = message["method"]
        params = message.get("params")
        handler = self.table.get(method)
        if handler is None:
            if method not in IGNORED:
                self.conversation.warn(f"{method} is not known")
            return
        if type(params) is not dict:
            params = {}
        if self.families.repeats(method, params):
            self.conversation.warn(f"{method} tells what codex/event told before")
            return
        if method == "thread/started":
            self.families.prefer_v2(params["thread"]["id"])
        handler(method, params)
        if method == "turn/completed":
            self.requests.sweep()

    def _event(self, frame: Frame, method: str, message: Message) -> None:
        """A `codex/event/*` notification."""
        params = message.get("params")
        if self.families.legacy_repeats(params):
            return
        native, msg = legacy_parts(params)
        kind = kind_of(msg)
        self.ledger.cause(frame, "codex.eventmsg", method, kind or UNSET)
        if kind in IGNORED_EVENTS or kind in QUESTIONS:
            return
        turn = params.get("id") if isinstance(params, dict) else None

        def handle(msg: Message) -> None:
            if not self.events.handle(self.conversation.thread(native), turn, msg):
                self.conversation.warn(f"{method} is not known")

        self._guard(handle, msg)

    def client(self, frame: Frame, message: Message) -> None:
        """See `LineNormalizer`."""
        method = message.get("method")
        if isinstance(method, str):
            self.ledger.cause(frame, "codex.app-server.request", method)
            params = message.get("params")
            if method == "turn/start" and isinstance(params, dict):
                self.families.prefer_v2(params.get("threadId"))
            self._guard(self.requests.sent, message)
        elif "id" in message and ("result" in message or "error" in message):
            self.ledger.cause(frame, "codex.app-server.response")
            self._guard(self.requests.reply, message)
        else:
            self.noise(frame)

    def _response(self, message: Message) -> None:
        result = message.get("result")
        thread = result.get("thread") if isinstance(result, dict) else None
        if isinstance(thread, dict) and self.requests.awaited(message["id"]) in OPENS_THREAD:
            self.families.prefer_v2(thread.get("id"))
        self.requests.answered(message)

    def new_process(self, frame: Frame) -> None:  # noqa: ARG002 - its command line says nothing
        """See `LineNormalizer`."""
        self.requests.new_process()

    def warn(self, message: str) -> None:
        """See `LineNormalizer`."""
        self.conversation.warn(message)

    def begin(self) -> bool:
        """See `LineNormalizer`."""
        started = self.conversation.started
        self.conversation.start_session(synthesized=True)
        return started

    def ended(self, payload: pl.SessionExitedPayload) -> None:
        """See `LineNormalizer`."""
        self.ledger.emit(ev.SessionExited, payload)
        self.conversation.started = False

    def close_all(self) -> None:
        """See `LineNormalizer`."""
        self.conversation.end_all()
        self.requests.close_all()

    def wire(self, frame: Frame) -> Any:
        """See `LineNormalizer`."""
        return "codex.app-server.notification" if frame.dir == "in" else "codex.app-server.request"
