"""What a client does with a conversation that is over: it looks it up, and manages it. Sans-io.

Each conversation ends as an interface that opens it anew would begin: with the list of sessions
and the messages of this one. A long one is also managed, act by act as the menus of opencode's
own interfaces have it: renamed, undone and redone, parts of it deleted, compacted; a terminal is
opened beside it; at last it is deleted.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from harness.surfaces.opencode.names import Message, session_of, table, text
from harness.surfaces.opencode.story import Request

_MODEL: Final = {"providerID": "scripted", "modelID": "scripted"}
_TITLE: Final = "The conversation, renamed"
_TERMINAL: Final = {"command": "/bin/sh", "title": "A terminal"}


class Act(Struct, frozen=True):
    """A request, and the events that tell of it: the next act waits for all of them."""

    request: Request
    told: tuple[Callable[[Message], bool], ...] = ()


class Closing:
    """The acts that close a conversation; `answers` are the bodies that came, in order."""

    def __init__(self, session: str, *, managed: bool) -> None:
        self._session = session
        self._managed = managed
        self.answers: list[Any] = []

    def acts(self) -> Iterator[Act]:
        """Yield each act once the one before it is over and its answer is in `answers`."""
        path = f"/session/{self._session}"
        yield Act(Request("GET", "/session"))
        yield Act(Request("GET", f"{path}/message"))
        if not self._managed:
            return
        messages = self.answers[-1]
        yield Act(Request("GET", f"{path}/todo"))
        yield Act(Request("PATCH", path, {"title": _TITLE}), (self._updated(_renamed),))
        last = _last(messages, "user")
        yield Act(
            Request("POST", f"{path}/revert", {"messageID": text(last.get("id"))}),
            (self._updated(lambda info: "revert" in info),),
        )
        yield Act(
            Request("POST", f"{path}/unrevert"), (self._updated(lambda info: "revert" not in info),)
        )
        answer, part = _last(messages, "assistant"), _last_text(messages)
        message = f"{path}/message/{text(answer.get('id'))}"
        yield Act(
            Request("DELETE", f"{message}/part/{text(part.get('id'))}"),
            (self._of("message.part.removed"),),
        )
        yield Act(Request("DELETE", message), (self._of("message.removed"),))
        # The agent asks its model for a summary, and tells of the changed files as after a step.
        yield Act(
            Request("POST", f"{path}/summarize", _MODEL),
            (self._of("session.compacted"), self._of("session.idle"), self._summary),
        )
        yield from self._terminal()
        yield Act(Request("DELETE", path), (self._of("session.deleted"),))
        yield Act(Request("POST", "/instance/dispose"), (_kind("server.instance.disposed"),))

    def _terminal(self) -> Iterator[Act]:
        yield Act(Request("POST", "/pty", _TERMINAL), (_kind("pty.created"),))
        path = f"/pty/{text(table(self.answers[-1]).get('id'))}"
        size = {"rows": 24, "cols": 80}
        yield Act(
            Request("PUT", path, {"title": "The terminal, renamed", "size": size}),
            (_kind("pty.updated"),),
        )
        yield Act(Request("DELETE", path), (_kind("pty.deleted"),))

    def _of(self, kind: str) -> Callable[[Message], bool]:
        def told(event: Message) -> bool:
            properties = table(event.get("properties"))
            return event.get("type") == kind and session_of(kind, properties) == self._session

        return told

    def _updated(self, wanted: Callable[[Message], bool]) -> Callable[[Message], bool]:
        of = self._of("session.updated")
        return lambda event: of(event) and wanted(_info(event))

    def _summary(self, event: Message) -> bool:
        return self._of("message.updated")(event) and "summary" in _info(event)


def _renamed(info: Message) -> bool:
    return info.get("title") == _TITLE


def _info(event: Message) -> Message:
    return table(table(event.get("properties")).get("info"))


def _kind(kind: str) -> Callable[[Message], bool]:
    return lambda event: event.get("type") == kind


def _last(messages: Any, role: str) -> Message:
    """Return what is said of the last message of a role, or nothing."""
    infos = [table(table(m).get("info")) for m in (messages if isinstance(messages, list) else [])]
    return next((info for info in reversed(infos) if info.get("role") == role), {})


def _last_text(messages: Any) -> Message:
    parts = table(messages[-1] if isinstance(messages, list) and messages else None).get("parts")
    found = [table(p) for p in (parts if isinstance(parts, list) else [])]
    return next((part for part in reversed(found) if part.get("type") == "text"), {})
