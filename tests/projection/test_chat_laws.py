"""What holds of the chat events of any canonical events: the corpus, and arbitrary ones."""

import functools
import operator
import random
import typing
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from harness.canonical import EVENT_CLASSES, EventBase, encode_event
from harness.canonical import payloads as pl
from harness.canonical.events import ProviderRefs, Raw, decode_event
from harness.projection import KINDS, NOT_PROJECTED, ChatEvent, ChatProjection
from harness.projection.accumulator import Accumulator, SequenceError
from harness.projection.schema import schema_of
from tests.projection.corpus import IDS, events, project

SCHEMA = schema_of(ChatEvent, "ChatEvent")
IDENTITIES = ("i1", "i2", "i3")

words = st.text(alphabet="ab", max_size=3)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
item_data = st.fixed_dictionaries(
    {},
    optional={
        "text": words | values,
        "summary": words | values,
        "textParts": st.lists(words, max_size=2) | values,
        "output": words | values,
        "replaces": values,
        "replay": values,
        "messageId": words | values,
        "parentToolUseId": st.sampled_from(IDENTITIES) | values,
        "receiverThreadIds": st.lists(words | values, max_size=2) | values,
        "changes": st.lists(
            st.fixed_dictionaries({}, optional={"path": words, "diff": st.just("@@ -1 +1 @@\n")}),
            max_size=2,
        )
        | values,
        "content": st.lists(st.dictionaries(st.sampled_from(("type", "path")), words), max_size=2),
    },
)


def _payload(kind: type) -> st.SearchStrategy[Any]:
    given: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.name == "data" and kind is pl.ItemLifecyclePayload:
            strategy: st.SearchStrategy[Any] = item_data | values
        elif field.name in {"taskId", "toolUseId", "hookId", "providerThreadId"}:
            strategy = st.sampled_from(IDENTITIES)
        elif field.type is Any:
            strategy = values
        elif "Count" in str(field.type) or field.name.endswith("Index"):
            strategy = st.integers(0, 2)
        elif field.name in {"elapsedSeconds", "totalCostUsd"}:
            strategy = st.floats(0, 9)
        elif field.name in {"config", "metadata", "modelUsage"}:
            strategy = st.dictionaries(
                st.sampled_from(("modes", "sandbox", "parentThreadId")),
                values | st.sampled_from(IDENTITIES),
            )
        else:
            strategy = st.from_type(_known(field.type))
        given[field.name] = strategy if field.required else strategy | st.just(UNSET)
    return st.builds(kind, **given)


def _known(type_: Any) -> Any:
    """The type without UnsetType, which means absent and is added above."""
    left = [t for t in typing.get_args(type_) if t is not UnsetType]
    if UnsetType in typing.get_args(type_):
        return functools.reduce(operator.or_, left)
    return type_


def _event(kind: type[EventBase]) -> st.SearchStrategy[EventBase]:
    maybe = st.sampled_from((UNSET, *IDENTITIES))
    refs = st.fixed_dictionaries(
        {},
        optional={
            name: st.sampled_from(IDENTITIES)
            for name in ("providerSessionId", "providerThreadId", "providerTurnId",
                         "providerItemId", "providerRequestId")
        },
    )  # fmt: skip
    frame = st.fixed_dictionaries(
        {},
        optional={
            "tool_use_id": st.sampled_from(IDENTITIES) | values,
            "parent_tool_use_id": st.sampled_from(IDENTITIES) | values,
            "type": words | values,
            "item": values,
        },
    )
    raw = st.fixed_dictionaries(
        {"source": st.just("acp.notification"), "payload": frame | values},
        optional={"messageType": st.sampled_from(("synthesized", "todo"))},
    )
    payload = _payload(kind.__annotations__["payload"])
    return st.builds(
        lambda p, r, s, w: msgspec.structs.replace(
            kind("e", "acp", s, "2026-01-01T00:00:00.000Z", p, **w),
            **{k: msgspec.convert(v, t) for k, v, t in r if v is not UNSET},
        ),
        payload,
        st.tuples(
            st.tuples(st.just("raw"), raw | st.just(UNSET), st.just(Raw)),
            st.tuples(st.just("providerRefs"), refs | st.just(UNSET), st.just(ProviderRefs)),
        ),
        st.sampled_from(IDENTITIES[:2]),
        st.fixed_dictionaries(dict.fromkeys(("threadId", "turnId", "itemId", "requestId"), maybe)),
    )


any_events = st.lists(st.one_of([_event(kind) for kind in EVENT_CLASSES.values()]), max_size=25)


def check(canonical: list[EventBase]) -> Accumulator:
    """Every law at once, event by event; the accumulator checks order, phases and parents."""
    projection = ChatProjection()
    state = Accumulator()
    for event in canonical:
        chats = list(projection.feed(event))
        assert bool(chats) != (event.type in NOT_PROJECTED)
        for chat in chats:
            assert chat.eventId == event.eventId
            assert chat.kind in KINDS
            part = state.add(chat)
            assert part.over == (chat.phase in {"completed", "failed"})
            assert (chat.parentId is UNSET) == (part.parentId is UNSET)
    for chat in projection.close():
        assert chat.phase == "completed"
        assert "phase" in chat.synthesized
        state.add(chat)
    assert all(part.over for part in state.parts.values())
    return state


def accumulate(chats: list[ChatEvent]) -> Accumulator:
    state = Accumulator()
    for chat in chats:
        state.add(chat)
    return state


@pytest.mark.parametrize("cassette", IDS)
def test_the_corpus_keeps_every_law(cassette: str) -> None:
    canonical = events(cassette)
    state = check(canonical)
    # The text of each item is the canonical one.
    said = [part.text for part in state.parts.values() if part.itemType == "assistant_message"]
    finals = [
        event.payload.data["text"]
        for event in canonical
        if event.type == "item.completed"
        and event.payload.itemType == "assistant_message"
        and isinstance(event.payload.data, dict)
        and "text" in event.payload.data
    ]
    assert [text for text in said if text] == [text for text in finals if text]


@pytest.mark.parametrize("cassette", IDS[::9])
def test_chat_events_are_of_their_schema(cassette: str) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for chat in project(events(cassette)):
        line = msgspec.json.encode(chat)
        validator.validate(msgspec.json.decode(line))
        assert msgspec.json.decode(line, type=ChatEvent) == chat


@pytest.mark.parametrize("cassette", IDS[::7])
def test_a_prefix_gives_a_prefix(cassette: str) -> None:
    canonical = events(cassette)
    whole = project(canonical)
    cut = random.Random(cassette).randrange(len(canonical))  # noqa: S311 - no secret
    projection = ChatProjection()
    first = [chat for event in canonical[:cut] for chat in projection.feed(event)]
    assert first == whole[: len(first)]


@given(any_events)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_events_keep_every_law(canonical: list[EventBase]) -> None:
    check(canonical)
    # What the wire carries projects as what is in memory.
    again = [decode_event(encode_event(event)) for event in canonical]
    assert project(again) == project(canonical)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda chats: chats[1:], "number 1 was due"),
        (lambda chats: [chats[0], chats[0]], "number 2 was due"),
        (lambda chats: [msgspec.structs.replace(chats[1], sequence=1)], "nothing started it"),
    ],
)
def test_the_accumulator_refuses_what_is_no_projection(change: Any, problem: str) -> None:
    chats = project(events("codex-app-server/codex-0.163.0/text"))
    chats[1] = msgspec.structs.replace(chats[1], phase="delta", partId="prt-999")
    with pytest.raises(SequenceError, match=problem):
        accumulate(change(chats))


def test_a_part_is_not_told_after_its_end() -> None:
    chats = project(events("codex-app-server/codex-0.163.0/text"))
    state = accumulate(chats)
    late = msgspec.structs.replace(chats[-1], sequence=len(chats) + 1)
    with pytest.raises(SequenceError, match=f"the part {late.partId} has ended"):
        state.add(late)
