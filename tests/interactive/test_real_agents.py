"""Real agents with a person at the terminal; what was typed is recorded again from its draft."""

from pathlib import Path

import pytest

from harness.recording import RecordError, record
from harness.recording.agents import find_agent
from harness.recording.isolation import why_not
from harness.recording.models import Taped
from harness.recording.verify import differences
from harness.scenarios import Ask, Hold, Run, Say, Scenario, load_scenario, scenario
from harness.scenarios.model import Client
from harness.surfaces import surface
from tests.gateway.upstream import KEY, VARIABLE, provider
from tests.interactive.person import Person

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]
AGAIN = "  the same when recorded again"
isolated = pytest.mark.skipif(why_not() is not None, reason=f"no isolation: {why_not()}")


def slow(*values: str) -> object:
    return pytest.param(*values, marks=pytest.mark.slow)


AGENTS = [
    ("codex-app-server", "codex"),
    slow("claude-sdk", "claude-code"),
    slow("opencode", "opencode"),
    slow("acp", "claude-agent-acp"),
    slow("acp", "gemini-cli"),
]


def starts(
    folder: Path, room: str, agent: str, *arguments: str, env: dict[str, str] | None = None
) -> Person:
    """Begin; `--verify` makes the recording again from the draft, and compares."""
    try:
        find_agent(surface(room), None, agent)
    except RecordError as error:
        pytest.skip(str(error))
    named = ["--surface", room, "--agent", agent, "--verify"]
    return Person(folder, *named, *arguments, env=env)


def draft(person: Person, name: str) -> Scenario:
    return load_scenario(person.folder / name)


@pytest.mark.parametrize(("room", "agent"), AGENTS)
@pytest.mark.parametrize(
    ("key", "story", "client"),
    [
        ("a", "command-approved", Client()),
        pytest.param("d", "command-declined", Client(approvals="decline"), marks=pytest.mark.slow),
        pytest.param("w", "permission-always", Client(approvals="always"), marks=pytest.mark.slow),
    ],
)
def test_a_permission(
    tmp_path: Path, room: str, agent: str, key: str, story: str, client: Client
) -> None:
    person = starts(tmp_path, room, agent, "--scenario", story)
    person.sees("> ")
    person.types("\r")
    person.sees("w) always")
    person.types(key)
    person.sees(AGAIN)
    person.ends(0)
    assert draft(person, f"{story}-typed.yaml").turns[0].client == client


@pytest.mark.parametrize(("room", "agent"), AGENTS)
def test_an_interrupt(tmp_path: Path, room: str, agent: str) -> None:
    person = starts(tmp_path, room, agent, "--scenario", "interrupt-text")
    person.sees("> ")
    person.types("Tell me of the sea.\r")
    person.sees("Once upon a time")
    person.sees("(the model waits to be interrupted)")
    person.presses_ctrl_c()
    person.sees(AGAIN)
    person.ends(0)
    (turn,) = draft(person, "interrupt-text-typed.yaml").turns
    assert turn.prompt == "Tell me of the sea."
    said = [step.text for step in turn.model if isinstance(step, Say)]
    assert (said, isinstance(turn.model[-1], Hold)) == (["Once upon a time"], True)
    assert turn.client.interrupt in {"held", "text"}


def test_an_interrupted_command(tmp_path: Path) -> None:
    person = starts(tmp_path, "codex-app-server", "codex", "--scenario", "interrupt-command")
    person.sees("> ")
    person.types("\r")
    # It has said something, as the draft's client waits for.
    person.sees("\nstarted")
    person.types("\x1b")
    person.sees(AGAIN)
    person.ends(0)
    (turn,) = draft(person, "interrupt-command-typed.yaml").turns
    assert ([type(step) for step in turn.model], turn.client.interrupt) == ([Run], "command")


@pytest.mark.parametrize(
    ("room", "agent"),
    [
        ("codex-app-server", "codex"),
        slow("claude-sdk", "claude-code"),
        slow("opencode", "opencode"),
        slow("acp", "claude-agent-acp"),
    ],
)
def test_an_answer_in_words_of_ones_own(tmp_path: Path, room: str, agent: str) -> None:
    person = starts(tmp_path, room, agent, "--scenario", "question")
    person.sees("> ")
    person.types("\r")
    person.sees("1-2, or words> ")
    person.types("Deep green\r")
    person.sees(AGAIN)
    person.ends(0)
    (turn,) = draft(person, "question-typed.yaml").turns
    assert turn.client == Client(answer="Deep green")
    (ask,) = [step for step in turn.model if isinstance(step, Ask)]
    assert ask.options == ("Red", "Blue")


@pytest.mark.parametrize(
    ("room", "agent"), [("codex-app-server", "codex"), slow("claude-sdk", "claude-code")]
)
def test_one_allowed_and_one_declined(tmp_path: Path, room: str, agent: str) -> None:
    (tmp_path / "two.yaml").write_text(
        "title: Two commands\nshows: [tool, permission, text]\npermissions: ask\nturns:\n"
        "- prompt: Make two files.\n  model:\n  - run: touch one.txt\n  - run: touch two.txt\n"
        "  - say: Done.\n",
        "utf-8",
    )
    person = starts(tmp_path, room, agent, "--scenario", "two.yaml")
    person.sees("> ")
    person.types("\r")
    for key, said in (("a", "allowed"), ("d", "declined")):
        person.sees("w) always")
        person.types(key)
        person.sees(said)
    person.sees(AGAIN)
    person.ends(0)
    (turn,) = draft(person, "two-typed.yaml").turns
    assert turn.client == Client(decisions=("allow", "decline"))


def test_codex_exec_takes_prompts_alone(tmp_path: Path) -> None:
    person = starts(tmp_path, "codex-exec", "codex", "--scenario", "multi-turn")
    person.sees("(codex exec asks nobody, so a command cannot be approved)")
    person.sees("> ")
    prompts = ["Say something to me.", "And another thing?"]
    for prompt in prompts:
        person.types(f"{prompt}\r")
        person.sees("[completed]")
        person.sees("> ")
    person.presses_ctrl_d()
    person.sees(AGAIN)
    person.ends(0)
    turns = draft(person, "multi-turn-typed.yaml").turns
    assert [turn.prompt for turn in turns] == prompts
    shipped = scenario("multi-turn").turns[:2]
    plain = [[type(step) for step in turn.model] for turn in shipped]
    assert [[type(step) for step in turn.model] for turn in turns] == plain


@isolated
@pytest.mark.parametrize(
    ("room", "agent", "key"),
    [("codex-app-server", "codex", "a"), slow("claude-sdk", "claude-code", "d")],
)
def test_a_real_model(tmp_path: Path, room: str, agent: str, key: str) -> None:
    """Its draft is driven again from the model's recorded answers."""
    version = find_agent(surface(room), None, agent).version
    id_ = f"{room}/{agent}-{version}/by-hand"
    story = {"a": "command-approved", "d": "command-declined"}[key]
    with provider(story, id_) as upstream:
        person = starts(
            tmp_path,
            room,
            agent,
            *["--live", "--draft", "by-hand.yaml", "--key-env", VARIABLE],
            *["--upstream", f"http://127.0.0.1:{upstream.port}"],
            env={VARIABLE: KEY},
        )
        person.sees("> ")
        person.types(f"{scenario(story).turns[0].prompt}\r")
        person.sees("w) always")
        person.types(key)
        person.sees("> ")
        person.presses_ctrl_d()
        person.sees(AGAIN)
        person.ends(0)
        assert upstream.problems == []
    tape = person.into / f"{id_}.model.yaml"
    assert KEY not in "".join(path.read_text("utf-8") for path in person.folder.rglob("*.yaml"))
    one = person.into / f"{id_}.jsonl"
    again = record(
        room, str(tmp_path / "by-hand.yaml"), tmp_path / "b", agent=agent, model=Taped(tape)
    )
    assert differences(one, again.path) == []
    (turn,) = draft(person, "by-hand.yaml").turns
    assert turn.client.approvals == {"a": "allow", "d": "decline"}[key]
    assert any(isinstance(step, Run) and "touch" in step.command for step in turn.model)
