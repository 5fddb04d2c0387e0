"""Scrubbing: constants of the same form, one id one id, nothing else touched."""

import base64
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassette.scrub import Rules, Scrubber, ScrubError

NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
ROOT = "/tmp/harness-ab12cd34"
PATHS = {
    f"{ROOT}/workspace": "/workspace",
    f"{ROOT}/home": "/home/agent",
    ROOT: "/recording",
}
UUIDS = st.uuids().map(str)


def scrubber(rules: Rules | None = None, **more: Any) -> Scrubber:
    values: dict[str, Any] = {
        "paths": PATHS,
        "words": {"myhost": "localhost", "alice": "agent"},
        "port": 45678,
        "now": NOW.timestamp(),
    }
    return Scrubber(rules or Rules(), **(values | more))


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        (f"{ROOT}/workspace/a.txt", "/workspace/a.txt"),
        (f"{ROOT}/home/.codex:{ROOT}", "/home/agent/.codex:/recording"),
        (f"file://{ROOT}/workspace", "file:///workspace"),
        (f"{ROOT}/workspaces", "/recording/workspaces"),
        (quote(f"{ROOT}/workspace", safe=""), "%2Fworkspace"),
        (quote(f"{ROOT}/workspace", safe="").lower(), "%2fworkspace"),
        (f"{ROOT}/workspace".replace("/", "\\/"), "\\/workspace"),
        ("-tmp-harness-ab12cd34-workspace-src", "-workspace-src"),
        ("projects/-tmp-harness-ab12cd34-home", "projects/-home-agent"),
        ("http://127.0.0.1:45678/v1", "http://127.0.0.1:8080/v1"),
        ("127.0.0.1%3A45678, [::1]:45678", "127.0.0.1%3A8080, [::1]:8080"),
        ("127.0.0.1:456789 and 45678", "127.0.0.1:456789 and 45678"),
        ("alice@myhost: malice", "agent@localhost: malice"),
        ("2031-05-06T07:08:09.123456Z", "2026-01-01T00:00:00.000000Z"),
        ("2031-05-06 07:08:09,1", "2026-01-01 00:00:00,0"),
        ("2031-05-05T23:00:00+02:00", "2026-01-01T00:00:00+02:00"),
        ("rollout-2031-05-06T07-08-09-x", "rollout-2026-01-01T00-00-00-x"),
        ("sessions/2031/05/06/", "sessions/2026/01/01/"),
        ("Today is 2031-05-06.", "Today is 2026-01-01."),
        ("since 2019-01-02T03:04:05Z", "since 2019-01-02T03:04:05Z"),
        ("2031-13-45T00:00:00Z", "2031-13-45T00:00:00Z"),
        (f"t={int(NOW.timestamp())} {int(NOW.timestamp() * 1000)}", "t=1767225600 1767225600000"),
        ("1234567890", "1234567890"),
        ("call_1 and msg_abc, some_snake_case_word", "call_1 and msg_abc, some_snake_case_word"),
    ],
)
def test_each_form(text: str, scrubbed: str) -> None:
    assert scrubber().text(text) == scrubbed
    assert scrubber().value({text: [text]}) == {scrubbed: [scrubbed]}


def test_ids_are_renamed_by_first_appearance_and_keep_their_form() -> None:
    scrub = scrubber()
    seven, four = "019b1234-5678-7abc-9def-0123456789ab", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    assert scrub.text(f"{seven} {four} {seven}") == (
        "019b76da-a800-7000-8000-000000000001 00000000-0000-4000-8000-000000000002 "
        "019b76da-a800-7000-8000-000000000001"
    )
    assert scrub.text(f"exec-{four.upper()}") == "exec-00000000-0000-4000-8000-000000000002"
    assert scrub.text(four.replace("-", "")) == "00000000000040008000000000000002"
    assert scrub.text("msg_01AbCdEfGhIjKlMnOpQrStUv") == "msg_000000000000000000000003"
    assert scrub.text("zz_01AbCdEfGhIjKlMnOpQrStUv") == "zz_000000000000000000000004"
    assert scrub.text("00000000-0000-0000-0000-000000000000") == str(uuid.UUID(int=0))


def test_a_time_in_an_id_tells_ids_apart() -> None:
    first, second = (f"write_file_{int(NOW.timestamp() * 1000) + more}_0" for more in (0, 333))
    told = scrubber()
    assert told.value([first, second, first, int(NOW.timestamp() * 1000)]) == [
        "write_file_1767225600000_0",
        "write_file_1767225600001_0",
        "write_file_1767225600000_0",
        1767225600000,
    ]


def test_numbers_by_their_key_or_their_size() -> None:
    got = scrubber(Rules(durations=frozenset({"wall"}), processes=frozenset({"child"}))).value(
        {
            "durationMs": 1234,
            "duration": {"secs": 3, "nanos": 77},
            "elapsed_seconds": 0.25,
            "wall": "0.81s",
            "timeout_ms": 5000,
            "pid": 4242,
            "child": "4243",
            "processId": "4242",
            "createdAt": int(NOW.timestamp()),
            "at": NOW.timestamp() + 0.5,
            "emittedAtMs": int(NOW.timestamp() * 1000) + 3,
            "micros": int(NOW.timestamp() * 1e6),
            "tokens": 123456,
            "flag": True,
            "durationOff": None,
            "port": 45678,
            "number": 45678,
        }
    )
    assert got == {
        "durationMs": 1,
        "duration": {"secs": 1, "nanos": 1},
        "elapsed_seconds": 1.0,
        "wall": "1s",
        "timeout_ms": 5000,
        "pid": 1000,
        "child": "1001",
        "processId": "1000",
        "createdAt": 1767225600,
        "at": 1767225600.0,
        "emittedAtMs": 1767225600000,
        "micros": 1767225600000000,
        "tokens": 123456,
        "flag": True,
        "durationOff": None,
        "port": 8080,
        "number": 45678,
    }
    assert [type(got[k]) for k in ("at", "createdAt", "elapsed_seconds")] == [float, int, float]


def test_the_rules_of_a_wire() -> None:
    rules = Rules(constants={"serverName": "localhost"}, patterns=((r"v\d+", "v1"),))
    scrub = scrubber(rules)
    assert scrub.value({"serverName": "box", "n": {"serverName": 3}, "x": "v77"}) == {
        "serverName": "localhost",
        "n": {"serverName": 3},
        "x": "v1",
    }
    assert scrub.applied[-1] == "wire"
    assert "wire" not in scrubber().applied


def test_what_the_scenario_says_is_kept() -> None:
    said = "3f2504e0-4f89-41d3-9a0c-0305e82c3301 on 2031-05-06T07:08:09Z"
    assert scrubber(keep=f"say: {said}").text(said) == said
    assert scrubber().text(said) != said


def test_text_and_bytes_are_scrubbed_too() -> None:
    assert scrubber().content("text", f"log {ROOT}") == ("text", "log /recording")
    raw = b"\xff " + ROOT.encode() + b"\xfe"
    field, value = scrubber().content("b64", base64.b64encode(raw).decode())
    assert (field, base64.b64decode(value)) == ("b64", b"\xff /recording\xfe")


def test_two_keys_that_become_one_are_an_error() -> None:
    with pytest.raises(ScrubError, match="two keys of an object become one"):
        scrubber().value({f"{ROOT}/workspace": 1, "/workspace": 2})


def test_a_path_through_a_link(tmp_path: Any) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    scrub = scrubber(paths={str(tmp_path / "link"): "/workspace"})
    assert scrub.text(f"{tmp_path}/real/x {tmp_path}/link/y") == "/workspace/x /workspace/y"


@given(st.lists(UUIDS, min_size=1, max_size=8))
def test_equal_ids_stay_equal_and_different_ones_different(ids: list[str]) -> None:
    renamed = list(map(scrubber().text, ids))
    assert [ids.index(i) for i in ids] == [renamed.index(r) for r in renamed]
    for before, after in zip(ids, renamed, strict=True):
        if before != str(uuid.UUID(int=0)):
            assert before[14] == after[14]
            assert re.sub("[0-9a-f]", "x", before) == re.sub("[0-9a-f]", "x", after)


@given(
    st.lists(
        st.tuples(UUIDS, UUIDS), min_size=1, max_size=5, unique_by=(lambda p: p[0], lambda p: p[1])
    )
)
def test_two_runs_that_differ_in_their_ids_alone_give_the_same(
    pairs: list[tuple[str, str]],
) -> None:
    def as_four(text: str) -> str:
        return f"{text[:14]}4{text[15:19]}8{text[20:]}"

    one, other = scrubber(), scrubber()
    first = [as_four(a) for a, _ in pairs]
    second = [as_four(b) for _, b in pairs]
    if len({*first}) == len(first) and len({*second}) == len(second):
        assert [one.value({"id": i}) for i in first] == [other.value({"id": i}) for i in second]


@given(st.integers(min_value=-7 * 86400, max_value=7 * 86400), st.sampled_from([1, 1000, 10**6]))
def test_any_time_of_the_run_becomes_the_fixed_one(offset: int, scale: int) -> None:
    value = int((NOW.timestamp() + offset) * scale)
    assert scrubber().value({"t": value}) == {"t": 1767225600 * scale}
    then = (NOW + timedelta(seconds=offset)).isoformat()
    assert scrubber().text(then) == "2026-01-01T00:00:00+00:00"


@given(
    st.recursive(
        st.none() | st.booleans() | st.text("abcdefgh äöü\n\\\"'{}[]:,.-", max_size=20)
        | st.integers(-1000, 1000) | st.floats(-1000, 1000),
        lambda inner: st.lists(inner, max_size=4)
        | st.dictionaries(st.text("xyz", max_size=5), inner, max_size=4),
        max_leaves=20,
    )
)  # fmt: skip
def test_what_is_of_no_machine_stays_as_it_is(value: Any) -> None:
    assert scrubber().value(value) == value


@given(st.text(max_size=30), st.sampled_from(list(PATHS)), st.text(max_size=30))
def test_no_path_survives_whatever_stands_around_it(before: str, path: str, after: str) -> None:
    text = f"{before} {path}/{after}"
    assert ROOT not in scrubber().text(text)


def test_ids_of_a_form_that_only_one_wire_has_are_renamed_and_keep_it() -> None:
    rules = Rules(ids=(r"\ba([0-9a-f]{16})\b", r"\b0([0-9a-z]{8}-[0-9a-f]{8})\b"))
    scrubber = Scrubber(
        rules, paths={}, words={}, port=1, now=1_800_000_000, keep="abcdef0123456789a"
    )
    said = (
        "agentId: a202f9ef98e44faf1, a52c739819c5b5cf5 and a202f9ef98e44faf1 in 0mx48ghv3-7412f9d0"
    )
    assert scrubber.text(said) == (
        "agentId: a0000000000000001, a0000000000000002 and a0000000000000001 in 000000000-00000003"
    )
    assert scrubber.text("abcdef0123456789a, a202") == "abcdef0123456789a, a202"


def test_a_number_that_is_no_time_keeps_the_zeros_that_lead_it() -> None:
    scrubber = Scrubber(Rules(), paths={}, words={}, port=1, now=1_800_000_000)
    assert scrubber.text("order 0123456789, now 1800000000") == "order 0123456789, now 1767225600"
