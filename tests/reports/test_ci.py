"""action.yml and docs/CI.md: their shell is really run, on a good and on a broken normalizer."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.package.offline import environment, wheels
from tests.reports.making import parsed

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
CI = (ROOT / "docs/CI.md").read_text()
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"]}

SUBJECT = """
from harness.surfaces.codex_exec.normalizer import Normalizer as Whole
class Good(Whole):
    pass
class Broken(Whole):
    def close(self):
        return []
    def feed(self, frame):
        return super().feed(frame)[1:]
"""


@pytest.fixture
def job(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "subject.py").write_text(SUBJECT)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "harness"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "from harness.cli import entry; entry()" "$@"\n'
    )
    program.chmod(0o755)
    return {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHONPATH": f"{ROOT}:{tmp_path}",
        "LANG": "C.UTF-8",
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "step.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "RUNNER_TEMP": str(tmp_path / "temp"),
    }


def bash(script: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def step(
    name: str, job: dict[str, str], known: Mapping[str, str] | None = None, **inputs: str
) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as GitHub does: its expressions filled in, then bash."""
    expressions = {
        "github.action_path": str(ROOT),
        "steps.install.outputs.program": "harness",
        **(known or {}),
    }
    given = {key: str(of["default"]) for key, of in ACTION["inputs"].items()} | inputs
    given_env = {}
    for key, value in STEPS[name]["env"].items():
        inner = re.fullmatch(r"\$\{\{ (\S+) \}\}", value)
        assert inner is not None
        where = inner[1]
        given_env[key] = expressions.get(where) or given.get(where.removeprefix("inputs."), "")
    return bash(STEPS[name]["run"], Path(job["GITHUB_WORKSPACE"]), job | given_env)


@pytest.mark.parametrize(("name", "code"), [("Good", 0), ("Broken", 1), ("None_", 5)])
def test_the_action_s_check(job: dict[str, str], tmp_path: Path, name: str, code: int) -> None:
    done = step(
        "check",
        job,
        normalizer=f"subject:{name}",
        surface="codex-exec",
        junit="a b.xml",
        badge="b.svg",
        jsonl="c.jsonl",
    )
    assert done.returncode == code, done.stderr
    assert (tmp_path / "output").read_text() == f"exit-code={code}\n"
    assert ("\n::error " in f"\n{done.stdout}") is (code != 0)
    assert done.stdout.count("\n::error ") <= 10
    assert "Conformance: " in (tmp_path / "step.md").read_text()
    root = parsed((tmp_path / "a b.xml").read_bytes())
    assert (root.get("failures") != "0", root.get("errors")) == (code == 1, str(int(code == 5)))
    assert sorted(p.suffix for p in tmp_path.glob("[abc]*.*")) == [".jsonl", ".svg", ".xml"]


def test_inputs_are_never_text_of_the_script(job: dict[str, str], tmp_path: Path) -> None:
    assert all("${{" not in s["run"] for s in STEPS.values())
    hostile = '$(touch pwned)"; touch pwned; `touch pwned`\n--help'
    done = step("check", job, cassettes=hostile, normalizer=hostile)
    assert done.returncode not in {0, 127}
    assert not (tmp_path / "pwned").exists()


def test_the_action_takes_cassettes_by_line(job: dict[str, str], tmp_path: Path) -> None:
    base = "codex-exec/codex-0.163.0"
    done = step(
        "check", job, cassettes=f"{base}/text\n{base}/cancel-before-first-token\n", jsonl="c.jsonl"
    )
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "c.jsonl").read_text().count('"record":"case"') == 2


def test_the_action_takes_a_program_that_is_there(job: dict[str, str], tmp_path: Path) -> None:
    done = step("install", job, harness="/some/harness")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "output").read_text() == "program=/some/harness\n"


def test_the_action_installs_its_own(job: dict[str, str], tmp_path: Path) -> None:
    # What pip and venv are asked for, without the network that they would need.
    stub = tmp_path / "bin" / "python3"
    stub.write_text(
        '#!/bin/sh\nmkdir -p "$3/bin"\n'
        f'printf \'#!/bin/sh\\necho "$@" >> {tmp_path}/asked\\n\' > "$3/bin/pip"\n'
        'chmod +x "$3/bin/pip"\n'
    )
    stub.chmod(0o755)
    done = step("install", job)
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text()
    assert asked == f"install -q -c {ROOT}/constraints.txt -e {ROOT}\n"
    assert (tmp_path / "output").read_text() == f"program={tmp_path}/temp/harness/bin/harness\n"


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where an action runs: a checkout of it, and wheels of what it requires, for want of a net."""
    folder = tmp_path_factory.mktemp("runner")
    shutil.copytree(
        ROOT,
        folder / "action",
        ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "node_modules"),
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    of = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    wheels(of, folder / "links")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_action_as_a_whole(runner: Path, job: dict[str, str], tmp_path: Path) -> None:
    """Both steps in a row, as GitHub runs them; the first really installs the checkout."""
    shutil.rmtree(tmp_path / "bin")
    del job["PYTHONPATH"]
    job |= environment(runner / "links") | {"HOME": str(tmp_path)}
    action = {"github.action_path": str(runner / "action")}
    done = step("install", job, known=action)
    assert done.returncode == 0, done.stderr
    name, _, program = (tmp_path / "output").read_text().strip().partition("=")
    assert (name, program) == ("program", f"{tmp_path}/temp/harness/bin/harness")
    action["steps.install.outputs.program"] = program
    for subject, code in (("Good", 0), ("Broken", 1), ("None_", 5)):
        (tmp_path / "output").unlink()
        given = {"normalizer": f"subject:{subject}", "surface": "codex-exec", "junit": "out.xml"}
        done = step("check", job, known=action, **given)
        assert done.returncode == code, done.stdout + done.stderr
        assert (tmp_path / "output").read_text() == f"exit-code={code}\n"
        assert ("\n::error " in f"\n{done.stdout}") is (code != 0)
        assert parsed((tmp_path / "out.xml").read_bytes()).tag == "testsuites"
    assert (tmp_path / "step.md").read_text().count("Conformance: ") == 3


def fenced(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)```", CI, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        pytest.param("Good", 0, marks=pytest.mark.slow),
        ("Broken", 1),
        pytest.param("None_", 5, marks=pytest.mark.slow),
    ],
)
def test_the_gitlab_form(job: dict[str, str], tmp_path: Path, name: str, code: int) -> None:
    of = yaml.safe_load(fenced("gitlab"))["conformance"]
    # Elsewhere than a checkout, the corpus is the one of the installed package.
    done = bash("\n".join(of["script"]), tmp_path, job | {"NORMALIZER": f"subject:{name}"})
    assert done.returncode == code, done.stderr
    parsed((tmp_path / of["artifacts"]["reports"]["junit"]).read_bytes())
    assert [(tmp_path / path).is_file() for path in of["artifacts"]["paths"]] == [True]
    assert of["artifacts"]["when"] == "always"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        pytest.param("Good", 0, marks=pytest.mark.slow),
        ("Broken", 1),
        pytest.param("None_", 5, marks=pytest.mark.slow),
    ],
)
def test_the_shell_form(job: dict[str, str], tmp_path: Path, name: str, code: int) -> None:
    done = bash(fenced("shell"), tmp_path, job | {"NORMALIZER": f"subject:{name}"})
    assert done.returncode == code, done.stderr
    for suffix in ("xml", "md", "svg", "jsonl"):
        assert (tmp_path / f"conformance.{suffix}").stat().st_size > 0


def test_the_example_s_inputs_are_the_action_s() -> None:
    (example,) = re.findall(r"## GitHub Actions.*?```yaml\n(.*?)```", CI, re.DOTALL)
    used = yaml.safe_load(example)["jobs"]["conformance"]["steps"][1]["with"]
    assert set(used) <= set(ACTION["inputs"])
