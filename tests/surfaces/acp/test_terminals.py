"""`terminal/*`: what is answered, with real programs and with made-up ones."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.recording.children import Child, spawn
from harness.surfaces.acp.files import INVALID, NOT_FOUND
from harness.surfaces.acp.terminals import MOST, Terminals, text
from harness.surfaces.base import Send


class Hands:
    """Starts programs as a recording does, and ends them."""

    def __init__(self) -> None:
        self.children: list[Child] = []
        self.limits: list[int] = []

    async def spawn(
        self, command: list[str], env: Mapping[str, str], cwd: str, limit: int
    ) -> Child:
        whole = {"PATH": os.environ["PATH"], **env}
        child = await spawn(command, env=whole, cwd=cwd, namespace=None, limit=limit, grace=0.2)
        self.children.append(child)
        self.limits.append(limit)
        return child


class Client:
    """Asks in the agent's place."""

    def __init__(self, workspace: Path) -> None:
        self.terminals = Terminals(str(workspace))
        self.hands = Hands()

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer: its result, or its error."""
        work = self.terminals.request(f"terminal/{method}", 7, {"sessionId": "s1", **params})
        assert work is not None
        assert work.beside == (method == "wait_for_exit")
        (send,) = await work.work(self.hands)
        assert isinstance(send, Send)
        assert send.data["id"] == 7
        return dict(send.data.get("result", send.data.get("error")))

    async def all_of(self, **params: Any) -> dict[str, Any]:
        """Create a terminal, wait for its end, return its output."""
        made = await self.ask("create", **params)
        if "terminalId" not in made:
            return made
        await self.ask("wait_for_exit", **made)
        return await self.ask("output", **made)


def talk(workspace: Path, use: Any) -> Any:
    async def all_of_it() -> Any:
        client = Client(workspace)
        try:
            return await asyncio.wait_for(use(client), 10)
        finally:
            for child in client.hands.children:
                await child.end()

    return asyncio.run(all_of_it())


def test_a_command_with_arguments_is_a_program(tmp_path: Path) -> None:
    said = talk(tmp_path, lambda c: c.all_of(command="printf", args=["%s", "$HOME;x"]))
    assert said == {
        "output": "$HOME;x",
        "truncated": False,
        "exitStatus": {"exitCode": 0, "signal": None},
    }


def test_a_command_without_arguments_is_a_line(tmp_path: Path) -> None:
    env = [{"name": "WORD", "value": "a b"}]
    said = talk(tmp_path, lambda c: c.all_of(command='echo "$WORD" && pwd; exit 4', env=env))
    assert said["output"] == f"a b\n{tmp_path}\n"
    assert said["exitStatus"] == {"exitCode": 4, "signal": None}


def test_a_folder_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    said = talk(tmp_path, lambda c: c.all_of(command="pwd", cwd=str(tmp_path / "in")))
    assert said["output"] == f"{tmp_path}/in\n"


@pytest.mark.parametrize(
    "params",
    [
        {"command": "pwd", "cwd": "/"},
        {"command": "pwd", "cwd": "in"},
        {"command": ""},
        {"command": None},
        {"command": "a\0b"},
        {"command": "echo", "args": "x"},
        {"command": "echo", "args": [1]},
        {"command": "echo", "outputByteLimit": -1},
        {"command": "echo", "outputByteLimit": True},
        {"command": "echo", "env": [{"name": "A=B", "value": ""}]},
        {"command": "echo", "env": [{"name": "A", "value": 1}]},
        {"command": "no-such-program", "args": ["x"]},
    ],
)
def test_what_cannot_be_started_is_refused(tmp_path: Path, params: dict[str, Any]) -> None:
    async def use(client: Client) -> Any:
        refused = await client.all_of(**params)
        assert client.hands.children == []
        return refused

    assert talk(tmp_path, use)["code"] == INVALID


def test_the_limit_is_the_agents_and_bounded(tmp_path: Path) -> None:
    async def use(client: Client) -> Any:
        for limit in (4, 1 << 40, None):
            await client.ask("create", command="true", outputByteLimit=limit)
        said = await client.all_of(command="printf 'abäöü'", outputByteLimit=5)
        return client.hands.limits, said

    limits, said = talk(tmp_path, use)
    assert limits[:3] == [4, MOST, MOST]
    # Five bytes are half of ä and all of ö and ü.
    assert (said["output"], said["truncated"]) == ("öü", True)


def test_while_it_runs_there_is_no_exit_status(tmp_path: Path) -> None:
    async def use(client: Client) -> Any:
        made = await client.ask("create", command="echo up; sleep 60")
        said = await client.ask("output", **made)
        while not said["output"]:
            said = await client.ask("output", **made)
            await asyncio.sleep(0)
        waiting = asyncio.create_task(client.ask("wait_for_exit", **made))
        killed = await client.ask("kill", **made)
        return said, killed, await waiting, await client.ask("output", **made)

    said, killed, waited, after = talk(tmp_path, use)
    assert said == {"output": "up\n", "truncated": False}
    assert killed == {}
    assert waited == {"exitCode": None, "signal": "SIGKILL"}
    assert after["exitStatus"] == waited


def test_what_is_released_is_ended_and_not_known(tmp_path: Path) -> None:
    async def use(client: Client) -> Any:
        made = await client.ask("create", command="sleep 60")
        assert await client.ask("release", **made) == {}
        assert client.hands.children[0].status == {"signal": "SIGKILL"}
        return await client.ask("output", **made)

    refused = talk(tmp_path, use)
    assert refused["code"] == NOT_FOUND
    assert "'terminal-1'" in refused["message"]


@pytest.mark.parametrize(
    "params", [{"terminalId": "x"}, {"terminalId": None}, {}, {"sessionId": "s2"}]
)
def test_a_terminal_of_nobody_or_another_session(tmp_path: Path, params: dict[str, Any]) -> None:
    async def use(client: Client) -> Any:
        made = await client.ask("create", command="true")
        return await client.ask("output", **{**(made if "sessionId" in params else {}), **params})

    assert talk(tmp_path, use)["code"] == NOT_FOUND


def test_another_method_is_not_of_terminals(tmp_path: Path) -> None:
    assert Terminals(str(tmp_path)).request("terminal/resize", 1, {}) is None


@given(st.text(max_size=20), st.integers(0, 90), st.integers(0, 90))
def test_a_cut_is_between_characters(words: str, lost: int, coming: int) -> None:
    whole = words.encode("utf-8", "surrogatepass")
    if whole.decode("utf-8", "ignore") != words:
        return
    first, last = min(lost, len(whole)), len(whole) - min(coming, len(whole))
    kept = whole[first : max(first, last)]
    shown = text(kept, truncated=first > 0, over=False)
    assert shown in words
    # Nothing but parts of the two characters at the cuts is left out.
    assert len(kept) - len(shown.encode()) <= 6
    assert text(whole, truncated=False, over=True) == words
