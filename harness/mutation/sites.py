"""The mutants of a module, each with an id that stays while its statement does."""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from harness.mutation.operators import changes

_TYPES: Final = {"Literal", "Callable", "TypeVar", "dict", "list", "tuple", "type", "frozenset"}
_HEADERS: Final = ("test", "iter", "target", "subject", "items")
"""The parts of a compound statement that are not its body."""


class Mutant(Struct, frozen=True):
    """One change to one module, and where it is.

    `lines` are those of which a run must execute one to meet the change: empty for what is
    executed when the module is imported.
    """

    id: str
    file: str
    function: str
    line: int
    operator: str
    before: str
    after: str
    lines: tuple[int, ...]


class _Place(Struct, frozen=True):
    """Where a node hangs in its tree, and in which function and statement it stands."""

    parent: ast.AST
    field: str
    index: int | None
    function: str
    imported: bool
    statement: ast.stmt


class Module:
    """The source of one module. `file` is its path as ids have it.

    Raises SyntaxError for what is no Python.
    """

    def __init__(self, name: str, path: Path, file: str) -> None:
        self.name = name
        self.path = path
        self.file = file
        self.source = path.read_bytes()
        self.tree = ast.parse(self.source, str(path))
        self._nodes: dict[str, tuple[_Place, ast.AST, ast.AST]] = {}
        self.mutants: dict[str, Mutant] = {m.id: m for m in self._all()}

    def mutated(self, id_: str) -> Any:
        """Return the code of the module with one mutant in it; the tree is as before after it."""
        place, old, new = self._nodes[id_]
        _put(place, new)
        try:
            return compile(self.tree, str(self.path), "exec")
        finally:
            _put(place, old)

    def difference(self, id_: str) -> tuple[str, str]:
        """Return the statement of a mutant, as it is and as the mutant has it."""
        place, old, new = self._nodes[id_]
        statement = place.statement
        before = _header(statement)
        if new is not statement and old is statement:
            return before, _header(new) if isinstance(new, ast.stmt) else ast.unparse(new)
        _put(place, new)
        try:
            return before, _header(statement)
        finally:
            _put(place, old)

    def _all(self) -> Iterator[Mutant]:
        seen: Counter[str] = Counter()
        for place, node in _walk(self.tree):
            for operator, new in changes(node):
                _located(new, node)
                before, after = _text(node), _text(new)
                key = "\0".join((place.function, operator, _header(place.statement), before, after))
                seen[key] += 1
                digest = hashlib.sha256(f"{key}\0{seen[key]}".encode()).hexdigest()[:10]
                id_ = f"{self.file}::{place.function or '<module>'}#{digest}"
                self._nodes[id_] = (place, node, new)
                yield Mutant(
                    id_,
                    self.file,
                    place.function,
                    getattr(node, "lineno", place.statement.lineno),
                    operator,
                    before,
                    after,
                    () if place.imported else _lines(place.statement, node),
                )


def _walk(tree: ast.Module) -> Iterator[tuple[_Place, ast.AST]]:
    """Yield each node that may be changed, with its place, from the top down."""
    top = _Place(tree, "", None, "", imported=True, statement=ast.Pass(lineno=1))
    for number, statement in enumerate(tree.body):
        yield from _visit(statement, tree, "body", number, top)


def _visit(  # noqa: C901, PLR0912 - a walk, with what is left out of it
    node: ast.AST, parent: ast.AST, field: str, index: int | None, of: _Place
) -> Iterator[tuple[_Place, ast.AST]]:
    statement = node if isinstance(node, ast.stmt) else of.statement
    place = _Place(parent, field, index, of.function, of.imported, statement)
    if _left_out(node, of):
        return
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        within = f"{of.function}.{node.name}".removeprefix(".")
        if isinstance(node, ast.FunctionDef):
            outside = _Place(parent, field, index, within, of.imported, node)
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if default is not None:
                    yield from _default(default, node.args, outside)
        imported = of.imported and isinstance(node, ast.ClassDef)
        inside = _Place(parent, field, index, within, imported, node)
        for number, part in enumerate(node.body):
            yield from _visit(part, node, "body", number, inside)
        return
    if isinstance(node, ast.stmt | ast.expr):
        yield place, node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "ctx", "format_spec"}:
            continue
        if isinstance(value, list):
            for number, part in enumerate(value):
                if isinstance(part, ast.AST):
                    yield from _visit(part, node, name, number, place)
        elif isinstance(value, ast.AST):
            yield from _visit(value, node, name, None, place)


def _default(
    default: ast.expr, args: ast.arguments, of: _Place
) -> Iterator[tuple[_Place, ast.AST]]:
    for field in ("defaults", "kw_defaults"):
        for number, value in enumerate(getattr(args, field)):
            if value is default:
                yield from _visit(default, args, field, number, of)


def _left_out(node: ast.AST, of: _Place) -> bool:  # noqa: PLR0911 - one case for each kind
    """Say whether no run could show it: types, docstrings, slots, imports."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
            return True
        case ast.Expr(ast.Constant()):
            return True
        case ast.Assign([ast.Name("__slots__" | "__all__")]):
            return True
        case ast.If(ast.Name("TYPE_CHECKING")):
            return True
        case ast.Subscript(ast.Name(name)) if of.imported and name in _TYPES:
            return True
        case ast.Call(ast.Name("cast" | "TypeVar" | "NewType")):
            return True
    return False


def _lines(statement: ast.stmt, node: ast.AST) -> tuple[int, ...]:
    """The lines of which one is executed wherever a node of a statement is."""
    if node is statement and not hasattr(statement, "body"):
        return tuple(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    if isinstance(statement, ast.Match | ast.Try | ast.With) or not hasattr(statement, "body"):
        last = statement.end_lineno or statement.lineno
        return tuple(range(statement.lineno, last + 1))
    ends = [
        part.end_lineno or part.lineno
        for name in _HEADERS
        if isinstance(part := getattr(statement, name, None), ast.expr)
    ]
    return tuple(range(statement.lineno, max([statement.lineno, *ends]) + 1))


def _header(node: ast.stmt) -> str:
    """A statement in words; of a compound one what stands before its body."""
    text = _text(node)
    return text.split("\n", 1)[0] if hasattr(node, "body") or isinstance(node, ast.Match) else text


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Try):
        return "try:"
    if isinstance(node, ast.stmt) and hasattr(node, "body"):
        # The body's text would be made for nothing.
        bare = type(node)(**{**dict(ast.iter_fields(node)), "body": [ast.Pass()]})
        if hasattr(bare, "orelse"):
            bare.orelse = []
        return ast.unparse(ast.fix_missing_locations(ast.copy_location(bare, node))).split("\n")[0]
    return ast.unparse(node)


def _located(new: ast.AST, old: ast.AST) -> None:
    if not hasattr(new, "lineno"):
        ast.copy_location(new, old)
    ast.fix_missing_locations(new)


def _put(place: _Place, node: ast.AST) -> None:
    if place.index is None:
        setattr(place.parent, place.field, node)
    else:
        getattr(place.parent, place.field)[place.index] = node
