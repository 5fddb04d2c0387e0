"""`harness new surface`: recorded, judged, linted and tested as it is; all of it, or nothing."""

import json
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from harness.cassette import open_cassette
from harness.cli import main
from harness.output import UsageError
from harness.scenarios import scenario_ids
from harness.start import new_surface
from harness.surfaces import Surface
from tests.examples.checkout import everything, shell, small, whole

ROOM = (
    "__init__.py",
    "kinds.py",
    "manifest.yaml",
    "normalizer.py",
    "recorder.py",
    "stand_in.py",
    "vocabulary.yaml",
)


def test_the_room_and_its_tests(tmp_path: Path) -> None:
    written = new_surface("some-cli", "cursor", small(tmp_path))
    room, tests = tmp_path / "harness/surfaces/some_cli", tmp_path / "tests/surfaces/some_cli"
    assert written == [
        *(room / name for name in ROOM),
        tests / "__init__.py",
        tests / "test_some_cli.py",
    ]
    assert [path for path in everything(tmp_path) if path.is_file()] == sorted(
        [*written, tmp_path / "pyproject.toml"]
    )
    texts = "".join(path.read_text(encoding="utf-8") for path in written)
    assert "my-surface" not in texts
    assert "my_surface" not in texts
    assert stat.S_IMODE((room / "stand_in.py").stat().st_mode) == 0o755

    made = Surface(room)
    assert (made.name, made.manifest.surface, made.manifest.provider) == (
        "some-cli",
        "some-cli",
        "cursor",
    )
    (agent,) = made.manifest.agents
    assert agent.stand_in.startswith("the stand-in of ")
    assert made.manifest.excluded.keys() == set(scenario_ids()) - {"text"}
    assert made.vocabulary.kinds["text"].to == ["item.started", "content.delta"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "a name is small letters"),
        ("Some", "a name is small letters"),
        ("../some", "a name is small letters"),
        ("some_cli", "a name is small letters"),
        ("some cli", "a name is small letters"),
        ("2cli", "a name is small letters"),
        ("class", "a word of Python's own"),
        ("s" * 33, "33 characters"),
        ("taken", "harness/surfaces/taken is there already"),
        ("module", r"harness/surfaces/module\.py is there already"),
        ("tested", "tests/surfaces/tested is there already"),
    ],
)
def test_a_bad_name_writes_nothing(name: str, told: str, tmp_path: Path) -> None:
    rooms = small(tmp_path) / "harness/surfaces"
    (rooms / "taken").mkdir()
    (rooms / "module.py").touch()
    (tmp_path / "tests/surfaces/tested").mkdir()
    before = everything(tmp_path)
    with pytest.raises(UsageError, match=f"^writing the surface .*{told}"):
        new_surface(name, root=tmp_path)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("failing", ["room", "tests"])
def test_both_folders_or_none(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(small(tmp_path))
    rename = Path.rename

    def full(self: Path, target: Path) -> Path:
        if ("tests" in self.relative_to(tmp_path).parts) == (failing == "tests"):
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        new_surface("some-cli", root=tmp_path)
    assert everything(tmp_path) == before


def test_an_installed_package_is_none_to_write_into(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is an installed package; get a checkout"):
        new_surface("some-cli", root=tmp_path)
    assert everything(tmp_path) == []


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(new_surface, "__defaults__", ("acp", small(tmp_path)))
    assert main(["new", "surface", "some-cli", "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["surface"] == "some-cli"
    assert len(told["files"]) == len(ROOM) + 2
    assert main(["new", "surface", "some-cli"]) == 2
    assert "is there already" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["new", "surface", "other", "--provider", "nobody"])
    assert ended.value.code == 2


def test_what_is_only_being_written_is_no_surface(tmp_path: Path) -> None:
    root = whole(tmp_path)
    (root / "harness/surfaces/.some_cli.1.part").mkdir()
    (root / "harness/surfaces/.some_cli.1.part/manifest.yaml").touch()
    code, told = shell(root, "harness list surfaces --json")
    assert code == 0, told
    assert ".some" not in told


@pytest.mark.slow
@pytest.mark.timeout(600)
# The longest and the shortest name: neither line lengths nor the formatter may depend on it.
@pytest.mark.parametrize("name", ["x", "a-wire-of-the-longest-of-names-3"])
def test_it_is_recorded_judged_and_linted_as_it_is(name: str, tmp_path: Path) -> None:
    root = whole(tmp_path)
    room, tests = (f"{part}/surfaces/{name.replace('-', '_')}" for part in ("harness", "tests"))
    for line in (
        f"harness new surface {name}",
        f"harness record --surface {name} --scenario text --verify",
        f"harness accept --surface {name}",
        f"harness check --surface {name}",
        f"harness vocabulary --surface {name}",
        "harness matrix",
        "harness matrix --check",
        "harness list surfaces",
        "harness doctor",
        f"harness new normalizer mine --language python --surface {name}",
        f"ruff check {room} {tests}",
        f"ruff format --check {room} {tests}",
        f"mypy {room} {tests}",
        f"pytest -q -n 0 {tests} tests/test_corpus.py",
    ):
        code, told = shell(root, line)
        assert code == 0, f"{line}\n{told}"

    (path,) = (root / "cassettes" / name).glob("*/text.jsonl")
    with open_cassette(path) as cassette:
        header = cassette.header
        assert (header.provenance, header.agent.id) == ("constructed", f"{name}-stand-in-0.1.0")
        assert header.sources == [
            f"the stand-in of harness/surfaces/{name.replace('-', '_')}, in place of an agent"
        ]
    # Its evidence is never shown as an agent's.
    shown = msgspec.json.decode((root / "matrix/matrix.json").read_bytes())
    assert {
        (entry["id"], entry["provenance"])
        for entry in shown["cassettes"]
        if entry["surface"] == name
    } == {(header.id, "constructed")}


@pytest.mark.slow
def test_a_fault_in_it_is_found(tmp_path: Path) -> None:
    root = whole(tmp_path)
    assert shell(root, "harness new surface some-cli")[0] == 0
    room = root / "harness/surfaces/some_cli"
    assert shell(root, "harness record --surface some-cli --scenario text")[0] == 0

    vocabulary = yaml.safe_load((room / "vocabulary.yaml").read_text("utf-8"))
    normalizer = (room / "normalizer.py").read_text("utf-8")
    piece = '            "text": self._text,\n'
    assert normalizer.count(piece) == 1
    assert "text" in vocabulary["kinds"]
    (room / "normalizer.py").write_text(normalizer.replace(piece, ""), "utf-8")
    code, told = shell(root, "pytest -q -n 0 tests/surfaces/some_cli")
    assert code == 1
    assert "test_a_whole_turn" in told
