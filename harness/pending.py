"""Changed files that wait beside the old ones, as `NAME.jsonl.new`, until somebody has looked."""

import os
from pathlib import Path
from typing import Final

NEW: Final = ".new"
"""The suffix of a file that waits for `harness review`."""

TAPE: Final = ".model.yaml"
"""The suffix of a real model's answers, which belong to the cassette beside them."""


def tape_of(cassette: Path) -> Path:
    """Return where a real model's answers are that belong to a cassette."""
    return cassette.with_name(cassette.name.removesuffix(".jsonl") + TAPE)


def waiting(path: Path) -> Path:
    """Return where a change of a cassette or an expected file waits."""
    return path.with_name(path.name + NEW)


def settled(path: Path) -> Path:
    """Return the file that a waiting one is to replace; any other path as it is."""
    return path.with_name(path.name.removesuffix(NEW))


def waiting_under(*folders: Path) -> list[Path]:
    """Return the files that wait under some folders, in their order, each sorted."""
    return [path for folder in folders for path in sorted(folder.glob(f"**/*.jsonl{NEW}"))]


def in_ci() -> bool:
    """Say whether this is a CI job, where nothing is left to wait: nobody would look at it."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}
