"""A corpus of copies of one cassette, and a terminal to review it at."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pexpect

from harness.cli import main
from harness.pending import waiting
from harness.project import find_project

SHIPPED = find_project(Path(__file__))
AGENT = "codex-exec/codex-0.163.0"
ID = f"{AGENT}/text"
PROMPT = r"a\)ccept r\)eject s\)kip q\)uit"


class Root:
    """A corpus of copies of one cassette, some of whose expected files have a change waiting."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: list[Path] = []

    def put(self, id_: str = ID) -> Path:
        """Copy a shipped cassette and its expected file; return the expected file."""
        for folder in ("cassettes", "expected"):
            target = self.path / folder / f"{id_}.jsonl"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SHIPPED.root / folder / f"{ID}.jsonl", target)
        return target

    def change(self, id_: str = ID, new: bytes = b"HELLO") -> Path:
        """Let a change of an expected file wait; return the expected file."""
        old = self.put(id_)
        content = old.read_bytes()
        assert b"Hello" in content
        waiting(old).write_bytes(content.replace(b"Hello", new))
        self.files.append(old)
        return old

    def run(self, *arguments: str) -> int:
        return main(["--root", str(self.path), *arguments])

    def terminal(self, width: int, height: int = 24) -> Any:
        env = {k: v for k, v in os.environ.items() if k not in {"CI", "COLUMNS", "LINES"}}
        return pexpect.spawn(
            sys.executable,
            ["-m", "harness.cli", "--root", str(self.path), "review"],
            cwd=str(SHIPPED.root),
            dimensions=(height, width),
            env={**env, "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            encoding="utf-8",
            timeout=60,
        )

    def left(self) -> list[Path]:
        return [file for file in self.files if waiting(file).exists()]


def accepts_the_only_one(child: Any) -> None:
    """Accept the one file that waits; the review ends with 0."""
    child.send("a")
    child.expect("of 1: 1 accepted, 0 rejected, 0")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
