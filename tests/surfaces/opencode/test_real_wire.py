"""What the real server's stream has shown: changed files, titles, ends; the client's answers."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.canonical import EventBase
from harness.cassette import Frame
from harness.cassette.show import summary
from harness.scenarios import Client, Turn, scenario
from harness.surfaces import surface
from harness.surfaces.opencode.story import Request, TurnStory, Unknown
from tests.surfaces.opencode.wire import Entry, event, normalize, request, response

PATCH = "--- a.txt\n+++ a.txt\n@@ -0,0 +1 @@\n+one\n"
PROMPT = request(1, "POST", "/session/ses1/prompt_async", {})
BUSY = event("session.status", sessionID="ses1", status={"type": "busy"})
IDLE = event("session.idle", sessionID="ses1")

GONE = ("in", "exit", {"signal": "SIGTERM"})


def message(native: str, role: str = "user", **more: Any) -> Entry:
    return event("message.updated", sessionID="ses1", info={"id": native, "role": role, **more})


def tool(status: str, name: str = "bash", **state: Any) -> Entry:
    part: dict[str, Any] = {
        "id": "prt1",
        "messageID": "msg2",
        "type": "tool",
        "tool": name,
        "callID": "call1",
    }
    part["state"] = {"status": status, **state}
    return event("message.part.updated", sessionID="ses1", part=part)


def of(events: list[EventBase], *kinds: str) -> list[Any]:
    return [e for e in events if type(e).__name__ in kinds]


def test_a_turns_diff_is_what_its_prompts_message_says() -> None:
    files = [{"file": "a.txt", "patch": PATCH, "status": "added"}, {"file": "b", "patch": "--- b"}]
    said = message("msg1", summary={"diffs": files})
    told = normalize([PROMPT, message("msg1"), BUSY, said, IDLE, said])
    assert [d.payload.unifiedDiff for d in of(told, "TurnDiffUpdated")] == [f"{PATCH}--- b"]
    # After the turn it is the thread's.
    assert of(told, "ThreadMetadataUpdated")[-1].payload.metadata == {"diff": files}


def test_the_diff_of_an_earlier_turn_is_not_told_of_this_one() -> None:
    files = [{"file": "a.txt", "patch": PATCH}]
    earlier = message("msg1", summary={"diffs": files})
    told = normalize([PROMPT, BUSY, message("msg3"), earlier, IDLE])
    assert of(told, "TurnDiffUpdated") == []
    assert [m.payload.metadata for m in of(told, "ThreadMetadataUpdated")] == [{"diff": files}]


def test_an_empty_session_diff_takes_no_diff_of_the_turn_back() -> None:
    told = normalize([PROMPT, BUSY, event("session.diff", sessionID="ses1", diff=[]), IDLE])
    assert of(told, "TurnDiffUpdated") == []
    assert [m.payload.metadata for m in of(told, "ThreadMetadataUpdated")] == [{"diff": []}]


def test_the_kind_of_a_message_says_whether_it_tells_of_files() -> None:
    namer = surface("opencode").kinds()
    told = [
        message("msg1"),
        message("msg1", summary={"diffs": []}),
        message("msg1", summary={"diffs": [{"file": "a.txt"}]}),
        message("msg2", "assistant", summary={"diffs": [{"file": "a.txt"}]}),
    ]
    kinds = [namer.of(SimpleNamespace(channel="sse", data=data)) for _, _, data in told]  # type: ignore[arg-type]
    plain, diff = "message.updated user", "message.updated user diff"
    assert kinds == [plain, plain, diff, "message.updated assistant"]


def test_a_command_is_called_by_its_command_and_its_output_grows() -> None:
    told = normalize(
        [
            PROMPT,
            BUSY,
            tool("pending", input={}),
            tool("running", input={"command": "echo hi"}),
            tool("running", input={"command": "echo hi"}, metadata={"output": "hi\n"}),
            tool(
                "completed", input={"command": "echo hi"}, output="hi\n", title="Says hi",
                metadata={"output": "hi\n", "exit": 0},
            ),
            IDLE,
        ]
    )  # fmt: skip
    items = of(told, "ItemStarted", "ItemUpdated", "ItemCompleted")
    assert [item.payload.title for item in items] == ["bash", "echo hi", "Says hi"]
    assert [d.payload.delta for d in of(told, "ContentDelta")] == ["hi\n"]
    assert items[-1].payload.data["output"] == "hi\n"
    assert items[-1].payload.data["exitCode"] == 0


def command(*outputs: str, last: str, result: str) -> list[EventBase]:
    """Tell a command whose output was that at each look, at its end, and for the model."""
    given: dict[str, Any] = {"input": {"command": "count"}}
    looks = [tool("running", **given, metadata={"output": output}) for output in outputs]
    end = tool("completed", **given, metadata={"output": last}, output=result)
    return normalize([PROMPT, BUSY, tool("running", **given), *looks, end, IDLE])


def test_the_output_of_a_command_is_told_as_it_grows() -> None:
    told = command("", "1\n", "1\n2\n", "1\n2\n", last="1\n2\n3\n", result="1\n2\n3\nthe end")
    deltas = of(told, "ContentDelta")
    assert [d.payload.delta for d in deltas] == ["1\n", "2\n", "3\n"]
    assert {d.payload.streamKind for d in deltas} == {"command_output"}
    # Neither what was there already nor what comes anew is told a second time.
    assert [u.payload.data.get("output") for u in of(told, "ItemUpdated")] == [None, "1\n2\n"]
    (item,) = of(told, "ItemCompleted")
    assert item.payload.data["output"] == "1\n2\n3\n"
    assert item.payload.data["result"] == "1\n2\n3\nthe end"


def test_an_output_that_was_cut_is_not_passed_off_as_what_was_streamed() -> None:
    told = command("1\n", "...2\n", "...3\n", last="...3\n", result="cut: ...3\n")
    assert [d.payload.delta for d in of(told, "ContentDelta")] == ["1\n"]
    replaced = [u.payload.data for u in of(told, "ItemUpdated") if "replaces" in u.payload.data]
    assert replaced == [{"output": text, "replaces": True} for text in ("...2\n", "...3\n")]
    (item,) = of(told, "ItemCompleted")
    assert item.payload.data["output"] == "1\n"
    assert item.payload.data["finalOutput"] == "...3\n"
    assert "the output is not what was streamed" in [
        w.payload.message for w in of(told, "RuntimeWarning")
    ]


def test_a_command_that_its_turn_leaves_open_keeps_its_name() -> None:
    stop = request(2, "POST", "/session/ses1/abort"), response(2, 200, body=True)
    running = tool("running", input={"command": "sleep 9"})
    told = normalize([PROMPT, BUSY, tool("pending", input={}), running, *stop, IDLE])
    (item,) = of(told, "ItemCompleted")
    assert (item.payload.title, item.payload.status) == ("sleep 9", "failed")


def test_a_command_that_was_never_looked_at_has_its_output_whole() -> None:
    told = command(last="(no output)", result="(no output)")
    assert of(told, "ContentDelta") == []
    assert of(told, "ItemCompleted")[0].payload.data["output"] == "(no output)"


@pytest.mark.parametrize(
    ("name", "metadata", "changes"),
    [
        ("write", {"exists": False}, [{"path": "/w/a.txt", "kind": "add"}]),
        ("write", {"exists": True}, [{"path": "/w/a.txt", "kind": "update"}]),
        ("edit", {"diff": PATCH}, [{"path": "/w/a.txt", "kind": "update", "diff": PATCH}]),
        ("edit", {}, None),  # what it has done is not known yet
    ],
)
def test_a_file_tool_has_its_changes(name: str, metadata: dict[str, Any], changes: Any) -> None:
    given = {"filePath": "/w/a.txt"}
    told = normalize([PROMPT, BUSY, tool("completed", name, input=given, metadata=metadata), IDLE])
    (item,) = of(told, "ItemCompleted")
    assert item.payload.itemType == "file_change"
    assert item.payload.data.get("changes") == changes


def test_a_permission_is_of_its_item_and_a_refused_tool_stays_declined() -> None:
    asked = event(
        "permission.asked", id="per1", sessionID="ses1", permission="bash", patterns=["touch a"],
        metadata={"command": "touch a"}, tool={"callID": "call1"},
    )  # fmt: skip
    replied = event("permission.replied", sessionID="ses1", requestID="per1", reply="reject")
    failed = tool("error", input={"command": "touch a"}, error="Refused")
    history = [
        {"info": {"id": "msg2", "role": "assistant"}, "parts": [failed[2]["properties"]["part"]]}
    ]
    told = normalize(
        [
            PROMPT, BUSY, tool("running", input={}), asked, replied, failed, IDLE, GONE,
            request(2, "GET", "/session/ses1/message"), response(2, 200, history),
        ]
    )  # fmt: skip
    (opened,) = of(told, "RequestOpened")
    (started, again) = of(told, "ItemStarted")
    assert (opened.itemId, opened.payload.detail) == (started.itemId, "touch a")
    assert [i.payload.status for i in of(told, "ItemCompleted")] == ["declined", "declined"]
    assert (again.payload.title, again.payload.data["replay"]) == ("touch a", True)


def test_a_history_is_told_once_in_a_process() -> None:
    def asked_for(number: int) -> list[Entry]:
        parts = [{"id": native, "type": "text", "text": native} for native in ("prt1", "prt2")]
        history = [{"info": {"id": "msg2", "role": "assistant"}, "parts": parts}]
        path = "/session/ses1/message"
        return [request(number, "GET", path), response(number, 200, history)]

    live = {"id": "prt1", "messageID": "msg2", "type": "text", "text": "prt1", "time": {"end": 1}}
    told = [
        PROMPT, BUSY, event("message.part.updated", sessionID="ses1", part=live), IDLE,
        *asked_for(2), *asked_for(3), GONE, *asked_for(4),
    ]  # fmt: skip
    items = of(normalize(told), "ItemCompleted")
    texts = [(i.payload.data["text"], i.payload.data.get("replay", False)) for i in items]
    # What the process has told is not told again; another process has told nothing yet.
    assert texts == [("prt1", False), ("prt2", True), ("prt1", True), ("prt2", True)]
    namer = surface("opencode").kinds()
    frames = [Frame(1, 0, way, channel, data=data) for way, channel, data in told]  # type: ignore[arg-type]
    kinds = [kind for kind in map(namer.of, frames) if "response GET" in kind]
    plain = "response GET /session/{id}/message"
    assert kinds == [plain, f"repeat {plain}", plain]


@pytest.mark.parametrize(
    ("ending", "open_turn", "kind"),
    [
        ({"signal": "SIGTERM"}, False, "graceful"),
        ({"signal": "SIGTERM"}, True, "error"),
        ({"signal": "SIGKILL"}, False, "error"),
        ({"code": 1}, False, "error"),
        ({"code": 0}, False, "graceful"),
    ],
)
def test_a_server_that_is_told_to_end_ends_gracefully(
    ending: dict[str, Any], open_turn: bool, kind: str
) -> None:
    told = normalize([PROMPT, BUSY, *([] if open_turn else [IDLE]), ("in", "exit", ending)])
    assert (type(told[-1]).__name__, told[-1].payload.exitKind) == ("SessionExited", kind)


def asked(kind: str, **properties: Any) -> dict[str, Any]:
    return {"type": kind, "properties": {"sessionID": "ses1", "id": "que1", **properties}}


def test_a_question_is_answered_with_the_scenarios_words() -> None:
    told = asked("question.asked", questions=[{"question": "Which?"}, {"question": "And?"}])
    for client, answers in (
        (Client(answer="Blue"), [["Blue"], ["Blue"]]),
        (Client(answer="Red", together=("Blue", "Red")), [["Blue"], ["Red"]]),
    ):
        (act,) = TurnStory(Turn("p", (), client), "ses1").on_event(told)
        assert act == Request("POST", "/question/que1/reply", {"answers": answers})


def test_without_words_a_question_is_rejected_and_anything_else_is_not_known() -> None:
    story = TurnStory(scenario("text").turns[0], "ses1")
    told = asked("question.asked", questions=[{"question": "Which?"}])
    assert story.on_event(told) == [Request("POST", "/question/que1/reject")]
    assert story.on_event(asked("oracle.asked")) == [Unknown("oracle.asked")]
    assert story.on_event({"type": "oracle.asked", "properties": {"sessionID": "ses9"}}) == []


def test_a_turn_is_over_once_its_last_events_are_there() -> None:
    story = TurnStory(scenario("text").turns[0], "ses1")
    step = {"id": "prt3", "type": "step-finish"}
    for _, _, told in (
        message("msg1"),
        message("msg2", "assistant", time={"created": 1}),
        event("message.part.updated", sessionID="ses1", part=step),
        message("msg1", summary={"diffs": []}),
        message("msg2", "assistant", time={"created": 1, "completed": 2}),
        event("session.idle", sessionID="ses9"),
    ):
        story.on_event(told)
        assert (story.over, story.patience) == (False, None)
    story.on_event(IDLE[2])
    # One task for the prompt has told what it changed, the one for the step has not.
    assert (story.over, story.patience) == (False, 3.0)
    story.on_event(message("msg1", summary={"diffs": []})[2])
    assert story.over


def test_a_timeline_names_exchanges_and_events() -> None:
    frames = [
        Frame(1, 0, "out", "http", data=request(7, "GET", "/session")[2]),
        Frame(2, 0, "in", "http", data=response(7, 200, [])[2]),
        Frame(3, 0, "in", "sse", data={"id": "evt_1", "type": "session.idle", "properties": {}}),
    ]
    names = [summary(frame).partition("  ")[0] for frame in frames]
    assert names == ["GET /session", "200 to request 7", "session.idle"]


def test_the_agent_of_a_session_is_its_mode_told_once() -> None:
    told = normalize(
        [
            event("session.updated", sessionID="ses1", info={"id": "ses1", **more})
            for more in ({}, {"agent": "build"}, {"agent": "build"}, {"agent": "plan"})
        ]
    )
    modes = [c.payload.config for c in of(told, "SessionConfigured")]
    assert modes == [{"currentModeId": "build"}, {"currentModeId": "plan"}]


def test_a_question_is_of_its_tool_which_a_rejection_ends() -> None:
    asks = event(
        "question.asked", id="que1", sessionID="ses1", questions=[], tool={"callID": "call1"}
    )
    rejected = event("question.rejected", sessionID="ses1", requestID="que1")
    told = normalize(
        [PROMPT, BUSY, tool("running", "question"), asks, rejected, tool("error", "question"), IDLE]
    )
    (opened,) = of(told, "RequestOpened")
    (item,) = of(told, "ItemCompleted")
    assert (item.itemId, item.payload.status) == (opened.itemId, "declined")
