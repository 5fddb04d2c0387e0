"""The client's side: what it answers, and what it never does."""

from pathlib import Path
from typing import Any

import pytest

from harness.cassette import Frame
from harness.scenarios import Scenario, scenario
from harness.surfaces.acp import files
from harness.surfaces.acp.recorder import AcpDriver, make_driver
from harness.surfaces.base import Done, Failed, Send, Setup, Start, Unhandled
from tests.surfaces.acp.wire import answered, refused, said, told

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "ever", "name": "Ever", "kind": "allow_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class Client:
    """A driver with what it has sent."""

    def __init__(self, story: Scenario, workspace: str = "/w", **options: Any) -> None:
        setup = Setup(story, workspace, "/h", 1, "/some", "k", "a", ("--acp",), options)
        self.driver: AcpDriver = make_driver(setup)
        start, first = self.driver.begin()
        assert start == Start(["--acp"])
        self.actions: list[Any] = [first]

    def hears(self, message: Any) -> list[Any]:
        """Return what follows: the data of a `Send`, anything else as it is."""
        frame = Frame(1, 0, "in", "stdout", data=message)
        return [a.data if isinstance(a, Send) else a for a in self.driver.on_frame(frame)]

    def opens(self) -> "Client":
        """Bring it to its first prompt."""
        self.hears(answered(0, {"protocolVersion": 1, "authMethods": []}))
        (sent,) = self.hears(answered(1, {"sessionId": "s1"}))
        assert (sent["method"], sent["id"]) == ("session/prompt", 2)
        return self


def asks(method: str, params: Any, id_: Any = 0) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def test_a_whole_conversation() -> None:
    client = Client(scenario("text"))
    hello = client.actions[0].data
    assert hello["method"] == "initialize"
    assert hello["params"]["clientCapabilities"]["fs"] == {
        "readTextFile": False,
        "writeTextFile": False,
    }
    (new,) = client.hears(answered(0, {"protocolVersion": 1}))
    assert (new["method"], new["params"]) == ("session/new", {"cwd": "/w", "mcpServers": []})
    (prompt,) = client.hears(answered(1, {"sessionId": "s1"}))
    assert prompt["params"]["prompt"][0]["text"] == scenario("text").turns[0].prompt
    assert client.hears(answered(2, {"stopReason": "end_turn"})) == [Done()]


@pytest.mark.parametrize(
    ("name", "option"), [("command-approved", "yes"), ("command-declined", "no")]
)
def test_permission_is_answered_by_the_kind_of_the_option(name: str, option: str) -> None:
    client = Client(scenario(name)).opens()
    (answer,) = client.hears(asks("session/request_permission", {"options": OPTIONS}))
    assert answer["id"] == 0
    assert answer["result"] == {"outcome": {"outcome": "selected", "optionId": option}}


def test_without_an_option_of_the_kind_nothing_is_chosen() -> None:
    client = Client(scenario("command-declined")).opens()
    (answer,) = client.hears(asks("session/request_permission", {"options": OPTIONS[:2]}))
    assert answer["result"] == {"outcome": {"outcome": "cancelled"}}


def test_a_cancel_comes_after_the_last_word_and_once() -> None:
    client = Client(scenario("interrupt-text")).opens()
    assert client.hears(said("Once upon")) == []
    (cancel,) = client.hears(said(" a time"))
    assert (cancel["method"], "id" in cancel) == ("session/cancel", False)
    assert client.hears(said("")) == []


def test_a_cancel_comes_once_the_command_is_known() -> None:
    client = Client(scenario("interrupt-command")).opens()
    assert client.hears(told("tool_call", toolCallId="t", status="pending", rawInput={})) == []
    (cancel,) = client.hears(told("tool_call_update", toolCallId="t", rawInput={"command": "x"}))
    assert cancel["method"] == "session/cancel"


def test_what_is_not_known_is_refused_and_reported() -> None:
    client = Client(scenario("text")).opens()
    answer, report = client.hears(asks("terminal/create", {"command": "x"}, "a"))
    assert (answer["id"], answer["error"]["code"]) == ("a", -32601)
    assert report == Unhandled("terminal/create")


def test_a_login_that_no_entry_names_ends_it() -> None:
    client = Client(scenario("text"))
    client.hears(answered(0, {"protocolVersion": 1, "authMethods": [{"id": "browser"}]}))
    (failed,) = client.hears(refused(1, -32000, "Authentication required"))
    assert isinstance(failed, Failed)
    assert "browser" in failed.what


def test_a_login_that_the_entry_names() -> None:
    client = Client(scenario("text"), authenticate="key")
    (login,) = client.hears(answered(0, {"protocolVersion": 1, "authMethods": [{"id": "key"}]}))
    assert (login["method"], login["params"]) == ("authenticate", {"methodId": "key"})
    (new,) = client.hears(answered(1, {}))
    assert new["method"] == "session/new"


def test_another_version_of_the_protocol_ends_it() -> None:
    (failed,) = Client(scenario("text")).hears(answered(0, {"protocolVersion": 2}))
    assert isinstance(failed, Failed)
    assert "version 2" in failed.what


def test_files_are_served_in_the_workspace(tmp_path: Path) -> None:
    client = Client(scenario("text"), str(tmp_path), fs=True).opens()
    path = str(tmp_path / "a.txt")
    (wrote,) = client.hears(asks("fs/write_text_file", {"path": path, "content": "1\n2\n3\n"}))
    assert wrote["result"] == {}
    (read,) = client.hears(asks("fs/read_text_file", {"path": path, "line": 2, "limit": 1}))
    assert read["result"] == {"content": "2\n"}
    (missing,) = client.hears(asks("fs/read_text_file", {"path": f"{path}.no"}))
    assert missing["error"]["code"] == files.NOT_FOUND


@pytest.mark.parametrize("path", ["/etc/hostname", "a.txt", "{w}/../x", "{w}/link/x", None, "/\0"])
def test_a_path_outside_the_workspace_is_refused(tmp_path: Path, path: str | None) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    client = Client(scenario("text"), str(folder), fs=True).opens()
    name = path.replace("{w}", str(folder)) if path else path
    (answer,) = client.hears(asks("fs/write_text_file", {"path": name, "content": "x"}))
    assert answer["error"]["code"] == files.INVALID
    assert not (tmp_path / "x").exists()
