"""docs/NORMALIZER.md, followed by a stranger who does just what it says."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.subject.protocol import MESSAGES, PROTOCOL, Failed, Request
from harness.surfaces import surfaces
from tests.nodes import node

ROOT = Path(__file__).parent.parent.parent
TUTORIAL = (ROOT / "docs" / "NORMALIZER.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^<!-- (.*?) -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[tuple[list[str], str, str]]:
    """Each marked block: the words of its mark, its language, its text."""
    for mark, kind, text in BLOCK.findall(TUTORIAL):
        yield mark.split(), kind, text


def edited(text: str, diff: str) -> str:
    """Apply a diff of one hunk, whose context is to be found exactly once."""
    old = "".join(line[1:] for line in diff.splitlines(keepends=True) if line[0] in " -")
    new = "".join(line[1:] or "\n" for line in diff.splitlines(keepends=True) if line[0] in " +")
    assert text.count(old) == 1, diff
    return text.replace(old, new)


def _of_any_corpus(text: str) -> str:
    """The same, however many cassettes there are."""
    text = re.sub(r"\d+ (pass|cassettes|conversations)\b", r"N \1", text)
    return re.sub(rf"\b({'|'.join(surfaces())}) \d+", r"\1 N", text)


def stands_at_the_end(shown: str, printed: str) -> bool:
    """Whether lines are the last ones printed, none left out; `…` stands for the rest of one."""
    told = printed.splitlines()
    lines = shown.splitlines()
    return len(told) >= len(lines) and all(
        _of_any_corpus(one.removesuffix("…")) in _of_any_corpus(other)
        if one.endswith("…")
        else _of_any_corpus(other).endswith(_of_any_corpus(one))
        for one, other in zip(lines, told[-len(lines) :], strict=True)
    )


@pytest.mark.parametrize("language", [pytest.param("ts", marks=pytest.mark.slow), "python"])
def test_every_command_does_what_is_said(language: str, tmp_path: Path) -> None:
    own = os.pathsep.join([str(Path(sys.executable).parent), str(Path(node()).parent)])
    environment = {**os.environ, "PATH": f"{own}{os.pathsep}{os.environ['PATH']}"}
    folder, seen, told, ran, edits = tmp_path, "", "", 0, 0
    for (what, whose, *more), _kind, text in blocks():
        if what == "message" or whose not in {language, "both"}:
            continue
        if what == "edit":
            file = folder / more[0]
            changed = edited(file.read_text(encoding="utf-8"), text)
            file.write_text(changed, encoding="utf-8")
            edits += 1
        elif what == "seen" and more == ["end"]:
            assert stands_at_the_end(text, told), told
        elif what == "seen":
            for line in text.splitlines():
                assert _of_any_corpus(" ".join(line.split())) in seen, line
        else:
            assert what == "run"
            lines = text.splitlines()
            seen = ""
            for line in lines:
                if line.startswith("cd "):
                    folder /= line.removeprefix("cd ")
                    continue
                done = subprocess.run(
                    ["bash", "-c", line],
                    cwd=ROOT if more[1:] == ["checkout"] else folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    check=False,
                )
                told = done.stdout.decode()
                assert done.returncode == int(more[0] if line is lines[-1] else "0"), told
                seen += _of_any_corpus(" ".join(told.split())) + " "
                ran += 1
    assert ran == 10
    assert edits == {"ts": 4, "python": 5}[language]


def test_a_line_that_is_left_out_of_an_end_is_noticed() -> None:
    printed = "x\nme: 35 pass; 35 cassettes, 0.4 s\n3 cassettes not claimed: acp 3\nheld to laws\n"
    whole = "35 pass; 35 cassettes, …\n3 cassettes not claimed: acp 3\nheld to laws\n"
    assert stands_at_the_end(whole, printed)
    assert stands_at_the_end(whole.replace("3", "44"), printed)
    assert not stands_at_the_end(whole.replace("3 cassettes not claimed: acp 3\n", ""), printed)
    assert not stands_at_the_end(whole.replace("laws", "schema"), printed)
    assert not stands_at_the_end(whole, "held to laws\n")


def test_every_shell_block_is_run_but_the_installation() -> None:
    shells = re.findall(r"^```sh$", TUTORIAL, re.MULTILINE)
    run = [kind for _, kind, _ in blocks() if kind == "sh"]
    assert len(shells) == len(run) + 1
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt -e " in TUTORIAL
    assert "docs/NORMALIZER.md" in readme


def test_every_message_is_one_of_the_protocol() -> None:
    shown = []
    for (what, command, *_), kind, text in blocks():
        if what != "message":
            continue
        assert kind == "json"
        request, answer = text.splitlines()
        asked: Any = msgspec.json.decode(request, type=Request)
        assert type(asked).__name__ == MESSAGES[command][0].__name__
        due = Failed if '"error"' in answer else MESSAGES[command][1]
        told: Any = msgspec.json.decode(answer, type=due)
        assert told.id == asked.id
        assert getattr(told, "protocol", PROTOCOL) == getattr(asked, "protocol", PROTOCOL)
        if command == "frames" and due is not Failed:
            assert len(told.events) == len(asked.frames)
        shown.append(command)
    assert shown == ["start", "open", "frames", "close", "stop", "frames"]


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", TUTORIAL)
    assert len(links) >= 5
    for link in links:
        assert (ROOT / "docs" / link).is_file(), link


def test_a_diff_that_does_not_fit_is_noticed() -> None:
    with pytest.raises(AssertionError):
        edited("a\nb\na\nb\n", " a\n+c\n b\n")
    assert edited("a\nb\n", " a\n+c\n-b\n") == "a\nc\n"
