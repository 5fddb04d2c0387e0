"""The wheel: all that the checkout's program reads, and a verdict from it alone."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from harness.project import find_project

ROOT = find_project(Path(__file__)).root
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "constraints.txt")
FOLDERS = ("harness", "cassettes", "expected")

pytestmark = pytest.mark.slow


def run(*command: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git has of the parts that a distribution is made of: a build leaves files there."""
    copy = tmp_path_factory.mktemp("source")
    for name in FILES:
        shutil.copy(ROOT / name, copy / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="session")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(source, tmp_path_factory.mktemp("wheel"))


def built(source: Path, into: Path) -> Path:
    pip = ("-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-index")
    run(*pip, "-w", str(into), str(source), cwd=into)
    (found,) = into.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("site")
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-index")
    run(*pip, "--target", str(into), str(wheel), cwd=into)
    return into


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist() if "dist-info/" not in name}


def due() -> dict[str, bytes]:
    """Each file that the wheel has to have, and what it is in the checkout."""
    files = {
        f"harness/corpus/{path.relative_to(ROOT).as_posix()}": path.read_bytes()
        for folder in ("cassettes", "expected")
        for path in (ROOT / folder).rglob("*.jsonl")
    }
    for path in (ROOT / "harness").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    return files


def test_the_wheel_holds_the_program_whole_and_the_corpus_and_nothing_else(wheel: Path) -> None:
    found, wanted = contents(wheel), due()
    assert sorted(found) == sorted(wanted)
    assert [name for name, data in found.items() if data != wanted[name]] == []


def test_what_was_built_before_is_not_in_it(source: Path, wheel: Path, tmp_path: Path) -> None:
    stale = source / "build/lib/harness/corpus/cassettes/codex-exec/codex-0.1.0/gone.jsonl"
    stale.parent.mkdir(parents=True)
    stale.write_text("{}\n")
    assert contents(built(source, tmp_path)) == contents(wheel)


def test_the_source_distribution_builds_the_same_wheel(
    source: Path, wheel: Path, tmp_path: Path
) -> None:
    run(
        "-c",
        "import setuptools.build_meta as b; b.build_sdist(r'" + str(tmp_path) + "')",
        cwd=source,
    )
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        file.extractall(tmp_path, filter="data")
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    (tmp_path / "out").mkdir()
    assert contents(built(folder, tmp_path / "out")) == contents(wheel)


def test_installed_alone_it_leads_to_the_checkout_s_verdict(site: Path, tmp_path: Path) -> None:
    harness = ("-m", "harness.cli")
    there = run(*harness, "check", "--json", cwd=tmp_path, path=site)
    here = run(*harness, "check", "--json", cwd=ROOT)
    verdicts, due = json.loads(there.stdout), json.loads(here.stdout)
    assert verdicts["summary"] == due["summary"]
    assert verdicts["summary"]["pass"] == len(list((ROOT / "cassettes").glob("*/*/*.jsonl")))
    assert [(c["id"], c["events"]) for c in verdicts["cassettes"]] == [
        (c["id"], c["events"]) for c in due["cassettes"]
    ]
    assert there.stderr == (
        f"harness check: on the corpus that came with the package, {site}/harness/corpus; "
        "`harness copy DIR` writes it out\n"
    )
    run(*harness, "copy", "mine", cwd=tmp_path, path=site)
    assert (
        run(*harness, "list", "cassettes", "--json", cwd=tmp_path / "mine", path=site).stderr == ""
    )
    assert sorted(p.name for p in (tmp_path / "mine").iterdir()) == ["cassettes", "expected"]


@pytest.mark.parametrize("kind", ["scenario", "surface"])
def test_a_part_of_the_project_is_begun_in_a_checkout(
    kind: str, site: Path, tmp_path: Path
) -> None:
    before = sorted(site.rglob("*.yaml"))
    code = "import sys; from harness.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "new", kind, "some-name"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"{site / 'harness'} is an installed package; get a checkout" in done.stderr
    assert sorted(site.rglob("*.yaml")) == before
