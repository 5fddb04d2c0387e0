"""What a manifest's entry says is written, filled in, and nowhere else."""

import json
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
import yaml

from harness.recording.configure import configure
from harness.recording.errors import RecordError
from harness.scenarios import Say, Scenario, Turn
from harness.surfaces.base import Setup
from harness.surfaces.registry import AgentSource

ENTRY = """
name: some-cli
program: {npm: "@some/cli", npm_version: 1.2.3, command: some}
prepare:
  args: [--acp, "--dir={workspace}"]
  env: {BASE_URL: "http://127.0.0.1:{port}", API_KEY: "{key}", HOME_OF: "{home}"}
  files:
    "{home}/.some/settings.json":
      auth: {type: key, url: "http://127.0.0.1:{port}/v1"}
      "{workspace}": trusted
      limit: 3
    "{home}/.some/text.toml": "a = { b = \\"{key}\\" }\\n"
  options: {authenticate: some-key}
asking:
  args: [--ask]
  files: {"{home}/.some/settings.json": {auth: {asks: true}}}
automatic: {args: [--yes], env: {API_KEY: other}, options: {mode: auto}}
"""


def setup(folder: Path, permissions: Literal["ask", "automatic"]) -> Setup:
    story = Scenario("s", "t", ("text",), (), permissions=permissions)
    return Setup(story, str(folder / "w"), str(folder / "h"), 1234, "/some", "the-key")


def source(text: str = ENTRY) -> AgentSource:
    return msgspec.convert(yaml.safe_load(text), AgentSource)


def test_where_it_asks(tmp_path: Path) -> None:
    done, variables = configure(source(), setup(tmp_path, "ask"))
    home, workspace = str(tmp_path / "h"), str(tmp_path / "w")
    assert done.args == ("--acp", f"--dir={workspace}", "--ask")
    assert (done.agent, done.options) == ("some-cli", {"authenticate": "some-key"})
    assert variables == {"BASE_URL": "http://127.0.0.1:1234", "API_KEY": "the-key", "HOME_OF": home}
    written = json.loads((tmp_path / "h/.some/settings.json").read_text())
    assert written == {
        "auth": {"type": "key", "url": "http://127.0.0.1:1234/v1", "asks": True},
        workspace: "trusted",
        "limit": 3,
    }
    assert (tmp_path / "h/.some/text.toml").read_text() == 'a = { b = "the-key" }\n'


def test_where_it_does_not(tmp_path: Path) -> None:
    done, variables = configure(source(), setup(tmp_path, "automatic"))
    assert done.args[-1] == "--yes"
    assert done.options == {"authenticate": "some-key", "mode": "auto"}
    assert variables["API_KEY"] == "other"
    assert "asks" not in (tmp_path / "h/.some/settings.json").read_text()


@pytest.mark.parametrize("name", ["/etc/some", "{home}/../x", "{home}", "x", "{home}x/y"])
def test_a_file_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    entry: Any = {"name": "some", "prepare": {"files": {name: ""}}}
    with pytest.raises(RecordError, match=r"is neither in \{home\} nor in") as caught:
        configure(msgspec.convert(entry, AgentSource), setup(tmp_path, "ask"))
    assert caught.value.code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "h").write_text("in the way")
    with pytest.raises(RecordError, match=r"writing .*settings\.json: .*; free the disk") as caught:
        configure(source(), setup(tmp_path, "ask"))
    assert caught.value.code == 4


def test_an_entry_says_how_to_get_its_agent() -> None:
    assert source().how == "harness agents install some-cli"
    assert AgentSource("some", "brew it").how == "brew it"
    assert AgentSource("some").how == "install it"


def test_a_word_that_no_entry_has_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `arg`"):
        source("{name: some, prepare: {arg: [x]}}")


def test_a_command_of_the_scenarios_is_written_where_the_agent_looks(tmp_path: Path) -> None:
    entry = """
name: some-cli
prepare:
  commands: {"{workspace}/.some/{name}.toml": 'prompt = "{prompt} {port}"'}
"""
    source = msgspec.convert(yaml.safe_load(entry), AgentSource)
    turns = (Turn("Say hello.", (Say(("hi",)),), command="greet"), Turn("Go.", (Say(("on",)),)))
    story = Scenario("s", "t", ("text",), turns)
    configure(source, Setup(story, str(tmp_path / "w"), str(tmp_path / "h"), 7, "/some", "key"))
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written == [tmp_path / "w" / ".some" / "greet.toml"]
    assert written[0].read_text("utf-8") == 'prompt = "Say hello. 7"'
