"""Usage, as every normalizer hands it on: the provider's own object, and no count below zero.

What is not so is no usage (the law `usage`, DECISIONS.md 10): it is left out, and warned about.
"""

from typing import Any


def flaw(tokens: Any) -> str:
    """Return why a value is no usage, in words; nothing where it is."""
    if not isinstance(tokens, dict):
        return f"the usage is no object: {tokens!r}"
    return below_zero(tokens)


def below_zero(value: Any) -> str:
    """Return that a JSON value counts below zero somewhere, in words; nothing where it does not."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            todo += one.values()
        elif isinstance(one, list):
            todo += one
        elif isinstance(one, int | float) and not isinstance(one, bool) and one < 0:
            return f"the usage counts below zero: {one!r}"
    return ""


def verify(tokens: Any) -> Any:
    """Return a value that is usage. Raises ValueError, for `LineNormalizer.guard` to tell."""
    if said := flaw(tokens):
        raise ValueError(said)
    return tokens
