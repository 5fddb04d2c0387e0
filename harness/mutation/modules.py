"""Which modules make a normalizer, and how a process comes to run one of them changed."""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from harness.surfaces.registry import surfaces

PACKAGE: Final = "harness.surfaces"

NOT_MUTATED: Final = frozenset({f"{PACKAGE}.base", f"{PACKAGE}.registry"})
"""Protocols and the list of surfaces: the harness's own, not the normalizers'."""


def reference_modules() -> dict[str, dict[str, Path]]:
    """Return for each surface the modules that its reference normalizer imports, with their files.

    Recorders, the judge's namers of kinds and what writes cassettes are none of it.
    """
    return {
        name: closure(f"{found.package}.normalizer", PACKAGE, found.folder.parent)
        for name, found in surfaces().items()
    }


def closure(module: str, package: str, folder: Path) -> dict[str, Path]:
    """Return a module and all of a package that it imports, read from the sources alone."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _file(name, package, folder)
        if name in found or name in NOT_MUTATED or path is None:
            continue
        found[name] = path
        for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
            if isinstance(node, ast.ImportFrom) and node.module:
                waiting += [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
            elif isinstance(node, ast.Import):
                waiting += [a.name for a in node.names]
    return dict(sorted(found.items()))


def _file(name: str, package: str, folder: Path) -> Path | None:
    if not name.startswith(f"{package}."):
        return None
    path = folder.joinpath(*name.removeprefix(f"{package}.").split(".")).with_suffix(".py")
    return path if path.is_file() else None


def forget(modules: Iterable[str]) -> None:
    """Make this process import modules anew: it is a child, and nothing else of it runs them."""
    for name in modules:
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        if package in sys.modules:
            vars(sys.modules[package]).pop(last, None)
    for known in surfaces().values():
        for cached in ("normalizer", "_make_kinds"):
            vars(known).pop(cached, None)


def replace(module: str, path: Path, code: CodeType) -> None:
    """Let the next import of a module run this code."""
    sys.meta_path.insert(0, _Finder(module, path, code))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, module: str, path: Path, code: CodeType) -> None:
        self._module = module
        self._path = path
        self._code = code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find the one module that is replaced."""
        del path, target
        if fullname != self._module:
            return None
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=_Code(self._code)
        )


class _Code(importlib.abc.Loader):
    def __init__(self, code: CodeType) -> None:
        self._code = code

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code as the module."""
        exec(self._code, vars(module))  # noqa: S102 - the code is the project's own, but for the mutant


def tracer(files: Mapping[str, str], seen: dict[str, set[int]]) -> Callable[..., Any]:
    """Return what `sys.settrace` takes to note the lines that run of some files.

    `files` is path to the name that `seen` has it by.
    """

    def call(frame: Any, event: str, argument: Any) -> Any:
        del event, argument
        name = files.get(frame.f_code.co_filename)
        if name is None:
            return None
        add = seen.setdefault(name, set()).add

        def line(frame: Any, event: str, argument: Any) -> Any:
            del argument
            if event == "line":
                add(frame.f_lineno)
            return line

        return line

    return call
