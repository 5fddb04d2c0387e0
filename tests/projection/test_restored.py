"""Live and restored history through the same accumulator: the same conversation either way."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from harness.canonical import EventBase
from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.projection import ChatEvent
from harness.projection.accumulator import Accumulator
from harness.surfaces.ledger import SYNTHESIZED
from tests.projection.corpus import IDS, events, project
from tests.surfaces.acp import wire

CONVERSATION = frozenset({"text", "thinking", "tool", "terminal", "diff"})
STREAMED = ("content.delta", "item.started", "item.updated")


def accumulate(chats: list[ChatEvent]) -> Accumulator:
    state = Accumulator()
    for chat in chats:
        state.add(chat)
    return state


def shown(state: Accumulator, untold: set[Any]) -> list[Any]:
    """What a client shows of a conversation: no ids, no order of what ran side by side."""
    return sorted(
        repr((p.kind, p.role, p.itemType, p.status, p.title, p.phase, p.text, p.diff))
        for p in state.parts.values()
        if p.kind in CONVERSATION and (p.kind, p.toolCallId) not in untold
    )


def untold(canonical: list[EventBase]) -> set[Any]:
    """What no snapshot has: the output of a command that nothing native ended, and the files
    that an item's own end does not name again.
    """
    found: set[Any] = set()
    for event in canonical:
        if event.type == "item.completed":
            data = event.payload.data
            if event.raw is not UNSET and event.raw.messageType == SYNTHESIZED:
                found.add(("terminal", event.itemId))
            if not isinstance(data, dict) or not data.get("changes"):
                found.add(("diff", event.itemId))
    return found


def snapshot(canonical: list[EventBase], *, replayed: bool = False) -> list[EventBase]:
    """The events of a client that comes later: whole items, nothing that led to them."""
    kept = [event for event in canonical if event.type not in STREAMED]
    return [_replayed(event) if replayed else event for event in kept]


def _replayed(event: EventBase) -> EventBase:
    payload = event.payload
    if not isinstance(payload, pl.ItemLifecyclePayload):
        return event
    data = payload.data if isinstance(payload.data, dict) else {}
    return replace(event, payload=replace(payload, data={**data, "replay": True}))


@pytest.mark.parametrize("cassette", IDS)
def test_deltas_and_the_snapshot_give_the_same(cassette: str) -> None:
    canonical = events(cassette)
    live = accumulate(project(canonical))
    restored = accumulate(project(snapshot(canonical, replayed=True)))
    left = untold(canonical)
    assert shown(live, left) == shown(restored, left)
    texts = [message.text for message in live.messages() if message.text]
    assert texts == [message.text for message in restored.messages() if message.text]
    tools = [(part.title, part.status) for part in live.tools().values()]
    assert sorted(tools, key=repr) == sorted(
        [(part.title, part.status) for part in restored.tools().values()], key=repr
    )
    items = [part for part in restored.parts.values() if part.itemType is not UNSET]
    assert all(part.restored for part in items)


@pytest.mark.parametrize("cassette", IDS)
def test_what_a_cassette_restores_is_what_it_told_live(cassette: str) -> None:
    """Where a thread has both: each time it is restored, it begins as it was told live."""
    parts = [
        part
        for part in accumulate(project(events(cassette))).parts.values()
        # The user's prompts are on no surface of ACP live: they are the client's own.
        if part.kind == "text" and part.text and part.role == "assistant"
    ]
    for thread in {part.threadId for part in parts if part.restored}:
        own = [part for part in parts if part.threadId == thread]
        live = [part.text for part in own if not part.restored]
        told = [part.text for part in own if part.restored]
        while told and live:
            count = next(
                n for n in range(len(live), -1, -1) if told[:n] == live[:n] and n <= len(told)
            )
            assert count, f"restored {told[0]!r}, told live {live[0]!r}"
            told = told[count:]


def _item(type_: type[EventBase], **payload: Any) -> EventBase:
    given = pl.ItemLifecyclePayload("assistant_message", **payload)
    return type_("e", "acp", "s", "t", given, itemId="i")


@given(st.lists(st.text(alphabet="ab", max_size=3), max_size=6), st.text(alphabet="ab", max_size=9))
def test_the_final_text_holds_whatever_was_streamed(deltas: list[str], final: str) -> None:
    streamed = [
        ev.ContentDelta(
            "e", "acp", "s", "t", pl.ContentDeltaPayload("assistant_text", d), itemId="i"
        )
        for d in deltas
    ]
    end = _item(ev.ItemCompleted, data={"text": final})
    live = project([_item(ev.ItemStarted), *streamed, end])
    (part,) = (p for p in accumulate(live).parts.values() if p.kind == "text")
    assert part.text == final
    # Only a text that contradicts the stream replaces it.
    assert any(chat.replaces for chat in live) == (not final.startswith("".join(deltas)))
    (alone,) = (p for p in accumulate(project([end])).parts.values() if p.kind == "text")
    assert alone.text == final


def test_a_snapshot_in_parts_keeps_its_blocks() -> None:
    chats = project([_item(ev.ItemCompleted, data={"text": "ab", "textParts": ["a", "b"]})])
    deltas = [(chat.text, chat.blockId) for chat in chats if chat.phase == "delta"]
    assert deltas == [("a", "blk-1"), ("b", "blk-2")]


def test_an_earlier_snapshot_erases_nothing_but_one_that_replaces_does() -> None:
    delta = pl.ContentDeltaPayload("assistant_text", "abc")
    start = [_item(ev.ItemStarted), ev.ContentDelta("e", "acp", "s", "t", delta, itemId="i")]

    def text(data: dict[str, Any]) -> str:
        state = accumulate(project([*start, _item(ev.ItemUpdated, data=data)]))
        return next(part.text for part in state.parts.values() if part.kind == "text")

    assert text({"text": "ab"}) == "abc"
    assert text({"text": "ab", "replaces": True}) == "ab"
    assert text({"text": "abcd"}) == "abcd"


def test_what_an_agent_of_acp_loads_is_what_it_told_live() -> None:
    """Both in one conversation: two chunks live, then `session/load`, which replays them."""
    thought = wire.said("Hm.", "agent_thought_chunk")
    call = {"title": "ls", "kind": "execute", "toolCallId": "c1", "status": "completed"}
    replies = [thought, wire.told("tool_call", **call), wire.said("It "), wire.said("is.")]
    canonical = wire.normalize(
        [
            wire.sent("session/new", {"cwd": "/w", "mcpServers": []}, 1),
            wire.answered(1, {"sessionId": "s1"}),
            wire.prompt(2),
            *replies,
            wire.answered(2, {"stopReason": "end_turn"}),
            wire.sent("session/load", {"sessionId": "s1", "cwd": "/w", "mcpServers": []}, 3),
            wire.said("What is it?", "user_message_chunk"),
            thought,
            wire.told("tool_call", **{**call, "toolCallId": "c9"}),
            wire.said("It is."),
            wire.answered(3, {}),
        ]
    )
    parts = accumulate(project(canonical)).parts.values()
    told = [p for p in parts if p.kind in {"text", "thinking", "tool"} and p.role != "user"]
    live = [(p.kind, p.title, p.status, p.phase, p.text) for p in told if not p.restored]
    assert live == [
        ("thinking", UNSET, "completed", "completed", "Hm."),
        ("tool", "ls", "completed", "completed", ""),
        ("text", UNSET, "completed", "completed", "It is."),
    ]
    assert [(p.kind, p.title, p.status, p.phase, p.text) for p in told if p.restored] == live
    (prompt,) = (p for p in parts if p.role == "user")
    assert (prompt.restored, prompt.text, prompt.turnId) == (True, "What is it?", UNSET)
