"""The vocabularies against the normalizers, and against the schema that the agent writes."""

import json
import subprocess
from importlib import util
from pathlib import Path
from typing import Any

import pytest

from harness.canonical import EVENT_CLASSES
from harness.surfaces import surface
from harness.surfaces.codex_app_server import normalizer as app
from harness.surfaces.codex_exec import normalizer as exec_
from tests.surfaces import handled
from tests.surfaces.codex import samples
from tests.surfaces.codex.wire import APP, EXEC, events_of, frames, header, is_made_up, kinds

SAMPLES = {APP: samples.APP, EXEC: samples.EXEC}
MAPPED = [
    (name, kind) for name in SAMPLES for kind, e in surface(name).vocabulary.kinds.items() if e.to
]


def normalizer_kinds(name: str) -> tuple[set[str], set[str]]:
    if name == APP:
        return handled.of_app_server(app.Normalizer(header(name)))
    return handled.of_exec(exec_.Normalizer(header(name)))


@pytest.mark.parametrize("name", [APP, EXEC])
def test_the_normalizer_handles_exactly_the_vocabulary(name: str) -> None:
    entries = surface(name).vocabulary.kinds
    mapped, passed = normalizer_kinds(name)
    assert mapped == {kind for kind, entry in entries.items() if entry.to}
    assert passed == {kind for kind, entry in entries.items() if entry.ignored}


@pytest.mark.parametrize("name", [APP, EXEC])
def test_every_type_is_one_of_events_md_and_every_reason_a_sentence(name: str) -> None:
    for kind, entry in surface(name).vocabulary.kinds.items():
        assert set(entry.to) <= set(EVENT_CLASSES), kind
        assert not entry.ignored or len(entry.ignored.split()) > 3, kind


@pytest.mark.parametrize("name", [APP, EXEC])
def test_there_is_a_sample_of_every_mapped_kind(name: str) -> None:
    mapped = {kind for kind, entry in surface(name).vocabulary.kinds.items() if entry.to}
    assert set(SAMPLES[name]) == mapped


@pytest.mark.parametrize(("name", "kind"), MAPPED)
def test_a_kind_gives_exactly_what_the_vocabulary_says(name: str, kind: str) -> None:
    given: set[str] = set()
    for entries in SAMPLES[name][kind]:
        assert kinds(name, entries)[-1] == kind
        cassette = frames(entries)
        before = events_of(name, cassette[:-1], close=False)
        events = events_of(name, cassette, close=False)
        caused = events[len(before) :]
        assert [type(e) for e in events[: len(before)]] == [type(e) for e in before]
        assert caused
        given |= {e.type for e in caused if not is_made_up(e)}
    assert given == set(surface(name).vocabulary.kinds[kind].to)


@pytest.mark.parametrize("name", [APP, EXEC])
def test_an_unknown_kind_gives_a_warning_with_the_frame(name: str) -> None:
    line = {"method": "item/dreamt"} if name == APP else {"type": "item.dreamt"}
    (warning,) = events_of(name, frames([line]))
    assert warning.type == "runtime.warning"
    assert warning.raw.payload == line  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "line",
    [
        {"id": 3, "method": "item/dream", "params": {}},
        {"method": "codex/event/dream", "params": {"msg": {"type": "dream"}}},
    ],
)
def test_an_unknown_request_or_event_msg_is_warned_about(line: dict[str, Any]) -> None:
    events = events_of(APP, frames([line]))
    assert "runtime.warning" in [e.type for e in events]
    assert kinds(APP, [line])[0] not in surface(APP).vocabulary.kinds


def schema(folder: Path, *flags: str) -> dict[str, set[str]]:
    """The methods that the installed agent's own schema names, by direction."""
    spec = util.find_spec("codex_cli_bin")
    if spec is None or spec.origin is None:
        pytest.skip("the agent is not installed: pip install openai-codex-cli-bin")
    binary = Path(spec.origin).parent / "bin" / "codex"
    home = folder / "home"
    home.mkdir(parents=True)
    subprocess.run(
        [binary, "app-server", "generate-json-schema", *flags, "--out", folder],
        env={"HOME": str(home), "CODEX_HOME": str(home), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
        timeout=60,
    )
    result = {}
    for file in ("ServerNotification", "ServerRequest", "ClientRequest", "ClientNotification"):
        variants = json.loads((folder / f"{file}.json").read_text("utf-8"))["oneOf"]
        result[file] = {v["properties"]["method"]["enum"][0] for v in variants}
    return result


@pytest.mark.agents
def test_the_vocabulary_is_the_schema_of_the_installed_agent(tmp_path: Path) -> None:
    stable = schema(tmp_path / "stable")
    whole = schema(tmp_path / "whole", "--experimental")
    entries = surface(APP).vocabulary.kinds
    requests = {k.removeprefix("request ") for k in entries if k.startswith("request ")}
    client = {k.removeprefix("client ") for k in entries if k.startswith("client ")} - {"noise"}
    own = {"start", "stderr", "exit", "noise"}
    notes = {k for k in entries if " " not in k and not k.startswith("codex/event/")} - own
    assert notes == whole["ServerNotification"]
    assert len(stable["ServerNotification"]) == 85
    assert requests == whole["ServerRequest"]
    assert len(stable["ServerRequest"]) == 10
    assert client == whole["ClientRequest"] | whole["ClientNotification"]
    experimental = {k for k, entry in entries.items() if entry.experimental}
    only = {f"request {m}" for m in whole["ServerRequest"] - stable["ServerRequest"]}
    only |= {f"client {m}" for m in whole["ClientRequest"] - stable["ClientRequest"]}
    assert only <= experimental
