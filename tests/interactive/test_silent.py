"""A person in front of an agent of the tests' own, which says nothing unless it is told to."""

import sys
from pathlib import Path

import pytest

from harness.cassette import open_cassette
from harness.scenarios import Hold, load_scenario
from harness.surfaces import surface
from tests.interactive.person import Person, stop

NAME = "codex-app-server/codex-0.163.0/text-typed"
AGENT = f"""\
#!{sys.executable} -IS
import json, os, sys, time
if "--version" in sys.argv:
    print("codex-cli 0.163.0")
    sys.exit()
def say(**message):
    print(json.dumps(message), flush=True)
def tell(method, **params):
    say(method=method, params={{"threadId": "t", **params}})
for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if method == "initialize":
        say(id=number, result={{}})
    elif method == "thread/start":
        say(id=number, result={{"thread": {{"id": "t"}}}})
    elif method == "turn/start":
        text = {{"type": "agentMessage", "id": "m", "text": ""}}
        tell("turn/started" if LATE is None else "warning", turn={{"id": "u"}}, message="Well")
        tell("item/agentMessage/delta", turnId="u", itemId="m", delta="Hm...")
        while LATE is not None and not os.path.exists(LATE):
            time.sleep(0.01)
        if LATE is not None:
            tell("turn/started", turn={{"id": "u"}})
        say(id=number, result={{"turn": {{"id": "u", "status": "inProgress", "items": []}}}})
    elif method == "turn/interrupt" and ENDS:
        say(id=number, result={{}})
        tell("turn/completed", turn={{"id": "u", "status": "interrupted", "items": []}})
    elif method == "turn/interrupt":
        say(method="ignored", params={{"threadId": "t"}})
"""


def starts(folder: Path, *, ends: bool, late: Path | None = None) -> Person:
    program = folder / "codex"
    text = AGENT.replace("LATE", repr(late and str(late))).replace("ENDS", repr(ends))
    program.write_text(text, "utf-8")
    program.chmod(0o755)
    named = ["--surface", "codex-app-server", "--agent", "codex", "--agent-path", str(program)]
    person = Person(folder, *named, "--scenario", "text", width=40)
    person.sees("> ")
    person.types("\r")
    person.sees("Hm...")
    return person


def test_ctrl_c_twice_drops_the_recording(tmp_path: Path) -> None:
    person = starts(tmp_path, ends=False)
    person.presses_ctrl_c()
    person.sees("(interrupting; Ctrl-C again drops all)")
    person.presses_ctrl_c()
    person.sees("harness: interrupted")
    person.ends(130)
    assert person.kept == []


def test_esc_twice_interrupts_once(tmp_path: Path) -> None:
    person = starts(tmp_path, ends=False)
    person.types("\x1b")
    person.sees("(interrupting; Ctrl-C again drops all)")
    # Ctrl-C comes after it: had it done something, that would have been seen before. In one
    # write, so that Ctrl-C finds Esc unread.
    person.types("\x1b\x03")
    assert "(interrupting" not in person.sees("harness: interrupted")
    person.ends(130)
    assert person.kept == []


def test_an_arrow_begins_as_esc_does_and_is_none(tmp_path: Path) -> None:
    person = starts(tmp_path, ends=True)
    person.types("\x1b[A")
    # Had it interrupted, this would be the second time, and drop the recording.
    person.presses_ctrl_c()
    person.sees("(interrupting; Ctrl-C again drops all)")
    person.sees("The script has no further turn.")
    person.ends(0)


def test_a_signal_while_the_agent_works(tmp_path: Path) -> None:
    person = starts(tmp_path, ends=False)
    stop(person.harness)
    person.ends(128 + 15)
    assert person.kept == []


@pytest.mark.parametrize("early", [False, True])
def test_a_key_that_comes_early_is_not_lost(tmp_path: Path, early: bool) -> None:
    """Before the agent has told of its turn, there is none to interrupt yet."""
    late = tmp_path / "late"
    person = starts(tmp_path, ends=True, late=late if early else None)
    person.types("\x1b")
    person.sees("(interrupting; Ctrl-C again drops all)")
    late.touch()
    person.sees("[interrupted]")
    person.sees("The script has no further turn.")
    person.ends(0)
    assert person.kept == [f"out/{NAME}.jsonl", "text-typed.yaml"]
    (turn,) = load_scenario(tmp_path / "text-typed.yaml").turns
    assert isinstance(turn.model[-1], Hold)
    with open_cassette(person.into / f"{NAME}.jsonl") as cassette:
        sent = [f.data["method"] for f in cassette if f.channel == "stdin" and "method" in f.data]
    assert sent[-2:] == ["turn/start", "turn/interrupt"]
    assert surface("codex-app-server").manifest.agent("codex") is not None
