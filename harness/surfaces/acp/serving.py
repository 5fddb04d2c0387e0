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
            yield answer(id_, _filled(params, client))
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


def _filled(params: Message, client: Client) -> Message:
    """Accept a form: each field with choices is a question, and gets the answer to it.

    Words that it does not offer go into the next text, or else the first; so do those for a form
    without choices. What finds no place declines the form.
    """
    fields = table(table(params.get("requestedSchema")).get("properties"))
    texts = [n for n, s in fields.items() if not _choices(s) and table(s).get("type") == "string"]
    asked = [name for name in fields if _choices(fields[name])]
    content: Message = {}
    names = list(fields)
    for number, name in enumerate(asked or texts[:1]):
        words = client.answer_to(number)
        if name in texts or words in _choices(fields[name]):
            content[name] = words
        elif free := [text for text in texts if text not in content]:
            after = [text for text in free if names.index(text) > names.index(name)]
            content[(after or free)[0]] = words
    return {"action": "accept", "content": content} if content else {"action": "decline"}


def _choices(schema: Any) -> list[Any]:
    listed = table(schema).get("enum") or table(schema).get("oneOf") or []
    choices = listed if isinstance(listed, list) else []
    return [
        table(choice).get("const") if isinstance(choice, dict) else choice for choice in choices
    ]
