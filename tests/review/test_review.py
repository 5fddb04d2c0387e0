"""`harness review`, through a real terminal and without one."""

import json
import re

import pexpect
import pytest

from harness.pending import waiting
from harness.review.render import columns
from tests.review.roots import AGENT, ID, PROMPT, Root, accepts_the_only_one


@pytest.mark.parametrize("width", [40, 200])
def test_a_file_is_shown_and_accepted_by_one_key(root: Root, width: int) -> None:
    old = root.change()
    new = waiting(old).read_bytes()
    child = root.terminal(width)
    child.expect(PROMPT)
    shown = child.before.replace("\r", "")
    assert max(columns(line) for line in shown.split("\n")) <= width
    assert len(shown.split("\n")) <= 24
    flat = re.sub(r"[\s|]+", "", shown)
    assert "[1/1]changedexpectedfile:" + ID in flat
    assert "-payload.data.text:'Hello,world.'" in flat
    assert "+payload.data.text:'HELLO,world.'" in flat
    assert "<-stdout" in flat
    accepts_the_only_one(child)
    assert (old.read_bytes(), waiting(old).exists()) == (new, False)


def test_reject_skip_and_quit(root: Root) -> None:
    for name in "abc":
        root.change(f"{AGENT}/{name}")
    before = [file.read_bytes() for file in root.files]
    child = root.terminal(100)
    for key in "rsq":
        child.expect(PROMPT)
        # An arrow sends letters too: those are no decision.
        child.send(f"\x1b[A\x1bOA{key}")
    child.expect("of 3: 0 accepted, 1 rejected, 1 skipped, 0 failed; 2 still waiting")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 1
    assert root.left() == root.files[1:]
    assert [file.read_bytes() for file in root.files] == before


def test_interrupted_in_the_middle_it_has_done_what_it_said(root: Root) -> None:
    for name in "abc":
        root.change(f"{AGENT}/{name}")
    child = root.terminal(100)
    child.expect(PROMPT)
    child.send("a")
    child.expect(r"accepted (\S+)\r")
    assert child.match[1] == str(root.files[0])
    child.expect(PROMPT)
    child.sendintr()
    child.expect("of 3: 1 accepted, 0 rejected, 0 skipped, 0 failed; 2 still waiting")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert root.left() == root.files[1:]
    assert b"HELLO" in root.files[0].read_bytes()
    assert b"HELLO" not in root.files[1].read_bytes()


def test_fifty_files_need_no_scrolling_back(root: Root) -> None:
    for number in range(50):
        root.change(f"{AGENT}/n{number:02}")
    child = root.terminal(80)
    for number in range(50):
        child.expect(PROMPT)
        # What is on the screen since the last decision: this file's own context.
        shown = child.before.replace("\r", "").split("\n")
        assert len(shown) <= 24
        assert f"[{number + 1}/50] changed expected file: {AGENT}/n{number:02}" in "\n".join(shown)
        assert any("HELLO" in line for line in shown)
        child.send("ar"[number % 2])
    child.expect("of 50: 25 accepted, 25 rejected, 0 skipped, 0 failed; 0 still waiting")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert root.left() == []
    assert [b"HELLO" in f.read_bytes() for f in root.files] == [True, False] * 25


def test_hostile_text_is_shown_as_text(root: Root) -> None:
    root.change(new=rb"\u001b[2J\u202e")
    child = root.terminal(100)
    child.expect(PROMPT)
    assert "\x1b" not in child.before
    assert "\u202e" not in child.before
    assert r"+ payload.data.text: '\x1b[2J\u202e, world.'" in child.before
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()


def test_no_terminal_does_nothing(root: Root, capsys: pytest.CaptureFixture[str]) -> None:
    old = root.change()
    assert root.run("review") == 2
    assert "1 waiting, and there is no terminal: nothing was done" in capsys.readouterr().err
    assert waiting(old).exists()


def test_ci_does_nothing_but_what_is_asked_for(
    root: Root, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    old = root.change()
    assert root.run("review") == 2
    assert "this is a CI job" in capsys.readouterr().err
    assert waiting(old).exists()
    assert root.run("review", "--reject") == 0
    assert not waiting(old).exists()


def test_a_list_for_scripts(root: Root, capsys: pytest.CaptureFixture[str]) -> None:
    old = root.change()
    assert root.run("review", "--list", "--json") == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "kind": "expected",
            "id": ID,
            "path": str(waiting(old)),
            "old": str(old),
            "problem": "",
        }
    ]
    assert waiting(old).exists()


def test_what_is_no_whole_file_is_not_accepted(
    root: Root, capsys: pytest.CaptureFixture[str]
) -> None:
    old = root.put()
    cassette = root.path / "cassettes" / f"{ID}.jsonl"
    before = old.read_bytes(), cassette.read_bytes()
    waiting(old).write_bytes(b"no event\n")
    waiting(cassette).write_bytes(cassette.read_bytes()[:-20])
    assert root.run("review", "--accept", "--json") == 4
    results = [(r["kind"], r["result"]) for r in json.loads(capsys.readouterr().out)]
    assert results == [("cassette", "failed"), ("expected", "failed")]
    assert (old.read_bytes(), cassette.read_bytes()) == before
    assert (waiting(old).exists(), waiting(cassette).exists()) == (True, True)


def test_an_empty_file_is_not_accepted(root: Root, capsys: pytest.CaptureFixture[str]) -> None:
    old = root.put()
    before = old.read_bytes()
    waiting(old).write_bytes(b"")
    assert root.run("review", "--accept", "--json") == 4
    (result,) = json.loads(capsys.readouterr().out)
    assert "empty: no cassette gives no events" in result["problem"]
    assert (old.read_bytes(), waiting(old).exists()) == (before, True)


def test_check_leaves_what_differs_and_accept_clears_it(
    root: Root, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = root.put()
    right = old.read_bytes()
    old.write_bytes(right.replace(b"Hello", b"HELLO"))
    pinned = old.read_bytes()
    assert root.run("check") == 1
    assert not waiting(old).exists()
    monkeypatch.setenv("CI", "true")
    assert root.run("check", "--pending") == 1
    assert not waiting(old).exists()
    monkeypatch.delenv("CI")
    assert root.run("check", "--pending") == 1
    assert (old.read_bytes(), waiting(old).read_bytes()) == (pinned, right)
    assert f"  {waiting(old)}" in capsys.readouterr().err
    assert root.run("accept") == 0
    assert (old.read_bytes(), waiting(old).exists()) == (right, False)
