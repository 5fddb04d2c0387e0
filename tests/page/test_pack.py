"""What the page holds of the corpus, without a browser."""

import base64
import gzip
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.cassette import open_cassette
from harness.matrix.build import build
from harness.matrix.command import matrix_command
from harness.matrix.page import PAGE, page, same
from harness.matrix.page.pack import BUNDLE, Bundle, bundles, compressed, tape
from harness.project import Project, find_project
from tests.page.hostile import make

CORPUS = find_project(Path(__file__))
_BLOB = re.compile(rb'data-blob="(\w+)">([^<]*)<')


def lines(cassette: str) -> list[tuple[str, Any, Any]]:
    """The lines of a packed cassette: letter, envelope, content."""
    packed = tape(CORPUS.find(cassette)).lines.decode()
    found = []
    for line in packed.split("\n"):
        envelope, _, content = line[1:].partition("\t")
        value = msgspec.json.decode(content) if content else None
        found.append((line[0], msgspec.json.decode(envelope), value))
    return found


@pytest.mark.parametrize(
    "name",
    [
        "codex-app-server/codex-0.163.0/command-approved",
        "claude-sdk/claude-code-2.1.332/unicode",
        "opencode/opencode-1.18.33/text",
        "cursor-acp/cursor-2026.08.11/cursor-plan",
    ],
)
def test_frames_are_the_cassette_s_and_events_those_that_are_pinned(name: str) -> None:
    packed = lines(name)
    with open_cassette(CORPUS.find(name)) as cassette:
        frames = [(f.seq, f.at, f.dir, f.channel, f.content) for f in cassette]
    assert [(*e[:4], content) for letter, e, content in packed if letter == "F"] == frames
    pinned = (CORPUS.expected / f"{name}.jsonl").read_bytes().splitlines()
    events = [msgspec.json.decode(line) for line in pinned]
    own = [(e, content) for letter, e, content in packed if letter == "E"]
    assert [(e[0], e[2], e[6][2], content) for e, content in own] == [
        (n, e["type"], e.get("itemId", ""), e["payload"]) for n, e in enumerate(events, 1)
    ]
    # Each stands after the frame that it names.
    last = 0
    for letter, envelope, _ in packed:
        if letter == "F":
            last = envelope[0]
        elif letter == "E":
            assert envelope[1] == last
    caused = [e["raw"]["frame"] for e in events]
    assert [e[1] for e, _ in own] == caused


def test_a_kind_that_gives_no_event_says_why() -> None:
    head = lines("codex-app-server/codex-0.163.0/command-approved")[0][1]
    assert (
        head["why"]["client initialized"]
        == "the client's own act; what comes of it, the agent tells"
    )
    assert "turn/started" in head["kinds"]
    assert "turn/started" not in head["why"]


def test_bundles_hold_each_cassette_once_and_one_agent_each() -> None:
    tapes = [tape(path) for path in CORPUS.cassette_paths() if path.stem in {"text", "command"}]
    packed = list(bundles(tapes))
    assert [i for b in packed for i in b.ids] == [t.id for t in tapes]
    for bundle in packed:
        assert len({i.rsplit("/", 1)[0] for i in bundle.ids}) == 1
    big = [msgspec.structs.replace(tapes[0], lines=b"x" * (BUNDLE - 1)) for _ in range(2)]
    assert [len(b.ids) for b in bundles(big)] == [1, 1]
    assert list(bundles([])) == []
    assert isinstance(packed[0], Bundle)


@pytest.mark.slow
def test_the_same_cassettes_give_the_same_bytes() -> None:
    content = page(build(CORPUS), CORPUS)
    assert content == page(build(CORPUS), CORPUS)
    assert len(content) < 3_000_000
    assert content == (CORPUS.matrix / PAGE).read_bytes()


def test_nothing_of_a_frame_is_markup_and_no_address_is_outside(tmp_path: Path) -> None:
    project = make(tmp_path)
    content = page(build(project), project)
    # The lists are markup too, though they are packed.
    packed = {n.decode(): gzip.decompress(base64.b64decode(b)) for n, b in _BLOB.findall(content)}
    text = content.decode()
    lists = [packed[f"view_{name}"].decode() for name in ("cassettes", "scenarios", "native")]
    assert "onerror=alert(1)&gt;" in lists[0]
    assert not [part for part in (text, *lists) if "onerror=alert(1)>" in part]
    outside = re.sub(r"<script>.*?</script>|<style>.*?</style>", "", text, flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?!#|data:,")[^"]*"', outside) == []
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    assert text.count("<script>") == 1


def test_which_zlib_compressed_it_makes_no_difference(tmp_path: Path) -> None:
    project = make(tmp_path)
    content = page(build(project), project)
    path = tmp_path / PAGE

    def again(found: re.Match[bytes]) -> bytes:
        plain = gzip.decompress(base64.b64decode(found[2]))
        return b'data-blob="%s">%s<' % (found[1], base64.b64encode(gzip.compress(plain, 1)))

    other = _BLOB.sub(again, content)
    assert other != content
    path.write_bytes(other)
    assert same(path, content)
    path.write_bytes(content.replace(b"Event kinds", b"Other kinds"))
    assert not same(path, content)
    old, new = (compressed(b"x" * 9).encode(), compressed(b"y" * 9).encode())
    blob = b'<script type="text/plain" data-blob="b0">%s</script>'
    path.write_bytes(blob % old)
    assert not same(path, blob % new)
    path.write_bytes(blob % b"AAAA")
    assert not same(path, blob % old)
    assert not same(tmp_path / "none", content)


def test_the_check_covers_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project: Project = make(tmp_path)
    # One of its cassettes is unusable, which is what 4 says.
    assert matrix_command(project, check=False, json=False) == 4
    capsys.readouterr()
    assert matrix_command(project, check=True, json=False) == 4
    assert "stale" not in capsys.readouterr().err
    path = project.matrix / PAGE
    path.write_bytes(path.read_bytes().replace(b"Event kinds", b"Other kinds"))
    matrix_command(project, check=True, json=False)
    assert f"{PAGE} is stale" in capsys.readouterr().err
