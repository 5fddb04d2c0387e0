"""A cassette that waits, the model's answers that wait with it, and what the lists say of them."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pexpect
import pytest

from harness.cassette import CassetteWriter, open_cassette
from harness.pending import tape_of, waiting
from tests.review.roots import ID, PROMPT, Root, accepts_the_only_one

TAPE = b"version: 1\ninteractions:\n- request: {uri: a}\n- request: {uri: b}\n"


def changed(root: Root) -> Path:
    """Let another recording wait beside a cassette; return the cassette."""
    root.put()
    old = root.path / "cassettes" / f"{ID}.jsonl"
    with open_cassette(old) as cassette, CassetteWriter(waiting(old), cassette.header) as writer:
        for frame in cassette:
            field = next(
                f for f in ("data", "text", "b64") if getattr(frame, f) is not msgspec.UNSET
            )
            value = getattr(frame, field)
            if "Hello, world." in json.dumps(value):
                value = json.loads(json.dumps(value).replace("Hello, world.", "HELLO, world."))
            writer.frame(frame.at, frame.dir, frame.channel, field, value)
        writer.finish(complete=True, exit_code=0)
    return old


def terminal(root: Root, width: int) -> Any:
    return root.terminal(width, 40)


@pytest.mark.parametrize("width", [40, 160])
def test_a_cassette_is_shown_with_its_events_and_accepted(root: Root, width: int) -> None:
    old = changed(root)
    new = waiting(old).read_bytes()
    child = terminal(root, width)
    child.expect(PROMPT)
    flat = re.sub(r"[\s|]+", "", child.before)
    assert f"[1/1]changedcassette:{ID}" in flat
    assert "1framesgone,1come,fromframe" in flat
    assert "-data.item.text:'Hello,world.'" in flat
    assert "+data.item.text:'HELLO,world.'" in flat
    accepts_the_only_one(child)
    assert (old.read_bytes(), waiting(old).exists()) == (new, False)


def test_a_tape_waits_with_its_cassette(
    root: Root,
    capsys: pytest.CaptureFixture[str],
) -> None:
    old = changed(root)
    tape = tape_of(old)
    tape.write_bytes(TAPE)
    waiting(tape).write_bytes(TAPE + b"- request: {uri: c}\n")
    child = terminal(root, 160)
    child.expect(PROMPT)
    child.send("s")
    said = child.before
    child.expect(pexpect.EOF)
    assert (
        "a real model's answers wait with it: text.model.yaml.new, 3 exchanges "
        "(before: text.model.yaml, 2 exchanges)" in said
    )
    capsys.readouterr()
    assert root.run("review", "--list") == 0
    line = f"changed cassette  {waiting(old)} and text.model.yaml.new\n"
    assert capsys.readouterr().out == f"{line}1 waiting\n"
    assert root.run("review", "--list", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["model_cassette"] == str(waiting(tape))


def test_a_tape_that_is_none_is_not_accepted(
    root: Root,
    capsys: pytest.CaptureFixture[str],
) -> None:
    old = changed(root)
    before = old.read_bytes()
    waiting(tape_of(old)).write_bytes(TAPE)
    assert root.run("review", "--accept") == 4
    assert "text.model.yaml.new" in capsys.readouterr().out
    assert (old.read_bytes(), tape_of(old).exists()) == (before, False)
    assert waiting(old).exists()
    assert root.run("review", "--reject") == 0
    # It goes where its cassette goes.
    assert (waiting(old).exists(), waiting(tape_of(old)).exists()) == (False, False)


def test_a_list_shows_what_waits(
    root: Root,
    capsys: pytest.CaptureFixture[str],
) -> None:
    old = changed(root)
    root.change()
    waiting(tape_of(old)).write_bytes(TAPE)
    gone = root.path / "cassettes/codex-exec/codex-0.163.0/gone.jsonl"
    waiting(gone).write_bytes(waiting(old).read_bytes())
    assert root.run("list", "cassettes", "--json") == 0
    rows = {row["id"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows[ID]["waits"] == ["cassette", "model", "expected"]
    assert rows[ID]["frames"] == 7
    assert rows["codex-exec/codex-0.163.0/gone"] == {
        "id": "codex-exec/codex-0.163.0/gone",
        "waits": ["cassette"],
    }
    assert root.run("list", "cassettes") == 0
    out = capsys.readouterr().out
    assert "waits" in out.splitlines()[0]
    assert "cassette, model, expected" in out
    assert root.run("review", "--reject") == 0
    capsys.readouterr()
    assert root.run("list", "cassettes", "--json") == 0
    assert [row.get("waits") for row in json.loads(capsys.readouterr().out)] == [None]
