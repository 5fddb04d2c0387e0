"""A person at a terminal, in front of agents that are played back from shipped cassettes."""

import os
import select
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cassette import Frame, open_cassette
from harness.playback.shim import write_shim
from harness.recording.verify import differences
from harness.scenarios import load_scenario, scenario
from harness.scenarios.model import Client
from tests.interactive.person import PROJECT, Person, stop

APP = "codex-app-server/codex-0.163.0"
Starts = Callable[..., Person]


@pytest.fixture
def starts(tmp_path: Path) -> Starts:
    def start(id_: str, *arguments: str, width: int = 80) -> Person:
        surface, agent, story = id_.split("/")
        path = PROJECT.cassettes / f"{id_}.jsonl"
        with open_cassette(path) as cassette:
            program = write_shim(tmp_path / "bin", path, cassette.header, pace=False)
        named = ["--surface", surface, "--agent", agent.rpartition("-")[0]]
        of = ["--agent-path", str(program), "--scenario", story]
        return Person(tmp_path, *named, *of, *arguments, width=width)

    return start


def frames(path: Path) -> list[Frame]:
    with open_cassette(path) as cassette:
        found = list(cassette)
        assert not cassette.truncated
    return found


def differing(id_: str, into: Path) -> list[str]:
    """What differs between a shipped cassette and what was typed, but for the name."""
    surface, agent, story = id_.split("/")
    new = into / surface / agent / f"{story}-typed.jsonl"
    found = differences(PROJECT.cassettes / f"{id_}.jsonl", new, played=True)
    assert found[0].startswith("header, number 1 ")
    return found[3:]


@pytest.mark.parametrize("width", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_allowed_at_the_terminal(starts: Starts, width: int) -> None:
    person = starts(f"{APP}/command-approved", width=width)
    person.sees("Enter sends: ")
    person.sees("> ")
    person.types("\r")
    person.sees("a)llow d)ecline w) always")
    person.types("a")
    person.sees("The script has no further turn.")
    person.ends(0)
    cassette = f"out/{APP}/command-approved-typed.jsonl"
    assert person.kept == ["command-approved-typed.yaml", cassette]
    assert differing(f"{APP}/command-approved", person.into) == []
    draft = load_scenario(person.folder / "command-approved-typed.yaml")
    shipped = scenario("command-approved")
    assert [turn.prompt for turn in draft.turns] == [turn.prompt for turn in shipped.turns]
    assert draft.turns[0].client == Client()
    assert (draft.permissions, draft.shows) == (shipped.permissions, shipped.shows)
    seen = person.screen
    assert max(map(len, seen)) <= width
    text = "".join(line.ljust(width) for line in seen)
    for line in (
        "Esc or Ctrl-C interrupts a turn.",
        "Enter sends: Create the file made.txt with touch.",
        "? command execution approval: /bin/bash -lc 'touch made.txt'",
        "a)llow d)ecline w) always",
        "allowed",
        "The file is there.",
        "[completed]",
    ):
        # At any width each begins a line, and no letter of it is lost.
        assert text.index(line) % width == 0


def test_declined_at_the_terminal(starts: Starts) -> None:
    person = starts(f"{APP}/command-declined")
    person.sees("> ")
    person.types("\r")
    person.sees("w) always")
    # What is no answer is none.
    person.types("x\x1b[A \rd")
    person.sees("declined")
    person.ends(0)
    draft = load_scenario(person.folder / "command-declined-typed.yaml")
    assert draft.turns[0].client == Client(approvals="decline")
    assert differing(f"{APP}/command-declined", person.into) == []


@pytest.mark.parametrize(
    "typed", ["Blue\r", "9\x7f2\r", pytest.param("2\r", marks=pytest.mark.slow)]
)
def test_a_question_is_answered_by_number_or_in_words(starts: Starts, typed: str) -> None:
    person = starts(f"{APP}/question", "--draft", "door.yaml", width=40)
    person.sees("> ")
    person.types("\r")
    shown = person.sees("1-2, or words> ")
    assert "? Which colour shall the door have?\r\n  1) Red\r\n  2) Blue\r\n" in shown
    person.types(typed)
    person.sees("= Blue")
    person.ends(0)
    assert person.kept == ["door.yaml", f"out/{APP}/door.jsonl"]
    assert load_scenario(person.folder / "door.yaml").turns[0].client == Client(answer="Blue")


@pytest.mark.parametrize("key", ["\x1b", "\x03"])
@pytest.mark.parametrize(
    "id_",
    [
        f"{APP}/interrupt-text",
        pytest.param("acp/opencode-1.18.33/interrupt-text", marks=pytest.mark.slow),
    ],
)
def test_a_key_interrupts(starts: Starts, key: str, id_: str) -> None:
    person = starts(id_, width=40)
    person.sees("> ")
    person.types("\r")
    person.sees("Once upon a time")
    person.types(key)
    person.sees("(interrupting; Ctrl-C again drops all)")
    person.sees("The script has no further turn.")
    person.ends(0)
    draft = load_scenario(person.folder / "interrupt-text-typed.yaml")
    assert draft.turns[0].client.interrupt in {"text", "held", "start"}
    new = person.into / f"{id_}-typed.jsonl"
    asked = {frame.data.get("method") for frame in frames(new) if isinstance(frame.data, dict)}
    assert asked & {"turn/interrupt", "session/cancel"}


def test_ctrl_d_ends_and_keeps(starts: Starts) -> None:
    person = starts(f"{APP}/multi-turn")
    person.sees("> ")
    person.types("\r")
    person.sees("Enter sends: ")
    person.sees("> ")
    person.presses_ctrl_d()
    # The player had a third turn to say: its client left it early.
    person.sees(".jsonl: ")
    person.ends(0)
    draft = load_scenario(person.folder / "multi-turn-typed.yaml")
    assert [turn.prompt for turn in draft.turns] == [scenario("multi-turn").turns[0].prompt]


def test_nothing_typed_is_nothing_recorded(starts: Starts) -> None:
    person = starts(f"{APP}/text")
    person.sees("> ")
    person.presses_ctrl_d()
    person.sees("nothing was typed: nothing is recorded")
    person.ends(3)
    assert person.kept == []


def test_what_cannot_be_a_prompt_is_asked_for_again(starts: Starts) -> None:
    person = starts(f"{APP}/multi-turn", width=40)
    person.sees("> ")
    person.types("Say\u202ehello\r")
    person.sees("There is a character in it")
    person.sees("> ")
    person.types("a" * 4200 + "\r")
    person.sees("Longer than the terminal's 4095 bytes")
    person.sees("> ")
    person.types("\r")
    person.sees("Enter sends: ")
    person.sees("> ")
    person.types(scenario("multi-turn").turns[0].prompt + "\r")
    person.sees("An earlier prompt is a part of it")
    person.sees("> ")
    person.presses_ctrl_c()
    person.ends(130)
    assert person.kept == []


def at(starts: Starts, story: str, *sights: str) -> Person:
    """Somebody who has sent the first prompt and sees what comes of it; without, is to type it."""
    person = starts(f"{APP}/{story}")
    person.sees("> ")
    if sights:
        person.types("\r")
    for sight in sights:
        person.sees(sight)
    return person


def at_a_prompt(starts: Starts) -> Person:
    return at(starts, "text")


def at_a_later_prompt(starts: Starts) -> Person:
    return at(starts, "multi-turn", "Enter sends: ", "> ")


def at_a_permission(starts: Starts) -> Person:
    return at(starts, "command-approved", "w) always")


def at_a_question(starts: Starts) -> Person:
    return at(starts, "question", "words> ")


MOMENTS = [at_a_prompt, at_a_later_prompt, at_a_permission, at_a_question]


def test_ctrl_c_after_a_line_that_is_unread(starts: Starts) -> None:
    for typed in ("\r\x03", "abc\x03", "\x04\x03"):
        person = at_a_prompt(starts)
        person.types(typed)
        person.sees("harness: interrupted")
        person.ends(130)
        assert person.kept == []


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_drops_all(starts: Starts, moment: Callable[[Starts], Person]) -> None:
    person = moment(starts)
    person.presses_ctrl_c()
    person.ends(130)
    assert person.kept == []


@pytest.mark.parametrize("moment", [at_a_prompt, at_a_permission])
def test_a_signal_leaves_the_terminal_as_it_was(
    starts: Starts, moment: Callable[[Starts], Person]
) -> None:
    person = moment(starts)
    stop(person.harness)
    person.ends(128 + 15)
    assert person.kept == []


def test_a_terminal_that_is_gone_keeps_nothing(starts: Starts) -> None:
    person = at_a_later_prompt(starts)
    harness = os.pidfd_open(person.harness)
    person.child.close(force=False)
    # Readable once it has ended.
    assert select.select([harness], [], [], 60)[0] == [harness]
    os.close(harness)
    person.leaves_nothing()
    assert person.kept == []


def test_keys_that_would_stop_it_do_nothing(starts: Starts) -> None:
    person = at_a_permission(starts)
    person.types("\x1a\x1c")
    person.types("a")
    person.sees("The script has no further turn.")
    person.ends(0)


def test_another_draft_of_that_name_stays(starts: Starts, tmp_path: Path) -> None:
    old = tmp_path / "text-typed.yaml"
    old.write_text("title: another\n", "utf-8")
    person = starts(f"{APP}/text")
    person.sees("> ")
    person.types("\r")
    person.sees("text-typed.yaml is another: it stays")
    person.ends(0)
    assert old.read_text("utf-8") == "title: another\n"
    assert (tmp_path / "text-typed.yaml.new").exists()


def test_a_draft_that_cannot_be_written_is_told_of(starts: Starts, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    person = starts(f"{APP}/text", "--draft", "there/draft.yaml")
    person.sees("> ")
    (tmp_path / "there").rmdir()
    person.types("\r")
    person.sees("writing the draft there/draft.yaml: No such file or directory")
    person.ends(4)
    # The cassette is whole, and in place.
    assert person.kept == [f"out/{APP}/draft.jsonl"]
