"""A project with a cassette of the corpus, or some, for tests of the command line."""

import shutil
from pathlib import Path

from harness.cli import main
from harness.project import find_project

ID = "codex-exec/codex-0.163.0/text"


def project_of_one(folder: Path, *ids: str) -> Path:
    """Copy cassettes (`ID`, if none is named) and their expected files into a folder."""
    for id_ in ids or (ID,):
        for name in ("cassettes", "expected"):
            copied = folder / name / f"{id_}.jsonl"
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(find_project(Path(__file__)).root / name / f"{id_}.jsonl", copied)
    return folder


def run(root: Path, *arguments: str) -> int:
    """Run the program on that project; return its exit code."""
    return main(["--root", str(root), *arguments])
