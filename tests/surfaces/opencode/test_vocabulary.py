"""The vocabulary of opencode: what it lists as silent, and what it says of the 89 types."""

import pytest

from harness.surfaces import surface
from harness.surfaces.opencode.events import SILENT
from tests.surfaces.opencode.wire import event, normalize, request, response

KINDS = surface("opencode").vocabulary.kinds


def test_silent_types_are_the_ignored_ones() -> None:
    plain = {
        kind for kind, entry in KINDS.items() if entry.ignored and "." in kind and " " not in kind
    }
    assert plain == SILENT


@pytest.mark.parametrize("kind", sorted(k for k in KINDS if "." in k and " " not in k))
def test_a_type_without_its_fields_is_reported_and_breaks_no_law(kind: str) -> None:
    whole = normalize([event(kind), event(kind, sessionID="ses1")])
    types = {type(e).__name__ for e in whole}
    if KINDS[kind].ignored:
        assert types <= {"SessionStarted"}
    else:
        assert types - {"SessionStarted", "ThreadStarted"}


def test_an_unknown_type_is_a_warning() -> None:
    last = normalize([event("session.dreamt", sessionID="ses1")])[-1]
    assert last.payload.message == "session.dreamt has no place in the model"


def test_a_prompt_that_is_refused_is_one_failed_turn() -> None:
    events = normalize([request(1, "POST", "/session/ses1/prompt_async", {}), response(1, 400)])
    assert [type(e).__name__ for e in events[-3:]] == [
        "TurnStarted",
        "RuntimeError",
        "TurnCompleted",
    ]
    assert events[-1].payload.state == "failed"
