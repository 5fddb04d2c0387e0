"""The draft of what was typed: read again it is the same, and it ends where a person ended it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.interactive.draft import as_seen, interrupted, text_of, write
from harness.interactive.seen import Seen
from harness.recording.deciding import Question, questions
from harness.recording.errors import RecordError
from harness.scenarios import (
    Ask,
    Edit,
    Hold,
    Parallel,
    Run,
    Say,
    Scenario,
    Step,
    Think,
    Turn,
    load_scenario,
    scenario,
    scenario_ids,
)
from harness.scenarios.model import Client, Interrupt

PRINTABLE = st.text(
    st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1, max_size=60
).filter(lambda text: text.isprintable() and text == text.strip())


def plain(story: Scenario) -> Any:
    """A scenario's values, but for where they stood in a file."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items() if k not in {"line", "path"}}
        return [without(v) for v in value] if isinstance(value, list | tuple) else value

    return without(msgspec.to_builtins(story))


@pytest.mark.parametrize("name", scenario_ids())
def test_every_scenario_is_written_and_read_as_it_is(tmp_path: Path, name: str) -> None:
    story = scenario(name)
    path = tmp_path / f"{name}.yaml"
    assert write(story, path) == path
    assert plain(load_scenario(path)) == plain(story)
    # The same text is not written again, another one waits.
    assert write(story, path) == path
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    other = replace(story, title="Another")
    assert write(other, path) == tmp_path / f"{name}.yaml.new"
    assert plain(load_scenario(path)) == plain(story)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(PRINTABLE, min_size=1, max_size=3),
    st.lists(PRINTABLE, min_size=1, max_size=3),
    st.lists(st.sampled_from(["allow", "decline", "always"]), max_size=4),
)
def test_whatever_is_typed_is_read_again(
    tmp_path: Path, prompts: list[str], answers: list[str], decisions: list[Any]
) -> None:
    turns = tuple(
        Turn(
            f"{number}: {prompt}",
            (Ask("Which?", ("a", "b")), Say(("Well.",))),
            Client(
                approvals=decisions[0] if decisions else "allow",
                decisions=tuple(decisions) if len(set(decisions)) > 1 else (),
                answer=answers[0],
                answers=tuple(answers) if len(set(answers)) > 1 else (),
            ),
        )
        for number, prompt in enumerate(prompts)
    )
    story = Scenario("typed", "Typed", ("text",), turns, permissions="ask")
    path = tmp_path / "typed.yaml"
    path.unlink(missing_ok=True)
    assert write(story, path) == path
    assert plain(load_scenario(path)) == plain(story)


def test_a_draft_that_cannot_be_read_is_not_written(tmp_path: Path) -> None:
    story = Scenario("typed", "Typed", ("text",), (Turn("a", (Say(("x",)),)), Turn("a", ())))
    with pytest.raises(RecordError, match="writing the draft") as caught:
        write(story, tmp_path / "typed.yaml")
    assert caught.value.code == 4
    assert list(tmp_path.iterdir()) == []


class Shown(Seen):
    """What a person has seen, as the steps say it."""

    def __init__(self, *steps: Step) -> None:
        super().__init__()
        self._shown = list(steps)

    def steps(self) -> list[Step]:
        return list(self._shown)


@dataclass
class Case:
    """A script, how many of its steps were sent, what was seen, when; and the draft's steps."""

    model: tuple[Step, ...]
    used: int
    seen: tuple[Step, ...]
    when: Interrupt
    steps: tuple[Step, ...]
    moment: Interrupt


HELD = (Say(("a", "b")), Hold())
RUN, SAID, THOUGHT, EDIT = Run("ls"), Say(("a",)), Think(("t",)), Edit("f", "", "x\n", None, "x\n")
CASES = {
    "held": Case(HELD, 2, (Say(("ab",)),), "held", HELD, "held"),
    "held at once": Case((Hold(),), 1, (), "start", (Hold(),), "start"),
    "before a word": Case((SAID,), 0, (), "start", (Hold(),), "start"),
    "in a text": Case(
        (THOUGHT, HELD[0]), 0, (THOUGHT, SAID), "text", (THOUGHT, SAID, Hold()), "text"
    ),
    "after the text": Case((SAID,), 1, (SAID,), "text", (SAID, Hold()), "text"),
    "in a thought": Case((THOUGHT, SAID), 0, (THOUGHT,), "held", (THOUGHT, Hold()), "held"),
    "in a command": Case((SAID, RUN, SAID), 2, (SAID, RUN), "command", (SAID, RUN), "command"),
    "one of two": Case(
        (Parallel((RUN, Run("pwd"))), SAID), 1, (RUN, Run("pwd")), "command", (RUN,), "command"
    ),
    "after a command": Case((RUN, SAID), 1, (RUN,), "held", (RUN, Hold()), "held"),
    "after an edit": Case((EDIT, SAID), 1, (), "start", (EDIT, Hold()), "held"),
    "in the text after it": Case((EDIT, SAID), 1, (SAID,), "text", (EDIT, SAID, Hold()), "text"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_script_ends_where_it_was_interrupted(tmp_path: Path, case: Case) -> None:
    sent = [id(step) for step in case.model[: case.used]]
    turn = Turn("p", case.model)
    steps, moment = interrupted(turn, lambda s: id(s) in sent, Shown(*case.seen), case.when)
    assert (steps, moment) == (case.steps, case.moment)
    story = Scenario(
        "typed", "T", ("text",), (Turn("p", steps, Client(interrupt=moment)),), permissions="ask"
    )
    path = tmp_path / "typed.yaml"
    path.write_text(text_of(story), "utf-8")
    assert plain(load_scenario(path)) == plain(story)


@pytest.mark.parametrize(
    ("seen", "when", "steps"),
    [
        ((), None, (Say(("(nothing is said)",)),)),
        ((RUN, SAID), None, (RUN, SAID)),
        ((THOUGHT,), "start", (Hold(),)),
        ((RUN, SAID), "text", (RUN, SAID, Hold())),
        ((RUN, THOUGHT), "held", (RUN, THOUGHT, Hold())),
        ((SAID, RUN, SAID), "command", (SAID, RUN)),
    ],
)
def test_a_real_models_turn_is_what_was_seen(
    seen: tuple[Step, ...], when: Interrupt | None, steps: tuple[Step, ...]
) -> None:
    assert as_seen(Shown(*seen), when) == steps


@pytest.mark.parametrize(
    ("native", "asked"),
    [
        (None, [Question("", [])]),
        ([], [Question("", [])]),
        ([{"question": "a?"}, 7], [Question("a?", [])]),
        (
            [
                {"question": "a?", "options": [{"label": "x"}, {"label": ""}, "y"]},
                {"question": "b?"},
            ],
            [Question("a?", ["x"]), Question("b?", [])],
        ),
        ({"message": "m?"}, [Question("m?", [])]),
        (
            {"message": "m?", "requestedSchema": {"properties": {"q": {"enum": ["x", 1]}}}},
            [Question("m?", ["x", "1"])],
        ),
        (
            {
                "message": "Two:",
                "requestedSchema": {
                    "properties": {
                        "a": {"title": "A?", "oneOf": [{"const": "x"}]},
                        "free": {"type": "string"},
                        "b": {"enum": ["y"]},
                    }
                },
            },
            [Question("Two: A?", ["x"]), Question("b", ["y"])],
        ),
    ],
)
def test_what_is_asked(native: Any, asked: list[Question]) -> None:
    assert questions(native) == asked
