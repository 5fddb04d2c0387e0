"""What is sent ahead and not read again is judged as if it had been: shortcuts find the same."""

import json
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import cycle, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.canonical import decode_event, encode_event
from harness.cassette import Frame
from harness.conformance import CassetteResult, check
from harness.subject import FaultError, Limits, Stdio
from harness.subject.answers import Reader
from harness.subject.coded import BATCH_BYTES, Coded, within
from harness.subject.conversation import Conversation
from harness.subject.foretold import Foretold, Run, Step, in_turns
from harness.subject.protocol import Frames, Request
from harness.subject.serve import Server
from tests.conformance import toy

ABOUT = {"name": "toy", "version": "1", "language": "python"}
LIMITS = Limits(answer=20_000)


class Inside:
    """Stands for a subject's process: the server, in this one, and what it does wrong."""

    pid = 0
    ways: dict[int, str]
    """Request's id to what is wrong with its answer."""

    def __init__(self, _command: Any, limits: Limits) -> None:
        self.limits = limits
        self.tail = bytearray()
        self.received = 0
        self._server = Server(toy.Normalizer, ABOUT)
        self._out: deque[tuple[int, bytes]] = deque()
        self._rest = b""
        self._lines: deque[bytes] = deque()

    def send(self, data: bytes, after: int = 0) -> None:
        self._out.append((after, data))

    def flush(self) -> None:
        """Nothing comes but what is waited for."""

    def line(self) -> bytes:
        while not self._lines:
            if not self._out:
                raise FaultError("hung", "nothing was asked")
            after, data = self._out.popleft()
            assert after <= self.received, "the second piece of a request waits for itself"
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._lines += self._answers(line)
        self.received += 1
        if self._lines[0] == CRASH:
            raise FaultError("crashed", "it ended with exit code 9")
        return self._lines.popleft()

    def _answers(self, line: bytes) -> Iterator[bytes]:
        id_ = json.loads(line)["id"]
        answer = self._server.answer(line)[:-1]
        yield from WAYS[self.ways.get(id_, "right")](id_, answer)

    def idle(self) -> bool:
        return not self._lines and not self._out

    def memory(self) -> None:
        """It is this process's."""

    def stop(self) -> str:
        return ""

    def end(self) -> None:
        """It has no process."""


CRASH = b"crash"


def edited(answer: bytes, key: str, value: Any) -> bytes:
    """An answer whose first event, if there is one, has another value."""
    whole = json.loads(answer)
    lists = whole.get("events", [])
    for event in [e for each in lists for e in (each if isinstance(each, list) else [each])][:1]:
        event[key] = value
    return msgspec.json.encode(whole)


WAYS: dict[str, Any] = {
    "right": lambda _, a: [a],
    "spaces": lambda _, a: [json.dumps(json.loads(a)).encode()],
    "id-last": lambda _, a: [msgspec.json.encode(dict(reversed(json.loads(a).items())))],
    "more-fields": lambda _, a: [a[:-1] + b',"more":[]}'],
    "other-time": lambda _, a: [edited(a, "createdAt", "2026-01-01T00:00:09.000Z")],
    "other-turn": lambda _, a: [edited(a, "turnId", "trn-9")],
    "no-event": lambda _, a: [edited(a, "type", "turn.done")],
    "a-list-more": lambda _, a: [a.replace(b'"events":[', b'"events":[[],')],
    "an-event-less": lambda _, a: [a.replace(b"[[{", b"[[],[{")],
    "nothing": lambda i, _: [b'{"id":%d,"events":[]}' % i],
    "fails": lambda i, _: [b'{"id":%d,"error":{"message":"no","frame":3}}' % i],
    "fails-late": lambda _, a: [a[:-1] + b',"error":{"message":"no"},"more":[]}'],
    "junk": lambda _, a: [b"junk", a],
    "twice": lambda _, a: [a, a],
    "other-id": lambda i, a: [a.replace(b'{"id":%d' % i, b'{"id":%d' % (i + 1))],
    "large": lambda _, a: [a[:-1] + b" " * 30_000 + b"}"],
    "crash": lambda _i, _a: [CRASH],
}
"""What may stand in an answer's place; one is the protocol's own, in another form."""

ALIKE = {"right", "spaces", "id-last", "more-fields"}
FATAL = {"a-list-more", "an-event-less", "nothing", "junk", "twice", "other-id", "large", "crash"}


def one_by_one() -> AbstractContextManager[Any]:
    """Without the shortcut of lines: each answer of a rerun is compared by itself."""

    def came(self: Foretold) -> bool:
        self._connection.ask()
        return False

    return mock.patch.object(Foretold, "came", came)


def all_read() -> AbstractContextManager[Any]:
    """Without any: the reruns are read and compared event by event."""
    return mock.patch.object(Conversation, "repeats", return_value=False)


def judge(
    frames: Any, ways: dict[int, str], without: AbstractContextManager[Any] | None = None
) -> tuple[CassetteResult, str]:
    """Return what is found, and what is wrong at the end; `without` a shortcut."""
    Inside.ways = ways
    with (
        TemporaryDirectory() as folder,
        mock.patch("harness.subject.connection.Process", Inside),
        without or nullcontext(),
    ):
        toy.write(Path(folder), frames)
        subject = Stdio("toy", LIMITS)
        report = check(cassettes=Path(folder), expected=None, subject=subject, rules=toy.rules)
        problem = subject.stop()
    (result,) = report.cassettes
    result.path = ""
    return result, problem


# Of the chat: 1 start, 2-4 open, 5 the whole, 6 its end, 7-34 the reruns, and what runs alone.
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.integers(2, 60), st.sampled_from(sorted(WAYS)), max_size=5),
    st.integers(1, len(toy.CHAT)),
)
def test_what_is_not_read_is_judged_as_if_it_were(ways: dict[int, str], length: int) -> None:
    frames = toy.CHAT[:length]
    quick, compared, read = (judge(frames, ways, w) for w in (None, one_by_one(), all_read()))
    assert quick == compared
    assert (quick[0].verdict, quick[1]) == (read[0].verdict, read[1])
    if not set(ways.values()) & FATAL:
        # What ends the process ends other runs with it, and which of them is a matter of order.
        assert quick[0] == read[0]
    if set(ways.values()) <= ALIKE:
        assert (quick[0].verdict, quick[1]) == ("pass", "")


def test_each_answer_of_a_rerun_is_looked_at() -> None:
    seen = {
        (id_, way): set(judge(toy.CHAT, {id_: way})[0].failed())
        for id_ in range(7, 28)
        for way in ("other-turn", "fails", "twice", "crash")
    }
    passed = {which for which, failed in seen.items() if not failed}
    # Those without an event have none of another turn.
    assert {way for _, way in passed} <= {"other-turn"}
    assert len(passed) < 10
    assert {law for failed in seen.values() for law in failed} == {"apart", "split", "subject"}


def test_what_repeats_makes_no_exchanges_and_reads_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(_: Any) -> Any:
        raise AssertionError("read one by one")

    monkeypatch.setattr(Foretold, "exchanges", never)
    result, problem = judge(toy.CHAT, {})
    assert (result.verdict, problem) == ("pass", "")
    result, _ = judge(toy.CHAT, {9: "spaces"})
    assert "AssertionError: read one by one" in result.problem


JSON: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(['"data":', '"text":', "\u2028", "é\n", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | st.just("data"), inner, max_size=5)
    ),
    max_leaves=8,
)
CONTENT: Any = (
    st.fixed_dictionaries({"data": JSON})
    | st.fixed_dictionaries({"text": st.text()})
    | st.fixed_dictionaries({"b64": st.sampled_from(["", "/w==", "//4="])})
)


@st.composite
def frames_of(draw: Any) -> list[Frame]:
    channels = st.sampled_from(["start", "stdout", "stdin", "http", "sse", "exit"])
    return [
        Frame(number, number * 3, draw(st.sampled_from(["in", "out"])), draw(channels), **content)
        for number, content in enumerate(draw(st.lists(CONTENT, max_size=40)), 1)
    ]


@given(frames_of(), st.lists(st.integers(1, 9), min_size=1, max_size=3), st.data())
def test_frames_are_sent_as_they_are(frames: list[Frame], sizes: list[int], data: Any) -> None:
    coded = Coded(frames)
    for frame, (content, its) in zip(frames, coded.contents, strict=True):
        assert content is frame.content
        assert its == msgspec.json.encode(content)
    upto = data.draw(st.none() | st.integers(0, len(frames)))
    parts = list(coded.batches(cycle(sizes), upto))
    sent: list[Frame] = []
    for start, end in parts:
        line = b'{"cmd":"frames","id":1%b}' % coded.request(b"7", start, end)
        request = msgspec.json.decode(line, type=Request)
        assert isinstance(request, Frames)
        assert request.conversation == "7"
        sent += request.frames
    assert sent == frames[:upto]
    assert all(0 < end - start <= max(sizes) for start, end in parts)
    if upto != 0 and frames:
        cut = coded.cut(len(frames) if upto is None else upto)
        ascii_ = [f.isascii() for f in coded.frames[:upto]]
        assert ascii_[cut] is all(ascii_)
        assert all(ascii_[cut + 1 :])


@given(st.lists(st.integers(1, BATCH_BYTES * 2), min_size=1, max_size=12))
def test_a_message_is_no_longer_than_it_may_be(lengths: list[int]) -> None:
    coded = Coded(
        [Frame(n, 0, "in", "stdout", text="x" * size) for n, size in enumerate(lengths, 1)]
    )
    parts = list(coded.batches(repeat(64)))
    assert [start for start, _ in parts] == [0, *(end for _, end in parts[:-1])]
    assert parts[-1][1] == len(lengths)
    sizes = [sum(map(len, coded.frames[start:end])) for start, end in parts]
    assert all(
        size <= BATCH_BYTES or end - start == 1
        for size, (start, end) in zip(sizes, parts, strict=True)
    )
    # No batch could have taken the frame that the next one begins with.
    for size, (_, end) in zip(sizes, parts[:-1], strict=False):
        assert size + len(coded.frames[end]) > BATCH_BYTES


@given(st.text(min_size=2).map(lambda text: text.encode("utf-8", "replace")))
def test_a_cut_is_within_a_character_where_one_can_be_cut(data: bytes) -> None:
    at = within(data)
    assert 0 < at < len(data)
    if not data.isascii():
        with pytest.raises(UnicodeDecodeError):
            data[:at].decode()


class Named:
    def __init__(self, name: bytes) -> None:
        self.coded_name = name

    def opened(self) -> None:
        raise NotImplementedError

    def asked(self, exchange: Any, contents: Any, /) -> None:
        raise NotImplementedError


@given(st.integers(0, 200), st.booleans())
def test_each_frame_is_once_alone_and_one_message_of_several_is_cut(fed: int, whole: bool) -> None:
    coded = Coded(
        [Frame(n, 0, "in", "stdout", text="é" if n % 9 == 0 else "e") for n in range(1, fed + 1)]
    )
    again: Run = Named(b"a")
    half: Run = Named(b"h")
    steps = in_turns(again, half, coded, fed, whole=whole)
    one, other = ([s for s in steps if s.run is run] for run in (again, half))
    assert [(s.start, s.end) for s in one[:-1]] == [(n, n + 1) for n in range(fed)]
    assert other[-1] == Step(half, own=True)
    assert one[-1] == Step(again, own=not whole)
    parts = [(s.start, s.end) for s in other[:-1]]
    assert [n for start, end in parts for n in range(start, end)] == list(range(fed // 2))
    assert [s.cut for s in steps].count(True) == min(fed // 2, 1)
    assert not any(s.cut for s in one)
    if fed >= 2:
        # Either is in the midst of the other.
        assert steps[0].run is again
        assert steps[-1].run is again
        assert 0 < steps.index(other[0]) < steps.index(other[-1]) < len(steps) - 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text() | st.sampled_from(["a", "b"]), max_size=30), st.booleans())
def test_an_event_is_read_as_its_own_decoder_reads_it(texts: list[str], spaced: bool) -> None:
    data = [*toy.CHAT[:3], *({"kind": "note", "text": text} for text in texts)]
    frames = [Frame(n, n * 7, "in", "stdout", data=each) for n, each in enumerate(data, 1)]
    normalizer = toy.Normalizer(toy.HEADER)
    given_ = [list(normalizer.feed(frame)) for frame in frames]
    answer = msgspec.json.encode(given_)
    if spaced:
        answer = json.dumps(json.loads(answer)).encode()
    read = Reader().frames(answer, Coded(frames).contents)
    assert [[encode_event(e) for e in each] for each in read] == [
        [encode_event(decode_event(encode_event(e))) for e in each] for each in given_
    ]
    for events, frame in zip(read, frames, strict=True):
        for event in events:
            assert event.raw.payload == frame.data
            # The judge's own object, where it came as it was sent.
            assert spaced or event.raw.payload is frame.data
