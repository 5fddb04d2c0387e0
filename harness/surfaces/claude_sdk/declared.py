"""The kinds that the installed Claude Agent SDK names: its message types and control requests.

Read from the text of its modules, without importing them. The SDK names fewer kinds than its CLI
sends, so a kind that is not here is not gone.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness.surfaces.claude_sdk.client_names import CONTROL_NAMES

COMPLETE: Final = False
BEYOND: Final = r".*"
_SPLIT: Final = {
    "result": "result/success",
    "system": "system/init",
    "stream_event": "stream_event/message_start",
    "rate_limit_event": "rate_limit_event",
}
"""A type that is told apart further: one of its kinds stands for it."""


def declared(program: str) -> dict[str, bool]:
    """Return each kind that the SDK beside the CLI `program` names; none is experimental.

    Raises OSError and SyntaxError where its modules cannot be read.
    """
    package = Path(program).parent.parent
    kinds = set(_parsed(package / "_internal" / "message_parser.py"))
    kinds |= set(_asked(package / "types.py"))
    return dict.fromkeys(sorted(kinds), False)


def _parsed(path: Path) -> Iterator[str]:
    """Yield the message types, and the subtypes of `system`, that the SDK's parser tells apart."""
    tree = ast.parse(path.read_text("utf-8"))
    outer = next((n for n in ast.walk(tree) if isinstance(n, ast.Match)), None)
    for case in outer.cases if outer else []:
        for name in _strings(case.pattern):
            yield _SPLIT.get(name, name)
            if name == "system":
                inner = [n for n in ast.walk(case) if isinstance(n, ast.match_case)]
                subtypes = {s for c in inner for s in _strings(c.pattern)} - {name}
                yield from (f"system/{subtype}" for subtype in subtypes)


def _asked(path: Path) -> Iterator[str]:
    """Yield the control requests: those of the client's are known, any other is the agent's."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or not node.name.startswith("SDKControl"):
            continue
        for field in node.body:
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and field.target.id == "subtype"
                and node.name.endswith("Request")
            ):
                for name in _literals(field.annotation):
                    yield f"client {name}" if name in CONTROL_NAMES else f"request {name}"


def _strings(pattern: ast.pattern) -> Iterator[str]:
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchValue) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def _literals(annotation: ast.expr) -> Iterator[str]:
    for node in ast.walk(annotation):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
