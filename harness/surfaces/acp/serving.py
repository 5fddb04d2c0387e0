"""What the client does for its agent: files, terminals, and the answers to its questions."""

from collections.abc import Iterator
from typing import Any, Final

from harness.scenarios import Client
from harness.surfaces.acp import files
from harness.surfaces.acp.names import Message, table
from harness.surfaces.acp.terminals import Terminals, answer, refuse
from harness.surfaces.base import Action, Unhandled

_KINDS: Final = {
    "allow": ("allow_once", "allow_always"),
    "decline": ("reject_once", "reject_always"),
    "always": ("allow_always", "allow_once"),
}


class Serving:
    """Answers the agent's requests as the scenario says, anything unknown with an error.

    `offered` are the client's capabilities: `files`, `terminal`. What was not offered is not
    known.
    """

    def __init__(self, workspace: str, offered: frozenset[str]) -> None:
        self.offered = offered
        self.terminals = Terminals(workspace)
        self._workspace = workspace

    def request(
        self, method: str, id_: Any, params: Message, client: Client | None
    ) -> Iterator[Action]:
        """Answer a request. `client` are the turn's decisions; None: there is none, or no more."""
        if method == "session/request_permission":
            yield answer(id_, {"outcome": _outcome(params, client)})
        elif method == "elicitation/create" and client is not None and client.answer:
            yield answer(id_, _filled(params, client.answer))
        elif method.startswith("fs/") and "files" in self.offered:
            try:
                yield answer(id_, files.serve(method, params, self._workspace))
            except files.RefusedError as error:
                yield refuse(id_, error.code, str(error))
                if error.code == files.UNKNOWN:
                    yield Unhandled(method)
        elif "terminal" in self.offered and (work := self.terminals.request(method, id_, params)):
            yield work
        else:
            yield refuse(id_, files.UNKNOWN, f"this client does not know {method}")
            yield Unhandled(method)


def _outcome(params: Message, client: Client | None) -> Message:
    """The option of the kind that the scenario wants; without one, no decision is made up."""
    offered = params.get("options")
    options = [table(o) for o in (offered if isinstance(offered, list) else [])]
    for kind in _KINDS[client.approvals] if client is not None else ():
        for option in options:
            if option.get("kind") == kind and "optionId" in option:
                return {"outcome": "selected", "optionId": option["optionId"]}
    return {"outcome": "cancelled"}


def _filled(params: Message, words: str) -> Message:
    """Accept a form: the field that offers the answer gets it, else the first that is a text."""
    fields = table(table(params.get("requestedSchema")).get("properties"))
    plain = ""
    for name, schema in fields.items():
        choices = table(schema).get("enum") or [
            table(o).get("const") for o in table(schema).get("oneOf") or []
        ]
        for choice in choices if isinstance(choices, list) else []:
            if choice == words:
                return {"action": "accept", "content": {name: words}}
        if not choices and not plain and table(schema).get("type") == "string":
            plain = name
    return {"action": "accept", "content": {plain: words}} if plain else {"action": "decline"}
