"""Todos of a plan: a list that is replaced, or with `merge` patched by id."""

from typing import Any

from harness.surfaces.acp.names import Message


class Todos:
    """The todos of one conversation, by their own ids, in order."""

    def __init__(self) -> None:
        self._known: dict[str, Message] = {}

    def take(self, todos: Any, *, merge: bool) -> list[Message]:
        """Return the whole list after an update, as entries `{content, status}`.

        Raises TypeError or KeyError for todos of another shape; then nothing has changed.
        """
        known = dict(self._known) if merge else {}
        for todo in todos:
            name = str(todo["id"])
            said = {k: v for k, v in todo.items() if v is not None}
            known[name] = {**known.get(name, {}), **said}
        entries = [{"content": t["content"], "status": t["status"]} for t in known.values()]
        self._known = known
        return entries
