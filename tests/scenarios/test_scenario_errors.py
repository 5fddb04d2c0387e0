"""What is wrong with a scenario is told with its line."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.scenarios import Scenario, ScenarioError, load_scenario
from harness.scenarios.nodes import parse_yaml
from harness.scenarios.read import read_scenario

HEAD = "title: t\nshows: [text]\nturns:\n"  # the turns begin on line 4
TURN = HEAD + "  - prompt: p\n    model:\n"  # the steps begin on line 6

WRONG = {
    "unknown key": ("titel: t\n", 1, "`scenario` has no key 'titel'", "did you mean 'title'?"),
    "missing": ("title: t\nshows: [text]\n", 1, "`scenario` lacks `turns`", "add `turns:`"),
    "not a mapping": ("- a\n", 1, "`scenario` is a list, and a mapping", "write `key: value`"),
    "repeated key": (
        "title: t\nshows: [text]\ntitle: u\n",
        3,
        "`title` stands twice in `scenario`, first on line 1",
        "remove one",
    ),
    "not a text": (
        "title: yes\nshows: [text]\nturns:\n- prompt: p\n  model: [say: s]\n",
        1,
        "`title` is true or false (yes), and text is needed",
        "put it in quotes",
    ),
    "not a list": ("title: t\nshows: text\nturns: []\n", 2, "`shows` is text (text)", "- "),
    "empty list": ("title: t\nshows: [text]\nturns: []\n", 3, "`turns` is an empty list", "one"),
    "unknown row": (
        "title: t\nshows: [text,\n  toool]\nturns: []\n",
        3,
        "`shows[1]` is 'toool'",
        "did you mean 'tool'?",
    ),
    "unknown step": (TURN + "    - sya: s\n", 6, "no step is called 'sya'", "did you mean 'say'?"),
    "two keys in a step": (TURN + "    - say: s\n      run: r\n", 6, "has 2 keys", "`- `"),
    "chunk not a text": (
        TURN + "    - say: [a,\n        3]\n",
        7,
        "`turns[0].model[0].say[1]` is a whole number (3), and text is needed",
        "quotes",
    ),
    "empty text": (TURN + "    - run: ''\n", 6, "`turns[0].model[0].run` is empty", "write some"),
    "hold not true": (TURN + "    - hold: 3\n", 6, "and true is needed", "write `true`"),
    "usage lacks": (TURN + "    - usage: {input: 3}\n", 6, "lacks `output`", "add `output:`"),
    "usage negative": (
        TURN + "    - usage: {input: 3, output: -1}\n",
        6,
        "`turns[0].model[0].usage.output` is -1",
        "give 0 to",
    ),
    "usage part too big": (
        TURN + "    - usage: {input: 3, output: 1,\n        cached_input: 4}\n",
        7,
        "`cached_input` is more than `input`",
        "a part of `input`",
    ),
    "read of nothing": (TURN + "    - read: a\n", 6, "`a` is not there to be read", "`files`"),
    "todo status": (
        TURN + "    - todo: [{text: a, status: done}]\n",
        6,
        "`turns[0].model[0].todo[0].status` is 'done'",
        "pending, in_progress, completed",
    ),
    "todo without change": (
        TURN + "    - todo: &t [{text: a, status: pending}]\n    - todo: *t\n",
        6,
        "`turns[0].model[1].todo` changes nothing",
        "change an entry",
    ),
    "todo forgets": (
        TURN
        + "    - todo: [{text: a, status: pending}]\n    - todo: [{text: b, status: pending}]\n",
        7,
        "lacks an entry of the list before",
        "repeat the entries",
    ),
    "ask without choice": (
        TURN + "    - ask: {question: q, options: [a, a]}\n",
        6,
        "`turns[0].model[0].ask.options` is no choice",
        "two or more",
    ),
    "ask without answer": (
        TURN + "    - ask: {question: q, options: [a, b]}\n    - say: s\n",
        4,
        "`turns[0]` asks, and its client has no `answer`",
        "add it",
    ),
    "answer is no option": (
        TURN + "    - ask: {question: q, options: [a, b]}\n    - say: s\n    client: {answer: c}\n",
        8,
        "`turns[0].client.answer` is 'c'",
        "known: a, b",
    ),
    "answer of no words": (
        TURN
        + "    - ask: {question: q, options: [a, b]}\n    - say: s\n"
        + "    client: {answer: {own: ''}}\n",
        8,
        "`turns[0].client.answer.own` is empty",
        "write some text",
    ),
    "one of the answers": (
        TURN
        + "    - ask: {question: q, options: [a, b]}\n    - say: s\n"
        + "    client: {answer: [a, c]}\n",
        8,
        "`turns[0].client.answer[1]` is 'c'",
        "known: a, b",
    ),
    "one of the approvals": (
        TURN + "    - say: s\n    client: {approvals: [allow, maybe]}\n",
        7,
        "`turns[0].client.approvals[1]` is 'maybe'",
        "known: allow, decline, always",
    ),
    "held without hold": (
        TURN + "    - say: s\n    client: {interrupt: held}\n",
        6,
        "a turn that is interrupted once held ends in `hold`",
        "add it",
    ),
    "answer to nothing": (
        TURN + "    - say: s\n    client: {answer: c}\n",
        7,
        "nothing is asked in this turn",
        "remove `answer`",
    ),
    "start not alone": (
        TURN + "    - say: s\n    - hold: true\n    client: {interrupt: start}\n",
        7,
        "a turn that is interrupted at its start is `hold` alone",
        "mend it",
    ),
    "resume of nothing": (
        TURN + "    - say: s\n    client: {resume: true}\n",
        4,
        "the first turn has nothing to resume",
        "remove `resume`",
    ),
    "command's name": (
        HEAD + "  - prompt: p\n    command: /p\n    model:\n    - say: s\n",
        5,
        "`/p` is no name of a command",
        "small letters",
    ),
    "capability": (
        "title: t\nshows: [text]\ncapabilities: [sound]\nturns: []\n",
        3,
        "`capabilities[0]` is 'sound'",
        "known: files, terminal",
    ),
    "not a number": (
        TURN + "    - pause_ms: soon\n",
        6,
        "`turns[0].model[0].pause_ms` is text (soon), and a whole number is needed",
        "give one from 0 to 10000",
    ),
    "octal number": (TURN + "    - pause_ms: 0x10\n", 6, "a decimal number is needed", "give one"),
    "status": (TURN + "    - fail: {status: 200, message: m}\n", 6, "is 200", "give 400 to 599"),
    "times": (
        TURN + "    - fail: {status: 500, message: m, times: never}\n",
        6,
        "`turns[0].model[0].fail.times` is 'never'",
        "known: always",
    ),
    "edit both": (
        TURN + "    - edit: {path: a, content: c, old: o}\n",
        6,
        "has `content` beside `old` or `new`",
        "creates a file",
    ),
    "edit neither": (TURN + "    - edit: {path: a}\n", 6, "lacks `old`", "give `content`, or"),
    "edit of an unknown file": (
        TURN + "    - edit: {path: a, old: o, new: n}\n",
        6,
        "no earlier step created `a`, or read it",
        "create it with `content`, or `read` it",
    ),
    "edit twice": (
        TURN + '    - edit: {path: a, content: "x\\n"}\n    - edit: {path: a, content: "y\\n"}\n',
        7,
        "`a` was created by an earlier step",
        "use `old` and `new`",
    ),
    "old not there": (
        TURN + '    - edit: {path: a, content: "x\\n"}\n    - edit: {path: a, old: z, new: y}\n',
        7,
        "`old` stands 0 times in `a`",
        "once",
    ),
    "new is old": (
        TURN + '    - edit: {path: a, content: "x\\n"}\n    - edit: {path: a, old: x, new: x}\n',
        7,
        "`new` is the same as `old`",
        "change something",
    ),
    "last line": (
        TURN + "    - edit: {path: a, content: c}\n",
        6,
        "the file's last line has no line feed",
        "use `|`",
    ),
    "path outside": (
        TURN + "    - edit: {path: ../a, content: c}\n",
        6,
        "`../a` is not a plain path in the workspace",
        "give it relative",
    ),
    "file outside": (
        "title: t\nshows: [text]\nfiles:\n  /etc/x: y\nturns: []\n",
        4,
        "`/etc/x` is not a plain path",
        "give it relative",
    ),
    "say in parallel": (
        TURN + "    - parallel:\n      - run: r\n      - say: s\n",
        8,
        "`turns[0].model[0].parallel[1]` is no tool call",
        "use `run` or `edit`",
    ),
    "parallel of one": (
        TURN + "    - parallel:\n      - run: r\n      - pause_ms: 1\n",
        7,
        "less than two tool calls",
        "add one",
    ),
    "after hold": (TURN + "    - hold: true\n    - say: s\n", 7, "can never be reached", "remove"),
    "after always": (
        TURN + "    - fail: {status: 500, message: m, times: always}\n    - say: s\n",
        7,
        "`turns[0].model[1]` can never be reached",
        "remove",
    ),
    "late failure": (
        TURN + "    - say: s\n    - fail: {status: 500, message: m}\n",
        7,
        "fails after its response has begun",
        "put `fail` first",
    ),
    "two usages": (
        TURN + "    - usage: {input: 1, output: 1}\n    - usage: {input: 1, output: 1}\n",
        7,
        "is the second usage of one response",
        "remove one",
    ),
    "tool at the end": (TURN + "    - run: r\n", 6, "a tool call is not answered", "add what"),
    "failure at the end": (
        TURN + "    - fail: {status: 500, message: m}\n",
        6,
        "nothing follows the failure",
        "`times: always`",
    ),
    "nothing said": (
        TURN + "    - usage: {input: 1, output: 1}\n",
        6,
        "the last response says nothing",
        "add a `say`",
    ),
    "hold alone": (
        TURN + "    - say: s\n    - hold: true\n",
        7,
        "`hold` never ends",
        "add `interrupt: text`",
    ),
    "interrupt without hold": (
        TURN + "    - say: s\n    client: {interrupt: text}\n",
        6,
        "a turn that is interrupted at its text ends in `hold`",
        "add it",
    ),
    "interrupt of nothing": (
        TURN + "    - hold: true\n    client: {interrupt: text}\n",
        6,
        "nothing is said before `hold`",
        "add a `say`",
    ),
    "interrupt without run": (
        TURN + "    - say: s\n    client: {interrupt: command}\n",
        6,
        "a turn whose command is interrupted ends in `run`",
        "remove what follows",
    ),
    "unknown interrupt": (
        TURN + "    - say: s\n    client:\n      interrupt: txet\n",
        8,
        "`turns[0].client.interrupt` is 'txet'",
        "did you mean 'text'?",
    ),
    "prompts alike": (
        TURN + "    - say: s\n  - prompt: p more\n    model: [say: s]\n",
        7,
        "in `turns[1]`, the prompts on lines 4 and 7 are one a part of the other",
        "word them apart",
    ),
    "a task like its prompt": (
        TURN + "    - task: {prompt: p now, say: s}\n    - say: s\n",
        4,
        "in `turns[0]`, the prompts on lines 4 and 6 are one a part of the other",
        "word them apart",
    ),
    "prompt with spaces": (
        HEAD + "  - model: [say: s]\n    prompt: 'p '\n",
        5,
        "begins or ends in white space",
        "trim it",
    ),
    "broken YAML": ("title: t\nshows: [text\nturns: []\n", 3, "broken YAML: ", "correct the line"),
    "tab": ("title: t\nshows:\n\t- text\n", 3, "broken YAML: ", "correct the line"),
    "two documents": ("title: t\n---\ntitle: u\n", 2, "broken YAML: ", "correct the line"),
    "control character": ("title: t\nshows: a\x07b\n", 2, "broken YAML: ", "remove it"),
    "empty file": ("# nothing\n", 0, "is empty", "start with `title:`"),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_error_names_its_line(name: str, tmp_path: Path) -> None:
    text, line, problem, hint = WRONG[name]
    path = tmp_path / "wrong.yaml"
    path.write_bytes(text.encode())
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    error = caught.value
    assert (error.path, error.line) == (path, line)
    assert problem in error.problem
    assert hint in error.hint
    where = f"{path}:{line}" if line else str(path)
    assert str(error) == f"{where}: {error.problem}; {error.hint}"


def test_bytes_that_are_not_utf8_name_their_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_bytes(b"title: t\nshows: [\xff]\n")
    with pytest.raises(ScenarioError, match=r"wrong\.yaml:2: is not UTF-8"):
        load_scenario(path)


def test_a_missing_file_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="could not be read: No such file"):
        load_scenario(tmp_path / "none.yaml")


@given(st.text(max_size=200) | st.text(alphabet="tirlesaynup: -[]{}\n&*!'\"|>", max_size=200))
def test_any_text_is_a_scenario_or_a_scenario_error(text: str) -> None:
    path = Path("any.yaml")
    found: Scenario | ScenarioError
    try:
        found = read_scenario(path, parse_yaml(path, text))
    except ScenarioError as error:
        found = error
    if isinstance(found, ScenarioError):
        assert 0 <= found.line <= text.count("\n") + text.count("\r") + 2
        assert found.problem


@pytest.mark.parametrize("fast", [True, False])
def test_a_deeply_nested_file_is_refused(
    fast: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not fast:  # PyYAML may be built without libyaml
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    path = tmp_path / "deep.yaml"
    path.write_text("[" * 100_000)
    with pytest.raises(ScenarioError, match=r"nested too deeply|broken YAML"):
        load_scenario(path)
