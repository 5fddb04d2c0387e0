"""A model's cassette as a file: whole and ours, or refused and left as it is."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from vcr.cassette import Cassette

from harness.gateway.tape import cassette_config, load_tape
from harness.recording.errors import RecordError
from tests.gateway.test_stream import played

OK = "1:66 2:71 3:14"


@pytest.fixture(scope="module")
def tape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.gateway.fakes import chat

    events = " ".join(f"{n}:{len(event)}" for n, event in enumerate(chat("Hello")))
    return played(tmp_path_factory.mktemp("tape"), events)


def refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(RecordError) as caught:
        load_tape(path, cassette_config((), ()))
    assert caught.value.code == 4
    assert path.read_bytes() == data
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_every_truncation_is_refused(tape: Path, tmp_path: Path) -> None:
    data = tape.read_bytes()
    path = tmp_path / "cut.model.yaml"
    # All but the line feed at its end.
    for end in range(len(data) - 1):
        refused(path, data[:end])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no vcrpy cassette"),
        (b"\xff\xfe\x00", "no text in UTF-8"),
        (b"{", "no YAML that vcrpy reads"),
        (b"- request: {}\n  response: {}\n", "no vcrpy cassette"),
        (b"a: !!python/object/apply:os.system ['true']\n", "no YAML that vcrpy reads"),
        (b"interactions: []\nversion: 1\n", "no interactions"),
        (b"interactions:\n- {}\nversion: 1\n", "interaction 1"),
    ],
)
def test_what_is_no_such_file(tmp_path: Path, data: bytes, why: str) -> None:
    assert why in refused(tmp_path / "x.model.yaml", data)


def changed(tape: Path, tmp_path: Path, change: Any) -> str:
    value = yaml.safe_load(tape.read_text("utf-8"))
    change(value)
    return refused(tmp_path / "x.model.yaml", yaml.safe_dump(value).encode())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda v: v.update(version=2), "version is 2, and only 1"),
        (lambda v: v.update(version=True), "version is True"),
        (lambda v: v.pop("metadata"), "does not say of what agent"),
        (lambda v: v.update(metadata={"other": 1}), "does not say of what agent"),
        (lambda v: v["metadata"]["harness"].update(format=2), "format is 2, and only 1"),
        (lambda v: v["metadata"]["harness"].update(more=2), "unknown field"),
        (lambda v: v["metadata"]["harness"].update(exchanges=[]), "tells of 0 exchanges"),
        (
            lambda v: v["metadata"]["harness"]["exchanges"][0].update(end="none"),
            "Invalid enum value",
        ),
        (
            lambda v: v["interactions"][0]["response"]["body"].update(string="short"),
            "its body has 5",
        ),
        (
            lambda v: v["interactions"][0]["request"].update(uri="https://api.openai.com/v1"),
            "were not filtered",
        ),
        (lambda v: v["interactions"][0]["response"].update(body=None), "interaction 1"),
        (lambda v: v["interactions"][0]["request"].update(body=[1]), "neither text nor bytes"),
    ],
)
def test_what_was_changed(tape: Path, tmp_path: Path, change: Any, why: str) -> None:
    assert why in changed(tape, tmp_path, change)


def test_vcrpy_itself_would_have_gone_on(tape: Path, tmp_path: Path) -> None:
    """Why the reading is our own: vcrpy takes the same files."""
    path = tmp_path / "x.yaml"
    path.write_text(tape.read_text("utf-8").replace("\nversion: 1", "\nversion: 7"), "utf-8")
    assert len(Cassette.load(path=path)) == 1
    path.write_bytes(b"\xff\xfe")
    assert len(Cassette.load(path=path)) == 0


def test_a_file_as_any_yaml_writer_has_it(tape: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.model.yaml"
    value = yaml.safe_load(tape.read_text("utf-8"))
    path.write_text(yaml.safe_dump(value, allow_unicode=True), "utf-8")
    cassette, meta = load_tape(path, cassette_config((), ()))
    assert len(cassette) == len(meta.exchanges) == 1
