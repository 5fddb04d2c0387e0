"""Another project, with only the package installed: pytest finds the plugin by its entry point."""

import sys
import tomllib
from pathlib import Path

import pytest

from tests.package.offline import environment, run, wheels
from tests.package.test_wheel import ROOT, source, wheel
from tests.plugin.team import SUBJECTS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

__all__ = ["source", "wheel"]  # fixtures
HERE = ("codex-exec/codex-0.163.0/text", "codex-exec/codex-0.163.0/command")
OURS = ("--surface", "codex-exec", "-m", "law(id='turns')", *HERE)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the package and its extra for pytest."""
    links = tmp_path_factory.mktemp("links")
    package = f"agent-wire-conformance[pytest] @ {wheel.as_uri()}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extra = project["optional-dependencies"]["pytest"]
    wheels([*project["dependencies"], *extra, "pytest-xdist"], links)
    folder = tmp_path_factory.mktemp("env")
    env = environment(links)
    run(sys.executable, "-m", "venv", str(folder), cwd=folder, env=env)
    pip = str(folder / "bin/pip")
    run(pip, "install", "-q", package, "pytest-xdist", cwd=folder, env=env)
    return folder / "bin"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "team.py").write_text(SUBJECTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = --strict-markers\n")
    return tmp_path


@pytest.mark.parametrize("how", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize(("name", "code"), [("Right", 0), ("Twice", 1)])
def test_pytest_judges_a_normalizer_on_the_corpus_of_the_package(
    installed: Path, project: Path, how: tuple[str, ...], name: str, code: int
) -> None:
    pytest_ = (str(installed / "pytest"), "-v", "--normalizer", f"team:{name}", *OURS, *how)
    done = run(*pytest_, cwd=project, env=environment(project), code=code)
    assert f"2 {'failed' if code else 'passed'}" in done.stdout
    assert "which came with the package" in done.stdout
    for id_ in HERE:
        assert f"{id_}::turns" in done.stdout


def test_nothing_of_it_runs_where_nothing_asks_for_it(installed: Path, project: Path) -> None:
    (project / "test_own.py").write_text(
        "import sys\n"
        "def test_own():\n"
        "    assert 'harness.pytest_plugin' in sys.modules\n"
        "    assert 'harness.conformance' not in sys.modules\n"
    )
    done = run(str(installed / "pytest"), "-q", cwd=project, env=environment(project))
    assert "1 passed" in done.stdout
    assert "harness:" not in done.stdout


def test_its_markers_and_fixtures_are_there(installed: Path, project: Path) -> None:
    (project / "test_own.py").write_text(
        "import pytest\n"
        "from team import Twice\n"
        "@pytest.mark.law(id='turns')\n"
        "def test_own(load_cassette, replay_cassette, judge_cassette):\n"
        f"    assert load_cassette('{HERE[0]}').header.scenario == 'text'\n"
        f"    assert replay_cassette('{HERE[0]}')[-1].type == 'session.exited'\n"
        f"    assert judge_cassette('{HERE[0]}').verdict == 'pass'\n"
        f"    assert 'turns' in judge_cassette('{HERE[0]}', Twice).failed()\n"
    )
    done = run(str(installed / "pytest"), "-q", cwd=project, env=environment(project))
    assert "1 passed" in done.stdout
    shown = run(str(installed / "pytest"), "--markers", cwd=project, env=environment(project))
    for marker in ("surface(id)", "scenario(id)", "law(id)"):
        assert f"@pytest.mark.{marker}: " in shown.stdout


def test_the_program_is_there_too(installed: Path, project: Path) -> None:
    harness = (str(installed / "harness"), "check", "--surface", "codex-exec")
    env = environment(project)
    assert "0 fail" not in run(*harness, cwd=project, env=env).stdout
    broken = run(*harness, "--normalizer", "team:Twice", cwd=project, env=env, code=1)
    assert "turns: every turn starts once" in broken.stdout
