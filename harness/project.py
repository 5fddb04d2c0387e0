"""Where the corpus lies: `cassettes/`, `expected/` and `matrix/` under one root."""

from dataclasses import dataclass
from pathlib import Path

from harness.output import UsageError
from harness.pending import NEW

CASSETTES = "cassettes"

DOCUMENTS = "documents-"
"""How the folder of an agent begins that is none: its cassettes are `harness construct`'s."""

_PACKAGE = Path(__file__).resolve().parent
PACKAGED = _PACKAGE / "corpus"
"""The corpus of an installed package (see setup.py); a checkout has none there."""


def of_documents(path: Path) -> bool:
    """Whether a cassette is one that `harness construct` wrote."""
    return path.parent.name.startswith(DOCUMENTS)


class ProjectError(Exception):
    """There is no corpus to work on, or no such cassette in it. Exit code 3."""


@dataclass(frozen=True)
class Project:
    """A folder with a corpus."""

    root: Path

    @property
    def packaged(self) -> bool:
        """Whether it came with the installed package, which nothing writes into."""
        return self.root.resolve() == PACKAGED

    def writable(self, doing: str) -> "Project":
        """Return the project itself. Raises UsageError for a packaged one."""
        if self.packaged:
            raise UsageError(
                f"{doing}: the corpus in {self.root} came with the package and is not written to; "
                "`harness copy DIR` writes it out, then run this in DIR"
            )
        return self

    @property
    def cassettes(self) -> Path:
        """The committed cassettes: `<surface>/<agent>/<scenario>.jsonl`."""
        return self.root / CASSETTES

    @property
    def expected(self) -> Path:
        """The pinned canonical output, one file beside each cassette's path."""
        return self.root / "expected"

    @property
    def matrix(self) -> Path:
        """The generated matrix."""
        return self.root / "matrix"

    def cassette_paths(self) -> list[Path]:
        """Return every cassette file, sorted by id."""
        return sorted(self.cassettes.glob("*/*/*.jsonl"))

    def recorded_paths(self) -> list[Path]:
        """Return the cassettes of agents: without those that `harness construct` writes."""
        return [p for p in self.cassette_paths() if not of_documents(p)]

    def cassette_id(self, path: Path) -> str:
        """Return `<surface>/<agent>/<scenario>` for a path under `cassettes/`, else the path."""
        try:
            return path.resolve().relative_to(self.cassettes.resolve()).with_suffix("").as_posix()
        except ValueError:
            return str(path)

    def find(self, name: str) -> Path:
        """Return the cassette that a path or an id names. Raises ProjectError."""
        path = Path(name)
        if path.is_file():
            return path
        inside = self.cassettes / f"{name}.jsonl"
        if inside.is_file():
            return inside
        raise ProjectError(
            f"no cassette {name!r}: neither a file nor an id under {self.cassettes}; "
            "`harness list cassettes` gives the ids"
        )


def find_project(start: Path | None = None) -> Project:
    """Return the project of a folder: the nearest one above it that has `cassettes/`.

    Elsewhere it is the shipped one. Raises ProjectError.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / CASSETTES).is_dir():
            return Project(folder)
    return shipped(f"in {here} or above it")


def shipped(elsewhere: str = "in a checkout") -> Project:
    """Return the corpus that came with this package, or the checkout's that it is run from.

    Raises ProjectError, which says that there is none `elsewhere` either.
    """
    for folder in (PACKAGED, _PACKAGE.parent):
        if (folder / CASSETTES).is_dir():
            return Project(folder)
    raise ProjectError(
        f"no {CASSETTES}/ folder {elsewhere}, and none came with the package; "
        "run the command in a checkout, or name one with --root"
    )


def project_at(root: Path) -> Project:
    """Return the project of exactly this folder. Raises ProjectError where it is none.

    A folder that was named is never exchanged for another: commands write there.
    """
    if not (root / CASSETTES).is_dir():
        raise ProjectError(f"--root {str(root)!r}: no folder with {CASSETTES}/ in it")
    return Project(root)


def select(
    project: Project, names: list[str], surface: str | None, scenario: str | None
) -> list[Path]:
    """Return the cassettes that are named, or all of them, of one surface and one scenario.

    Raises ProjectError where nothing is left: running nothing is never a pass; and SurfaceError
    where that is so because there is no such surface.
    """
    paths = [project.find(name) for name in names] or project.cassette_paths()
    # The folder says the surface and the file the scenario, so nothing has to be opened.
    chosen = [
        path
        for path in paths
        if (surface is None or path.parent.parent.name == surface)
        and (scenario is None or path.name.removesuffix(NEW) == f"{scenario}.jsonl")
    ]
    if not chosen:
        if surface is not None:
            from harness.surfaces import surface as known  # noqa: PLC0415 - only for this error

            known(surface)
        filters = [
            f"surface {surface!r}" if surface is not None else "",
            f"scenario {scenario!r}" if scenario is not None else "",
        ]
        asked = " and ".join(f for f in filters if f)
        raise ProjectError(
            f"no cassette under {project.cassettes}{' for ' * bool(asked)}{asked}; "
            "`harness list cassettes` gives what there is"
        )
    return chosen
