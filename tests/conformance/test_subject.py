"""Finding a normalizer by its name, and what a foreign one may give."""

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.canonical import EventBase, encode_event
from harness.cli import main
from harness.subject import Junk, SubjectError, coerce, listed, load_subject
from tests.conformance import toy

_MODULE = """
from tests.conformance.toy import Normalizer
class Half:
    def feed(self, frame): return []
class Nested:
    Inner = Normalizer
NUMBER = 3
class OwnError(BaseException):
    pass
class Version:
    def __str__(self): raise OwnError("none of yours")
class Unlucky(Normalizer):
    version = Version()
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "subject_under_test"
    (tmp_path / f"{name}.py").write_text(_MODULE)
    (tmp_path / "needs_more.py").write_text("import not_there_at_all\n")
    (tmp_path / "breaks.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop(name, None)
    return name


def test_a_subject_is_found_by_its_name(module: str) -> None:
    for spec in (f"{module}:Normalizer", f"{module}:Nested.Inner"):
        subject = load_subject(spec)
        assert subject.name == spec
        assert subject.open(toy.HEADER).close() == []


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("no_colon", "write it as package.module:name"),
        ("a-b:c", "write it as package.module:name"),
        (":name", "write it as package.module:name"),
        ("not_there_at_all:x", "there is no module not_there_at_all; install it"),
        ("harness.not_there:x", "there is no module harness.not_there; install it"),
        ("{module}:Missing", "has no Missing; it has Half, Nested, Normalizer, OwnError"),
        ("{module}:NUMBER.more", "has no NUMBER.more; it has nothing that can be called"),
        ("{module}:NUMBER", "NUMBER is a int, not something that takes a header"),
        ("{module}:Half", "it has no close; a normalizer has feed(frame) and close()"),
        ("{module}:Unlucky", "looking at it raised OwnError: none of yours"),
        ("needs_more:x", "needs_more needs not_there_at_all, which is not installed"),
        ("breaks:x", "importing breaks raised ZeroDivisionError: division by zero"),
    ],
)
def test_what_cannot_be_loaded_is_said(module: str, spec: str, problem: str) -> None:
    with pytest.raises(SubjectError) as caught:
        load_subject(spec.format(module=module))
    assert str(caught.value).startswith("could not load the normalizer ")
    assert problem in str(caught.value)


def test_the_command_ends_with_5(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy.write(tmp_path / "cassettes")
    code = main(["--root", str(tmp_path), "check", "--normalizer", "not_there_at_all:x"])
    assert code == 5
    assert "there is no module not_there_at_all" in capsys.readouterr().err


def test_the_command_names_a_surface_that_it_does_not_know(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = toy.write(tmp_path / "cassettes")
    code = main(["--root", str(tmp_path), "check", "--json"])
    assert code == 4
    value = msgspec.json.decode(capsys.readouterr().out)
    assert value["exit_code"] == 4
    assert value["summary"] == {
        "pass": 0,
        "fail": 0,
        "known": 0,
        "unusable": 1,
        "not-claimed": 0,
    }
    assert f"{path}: no surface is called 'toy'" in value["cassettes"][0]["problem"]


def test_the_three_shapes_of_an_event_are_the_same_event() -> None:
    for event in toy.events_of(toy.Normalizer):
        line = encode_event(event)
        for given in (event, line, line.decode(), msgspec.json.decode(line)):
            again = coerce(given)
            assert isinstance(again, EventBase)
            assert encode_event(again) == line


class Unshowable:
    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("given", "problem", "kind"),
    [
        (b"{", "Input data was truncated", ""),
        (b"\xff", "JSON is malformed", ""),
        ("[" * 5000, "Expected `object`, got `array`", ""),
        ('{"type":"turn.done"}', "Invalid value 'turn.done' - at `$.type`", ""),
        ({"type": "turn.aborted", "eventId": 3}, "Expected `str`, got `int` - at `$.eventId`", "x"),
        (17, "not int", ""),
        (None, "not NoneType", ""),
        (Unshowable(), "not Unshowable", ""),
        (EventBase("e", "codex", "s", "t", {}), "EventBase is no event of EVENTS.md", ""),
    ],
)
def test_junk_is_named(given: Any, problem: str, kind: str) -> None:
    junk = coerce(given)
    assert isinstance(junk, Junk)
    assert problem in junk.problem
    assert junk.type == ("turn.aborted" if kind else "")
    assert len(junk.shown) <= 200


@pytest.mark.parametrize("given", [None, "text", b"bytes", {"type": "x"}, 5])
def test_what_is_no_list_of_events(given: Any) -> None:
    with pytest.raises(TypeError):
        listed(given)


def test_a_lazy_subject_is_a_list() -> None:
    assert listed(n for n in range(3)) == [0, 1, 2]
    assert listed((1, 2)) == [1, 2]
