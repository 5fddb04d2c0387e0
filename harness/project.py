"""Where the corpus lies: `cassettes/`, `expected/` and `matrix/` under one root."""

from dataclasses import dataclass
from pathlib import Path

from harness.pending import NEW

CASSETTES = "cassettes"


class ProjectError(Exception):
    """There is no corpus to work on, or no such cassette in it. Exit code 3."""


@dataclass(frozen=True)
class Project:
    """A folder with a corpus."""

    root: Path

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

    Elsewhere it is the checkout that this package was installed from. Raises ProjectError.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parent.parent):
        if (folder / CASSETTES).is_dir():
            return Project(folder)
    raise ProjectError(
        f"no {CASSETTES}/ folder in {here} or above it; "
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
