"""A client of Cursor's `agent acp`: ACP's, which logs in with `cursor_login` and knows `cursor/*`.

Questions get their first options, plans are accepted or rejected as the scenario says, and what
does not wait for an answer is acknowledged where it comes as a request.
"""

from collections.abc import Iterator
from typing import Any

from harness.surfaces.acp.names import Message, table
from harness.surfaces.acp.recorder import CAPABILITIES, RULES, AcpDriver, capabilities, prepare
from harness.surfaces.base import Action, Send, Setup
from harness.surfaces.cursor_acp.normalizer import TOLD

__all__ = ["CAPABILITIES", "PROTOCOL", "RULES", "capabilities", "make_driver", "prepare"]

PROTOCOL = "Cursor ACP, version 1"


class CursorDriver(AcpDriver):
    """Answers `cursor/*` as Cursor's documentation asks: an error would strand the agent."""

    def on_notification(self, method: str) -> Iterator[Action]:
        """Report a notification that is not known."""
        if method not in TOLD:
            yield from super().on_notification(method)

    def on_request(self, method: str, id_: Any, params: Message) -> Iterator[Action]:
        """Answer a request of the agent's."""
        if method == "cursor/ask_question":
            answers = [_first(table(q)) for q in params.get("questions") or []]
            yield _outcome(id_, {"outcome": "answered", "answers": answers})
        elif method == "cursor/create_plan":
            approvals = self.turns[max(self._turn, 0)].client.approvals
            yield _outcome(id_, {"outcome": "rejected" if approvals == "decline" else "accepted"})
        elif method in TOLD:
            yield Send({"jsonrpc": "2.0", "id": id_, "result": {}})
        else:
            yield from super().on_request(method, id_, params)


def _first(question: Message) -> Message:
    options = [table(o).get("id") for o in question.get("options") or []]
    return {"questionId": question.get("id"), "selectedOptionIds": options[:1]}


def _outcome(id_: Any, outcome: Message) -> Send:
    return Send({"jsonrpc": "2.0", "id": id_, "result": {"outcome": outcome}})


def make_driver(setup: Setup) -> CursorDriver:
    """See `MakeDriver`."""
    return CursorDriver(setup)
