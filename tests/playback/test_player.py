"""What a played agent takes and says, by value."""

from typing import Any

import pytest

from harness.playback import MismatchError, Write
from harness.surfaces import surface
from harness.surfaces.registry import Playback
from tests.playback.tapes import Entry, asks, meet, player, says

OVER: Entry = ("in", "exit", {"code": 0})
TALK = [
    asks(0, "initialize", version=1),
    says(id=0, result={"ok": True}),
    asks(1, "prompt", text="hi"),
    says(id=0, method="ask", params={"n": 1}),
    ("out", "stdin", {"id": 0, "result": "yes"}),
    says(method="said", params={"text": "é"}),
    says(id=1, result={"stop": "end"}),
    OVER,
]


def refused(entries: list[Entry], lines: list[Any], playback: Any = None, paths: Any = None) -> Any:
    """Return the error that a client gets which says these lines."""
    with pytest.raises(MismatchError) as caught:
        meet(player(entries, playback or Playback(ids="json-rpc"), paths), lines)
    return caught.value


def test_a_request_keeps_the_clients_id_and_a_question_the_agents() -> None:
    lines = [
        {"id": "first", "method": "initialize", "params": {"version": 1}},
        {"method": "prompt", "id": 77, "params": {"text": "hi"}},
        {"id": 0, "result": "yes"},
    ]
    assert meet(player(TALK), lines) == [
        {"id": "first", "result": {"ok": True}},
        {"id": 0, "method": "ask", "params": {"n": 1}},
        {"method": "said", "params": {"text": "é"}},
        {"id": 77, "result": {"stop": "end"}},
        0,
    ]


def test_what_differs_is_named_with_its_frame() -> None:
    error = refused(TALK, [{"id": 5, "method": "initialize", "params": {"version": 2}}])
    assert (error.seq, error.code) == (1, 1)
    assert str(error).splitlines() == [
        "a/b/c: frame 1 was expected of the client, and another came",
        '  expected: {"id":0,"method":"initialize","params":{"version":1}}',
        '  came:     {"id":5,"method":"initialize","params":{"version":2}}',
        "  differs:  params.version: recorded 1, came 2",
    ]


@pytest.mark.parametrize(
    ("line", "differs"),
    [
        ({"id": 9, "method": "initialise", "params": {"version": 1}}, "method: recorded"),
        ({"id": 9, "method": "initialize"}, 'params: recorded {"version":1}, came nothing'),
        ({"method": "initialize", "params": {"version": 1}}, "id: recorded 0, came nothing"),
        ({"id": 0, "result": {}}, 'method: recorded "initialize", came nothing'),
        (
            {"id": 9, "method": "initialize", "params": {"version": 1, "more": None}},
            "params.more: recorded nothing, came null",
        ),
        ({"id": None, "method": "initialize", "params": {"version": 1}}, "id: recorded 0, came nu"),
        ({"id": True, "method": "initialize", "params": {"version": 1}}, "id: recorded 0, came tr"),
        (
            {"id": 1, "method": "initialize", "params": {"version": True}},
            "params.version: recorded 1, came true",
        ),
        ([], "the line: recorded {"),
        (b"", "it is not JSON (Input data was truncated)"),
        (b"\xff\xfe", "it is not JSON"),
        (b"[" * 5000, "it is not JSON"),
    ],
)
def test_each_way_to_differ(line: Any, differs: str) -> None:
    error = refused(TALK, [line])
    assert error.seq == 1
    assert f"  differs:  {differs}" in str(error)


def test_an_answer_carries_the_agents_id() -> None:
    lines = [
        {"id": 4, "method": "initialize", "params": {"version": 1}},
        {"id": 5, "method": "prompt", "params": {"text": "hi"}},
        {"id": 4, "result": "yes"},
    ]
    error = refused(TALK, lines)
    assert (error.seq, "id: recorded 0, came 4" in str(error)) == (5, True)


def test_an_id_is_not_used_twice_at_once() -> None:
    talk = [asks(0, "a"), asks(1, "b"), says(id=1, result=1), says(id=0, result=0), OVER]
    error = refused(talk, [{"id": "x", "method": m, "params": {}} for m in "ab"])
    assert error.seq == 2
    assert 'id: "x" is that of a request with no answer yet' in str(error)
    lines = [{"id": "1", "method": "a", "params": {}}, {"id": 1, "method": "b", "params": {}}]
    assert meet(player(talk), lines) == [{"id": 1, "result": 1}, {"id": "1", "result": 0}, 0]


def test_equal_numbers_keys_in_any_order_and_depth() -> None:
    deep: Any = 1
    for _ in range(400):
        deep = {"a": deep}
    talk = [("out", "stdin", {"x": 1, "y": [1.5, deep], "z": {}}), OVER]
    assert meet(player(talk), [{"z": {}, "y": [1.5, deep], "x": 1.0}]) == [0]
    error = refused(talk, [{"z": [], "y": [1.5, deep], "x": 1}])
    assert "z: recorded {}, came []" in str(error)
    error = refused(talk, [{"z": {}, "y": [1.5], "x": 1}])
    assert "y[1]: recorded" in str(error)


def test_places_that_may_differ() -> None:
    playback = Playback(
        ids="json-rpc",
        may_differ={
            "params.info": "any: it is its own",
            "params.cwd": "path: where it works",
            "params.items.*.mark": "minted: its own",
        },
        carried_out=["fs/*"],
    )
    talk = [
        asks(0, "new", info={"name": "x"}, cwd="/workspace", items=[{"mark": "m-1"}]),
        says(id=0, result={"mark": "m-1", "path": "/workspace/a", "marks": ["m-1", "m-2"]}),
        says(id="q", method="fs/read", params={"path": "/workspace/a"}),
        ("out", "stdin", {"id": "q", "result": {"text": "in /workspace/b"}}),
        says(id="r", method="other", params={"path": "/workspace/a"}),
        OVER,
    ]
    lines: list[Any] = [
        {"id": 1, "method": "new", "params": {"cwd": "/my/work", "items": [{"mark": "mine"}]}},
        {"id": "q", "result": {"text": "in /my/work/b"}},
    ]
    assert meet(player(talk, playback), lines) == [
        {"id": 1, "result": {"mark": "mine", "path": "/workspace/a", "marks": ["mine", "m-2"]}},
        {"id": "q", "method": "fs/read", "params": {"path": "/my/work/a"}},
        {"id": "r", "method": "other", "params": {"path": "/workspace/a"}},
        0,
    ]
    lines[0]["params"]["cwd"] = "work"
    error = refused(talk, lines, playback)
    assert 'params.cwd: recorded "/workspace", came "work"' in str(error)


def test_folders_that_are_known_from_the_start() -> None:
    talk = [asks(0, "open", file="/home/agent/x"), ("out", "stdin", b"see /workspace/y"), OVER]
    known = {"/srv/me": "/home/agent", "/srv/me/work": "/workspace"}
    lines = [{"id": 0, "method": "open", "params": {"file": "/srv/me/x"}}, b"see /srv/me/work/y"]
    assert meet(player(talk, paths=known), lines) == [0]
    lines[1] = b"see /srv/mework/y"
    error = refused(talk, lines, paths=known)
    assert "the line: recorded" in str(error)


def test_lines_that_are_not_json_are_the_recorded_bytes() -> None:
    talk: list[Entry] = [
        ("in", "stdout", b"log \xff\xfe"),
        ("in", "stderr", b"warning"),
        ("in", "stdout", b'{"a": 1, "a": 2}'),
        ("out", "stdin", b"\xfe!"),
        ("in", "exit", {"signal": "SIGTERM"}),
    ]
    play = player(talk)
    lines = [step.line for step in (play.step() for _ in range(3)) if isinstance(step, Write)]
    assert lines == [b"log \xff\xfe\n", b"warning\n", b'{"a": 1, "a": 2}\n']
    assert meet(play, [b"\xfe!"]) == ["SIGTERM"]


def test_control_requests_of_the_claude_sdk() -> None:
    playback = surface("claude-sdk").manifest.playback
    assert playback is not None
    answer = {"subtype": "success", "request_id": "req_1_00000000", "response": {}}
    ask = {"type": "control_request", "request_id": "q", "request": {"subtype": "can_use_tool"}}
    yes = {"subtype": "success", "request_id": "q", "response": {"behavior": "allow"}}
    talk: list[Entry] = [
        (
            "out",
            "stdin",
            {"type": "control_request", "request_id": "req_1_00000000", "request": {}},
        ),
        says(type="control_response", response=answer),
        ("in", "stdout", ask),
        ("out", "stdin", {"type": "control_response", "response": yes}),
        OVER,
    ]
    lines = [
        {"type": "control_request", "request_id": "req_1_ab12", "request": {}},
        {"type": "control_response", "response": yes},
    ]
    came = meet(player(talk, playback), lines)
    assert came[0]["response"]["request_id"] == "req_1_ab12"
    assert came[1:] == [ask, 0]
    lines[1]["response"] = {**yes, "request_id": "other"}
    error = refused(talk, lines, playback)
    assert (error.seq, 'response.request_id: recorded "q"' in str(error)) == (4, True)


def test_a_line_before_its_time_is_held_to_what_is_next() -> None:
    play = player(TALK)
    play.step()
    play.take(b'{"id":3,"method":"initialize","params":{"version":1}}')
    play.foresee(b'{"id":4,"method":"prompt","params":{"text":"hi"}}')
    with pytest.raises(MismatchError) as caught:
        play.foresee(b'{"id":4,"method":"prompt","params":{"text":"ho"}}')
    assert caught.value.seq == 3
    # What was only foreseen has changed nothing: the rest is played as if it had not come.
    lines = [{"id": 3, "method": "prompt", "params": {"text": "hi"}}, {"id": 0, "result": "yes"}]
    assert meet(play, lines)[-2:] == [{"id": 3, "result": {"stop": "end"}}, 0]


def test_nothing_more_is_expected() -> None:
    play = player([says(a=1), OVER])
    with pytest.raises(MismatchError, match="nothing more was expected of the client"):
        play.foresee(b"{}")
    assert play.awaited() == ""


def test_every_surface_declares_places_that_can_be_read() -> None:
    from harness.playback.compare import places
    from harness.surfaces import surfaces

    played = {name: s.manifest.playback for name, s in surfaces().items()}
    assert {n for n, p in played.items() if p} >= {"acp", "claude-sdk", "codex-app-server"}
    for playback in filter(None, played.values()):
        assert len(places(playback.may_differ)) == len(playback.may_differ)
