"""A fresh environment without a network: wheels made again of what is installed here."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_LEFT_OUT = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")


def environment(links: Path) -> dict[str, str]:
    """The variables of a pip that finds all that it installs in a folder, and asks nobody."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "PYTHON", "VIRTUAL"))}
    return kept | {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(links),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        # The Python that runs the tests is the first that is found.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


def wheels(requirements: Iterable[str], into: Path) -> None:
    """Make a wheel of each requirement that is installed, and of all that these require."""
    into.mkdir(parents=True, exist_ok=True)
    for found in _closure(requirements):
        _repack(found, into)


def _closure(requirements: Iterable[str]) -> Iterator[Distribution]:
    todo = [Requirement(text) for text in requirements]
    known: set[tuple[str, frozenset[str]]] = set()
    made: set[str] = set()
    while todo:
        wanted = todo.pop()
        name, extras = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if (name, extras) in known:
            continue
        known.add((name, extras))
        found = distribution(name)
        for line in found.requires or []:
            inner = Requirement(line)
            marker = inner.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in ("", *extras)):
                todo.append(inner)
        if name not in made:
            made.add(name)
            yield found


def _repack(found: Distribution, into: Path) -> None:
    name = canonicalize_name(found.name).replace("-", "_")
    tags = [
        line.removeprefix("Tag: ").split("-")
        for line in (found.read_text("WHEEL") or "").splitlines()
        if line.startswith("Tag: ")
    ]
    tag = "-".join(".".join(sorted(set(part))) for part in zip(*tags, strict=True))
    files = [
        file
        for file in found.files or []
        if ".." not in file.parts
        and "__pycache__" not in file.parts
        and not (file.parts[0].endswith(".dist-info") and file.name in _LEFT_OUT)
    ]
    folder = next(f.parts[0] for f in files if f.parts[0].endswith(".dist-info"))
    with zipfile.ZipFile(into / f"{name}-{found.version}-{tag}.whl", "w") as wheel:
        for file in files:
            wheel.write(str(file.locate()), file.as_posix())
        record = [f"{file.as_posix()},," for file in files] + [f"{folder}/RECORD,,"]
        wheel.writestr(f"{folder}/RECORD", "\n".join(record) + "\n")


def run(
    *command: str, cwd: Path, env: dict[str, str], code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a program that has to end with that code."""
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done
