"""Which cassettes are to be checked, and which expected files have none."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from harness.conformance.report import CassetteResult
from harness.pending import NEW


class Target(Struct, frozen=True):
    """One cassette to check: its id, its file, and whether it belongs to the corpus."""

    id: str
    path: Path
    shipped: bool

    @property
    def parts(self) -> tuple[str, str, str]:
        """Surface, agent and scenario, after the id."""
        surface, agent, scenario = (*self.id.split("/"), "", "", "")[:3]
        return surface, agent, scenario


class Corpus:
    """The folders `cassettes/` and `expected/`, which mirror each other."""

    def __init__(self, cassettes: Path, expected: Path | None) -> None:
        self.cassettes = cassettes
        self.expected = expected

    def all(self) -> list[Target]:
        """Return the cassettes of the corpus, sorted by id."""
        return [
            Target(_inside(path, self.cassettes), path, shipped=True)
            for path in sorted(self.cassettes.glob("*/*/*.jsonl"))
        ]

    def select(
        self, names: Sequence[str | Path], surface: str | None, scenario: str | None
    ) -> tuple[list[Target], list[CassetteResult]]:
        """Return the cassettes that are asked for, and a result for each name that is unknown.

        A name is the path of a file or of a folder with cassettes in it, or an id; none of them
        means the corpus.
        """
        targets: list[Target] = []
        unknown: list[CassetteResult] = []
        for name in names:
            found = self._named(str(name))
            targets += found
            if not found:
                unknown.append(self._unknown(str(name)))
        if not names:
            targets = self.all()
        return [t for t in targets if _wanted(t, surface, scenario)], unknown

    def orphans(self, surface: str | None, scenario: str | None) -> list[CassetteResult]:
        """Return a result for each expected file that has no cassette."""
        if self.expected is None:
            return []
        results = []
        for path in sorted(self.expected.glob("**/*.jsonl")):
            target = Target(_inside(path, self.expected), path, shipped=True)
            if (self.cassettes / f"{target.id}.jsonl").is_file():
                continue
            if _wanted(target, surface, scenario):
                results.append(
                    unusable(
                        target,
                        f"{path}: an expected file whose cassette is gone",
                        "remove it, or record the cassette again with `harness record`",
                    )
                )
        return results

    def pinned(self, id_: str) -> Path | None:
        """Return where the expected output of a cassette lies, whether it is there or not."""
        return None if self.expected is None else self.expected / f"{id_}.jsonl"

    def _named(self, name: str) -> list[Target]:
        path = Path(name)
        if path.is_dir() and path.suffix != ".jsonl":
            return [self._target(p) for p in sorted(path.rglob("*.jsonl"))]
        # Whatever else it is: that no cassette is a pipe or a folder, the reader says.
        if path.exists():
            return [self._target(path)]
        path = self.cassettes / f"{name}.jsonl"
        return [Target(name, path, shipped=True)] if path.is_file() else []

    def _target(self, path: Path) -> Target:
        whole, root = path.resolve(), self.cassettes.resolve()
        inside = whole.is_relative_to(root)
        return Target(_inside(whole, root) if inside else str(path), path, shipped=inside)

    def _unknown(self, name: str) -> CassetteResult:
        near = difflib.get_close_matches(name, [t.id for t in self.all()], 1)
        hint = f"did you mean {near[0]}?" if near else "see `harness list cassettes`"
        target = Target(name, Path(name), shipped=False)
        return unusable(target, f"{name}: neither a file nor the id of a cassette", hint)


def unusable(target: Target, problem: str, hint: str) -> CassetteResult:
    """Return the result of a cassette that cannot be judged."""
    surface, agent, scenario = target.parts if target.shipped else ("", "", "")
    return CassetteResult(
        target.id,
        str(target.path),
        "unusable",
        surface,
        agent,
        scenario,
        problem=problem,
        hint=hint,
    )


def _inside(path: Path, root: Path) -> str:
    """The id of a file in a folder: its path there, without the suffix."""
    # As text: what pathlib does for this costs as much as opening the file.
    inside = "/".join(path.parts[len(root.parts) :]).removesuffix(NEW)
    return inside.removesuffix(Path(inside).suffix)


def _wanted(target: Target, surface: str | None, scenario: str | None) -> bool:
    """Whether the filters let it through; a file elsewhere is judged by its header, later."""
    if not target.shipped:
        return True
    of_surface, _, of_scenario = target.parts
    return surface in {None, of_surface} and scenario in {None, of_scenario}
