"""What is wrong with a scenario, where, and what to do about it."""

from pathlib import Path


class ScenarioError(Exception):
    """A scenario that cannot be used: which file, which line (1-based, 0 for the whole), why.

    Exit code 2.
    """

    def __init__(self, path: Path | str, line: int, problem: str, hint: str) -> None:
        self.path = Path(path)
        self.line = line
        self.problem = problem
        self.hint = hint
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {problem}; {hint}")
