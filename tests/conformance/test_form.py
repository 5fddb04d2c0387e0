"""The parts that hold for all inputs: renaming, unique ids, settling, finding a frame."""

from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.canonical import EVENT_CLASSES, ProviderRefs, Raw
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.conformance.form import KNOWN, Cause, Names, Renamer, decoder, encoder, settle
from harness.conformance.law import Place
from harness.conformance.laws.frames import Window, same_json
from harness.conformance.laws.ids import EventIds, FrameIds, native_ids

_IDS = st.one_of(
    st.integers(1, 6).map(lambda n: f"itm-{n}"),
    st.sampled_from(["itm-0", "itm-01", "itm-", "itm-²", "a", "b", "x-1"]),
)


def naive(ids: list[str]) -> list[str]:
    names: dict[str, str] = {}
    return [names.setdefault(i, f"itm-{len(names) + 1}") for i in ids]


@given(st.lists(_IDS, max_size=40))
def test_names_are_by_first_appearance(ids: list[str]) -> None:
    names = Names("itm-")
    assert [names[i] for i in ids] == naive(ids)


def test_names_that_are_canonical_already_take_no_memory() -> None:
    names = Names("itm-")
    for n in range(1, 3 * KNOWN):
        assert names[f"itm-{n}"] == f"itm-{n}"
        assert len(names) <= KNOWN + 1
    # Long forgotten, and still the same; and a new one is not taken for one of them.
    assert names["itm-5"] == "itm-5"
    assert names["other"] == f"itm-{3 * KNOWN}"
    assert names["itm-7"] == "itm-7"
    assert names[f"itm-{3 * KNOWN}"] == f"itm-{3 * KNOWN + 1}"


@pytest.mark.parametrize("id_", [1, None, b"itm-1", 1.5])
def test_an_id_is_text(id_: Any) -> None:
    with pytest.raises(TypeError):
        Names("itm-")[id_]


_EVENT_IDS = st.one_of(
    st.integers(0, 30).map(str),
    st.integers(0, 30).map("evt-{}".format),
    st.integers(0, 130).map("e{:02d}".format),
    st.tuples(st.integers(0, 3), st.integers(0, 9)).map("{0[0]}:{0[1]}".format),
    st.sampled_from(["a", "b", "c0", "00", "٣", "x²"]),
    st.uuids().map(str),
)


@example(1, ["evt-0", "evt-1"])
@given(st.integers(0, 12), st.lists(_EVENT_IDS, max_size=60))
def test_a_repeated_event_id_is_found_and_nothing_else(own: int, ids: list[str]) -> None:
    law = EventIds(Place("x"))
    law.own(own)
    seen = {f"evt-{n}" for n in range(1, own + 1)}
    for id_ in ids:
        before = law.place.failures
        law.new(id_)
        assert law.place.failures - before == (id_ in seen), (id_, seen)
        seen.add(id_)


def test_random_event_ids_are_exact_beyond_the_counters() -> None:
    law = EventIds(Place("x"))
    ids = [f"{n * 7919 % 1009}/{n * 104729 % 997}" for n in range(700)]
    assert len(set(ids)) == len(ids)
    for id_ in ids:
        law.new(id_)
    assert law.place.failures == 0
    for n, id_ in enumerate(ids, 1):
        law.new(id_)
        assert law.place.failures == n


def test_counting_event_ids_take_no_memory() -> None:
    law = EventIds(Place("x"))
    for n in range(1, 50_000):
        law.new(f"event:{n:06d}")
    assert law.place.failures == 0
    assert (len(law._counters), len(law._others)) == (1, 0)
    law.new("event:040000")
    assert law.place.failures == 1


def test_native_ids_are_those_in_id_fields() -> None:
    frame = {
        "id": 7,
        "uuid": "u",
        "params": {"threadId": "t", "item": {"id": "i", "idea": "no", "valid": "no", "text": "no"}},
        "tool_use_id": "tu",
        "tool_use_ids": ["a", "b", {"callID": "c"}],
        "list": [[{"session_id": "s"}], "no"],
    }
    assert sorted(native_ids(frame)) == ["a", "b", "c", "i", "s", "t", "tu", "u"]
    assert list(native_ids("a line of text")) == []


def event(payload: pl.ItemLifecyclePayload) -> ev.ItemStarted:
    return ev.ItemStarted(
        "e",
        "codex",
        "s",
        "2026-01-01T00:00:00.000Z",
        payload,
        Raw("codex.eventmsg", {"a": 1}, "m"),
        itemId="i",
        providerRefs=ProviderRefs(providerItemId="native"),
    )


def test_the_form_leaves_out_time_and_content_and_keeps_the_rest() -> None:
    payload = pl.ItemLifecyclePayload("plan", data={"b": 1, "a": {"d": 2, "c": 3}})
    line = Renamer().line(event(payload), Cause("codex.eventmsg", 12, "m"))
    assert encoder.encode(line) == (
        b'{"type":"item.started","eventId":"evt-1","provider":"codex","sessionId":"ses-1",'
        b'"payload":{"itemType":"plan","data":{"a":{"c":3,"d":2},"b":1}},'
        b'"raw":{"source":"codex.eventmsg","frame":12,"method":"m"},'
        b'"itemId":"itm-1","providerRefs":{"providerItemId":"native"}}'
    )


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


@given(_JSON)
def test_settling_is_stable_and_loses_nothing(data: Any) -> None:
    line = encoder.encode(
        Renamer().line(event(pl.ItemLifecyclePayload("plan", data=data)), msgspec.UNSET)
    )
    assert settle(line) == line
    assert msgspec.json.decode(line)["payload"]["data"] == data


def refusal(decode: Any, line: bytes) -> str:
    try:
        decode(line)
    except msgspec.ValidationError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("tag", EVENT_CLASSES)
def test_a_line_whose_values_stay_bytes_is_judged_as_strictly(tag: str) -> None:
    payload = msgspec.structs.fields(EVENT_CLASSES[tag])
    (kind,) = (field.type for field in payload if field.name == "payload")
    names = [field.encode_name for field in msgspec.structs.fields(kind)]
    values: list[Any] = [None, 1, 1.5, "x", "", True, {}, {"a": {"b": [1]}}, [], ["x"], [{}]]
    payloads = [{}, *({name: value} for name in [*names, "other"] for value in values)]
    payloads += [{**dict.fromkeys(names, value), "other": 1} for value in values]
    refused = 0
    for one in payloads:
        base = {"type": tag, "eventId": "evt-1", "provider": "codex", "sessionId": "ses-1"}
        line = encoder.encode({**base, "payload": one})
        problem = refusal(decoder.decode, line)
        assert problem == refusal(settle, line), line
        refused += bool(problem)
    assert refused > len(values)


_FRAMES = st.recursive(
    _IDS | st.integers(-9, 9) | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "threadId", "uuid", "ids", "text"]), inner)
    ),
    max_leaves=8,
)


@given(_FRAMES, st.lists(_IDS, max_size=20))
def test_the_ids_of_a_frame_are_found_by_search_as_by_walking(frame: Any, ids: list[str]) -> None:
    found = FrameIds(frame)
    walked = set(native_ids(frame))
    assert [i in found for i in ids] == [i in walked for i in ids]


def test_the_ids_of_a_frame_are_found_in_what_is_no_json() -> None:
    found = FrameIds({"id": "itm-1", "other": {"lock": object(), "uuid": "itm-\ud800"}})
    assert "itm-1" in found
    assert "itm-\ud800" in found
    assert "itm-2" not in found


@given(_JSON, _JSON)
def test_json_values_are_the_same_when_their_text_is(one: Any, other: Any) -> None:
    text = msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")
    assert same_json(one, other) == text


def test_a_task_id_and_a_hook_id_are_renamed_in_the_payload() -> None:
    renamer = Renamer()

    def line(kind: Any, payload: Any) -> Any:
        base = ("e", "codex", "s", "t", payload)
        return msgspec.to_builtins(renamer.line(kind(*base), msgspec.UNSET))["payload"]

    task = line(ev.TaskStarted, pl.TaskStartedPayload("native-task"))
    assert task == {"taskId": "tsk-1"}
    done = line(ev.TaskCompleted, pl.TaskCompletedPayload("native-task", "completed"))
    assert done == {"taskId": "tsk-1", "status": "completed"}
    hook = line(ev.HookStarted, pl.HookStartedPayload("h9", "lint", "PreToolUse"))
    assert hook == {"hookId": "hok-1", "hookName": "lint", "hookEvent": "PreToolUse"}


def test_the_window_finds_the_very_frame_before_an_equal_one() -> None:
    window = Window()
    first, second = {"a": 1}, {"a": 1}
    window.frames.append((1, 10, first))
    window.frames.append((2, 20, second))
    window.frames.append((3, 30, {"a": 2}))
    assert window.find(first) == (1, 10)
    assert window.find({"a": 1}) == (2, 20)
    assert window.find({"a": True}) == (0, 0)
