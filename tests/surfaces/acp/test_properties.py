"""What holds for any conversation: the laws, whatever the agent sends in whatever order."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.surfaces.acp.wire import answered, normalize, prompt, refused, said, sent, told

IDS = st.sampled_from(["t1", "t2"])
STATUS = st.sampled_from(["pending", "in_progress", "completed", "failed", "odd", None])
KINDS = st.sampled_from(["execute", "edit", "other", "new", None])
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


def asks(tool: str, id_: Any) -> dict[str, Any]:
    options = [{"optionId": "no", "name": "No", "kind": "reject_once"}]
    params = {"sessionId": "s1", "toolCall": {"toolCallId": tool}, "options": options}
    return {"jsonrpc": "2.0", "id": id_, "method": "session/request_permission", "params": params}


def chosen(id_: Any) -> tuple[str, str, Any]:
    outcome = {"outcome": {"outcome": "selected", "optionId": "no"}}
    return "out", "stdin", {"jsonrpc": "2.0", "id": id_, "result": outcome}


NUMBERS = st.sampled_from([0, 1, "1"])
ENTRIES = st.one_of(
    st.builds(said, st.text(max_size=3)),
    st.builds(
        said,
        st.text(max_size=3),
        st.sampled_from(["user_message_chunk", "agent_thought_chunk"]),
    ),
    st.builds(
        lambda kind, id_, status, what: told(kind, toolCallId=id_, status=status, kind=what),
        st.sampled_from(["tool_call", "tool_call_update"]),
        IDS,
        STATUS,
        KINDS,
    ),
    st.builds(asks, IDS, NUMBERS),
    st.builds(chosen, NUMBERS),
    st.builds(prompt, NUMBERS),
    st.builds(answered, NUMBERS, JUNK),
    st.builds(
        lambda id_, reason: answered(id_, {"stopReason": reason}),
        NUMBERS,
        st.sampled_from(["end_turn", "cancelled", "refusal", "odd"]),
    ),
    st.builds(lambda id_: refused(id_, -32603, "no"), NUMBERS),
    st.just(sent("session/cancel")),
    st.builds(lambda id_: sent("session/load", {"sessionId": "s1", "cwd": "/w"}, id_), NUMBERS),
    st.builds(lambda value: told("plan", entries=value), JUNK),
    st.builds(
        lambda value: told("tool_call", toolCallId="t1", content=value, rawInput=value), JUNK
    ),
    st.builds(lambda value: told("agent_message_chunk", content=value, messageId=value), JUNK),
    st.builds(lambda method, value: sent(method, value, 7), st.sampled_from(["session/new"]), JUNK),
    JUNK.map(lambda value: {"jsonrpc": "2.0", "method": "session/update", "params": value}),
    JUNK,
    st.just(("in", "exit", {"code": 0})),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(ENTRIES, max_size=14))
def test_any_conversation_obeys_the_laws(entries: list[Any]) -> None:
    normalize(entries)
