"""What a mutant may be: for one node of a syntax tree, the nodes that could stand in its place.

Each operator is a small fault that a person could make. What cannot matter at run time
(annotations, docstrings, slots) is left out by `sites.py`.
"""

import ast
from collections.abc import Iterator
from typing import Final

Change = tuple[str, ast.AST]
"""The operator's name, and what stands in the node's place."""

_COMPARE: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}

_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}

_MARK: Final = "XX"


def changes(node: ast.AST) -> Iterator[Change]:
    """Yield what could stand in a node's place, in a fixed order. The node stays as it is."""
    match node:
        case ast.Compare():
            yield from _compare(node)
        case ast.BoolOp(op, values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "and/or", ast.BoolOp(other, values)
        case ast.UnaryOp(ast.Not(), operand):
            yield "not", operand
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC:
            yield "arithmetic", ast.BinOp(left, _ARITHMETIC[type(op)](), right)
        case ast.Constant():
            yield from _constant(node)
        case ast.Call():
            yield from _call(node)
        case ast.IfExp(test, body, orelse):
            yield from _condition(ast.IfExp(_negated(test), body, orelse), test)
        case ast.stmt():
            yield from _statement(node)


def _compare(node: ast.Compare) -> Iterator[Change]:
    for number, op in enumerate(node.ops):
        for other in _COMPARE[type(op)]:
            ops = [*node.ops]
            ops[number] = other()
            yield "comparison", ast.Compare(node.left, ops, node.comparators)


def _constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int | float):
        yield "constant", ast.Constant(value + 1)
    elif isinstance(value, str):
        yield "constant", ast.Constant(f"{_MARK}{value}{_MARK}")


def _call(node: ast.Call) -> Iterator[Change]:
    for number in range(len(node.keywords)):
        rest = node.keywords[:number] + node.keywords[number + 1 :]
        yield "argument left out", ast.Call(node.func, node.args, rest)
    for number in range(len(node.args) - 1):
        args = [*node.args]
        args[number], args[number + 1] = args[number + 1], args[number]
        if not any(isinstance(a, ast.Starred) for a in args):
            yield "arguments swapped", ast.Call(node.func, args, node.keywords)


def _statement(node: ast.stmt) -> Iterator[Change]:  # noqa: C901 - one case for each kind
    match node:
        case ast.If(test, body, orelse):
            yield from _condition(ast.If(_negated(test), body, orelse), test)
        case ast.While(test, body, orelse):
            yield from _condition(ast.While(_negated(test), body, orelse), test)
        case ast.Return(value) if value is not None and not _is_none(value):
            yield "return None", ast.Return(ast.Constant(None))
        case ast.Expr(ast.Yield() | ast.YieldFrom()):
            # Without its only yield a function is no generator any more: keep one, of nothing.
            yield "statement removed", ast.Expr(ast.YieldFrom(ast.Tuple([], ast.Load())))
        case ast.Expr(value) if not isinstance(value, ast.Constant):
            yield "statement removed", ast.Pass()
        case ast.Assign(targets) if not any(isinstance(t, ast.Name) for t in targets):
            yield "statement removed", ast.Pass()
        case ast.AugAssign(target, op, value):
            yield "statement removed", ast.Pass()
            if type(op) in _ARITHMETIC:
                yield "arithmetic", ast.AugAssign(target, _ARITHMETIC[type(op)](), value)
        case ast.Raise() | ast.Delete():
            yield "statement removed", ast.Pass()
        case ast.Continue():
            yield "continue/break", ast.Break()
        case ast.Break():
            yield "continue/break", ast.Continue()


def _condition(changed: ast.AST, test: ast.expr) -> Iterator[Change]:
    """Negate a condition, unless an operator of its own does the same."""
    single = isinstance(test, ast.Compare) and len(test.ops) == 1
    if not single and not isinstance(test, ast.UnaryOp):
        yield "condition negated", changed


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
