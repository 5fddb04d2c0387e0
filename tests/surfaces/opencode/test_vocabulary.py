"""The vocabulary of opencode: what it lists as silent, and what it says of the 89 types."""

import subprocess
from pathlib import Path

import pytest

from harness.surfaces import surface
from harness.surfaces.opencode.events import SILENT
from tests.surfaces.opencode.fakes import fake
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


DOCUMENT = """
        def ref(*names):
            return {"anyOf": [{"$ref": "#/components/schemas/" + name} for name in names]}
        def of(field, value, key="enum"):
            return {"properties": {field: {key: [value] if key == "enum" else value}}}
        SCHEMAS = {
            "Event": ref("A", "B", "C", "D"), "Part": ref("E"), "Message": ref("F"),
            "A": of("type", "session.idle"), "B": of("type", "session.next.moved", "const"),
            "C": of("type", "message.updated"), "D": of("type", "message.part.updated"),
            "E": of("type", "text"), "F": of("role", "user"),
        }
        def answer(method, path, body):
            if path == "/doc":
                return 200, json.dumps({"components": {"schemas": SCHEMAS}}).encode()
        """


def test_the_installed_server_is_asked_for_its_document(tmp_path: Path) -> None:
    assert surface("opencode").declared.declared(fake(tmp_path, DOCUMENT)) == {
        "session.idle": False,
        "session.next.moved": True,
        "message.updated user": False,
        "message.part.updated text": False,
    }


def test_a_server_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        surface("opencode").declared.declared(fake(tmp_path, "sys.exit('no such command')"))
    assert (caught.value.returncode, caught.value.stderr) == (1, b"no such command\n")
