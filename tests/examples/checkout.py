"""A checkout to write into: its code and tests, and a corpus of one cassette."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from harness.project import find_project
from tests.project_of_one import project_of_one

ROOT = find_project(Path(__file__)).root


def small(root: Path) -> Path:
    """The folders that a start goes into, and nothing in them."""
    for folder in ("harness/scenarios", "harness/surfaces", "tests/surfaces"):
        (root / folder).mkdir(parents=True)
    (root / "pyproject.toml").touch()
    return root


def whole(root: Path) -> Path:
    """All that runs, with a corpus of one cassette."""
    project_of_one(root)
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for folder in ("harness", "tests"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    for file in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / file, root / file)
    return root


def shell(root: Path, line: str) -> tuple[int, str]:
    """Run a line as a contributor does, in that checkout; return its exit code and its output."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=root,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(root)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def everything(root: Path) -> list[Path]:
    """All that is there, hidden or not."""
    return sorted(root.rglob("*"))
