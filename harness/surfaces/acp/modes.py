"""The modes of a session: what the agent offers, and how a client changes to another.

An agent tells them as `modes` (`session/set_mode`), as a configuration option of the category
`mode` (`session/set_config_option`), or as both, with the same ids.
"""

from collections.abc import Mapping
from typing import Any

from harness.surfaces.acp.names import Message, table


class Modes:
    """What is known of a session's modes."""

    def __init__(self) -> None:
        self.offered: list[str] = []
        self.current: Any = None
        self._option: Any = None
        self._own = False

    def told(self, fields: Message) -> None:
        """Take note of what an answer or an update says of modes."""
        options = fields.get("configOptions")
        for option in map(table, options if isinstance(options, list) else []):
            if option.get("category") == "mode" and isinstance(option.get("id"), str):
                self._option = option["id"]
                self.offered = _values(option.get("options"))
                self.current = option.get("currentValue")
                break
        modes = table(fields.get("modes"))
        if offered := _texts(modes.get("availableModes"), "id"):
            self.offered, self.current, self._own = offered, modes.get("currentModeId"), True
        if "currentModeId" in fields:
            self.current = fields["currentModeId"]

    def pick(self, name: str, ids: Mapping[str, Any]) -> str:
        """Return the agent's mode for one of the scenario's; empty where there is no other.

        `ids` are the manifest's: a name to the agent's own id. Without one it is the name itself
        if that is offered, else the first mode that is not the current.
        """
        wanted = ids.get(name, name)
        if wanted in self.offered:
            return str(wanted)
        others = [mode for mode in self.offered if mode != self.current]
        return others[0] if others and name not in ids else ""

    def change(self, session: str, mode: str, *, as_option: bool = False) -> tuple[str, Message]:
        """Return the request that changes the session's mode: its method, its parameters.

        `as_option`: as a configuration option where the agent has it as both.
        """
        if self._option is None or (self._own and not as_option):
            return "session/set_mode", {"sessionId": session, "modeId": mode}
        params = {"sessionId": session, "configId": self._option, "value": mode}
        return "session/set_config_option", params


def _texts(value: Any, field: str) -> list[str]:
    entries = value if isinstance(value, list) else []
    return [e[field] for e in map(table, entries) if isinstance(e.get(field), str)]


def _values(value: Any) -> list[str]:
    """The values of a selection, whose options may stand in groups."""
    found = _texts(value, "value")
    for group in map(table, value if isinstance(value, list) else []):
        found += _texts(group.get("options"), "value")
    return found
