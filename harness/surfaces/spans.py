"""Tasks and hooks: which have begun, and which are over."""

from typing import Literal

State = Literal["new", "open", "over"]


class Spans:
    """The tasks, or the hooks, of a conversation by id.

    What is told of one that nobody began begins it, as synthesized (DECISIONS.md 14); what has
    ended never opens again.
    """

    def __init__(self) -> None:
        self._open: dict[str, bool] = {}

    def begin(self, id_: str) -> bool:
        """Begin one; return whether it is the first time."""
        if id_ in self._open:
            return False
        self._open[id_] = True
        return True

    def tell(self, id_: str, *, end: bool = False) -> State:
        """Return what one is that is told of; `new` ones are open from here on, `end` ends it."""
        state = self._open.get(id_)
        if state is False:
            return "over"
        self._open[id_] = not end
        return "open" if state else "new"
