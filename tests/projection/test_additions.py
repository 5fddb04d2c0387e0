"""The interface additions, as chat events show them."""

import pytest
from msgspec import UNSET

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.canonical.events import ProviderRefs
from harness.projection.additions import RULES, additions
from harness.projection.chat_event import Task
from tests.projection.corpus import IDS, events, project

CODEX = "codex-app-server/codex-0.163.0"
CLAUDE = "claude-sdk/claude-code-2.1.332"
EXEC = "codex-exec/codex-0.163.0"


def shown(cassette: str) -> dict[str, str]:
    """Each addition in a word: the best that any chat event shows of it."""
    found = additions(project(events(cassette)))
    return {
        name: "native"
        if each.native
        else "partial"
        if each.partial
        else "synthesized"
        if each.synthesized
        else "-"
        for name, each in found.items()
    }


def test_the_rows_are_the_seed_s(request: pytest.FixtureRequest) -> None:
    seed = request.config.rootpath / "harness" / "matrix" / "PROVIDER-COMPATIBILITY-MATRIX.md"
    table = seed.read_text(encoding="utf-8").split("## Interface Additions")[1]
    rows = [
        line.split("|")[1].strip() for line in table.split("## ")[0].splitlines() if "|" in line
    ]
    assert list(RULES) == rows[2:]


@pytest.mark.parametrize(
    ("cassette", "row", "word"),
    [
        (f"{CODEX}/command-approved", "turnId and runId", "native"),
        (f"{CLAUDE}/command-approved", "turnId and runId", "synthesized"),
        (f"{EXEC}/command", "turnId and runId", "synthesized"),
        (f"{CODEX}/command-approved", "provider and session identity", "partial"),
        (f"{CODEX}/command-approved", "toolCallId", "native"),
        (f"{CODEX}/text", "toolCallId", "-"),
        (f"{CODEX}/command-approved", "Monotonic sequence", "synthesized"),
        (f"{EXEC}/command", "Lifecycle phase", "native"),
        (f"{CODEX}/command-approved", "Permission request fields", "native"),
        (f"{CLAUDE}/command-approved", "Permission request fields", "native"),
        (f"{EXEC}/command", "Permission request fields", "-"),
        (f"{CODEX}/file-edit", "Diff metadata", "native"),
        (f"{EXEC}/file-edit", "Diff metadata", "partial"),
        (f"{CODEX}/text", "Diff metadata", "-"),
        (f"{CODEX}/text", "Task child session fields", "-"),
    ],
)
def test_what_a_cassette_shows(cassette: str, row: str, word: str) -> None:
    assert shown(cassette)[row] == word


@pytest.mark.parametrize("cassette", IDS)
def test_the_evidence_leads_to_the_frame(cassette: str) -> None:
    canonical = {event.eventId: event for event in events(cassette)}
    chats = project(events(cassette))
    for each in additions(chats).values():
        sequences = [*each.native, *each.partial, *each.synthesized]
        assert len(set(sequences)) == len(sequences) == each.count
        for sequence, event_id in each.events.items():
            assert chats[sequence - 1].eventId == event_id
            assert canonical[event_id].raw is not UNSET


def test_a_child_thread_is_native_where_its_link_is() -> None:
    refs = ProviderRefs(providerThreadId="native")
    link = pl.ThreadMetadataUpdatedPayload(UNSET, {"parentThreadId": "t1"})
    canonical = [
        ev.ThreadStarted("e1", "codex", "s", "t", pl.ThreadStartedPayload(), threadId="t1"),
        ev.ThreadMetadataUpdated("e2", "codex", "s", "t", link, threadId="t2", providerRefs=refs),
        ev.TaskStarted("e3", "codex", "s", "t", pl.TaskStartedPayload("tsk-1")),
    ]
    chats = project(canonical)
    found = additions(chats)["Task child session fields"]
    told = [(chats[n - 1].task, chats[n - 1].phase) for n in found.partial]
    assert told == [(Task(childThreadId="t2"), "started"), (Task("tsk-1"), "started")]
    assert not found.native
    child = next(chat for chat in chats if chat.task is not UNSET)
    assert child.parentId == next(chat.partId for chat in chats if chat.threadId == "t1")


def test_a_child_is_linked_by_the_provider_s_id_of_its_parent_once() -> None:
    started = [
        ev.ThreadStarted(
            f"e{n}", "opencode", "s", "t", pl.ThreadStartedPayload(f"ses_{n}"), threadId=f"t{n}"
        )
        for n in (1, 2)
    ]
    link = pl.ThreadMetadataUpdatedPayload(UNSET, {"parentID": "ses_1"})
    told = [
        ev.ThreadMetadataUpdated(f"e{n}", "opencode", "s", "t", link, threadId="t2") for n in (3, 4)
    ]
    chats = project([*started, *told])
    (child,) = (chat for chat in chats if chat.task is not UNSET and chat.phase == "started")
    assert child.task == Task(childThreadId="t2")
    assert child.parentId == next(chat.partId for chat in chats if chat.threadId == "t1")
    stranger = pl.ThreadMetadataUpdatedPayload(UNSET, {"parentID": "ses_9"})
    other = ev.ThreadMetadataUpdated("e5", "opencode", "s", "t", stranger, threadId="t2")
    assert all(chat.task is UNSET for chat in project([*started, other]))


def test_no_events_show_nothing() -> None:
    assert all(each.count == 0 for each in additions([]).values())


def test_a_call_names_the_children_that_it_starts() -> None:
    data = {"receiverThreadIds": ["native-2"]}
    item = pl.ItemLifecyclePayload("collab_agent_tool_call", "inProgress", "spawn", UNSET, data)
    chats = project([ev.ItemStarted("e1", "codex", "s", "t", item, itemId="i1")])
    (task,) = (chat for chat in chats if chat.kind == "task" and chat.phase == "started")
    assert task.task == Task(
        description="spawn", status="inProgress", childProviderIds=["native-2"]
    )
    assert task.toolCallId == "i1"
    assert additions(chats)["Task child session fields"].partial == [task.sequence]
    alone = pl.ItemLifecyclePayload("collab_agent_tool_call", "inProgress", "spawn")
    quiet = project([ev.ItemStarted("e1", "codex", "s", "t", alone, itemId="i1")])
    assert {chat.kind for chat in quiet} == {"status", "tool"}
