"""The cassette file: what is written is read back, and what is wrong is named with its line."""

import base64
import errno
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassette import (
    Agent,
    CassetteError,
    CassetteWriter,
    Frame,
    Header,
    classify,
    open_cassette,
    restore,
)

HEADER = Header(
    cassette=1,
    surface="codex-exec",
    provider="codex",
    agent=Agent("codex", "0.163.0"),
    scenario="text",
    provenance="constructed",
    recorded="2026-01-01T00:00:00Z",
)


def write(path: Path, lines: list[bytes], *, footer: bool = True) -> None:
    with CassetteWriter(path, HEADER) as writer:
        for at, line in enumerate(lines):
            writer.frame(at, "in", "stdout", *classify(line))
        if footer:
            writer.finish(complete=True, exit_code=0)
        else:
            os.replace(path.with_name(path.name + ".part"), path)  # noqa: PTH105 - as a kill leaves it


def read(path: Path) -> list[Frame]:
    with open_cassette(path) as cassette:
        return list(cassette)


@given(st.lists(st.binary(max_size=60).map(lambda b: b.replace(b"\n", b"")), max_size=20))
def test_every_line_comes_back_to_the_byte_or_as_the_same_json(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("c") / "a.jsonl"
    write(path, lines)
    frames = read(path)
    assert [f.seq for f in frames] == list(range(1, len(lines) + 1))
    for line, frame in zip(lines, frames, strict=True):
        field = classify(line)[0]
        back = restore(field, frame.content)
        assert back == line or msgspec.json.decode(back) == msgspec.json.decode(line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_compact_json_is_data_and_comes_back_to_the_byte(value: Any) -> None:
    line = msgspec.json.encode(value)
    assert classify(line) == ("data", value)
    assert restore("data", value) == line


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b'{"a": 1, "b": [ 2 ]}', "data"),
        (b'{"a":"\\u00e9\\/"}', "data"),
        (b'{"a":1,"a":2}', "text"),
        (b'{"a":{"b":1,"b":1}}', "text"),
        (b"1e3", "text"),
        (b"1.10", "text"),
        (b"9007199254740993", "data"),
        (b"123456789012345678901234567890", "data"),
        (b"0.1000000000000000055511151231257827", "text"),
        (b"-0", "text"),
        (b"NaN", "text"),
        (b'{"cost":NaN}', "text"),
        (b"", "text"),
        (b"\xef\xbb\xbf{}", "text"),
        (b"{}\r", "text"),
        (b'"\\ud800"', "text"),
        (b"plain \x1b[31mlog", "text"),
        (b"{}{}", "text"),
        (b"\xff\xfe", "b64"),
        (b"nul \x00", "text"),
    ],
)
def test_where_a_line_is_kept(line: bytes, field: str) -> None:
    got, value = classify(line)
    assert got == field
    if field != "data":
        assert restore(field, value) == line


def test_deep_nesting_is_kept_as_text_not_an_error() -> None:
    line = b"[" * 100_000 + b"]" * 100_000
    assert classify(line) == ("text", line.decode())


def test_the_file_is_what_the_contract_says(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, [b'{"type":"turn.started"}', b"log line", b"\xff"])
    header, *frames, footer = path.read_bytes().splitlines()
    assert header == (
        b'{"cassette":1,"surface":"codex-exec","provider":"codex",'
        b'"agent":{"name":"codex","version":"0.163.0"},"scenario":"text",'
        b'"provenance":"constructed","recorded":"2026-01-01T00:00:00Z"}'
    )
    assert frames == [
        b'{"seq":1,"at":0,"dir":"in","channel":"stdout","data":{"type":"turn.started"}}',
        b'{"seq":2,"at":1,"dir":"in","channel":"stdout","text":"log line"}',
        b'{"seq":3,"at":2,"dir":"in","channel":"stdout","b64":"/w=="}',
    ]
    digest = hashlib.sha256(b"\n".join([header, *frames]) + b"\n").hexdigest()
    assert footer == (
        b'{"frames":3,"complete":true,"checksum":"sha256:' + digest.encode() + b'","exit_code":0}'
    )
    assert HEADER.id == "codex-exec/codex-0.163.0/text"


def test_each_frame_is_on_disk_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with CassetteWriter(path, HEADER) as writer:
        for number in range(1, 4):
            writer.frame(number, "out", "stdin", "text", f"line {number}")
            assert read(path.with_name("a.jsonl.part"))[-1].text == f"line {number}"
        assert not path.exists()


def test_a_killed_writer_leaves_a_truncated_cassette_and_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, [b"old"])
    code = (
        "import os,sys,pathlib\n"
        "from harness.cassette import CassetteWriter, open_cassette\n"
        "path=pathlib.Path(sys.argv[1]); header=open_cassette(path).header\n"
        "w=CassetteWriter(path, header); w.frame(0,'in','stdout','text','new')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -9
    assert read(path)[0].text == "old"
    with open_cassette(path.with_name("a.jsonl.part")) as cassette:
        assert [f.text for f in cassette] == ["new"]
        assert cassette.truncated
        assert cassette.footer is None


def test_leaving_without_finish_leaves_nothing_new(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, [b"old"])
    before = path.read_bytes()

    def interrupted() -> None:
        with CassetteWriter(path, HEADER) as writer:
            writer.frame(0, "in", "stdout", "text", "new")
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


@given(cut=st.integers(0, 400))
def test_a_cut_file_reads_as_far_as_it_goes(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("c") / "a.jsonl"
    write(path, [b'{"n":%d}' % n for n in range(4)], footer=False)
    whole = path.read_bytes()
    header = whole.index(b"\n") + 1
    cut = header + min(cut, len(whole) - header)
    path.write_bytes(whole[:cut])
    with open_cassette(path) as cassette:
        frames = list(cassette)
        assert len(frames) == whole[header:cut].count(b"\n")
        assert cassette.truncated
        assert cassette.tail == whole[whole.rindex(b"\n", 0, cut) + 1 : cut]


@pytest.mark.parametrize("size", [10, 1 << 18, (1 << 18) + 1, 3 << 20])
def test_a_line_of_any_length_is_one_frame(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.jsonl"
    lines = [b"a", b"x" * size, b"b", b"y" * size, b"c"]
    write(path, lines)
    assert [restore("text", f.content) for f in read(path)] == lines


def corrupt(path: Path, line: int, old: bytes, new: bytes) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    ("line", "old", "new", "at", "problem"),
    [
        (1, b'"cassette":1', b'"cassette":2', 1, "cassette format 2, and this harness reads 1"),
        (1, b'"cassette":1,', b"", 1, "not a cassette"),
        (1, b'"provider":"codex"', b'"provider":"x"', 1, r"a broken header: .*\$\.provider"),
        (1, b'"scenario":"text"', b'"scenario":"text","n":1', 1, "unknown field `n`"),
        (3, b'"seq":2', b'"seq":3', 3, "frame 3 where 2 was due"),
        (3, b'"dir":"in"', b'"dir":"up"', 3, r"not a frame: .*\$\.dir"),
        (3, b'"at":1', b'"at":-1', 3, "`at` goes back from 0 to -1"),
        (3, b'"text":"b"', b'"text":"b","data":1', 3, "exactly one of data, text and b64"),
        (3, b',"text":"b"', b"", 3, "exactly one of data, text and b64"),
        (3, b'"text":"b"', b'"text":"B"', 5, "the checksum does not fit"),
        (3, b"{", b"", 3, "not a frame"),
        (5, b'"frames":3', b'"frames":4', 5, "the footer counts 4 frames, not 3"),
        (5, b'"complete":true', b'"complete":1', 5, "a broken footer"),
        (5, b"}", b"}\n{}", 5, "not a frame"),
        (5, b"}\n", b"}\n{", 6, "something follows the footer"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, line: int, old: bytes, new: bytes, at: int, problem: str
) -> None:
    path = tmp_path / "a.jsonl"
    write(path, [b"a", b"b", b"c"])
    corrupt(path, line, old, new)
    with pytest.raises(CassetteError, match=problem) as caught:
        read(path)
    assert caught.value.line == at
    assert f"{path}:{at}: " in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "at", "problem"),
    [
        (b'"recorded":"2026-', b'"recorded":"soon-', 1, "`recorded` is no time"),
        (
            b'"text":"b"',
            b'"data":' + b"[" * 200_000 + b"]" * 200_000,
            3,
            "not a frame: maximum rec",
        ),
    ],
)
def test_what_a_strict_decoder_lets_through_is_named_too(
    tmp_path: Path, old: bytes, new: bytes, at: int, problem: str
) -> None:
    path = tmp_path / "a.jsonl"
    write(path, [b"a", b"b", b"c"])
    corrupt(path, at, old, new)
    with pytest.raises(CassetteError, match=problem) as caught:
        read(path)
    assert caught.value.line == at


def test_only_a_regular_file_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("pipe.jsonl", "folder.jsonl"):
        with pytest.raises(CassetteError, match=f"{name}: not a regular file"):
            open_cassette(tmp_path / name)


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(CassetteError, match="not a cassette: the file is empty"):
        open_cassette(tmp_path / "a.jsonl")


@pytest.mark.parametrize("content", [b"", b"\n", b"[]\n", b"\xff\n", b'{"version":1}\n', b"%PDF"])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(CassetteError, match="not a cassette") as caught:
        open_cassette(path)
    assert caught.value.line == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match=r"nope.jsonl: could not be read: No such file"):
        open_cassette(tmp_path / "nope.jsonl")


def test_a_full_disk_is_an_error_that_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, [b"old"])
    before = path.read_bytes()
    code = (
        "import resource,signal,sys,pathlib\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from harness.cassette import CassetteError, CassetteWriter, open_cassette\n"
        "path=pathlib.Path(sys.argv[1]); header=open_cassette(path).header\n"
        "try:\n"
        "  with CassetteWriter(path, header) as w:\n"
        "    for n in range(99): w.frame(n,'in','stdout','text','x'*100)\n"
        "except CassetteError as e: print(e)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
    )
    assert "could not write frame" in done.stdout
    assert "File too large; free the disk or choose another folder" in done.stdout
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


def test_b64_is_base64(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, [b"\x80\x81"])
    assert base64.b64decode(str(read(path)[0].b64)) == b"\x80\x81"


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.EROFS, "choose a folder that may be written with --into; nothing was changed"),
        (errno.EACCES, "choose a folder that may be written with --into; nothing was changed"),
        (errno.ENOSPC, "free the disk or choose another folder with --into; nothing was changed"),
    ],
)
def test_the_advice_fits_what_the_system_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, advice: str
) -> None:
    def refuses(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.open", refuses)
    with pytest.raises(CassetteError) as caught:
        CassetteWriter(tmp_path / "a.jsonl", HEADER)
    assert str(caught.value).endswith(advice)


def test_two_writers_of_one_place_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    with CassetteWriter(path, HEADER) as first:
        first.frame(1, "in", "stdout", "data", {"n": 1})
        with pytest.raises(CassetteError, match="is being written by another recording"):
            CassetteWriter(path, HEADER)
        first.frame(2, "in", "stdout", "data", {"n": 2})
        first.finish(complete=True, exit_code=0)
    with open_cassette(path) as cassette:
        assert [frame.data for frame in cassette] == [{"n": 1}, {"n": 2}]
