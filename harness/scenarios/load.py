"""Finds scenarios by name and loads them; the parser is imported when one is first loaded."""

from functools import cache
from pathlib import Path

from harness.scenarios.errors import ScenarioError
from harness.scenarios.model import Scenario

FOLDER = Path(__file__).parent


@cache
def scenario_ids() -> tuple[str, ...]:
    """Return the ids of all scenarios, sorted. Reads the folder, not the files."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def load_scenario(path: Path | str) -> Scenario:
    """Return the scenario in a file; its id is the file's stem. Raises ScenarioError."""
    from harness.scenarios.read import read_scenario  # noqa: PLC0415 - start-up: imports YAML

    return read_scenario(Path(path))


@cache
def scenario(name: str) -> Scenario:
    """Return the scenario of that id, or in that file, whose name ends in `.yaml`.

    Raises ScenarioError, naming the nearest; also for a file of a shipped scenario's name, whose
    recordings would pass for that one's.
    """
    if name.endswith(".yaml"):
        path = Path(name)
        if path.stem in scenario_ids() and path.resolve().parent != FOLDER.resolve():
            raise ScenarioError(
                path, 0, f"there is a scenario {path.stem!r} already", "rename the file"
            )
        return load_scenario(path)
    if name not in scenario_ids():
        import difflib  # noqa: PLC0415 - start-up

        found = difflib.get_close_matches(name, scenario_ids(), 1)
        hint = f"did you mean {found[0]!r}?" if found else "see `harness list scenarios`"
        raise ScenarioError(FOLDER, 0, f"no scenario is called {name!r}", hint)
    return load_scenario(FOLDER / f"{name}.yaml")


def scenarios() -> dict[str, Scenario]:
    """Return every scenario by id, sorted. Raises ScenarioError."""
    return {name: scenario(name) for name in scenario_ids()}
