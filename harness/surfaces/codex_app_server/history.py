"""The history that `thread/resume` and `thread/fork` answer with: DECISIONS.md 64."""

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from harness.canonical import ProviderRefs
from harness.surfaces.codex_items import View, view
from harness.surfaces.codex_state import Conversation, Thread, ref


def restore(conversation: Conversation, thread: Thread, native: Any) -> None:
    """Tell the items of a thread's turns, marked as replayed, in no turn.

    `native` is the protocol's `Thread`; what of it has not the shape of a history is passed over,
    for the answer itself is in the event that tells of its settings.
    """
    ledger = conversation.ledger
    for turn, item, shown in _items(native):
        said = shown.payload.data
        data = {"replay": True, **(said if isinstance(said, dict) else {})}
        payload = structs.replace(shown.payload, status="inProgress", data=data)
        refs = ProviderRefs(
            providerThreadId=thread.ref, providerTurnId=ref(turn), providerItemId=ref(item)
        )
        opened = ledger.start_item(None, "", payload, refs, thread.id)
        status = shown.payload.status
        ledger.complete(opened, status, structs.replace(payload, status=status))
        if shown.odd:
            conversation.warn(shown.odd, said)


def _items(native: Any) -> Iterator[tuple[str, str, View]]:
    for turn in _listed(native, "turns"):
        for item in _listed(turn, "items"):
            yield str(turn.get("id", "")), str(item.get("id", "")), view(item, ended=True)


def _listed(whole: Any, key: str) -> list[dict[str, Any]]:
    found = whole.get(key) if isinstance(whole, dict) else None
    return [part for part in found if isinstance(part, dict)] if isinstance(found, list) else []
