"""The reference normalizer of the Claude Agent SDK: EVENTS.md 4.

A table from kind to handler, and one short way for deltas, which are most of what comes.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import UNSET

from harness.canonical import EventBase, Raw
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.cassette import Frame, Header
from harness.surfaces.claude_sdk.blocks import CALLS, DELTAS, TEXTS, Blocks
from harness.surfaces.claude_sdk.client_names import CLIENT
from harness.surfaces.claude_sdk.control import Control
from harness.surfaces.claude_sdk.lines import read
from harness.surfaces.claude_sdk.names import CONTROL, Message, name_of, subtype_of
from harness.surfaces.claude_sdk.results import Results
from harness.surfaces.claude_sdk.state import State
from harness.surfaces.claude_sdk.telemetry import Telemetry
from harness.surfaces.claude_sdk.users import Users
from harness.surfaces.ledger import Ledger
from harness.surfaces.lenient import Reading
from harness.surfaces.lines import LineNormalizer

IGNORED: Final = frozenset(
    {
        "stream_event/ping",
        "stream_event/message_delta",
        "stream_event/content_block_delta/signature_delta",
        "system/elicitation_complete",
        "system/memory_recall",
        "system/thinking_tokens",
        "keep_alive",
        "transcript_mirror",
        "request mcp_message",
        "client-response mcp_message",
    }
)
"""Kinds that are passed over: `vocabulary.yaml` says why of each."""

RESULTS: Final = frozenset(
    {
        "result/success",
        "result/error_during_execution",
        "result/error_max_turns",
        "result/error_max_budget_usd",
        "result/error_max_structured_output_retries",
    }
)
_START: Final = "stream_event/content_block_start/"
_RESUME: Final = "--resume="
_SERVER_RESULTS: Final = (
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "mcp_tool_result",
)
_STARTS: Final = tuple(f"{_START}{kind}" for kind in (*CALLS, *TEXTS, *_SERVER_RESULTS))
_DELTAS: Final = tuple(f"stream_event/content_block_delta/{kind}" for kind in DELTAS)


class Normalizer(LineNormalizer):
    """See `harness.surfaces.base.Normalizer`."""

    def __init__(self, header: Header) -> None:
        ledger = Ledger(header)
        super().__init__(ledger)
        self.state = state = State(ledger)
        self.users = users = Users(state)
        self.blocks = blocks = Blocks(state, users)
        self.control = control = Control(state)
        self.results = Results(state)
        self.table: dict[str, Callable[[Message], None]] = {
            **Telemetry(state).table,
            **dict.fromkeys(RESULTS, self._result),
            **dict.fromkeys(_STARTS, blocks.block_start),
            **dict.fromkeys(_DELTAS, blocks.delta),
            "stream_event/content_block_delta/input_json_delta": blocks.input_delta,
            "stream_event/content_block_delta/citations_delta": blocks.citation,
            "stream_event/content_block_stop": blocks.block_stop,
            "stream_event/message_start": blocks.message_start,
            "stream_event/message_stop": blocks.message_stop,
            "assistant": blocks.assistant,
            "user": users.user,
            "user/replay": users.user,
            "control_cancel_request": control.cancel,
        }
        self._contexts = blocks.contexts
        self._iso = ledger.clock.iso

    def feed(self, frame: Frame) -> Iterable[EventBase]:
        """Return the events that this frame causes."""
        self.last = frame
        data = frame.data
        channel = frame.channel
        if channel == "stdout":
            if type(data) is not dict:
                self.line(frame)
                return self.ledger.take()
            # The short way: a delta of an open block, which is most of what comes. Calls would
            # double its cost.
            try:
                event = data["event"]
                delta = event["delta"]
                stream, field = DELTAS[delta["type"]]
                block = self._contexts[data["parent_tool_use_id"]].blocks[event["index"]]
                text = delta[field]
                state = self.state
                turn = state.turn
                if (
                    block.stream == stream
                    and type(text) is str
                    and data["session_id"] == state.session
                    and data["type"] == "stream_event"
                    and event["type"] == "content_block_delta"
                    and turn is not None
                ):
                    ledger = self.ledger
                    block.parts.append(text)
                    ledger.count = number = ledger.count + 1
                    return [
                        ev.ContentDelta(
                            f"evt-{number}",
                            "claude",
                            ledger.session,
                            self._iso(frame.at),
                            pl.ContentDeltaPayload(stream, text),
                            Raw("claude.sdk.message", data, UNSET, "stream_event"),
                            turn.thread,
                            turn.id,
                            block.item_id,
                            UNSET,
                            block.refs,
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
        type_ = message.get("type")
        if not isinstance(type_, str):
            self.noise(frame)
            return
        if type_ in CONTROL:
            self._agent_control(frame, message)
            return
        kind = name_of(message)
        self.ledger.cause(frame, "claude.sdk.message", UNSET, type_)
        self.state.start_session(synthesized=kind != "system/init")
        session = message.get("session_id")
        if isinstance(session, str):
            self.state.named(session)
        handler = self.table.get(kind)
        if handler is None:
            if kind in IGNORED:
                return
            self.state.warn(f"{kind} is not known")
            handler = self._nearest(kind)
        if handler is not None:
            self.guard(handler, message, kind)

    def _nearest(self, kind: str) -> Callable[[Message], None] | None:
        """Return the handler of a kind's family: a new result still ends its turn."""
        if kind.startswith("result/"):
            return self._result
        return self.blocks.block_start if kind.startswith(_START) else None

    def _result(self, message: Message) -> None:
        if self.results.result(message):
            self.blocks.end_turn()

    def _agent_control(self, frame: Frame, message: Message) -> None:
        subtype = subtype_of(message) if message["type"] == "control_request" else UNSET
        source: Any = "claude.sdk.permission" if subtype == "can_use_tool" else "claude.sdk.control"
        self.ledger.cause(frame, source, subtype, message["type"])
        if message["type"] == "control_response":
            self.guard(self.control.response, message, "control_response")
            return
        self.state.start_session(synthesized=True)
        if message["type"] == "control_cancel_request":
            self.guard(self.control.cancel, message, "control_cancel_request")
        elif f"request {subtype}" in IGNORED:
            self.guard(self.control.ignored, message, "control_request")
        else:
            self.guard(self.control.request, message, "control_request")

    def client(self, frame: Frame, message: Message) -> None:
        """See `LineNormalizer`."""
        type_ = message.get("type")
        if type_ == "user":
            self.ledger.cause(frame, "claude.sdk.message", UNSET, "user")
            self.guard(self.users.client_user, message, "the client's user message")
        elif type_ == "control_request":
            self.ledger.cause(frame, "claude.sdk.control", subtype_of(message), type_)
            self.guard(self.control.client_request, message, "the client's control_request")
            if f"client {subtype_of(message)}" not in CLIENT:
                self.state.warn(f"the client's control request {subtype_of(message)} is not known")
        elif type_ == "control_response":
            self.ledger.cause(frame, "claude.sdk.permission", UNSET, type_)
            self.guard(self.control.reply, message, "the client's control_response")
        elif isinstance(type_, str):
            self.ledger.cause(frame, "claude.sdk.control", UNSET, type_)
            if f"client {type_}" not in CLIENT:
                self.state.warn(f"the client's {type_} is not known")
        else:
            self.noise(frame)

    def read(self, frame: Frame) -> Reading:
        """See `LineNormalizer`."""
        return read(frame)

    def new_process(self, frame: Frame) -> None:
        """See `LineNormalizer`: what it is told to resume is on its command line."""
        self.control.new_process()
        command = frame.data.get("command") if isinstance(frame.data, dict) else None
        words = [str(word) for word in command] if isinstance(command, list) else []
        self.state.resumes = next(
            (word.removeprefix(_RESUME) for word in words if word.startswith(_RESUME)), ""
        )

    def warn(self, message: str) -> None:
        """See `LineNormalizer`."""
        self.state.warn(message)

    def begin(self) -> bool:
        """See `LineNormalizer`."""
        started = self.state.started
        self.state.start_session(synthesized=True)
        return started

    def ended(self, payload: pl.SessionExitedPayload) -> None:
        """See `LineNormalizer`."""
        self.state.emit(ev.SessionExited, payload)
        self.state.started = False

    def close_all(self) -> None:
        """See `LineNormalizer`."""
        self.state.end_all()
        self.blocks.end_turn()

    def wire(self, frame: Frame) -> Any:  # noqa: ARG002 - one source is the wire's
        """See `LineNormalizer`."""
        return "claude.sdk.message"
