"""What is imported is asked for: an environment that had it for another reason hides that."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

from harness.project import find_project

ROOT = find_project(Path(__file__)).root
OURS = {"harness", "tests", "benchmarks"}
OF_ANOTHER = {"markupsafe": "jinja2"}
"""What a package hands out objects of, which is never asked for by itself."""


def plain(name: str) -> str:
    return re.split(r"[<>=~\[ ;!]", name)[0].lower().replace("_", "-")


def imported() -> Iterator[tuple[str, str]]:
    for folder in ("harness", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            if "templates" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_bytes())):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names = [node.module]
                yield from ((name.partition(".")[0], str(path)) for name in names)


def test_every_package_that_is_imported_is_declared_and_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {plain(one) for group in groups for one in group}
    pinned = {plain(line) for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()}
    given, known = packages_distributions(), declared & pinned
    missing = {
        (name, path)
        for name, path in imported()
        if name not in sys.stdlib_module_names | OURS
        and not {plain(d) for d in given.get(OF_ANOTHER.get(name, name), [name])} & known
    }
    assert missing == set()
