"""A checkout to write into: its code and tests, and a corpus of one cassette."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from harness.project import find_project
from tests.project_of_one import project_of_one

_PROGRAM = """\
#!{python}
import sys
sys.path.insert(0, {root!r})
from harness.cli import entry
sys.exit(entry())
"""
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
    # Its own program: the one that is installed may well run, and write into, another checkout.
    program = root / ".bin" / "harness"
    program.parent.mkdir()
    program.write_text(_PROGRAM.format(python=sys.executable, root=str(root)), encoding="utf-8")
    program.chmod(0o755)
    return root


def shell(root: Path, line: str) -> tuple[int, str]:
    """Run a line as a contributor does, in that checkout; return its exit code and its output."""
    folders = [str(root / ".bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=root,
        env={**os.environ, "PATH": os.pathsep.join(folders), "PYTHONPATH": str(root)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def everything(root: Path) -> list[Path]:
    """All that is there, hidden or not."""
    return sorted(root.rglob("*"))
