"""`canonical.ts`, in a real Node: it takes what Python takes, and refuses what Python refuses."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import inspect

from harness.canonical import EVENT_CLASSES, decode_event, encode_event
from harness.canonical import names as closed
from harness.canonical.typescript import typescript
from harness.cassette import open_cassette
from harness.cli import main
from harness.project import find_project
from harness.subject import Reference
from tests.nodes import node

ROOT = Path(__file__).parent.parent.parent
MODULE = ROOT / "examples" / "typescript" / "canonical.ts"
SCRIPT = Path(__file__).with_name("decode.mjs")


class Decoder:
    """A Node that decodes lines, one at a time or many at once."""

    def __init__(self, module: Path) -> None:
        self.command = [node(), str(SCRIPT), str(module)]
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def wrong(self, line: bytes) -> str | None:
        """Return the path of what is wrong, or None."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        answer: str | None = msgspec.json.decode(self.process.stdout.readline())
        return answer

    def all(self, lines: bytes) -> list[str | None]:
        """Return what is wrong with each of many lines."""
        done = subprocess.run(self.command, input=lines, stdout=subprocess.PIPE, check=True)
        answers: list[str | None] = msgspec.json.decode(
            b"[" + done.stdout.strip().replace(b"\n", b",") + b"]"
        )
        return answers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End it, by the end of its input."""
        try:
            self.process.communicate(timeout=30)
        finally:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def decoder() -> Iterator[Decoder]:
    with Decoder(MODULE) as decoder:
        yield decoder


def in_python(line: bytes) -> str | None:
    """The path of what is wrong, as Python's decoder has it, or None."""
    try:
        decode_event(line)
    except msgspec.ValidationError as error:
        found = re.search(r" - at `([^`]*)`$", str(error))
        return found[1] if found else "$"
    return None


def corpus() -> Iterator[bytes]:
    """Every event of the reference normalizers, as JSON."""
    reference = Reference()
    for path in find_project(ROOT).cassette_paths():
        with open_cassette(path) as cassette:
            session = reference.open(cassette.header)
            for frame in cassette:
                yield from map(encode_event, session.feed(frame))  # type: ignore[arg-type]
            yield from map(encode_event, session.close())  # type: ignore[arg-type]


def test_the_committed_module_is_what_the_command_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["schema", "--language", "ts"]) == 0
    assert capsys.readouterr().out == MODULE.read_text(encoding="utf-8") == typescript()


@pytest.mark.parametrize("more", [["--protocol"], ["--stage", "chat_event"]])
def test_no_other_schema_is_typescript(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--language", "ts", *more]) == 2
    assert "canonical events alone" in capsys.readouterr().err


def test_every_closed_list_and_every_type_is_in_it() -> None:
    text = typescript()
    for tag, event in EVENT_CLASSES.items():
        assert f'  "{tag}": {event.__annotations__["payload"].__name__};\n' in text
    for source in get_args(closed.RawSource):
        assert text.count(f'  "{source}",\n') == 1


def test_every_event_of_the_corpus_decodes(decoder: Decoder) -> None:
    lines = list(corpus())
    wrong = decoder.all(b"\n".join(lines) + b"\n")
    assert len(wrong) == len(lines) > 7000
    assert Counter(wrong) == {None: len(lines)}


def values(info: Any) -> st.SearchStrategy[Any]:  # noqa: C901, PLR0911 - one case for each type
    """JSON values of a type. No float is whole: JSON.parse does not tell `1.0` from `1`."""
    match info:
        case inspect.Metadata():
            return values(info.type)
        case inspect.AnyType():
            return ANY
        case inspect.StrType():
            return st.text(max_size=5, min_size=info.min_length or 0)
        case inspect.BoolType():
            return st.booleans()
        case inspect.IntType():
            return st.integers(info.ge, 10**20)
        case inspect.FloatType():
            return NUMBERS
        case inspect.NoneType():
            return st.none()
        case inspect.LiteralType():
            return st.sampled_from(sorted(map(str, info.values)))
        case inspect.ListType():
            return st.lists(values(info.item_type), max_size=2)
        case inspect.DictType():
            return st.dictionaries(st.text(max_size=3), ANY, max_size=2)
        case inspect.UnionType():
            return st.one_of(*map(values, info.types))
    assert isinstance(info, inspect.StructType)
    fields = {f.encode_name: values(f.type) for f in info.fields}
    due = {f.encode_name for f in info.fields if f.required}
    built = st.fixed_dictionaries(
        {k: v for k, v in fields.items() if k in due},
        optional={k: v for k, v in fields.items() if k not in due},
    )
    return built.map(lambda value: {"type": info.tag, **value} if info.tag else value)


NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(-1e9, 1e9).filter(lambda x: not x.is_integer())
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=5))
ANY = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
EVENTS = st.one_of([values(inspect.type_info(event)) for event in EVENT_CLASSES.values()])


@settings(max_examples=200, deadline=None)
@given(event=EVENTS)
def test_both_take_every_valid_event(decoder: Decoder, event: Any) -> None:
    line = msgspec.json.encode(event)
    assert in_python(line) is None
    assert decoder.wrong(line) is None


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object or array in a value, with each of its keys or indexes."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


@settings(max_examples=600, deadline=None)
@given(event=EVENTS, data=st.data())
def test_both_say_the_same_of_an_event_with_one_thing_changed(
    decoder: Decoder, event: Any, data: st.DataObject
) -> None:
    event = msgspec.json.decode(msgspec.json.encode(event))
    inside, key = data.draw(st.sampled_from(list(places(event))))
    match data.draw(st.sampled_from(["another value", "none at all", "one more"])):
        case "another value":
            inside[key] = data.draw(st.one_of(ANY, st.just(""), st.just(-1)))
        case "none at all":
            del inside[key]
        case _ if isinstance(inside, dict):
            inside[data.draw(st.one_of(st.text(max_size=5), st.just("__proto__")))] = data.draw(ANY)
        case _:
            inside.append(data.draw(ANY))
    line = msgspec.json.encode(event)
    wrong, in_node = in_python(line), decoder.wrong(line)
    assert (in_node is None) == (wrong is None), line
    # Another type makes of one change several, and either may be told first.
    if key != "type":
        assert in_node == wrong, line


ENVELOPE: dict[str, Any] = {
    "type": "turn.completed",
    "eventId": "e",
    "provider": "acp",
    "sessionId": "s",
    "createdAt": "t",
    "payload": {"state": "completed"},
}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"type": "turn.ended"}, "$.type"),
        ({"type": None}, "$.type"),
        ({"eventId": ""}, "$.eventId"),
        ({"payload": {"state": "over"}}, "$.payload.state"),
        ({"payload": {}}, "$.payload"),
        ({"payload": {"state": "failed", "why": 1}}, "$.payload"),
        ({"payload": {"state": "failed", "usage": None, "stopReason": None}}, None),
        ({"payload": {"state": "failed", "modelUsage": None}}, "$.payload.modelUsage"),
        ({"raw": {"source": "process.exit"}}, "$.raw"),
        ({"raw": {"source": "process.exit", "payload": None}}, None),
        ({"turnId": None}, "$.turnId"),
        (
            {"type": "turn.plan.updated", "payload": {"plan": [{"step": 1}]}},
            "$.payload.plan[0].step",
        ),
    ],
)
def test_the_path_of_what_is_wrong(decoder: Decoder, change: dict[str, Any], path: str) -> None:
    line = msgspec.json.encode(ENVELOPE | change)
    assert decoder.wrong(line) == in_python(line) == path


def test_what_is_no_object_and_no_json(decoder: Decoder) -> None:
    for line in (b"[]", b"null", b'"x"', b"1"):
        assert decoder.wrong(line) == in_python(line) == "$"
    assert decoder.wrong(b"{") == "json"
    half = msgspec.json.encode(ENVELOPE | {"turnId": "HALF"}).replace(b"HALF", b"\\ud800")
    assert decoder.wrong(half) == "$.turnId"
    with pytest.raises(msgspec.DecodeError):
        decode_event(half)


def test_a_whole_number_that_is_written_as_a_fraction_is_the_one_difference(
    decoder: Decoder,
) -> None:
    payload = {"hookId": "h", "outcome": "success", "exitCode": "N"}
    event = ENVELOPE | {"type": "hook.completed", "payload": payload}
    line = msgspec.json.encode(event).replace(b'"N"', b"1.0")
    assert in_python(line) == "$.payload.exitCode"
    assert decoder.wrong(line) is None


@pytest.mark.parametrize(
    ("piece", "broken", "change"),
    [
        ("if (!check) return", "if (!check) continue; if (!check) return", {"why": 1}),
        ("if (value[name] === undefined)", "if (false)", {"payload": {}}),
        ("if (known.has(value)) return", "if (value) return", {"provider": "x"}),
        ('value === "" ?', "false ?", {"eventId": ""}),
    ],
)
def test_a_laxer_decoder_is_noticed(
    piece: str, broken: str, change: dict[str, Any], tmp_path: Path
) -> None:
    lax = tmp_path / "canonical.ts"
    assert typescript().count(piece) == 1
    lax.write_text(typescript().replace(piece, broken), encoding="utf-8")
    line = msgspec.json.encode(ENVELOPE | change)
    assert in_python(line) is not None
    with Decoder(lax) as decoder:
        assert decoder.wrong(line) is None
