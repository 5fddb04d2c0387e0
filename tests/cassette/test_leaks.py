"""The last look: each form of each secret is found, and nothing else is."""

import base64
import itertools
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.cassette import Agent, CassetteWriter, Frame, Header, classify
from harness.cassette.leaks import Leak, LeakFinder, Secret, find_leaks, machine_secrets

PATH = "/tmp/harness-ab12/wörk space"
SECRET = Secret("a path", PATH)
PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)


def frame(seq: int, data: Any, channel: Any = "stdout") -> Frame:
    return Frame(seq, seq, "in", channel, data)


def rules(*frames: Any, secrets: list[Secret] | None = None) -> list[tuple[int, str]]:
    """Return the frame's number and the rule of each finding."""
    finder = LeakFinder(secrets or [SECRET])
    found: list[Leak] = []
    for number, data in enumerate(frames, 1):
        found += finder.frame(data if isinstance(data, Frame) else frame(number, data))
    return [(leak.frame, leak.rule) for leak in found]


FORMS = {
    "plain": PATH,
    "JSON": json.dumps(PATH)[1:-1],
    "JSON twice": json.dumps(json.dumps(PATH))[3:-3],
    "JSON, slashes": PATH.replace("/", "\\/"),
    "URL": quote(PATH),
    "URL, slashes": quote(PATH, safe=""),
    "URL, lower": quote(PATH, safe="").lower(),
    "dashed": "-tmp-harness-ab12-w-rk-space",
    "hex": PATH.encode().hex(),
    "HEX": PATH.encode().hex().upper(),
    "base64, 0": base64.b64encode(PATH.encode()).decode(),
    "base64, 1": base64.b64encode(b"x" + PATH.encode() + b"y").decode(),
    "base64, 2": base64.b64encode(b"xx" + PATH.encode() + b"yyy").decode(),
    "base64, URL": base64.urlsafe_b64encode(b"\xff" + PATH.encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_found(form: str) -> None:
    text = f"see {FORMS[form]}."
    kind = form.partition(",")[0].replace("HEX", "hex").removesuffix(" twice")
    expected = [(1, f"a path ({kind})")]
    assert rules({"a": {"b": [1, text]}}) == expected
    assert rules({text: 1}) == expected


def test_where_it_is_found() -> None:
    finder = LeakFinder([SECRET])
    found = list(finder.frame(frame(7, {"params": {"delta": [f"<{PATH}>"]}})))
    assert [str(leak) for leak in found] == ["frame 7, at params.delta.[]: a path (plain)"]
    assert PATH not in str(found)


@pytest.mark.parametrize("cut", range(1, len(PATH)))
def test_split_over_two_deltas(cut: int) -> None:
    deltas = [
        {"method": "delta", "params": {"id": "i", "delta": t}} for t in (PATH[:cut], PATH[cut:])
    ]
    assert rules(*deltas) == [(2, "a path (plain)")]


def test_split_over_many_deltas_in_any_form() -> None:
    for text in FORMS.values():
        found = rules(*({"delta": letter, "n": n} for n, letter in enumerate(f"..{text}..")))
        assert len(found) == 1


def test_deltas_of_two_items_in_turns() -> None:
    both = zip(PATH, PATH[::-1], strict=True)
    frames = [{"item": i, "delta": c} for pair in both for i, c in zip("ab", pair, strict=True)]
    assert [rule for _, rule in rules(*frames)] == ["a path (plain)"]


def test_an_id_of_its_own_in_each_frame_hides_nothing() -> None:
    frames = [
        {"uuid": f"u{n}", "event": {"index": 0, "delta": {"text": c}}} for n, c in enumerate(PATH)
    ]
    assert [rule for _, rule in rules(*frames)] == ["a path (plain)"]


def test_parts_in_an_array_and_lines_of_text() -> None:
    assert rules({"parts": [PATH[:5], PATH[5:]]}) == [(1, "a path (plain)")]
    lines = [Frame(n, n, "in", "stderr", text=t) for n, t in enumerate((PATH[:9], PATH[9:]), 1)]
    assert rules(*lines) == [(2, "a path (plain)")]


def test_bytes_that_are_no_text() -> None:
    raw = base64.b64encode(b"\xff" + b"secret-value-1" + b"\xfe").decode()
    secrets = [Secret("a value", "secret-value-1")]
    assert rules(Frame(1, 1, "in", "stdout", b64=raw), secrets=secrets) == [(1, "a value (plain)")]


def test_different_places_are_not_joined() -> None:
    assert rules({"a": PATH[:9], "b": PATH[9:]}, {"c": PATH[:9]}, {"d": PATH[9:]}) == []


def test_a_name_is_found_as_a_word_in_any_case() -> None:
    secrets = [Secret("the user", "alice", word=True)]
    assert rules({"a": "Alice's"}, {"b": "/home/alice/x"}, secrets=secrets) == [
        (1, "the user (plain)"),
        (2, "the user (plain)"),
    ]
    assert rules({"a": "malice, aliceton"}, secrets=secrets) == []


@given(PLAIN, PLAIN, st.sampled_from(list(FORMS.values())))
@example("", "", FORMS["base64, 0"])
def test_whatever_stands_around_it(before: str, after: str, form: str) -> None:
    assert len(rules({"a": f"{before}{form}{after}"})) == 1


@given(
    st.binary(max_size=9), st.binary(max_size=9), st.text("abcXYZ019-/_+.", min_size=8, max_size=40)
)
def test_base64_of_it_among_any_bytes(before: bytes, after: bytes, secret: str) -> None:
    text = base64.b64encode(before + secret.encode() + after).decode()
    assert len(rules({"a": text}, secrets=[Secret("it", secret)])) == 1


@given(st.lists(st.integers(1, len(PATH) - 1), max_size=5), st.sampled_from(list(FORMS)))
def test_any_split_of_any_form(cuts: list[int], form: str) -> None:
    text = FORMS[form]
    places = [0, *sorted({c for c in cuts if c < len(text)}), len(text)]
    deltas = [{"delta": text[a:b]} for a, b in itertools.pairwise(places)]
    assert len(rules(*deltas)) == 1


@given(st.recursive(PLAIN | st.integers(), lambda x: st.lists(x) | st.dictionaries(PLAIN, x)))
def test_nothing_is_found_where_nothing_is(value: Any) -> None:
    assert rules(value, value) == []


def test_what_of_a_machine_is_secret() -> None:
    found = machine_secrets(
        host="build-7",
        user="alice",
        home="/home/alice",
        temp="/tmp/h-1",
        environ={"MY_API_KEY": "0123456789", "SHORT_TOKEN": "abc", "EDITOR": "vi-is-the-one"},
        keys=["the-key"],
    )
    assert {(s.rule, s.value, s.word) for s in found} == {
        ("the temporary folder's path", "/tmp/h-1", False),
        ("a key that the agent was given", "the-key", False),
        ("the host's name", "build-7", True),
        ("the user's name", "alice", True),
        ("the real home folder's path", "/home/alice", False),
        ("the value of the environment's MY_API_KEY", "0123456789", False),
    }


def test_names_that_say_nothing_are_left_out() -> None:
    assert machine_secrets(host="vm", user="root", home="/root", temp="", environ={}, keys=[]) == []


def header(**more: Any) -> Header:
    values: dict[str, Any] = {
        "cassette": 1,
        "surface": "codex-exec",
        "provider": "codex",
        "agent": Agent("codex", "1.0.0"),
        "scenario": "text",
        "provenance": "scripted",
        "recorded": "2026-01-01T00:00:00Z",
    }
    return Header(**(values | more))


def test_a_file_that_is_not_finished(tmp_path: Path) -> None:
    with CassetteWriter(tmp_path / "c.jsonl", header(command=["codex", PATH])) as writer:
        writer.frame(0, "in", "stdout", *classify(b'{"a":"fine"}'))
        writer.frame(1, "in", "stdout", *classify(json.dumps({"a": PATH}).encode()))
        found = find_leaks(writer.part, [SECRET])
    assert [str(leak) for leak in found] == [
        "the header, at command: a path (plain)",
        "frame 2, at a: a path (plain)",
    ]
