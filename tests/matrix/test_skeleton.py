"""Skeletons: what is left of a conversation, how several are aligned, how differences are named."""

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.cassette import open_cassette
from harness.matrix.build import build
from harness.matrix.coverage import scan
from harness.matrix.render import files
from harness.matrix.skeleton import LONGEST, Skeleton, Step, align, differences
from harness.project import find_project
from harness.surfaces import surface

PROJECT = find_project(Path(__file__))
EXEC = PROJECT.cassettes / "codex-exec/codex-0.163.0"


def skeleton(*types: str) -> Skeleton:
    return Skeleton([Step((t, "", ""), 1) for t in types])


def test_the_skeleton_of_a_conversation_is_its_steps_in_order() -> None:
    steps = scan(EXEC / "command.jsonl").skeleton.steps
    told = [s.label for s in steps]
    assert told[0] == ("turn.started", "", "")
    assert ("item.started", "command_execution", "inProgress") in told
    assert told[-2:] == [("turn.completed", "", "completed"), ("session.exited", "", "")]
    assert not any(t.startswith(("thread.", "session.started")) for t, _, _ in told)


def test_what_is_alike_stands_in_one_row_and_what_differs_in_its_own() -> None:
    rows = align([skeleton("a", "b", "c"), skeleton("a", "c", "d")])
    assert [(r.type, r.counts) for r in rows] == [
        ("a", [1, 1]),
        ("b", [1, 0]),
        ("c", [1, 1]),
        ("d", [0, 1]),
    ]


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=8), max_size=4))
def test_each_column_of_an_alignment_is_its_skeleton(stories: list[list[str]]) -> None:
    unlike = [[t for n, t in enumerate(s) if n == 0 or s[n - 1] != t] for s in stories]
    rows = align([skeleton(*story) for story in unlike])
    for column, story in enumerate(unlike):
        assert [r.type for r in rows if r.counts[column]] == story
    assert all(any(r.counts) for r in rows)


def test_a_long_conversation_is_cut_and_says_so() -> None:
    with open_cassette(EXEC / "command.jsonl") as cassette:
        normalizer = surface("codex-exec").normalizer(cassette.header)
        events = [e for f in cassette for e in normalizer.feed(f)]
    long = Skeleton()
    for _ in range(LONGEST):
        for event in events:
            long.add(event, native=True)
    assert len(long.steps) == LONGEST
    assert differences([long], [True])[0][-1] == f"cut after {LONGEST} steps"


def test_what_one_lacks_and_another_has_is_named() -> None:
    one = Skeleton(facts=Counter({"approval": 1, "tool": 2, "tool closed by the turn's end": 1}))
    two = Skeleton(facts=Counter({"assistant_text delta": 3, "tool": 2}))
    closed = "1 of 2 tools closed by the turn's end"
    assert differences([one, two], [True, True]) == [["no text delta", closed], ["no approval"]]
    assert differences([one, two], [True, False]) == [[closed], ["no approval"]]


def test_the_corpus_names_these_differences() -> None:
    views = {v.id: v for v in build(PROJECT).scenarios}
    told = {
        (view, c.surface): c.differences
        for view in ("text", "command-approved", "interrupt-command")
        for c in views[view].columns
    }
    assert told["text", "codex-exec"] == ["no text delta"]
    assert told["text", "codex-app-server"] == []
    assert "1 of 1 tools closed by the turn's end" in told["interrupt-command", "codex-exec"]
    text = files(build(PROJECT))["scenarios.md"].decode()
    assert "## text: The model answers in text" in text
    providers = [c.provider for c in views["text"].columns]
    assert sorted(set(providers)) == ["acp", "claude", "codex", "cursor", "opencode"]
