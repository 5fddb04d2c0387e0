"""What a subject does wrong in any run, however it does it, is a failure under `subject`."""
# ruff: noqa: ARG002 - every normalizer has the same methods

import asyncio
import itertools
import os
import sys
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import msgspec
import pytest
from msgspec.structs import replace

from harness.canonical import events as ev
from harness.canonical import payloads as pl
from harness.conformance import check, render_terminal
from harness.conformance.known import Failure, Known
from harness.conformance.levels import Held
from harness.project import find_project
from harness.subject import InProcess, Limits, load_command
from harness.surfaces import surface, surfaces
from tests.conformance import toy
from tests.conformance.broken import origin

ROOT = find_project(Path(__file__)).root


_AGAIN = """
import os, sys, time, json
from harness.subject.serve import Server
from harness.surfaces import surface, surfaces
from tests.conformance import toy
from tests.conformance.broken import origin

served = Server(toy.Normalizer, {"name": "toy", "version": "1", "language": "python"})
for line in sys.stdin.buffer:
    asked, answer = json.loads(line), served.answer(line)
    # The first conversation of a cassette is served, and no other.
    if asked["cmd"] in {"frames", "close"} and int(asked["conversation"]) % 3 != 1:
        match sys.argv[1]:
            case "crashes": os.abort()
            case "exits": os._exit(0)
            case "hangs": time.sleep(1000)
            case "prints": os.write(1, b"junk\\n")
            case "fails": answer = b'{"id":%d,"error":{"message":"no"}}\\n' % asked["id"]
    os.write(1, answer)
    if served.stopped:
        break
"""


@pytest.mark.parametrize(
    "level",
    [
        "schema",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("laws", "expected", "coverage")),
    ],
)
@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("crashes", "crashed: it ended with SIGABRT"),
        ("exits", "ended: it ended (exit code 0)"),
        ("hangs", "hung: no answer within 2 s"),
        ("prints", "junk: no answer to `frames`"),
        ("fails", "failed: no"),
    ],
)
def test_a_rerun_that_goes_wrong_fails_at_every_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, said: str, level: Any
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    if way == "hangs" and level in {"laws", "expected"}:
        pytest.skip("two levels are enough to wait for")
    script = tmp_path / "again.py"
    script.write_text(_AGAIN)
    toy.write(tmp_path / "cassettes")
    subject = load_command(f"{sys.executable} {script} {way}", Limits(seconds=2))
    try:
        report = check(
            cassettes=tmp_path / "cassettes",
            expected=None,
            subject=subject,
            rules=toy.rules,
            held=Held((level,), "--level"),
        )
    finally:
        subject.end()
    (result,) = report.cassettes
    assert report.exit_code == 1
    assert "subject" in result.failed()
    violation = result.check("subject").violations[0]
    assert said in violation.got
    assert "of a second run, " in violation.expected
    # What is known of another check excuses none of it.
    for listed in ("split", "deterministic", "prefix", "apart"):
        Known(Path("known-failures.toml"), [Failure(result.id, listed, "later")]).apply(result)
    assert result.verdict == "fail"


class OwnError(BaseException):
    """What no `except Exception` catches."""


class Unlucky(toy.Normalizer):
    """Raises what is no Exception, where its class says."""

    error: BaseException = OwnError("boo")

    def fail(self) -> Any:
        raise self.error


class InFeed(Unlucky):
    error = asyncio.CancelledError("x")

    def feed(self, frame: Any) -> Any:
        return self.fail() if frame.seq == 4 else super().feed(frame)


class InClose(Unlucky):
    def close(self) -> Any:
        return self.fail()


class InOpening(Unlucky):
    def __init__(self, header: Any) -> None:
        self.fail()


class InTheReruns(Unlucky):
    runs = itertools.count()

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.run = next(self.runs)

    def feed(self, frame: Any) -> Any:
        return self.fail() if self.run else super().feed(frame)


class Skips(Unlucky):
    """Pytest's own way to call a test skipped."""

    def close(self) -> Any:
        pytest.skip("no time")


class Evil(dict[str, Any]):
    def __repr__(self) -> str:
        raise OwnError("boo")


class GivesEvil(Unlucky):
    def feed(self, frame: Any) -> Any:
        return [*super().feed(frame), Evil(type="turn.started")]


class EvilType(type):
    def __hash__(cls) -> int:
        raise OwnError("boo")


class GivesEvilType(Unlucky):
    def feed(self, frame: Any) -> Any:
        return [*super().feed(frame), EvilType("Odd", (), {})()]


@pytest.mark.parametrize(
    ("make", "check_id", "got"),
    [
        (InFeed, "subject", "CancelledError: x"),
        (InClose, "subject", "OwnError: boo"),
        (InOpening, "subject", "OwnError: boo"),
        (InTheReruns, "subject", "OwnError: boo"),
        (Skips, "subject", "Skipped: no time"),
        (GivesEvil, "schema", "<Evil>"),
        (GivesEvilType, "subject", "OwnError: boo"),
    ],
)
def test_whatever_it_raises_fails_its_cassette_and_the_run_goes_on(
    tmp_path: Path, make: Any, check_id: str, got: str
) -> None:
    toy.write(tmp_path / "cassettes")
    toy.write(tmp_path / "cassettes", header=replace(toy.HEADER, scenario="later"))
    InTheReruns.runs = itertools.count()
    report = check(
        cassettes=tmp_path / "cassettes",
        expected=None,
        subject=InProcess(make, "toy"),
        rules=toy.rules,
    )
    assert report.exit_code == 1
    assert [c.verdict for c in report.cassettes] == ["fail", "fail"]
    for result in report.cassettes:
        assert result.fault == "subject"
        assert result.check(check_id).violations[0].got == got


def test_ctrl_c_ends_the_run(tmp_path: Path) -> None:
    class Interrupted(toy.Normalizer):
        def feed(self, frame: Any) -> Any:
            raise KeyboardInterrupt

    toy.write(tmp_path / "cassettes")
    with pytest.raises(KeyboardInterrupt):
        check(
            cassettes=tmp_path / "cassettes",
            expected=None,
            subject=InProcess(Interrupted, "toy"),
            rules=toy.rules,
        )


class ClosesDescriptor(toy.Normalizer):
    """Closes the harness's output, as often as it is there."""

    def feed(self, frame: Any) -> Any:
        os.close(1)
        return super().feed(frame)


def test_a_descriptor_that_it_closes_is_no_fault_of_the_harness(tmp_path: Path) -> None:
    toy.write(tmp_path / "cassettes")
    toy.write(tmp_path / "cassettes", header=replace(toy.HEADER, scenario="later"))
    kept = os.dup(1)
    try:
        report = check(
            cassettes=tmp_path / "cassettes",
            expected=None,
            subject=InProcess(ClosesDescriptor, "toy"),
            rules=toy.rules,
        )
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    assert [(c.verdict, c.fault) for c in report.cassettes] == [("fail", "subject")] * 2
    for result in report.cassettes:
        assert result.failed() == ["subject"]
        assert result.check("subject").violations[0].got.startswith("OSError: [Errno 9]")


@pytest.mark.parametrize(
    ("field", "check_id"),
    [
        ("raw.payload", "raw"),
        ("createdAt", "clock"),
        ("eventId", "schema"),
        ("itemId", "schema"),
        ("turnId", "schema"),
        ("sessionId", "schema"),
    ],
)
def test_what_says_itself_what_it_is_equal_to_is_not_asked(
    tmp_path: Path, field: str, check_id: str
) -> None:
    class EqualToAll(toy.Normalizer):
        def feed(self, frame: Any) -> Any:
            for event in super().feed(frame):
                if event.type != "content.delta":
                    yield event
                elif field == "raw.payload":
                    yield replace(event, raw=replace(event.raw, payload=ANY))
                else:
                    yield replace(event, **{field: ANY})

    toy.write(tmp_path / "cassettes", [*toy.CHAT[:4], *[toy.CHAT[3]] * 3, *toy.CHAT[4:]])
    report = check(
        cassettes=tmp_path / "cassettes",
        expected=None,
        subject=InProcess(EqualToAll, "toy"),
        rules=toy.rules,
    )
    (result,) = report.cassettes
    assert check_id in result.failed()
    assert len(result.check(check_id).violations) >= 4


def test_silence_is_warned_about_where_no_law_is_asked_for(tmp_path: Path) -> None:
    toy.write(tmp_path / "cassettes")
    report = check(
        cassettes=tmp_path / "cassettes",
        expected=None,
        subject=InProcess(origin.Silent, "toy"),
        rules=toy.rules,
        held=Held(("schema",), "--level"),
    )
    assert report.exit_code == 0
    text = render_terminal(report)
    assert "17 frames, 0 events (no event at all)" in text
    assert "warning: 1 of them gave no event at all" in text


def test_a_session_ends_and_another_begins(tmp_path: Path) -> None:
    class TwoSessions(toy.Normalizer):
        """Ends a session at each turn's end; the last one comes back to the first one's id."""

        number = 0

        def feed(self, frame: Any) -> Any:
            for event in super().feed(frame):
                event = replace(event, sessionId=self.ids[self.number])  # noqa: PLW2901 - the same
                yield event
                if event.type == "turn.completed":
                    yield ev.SessionExited(
                        **{f: getattr(event, f) for f in ("provider", "sessionId", "createdAt")},
                        eventId=f"{event.eventId}-more",
                        payload=pl.SessionExitedPayload(),
                        raw=event.raw,
                    )
                    self.number += 1

        ids = ("s1", "s2", "s3")

    class ComesBack(TwoSessions):
        ids = ("s1", "s2", "s1")

    frames = [*toy.CHAT, {"kind": "hello", "threadId": "native-other"}]
    for make, failed in ((TwoSessions, []), (ComesBack, ["session"])):
        toy.write(tmp_path / "cassettes", frames)
        report = check(
            cassettes=tmp_path / "cassettes",
            expected=None,
            subject=InProcess(make, "toy"),
            rules=toy.rules,
        )
        assert report.cassettes[0].failed() == failed


@pytest.mark.parametrize("name", surfaces())
def test_each_surface_says_which_sources_are_its_own(name: str) -> None:
    sources = surface(name).sources
    assert {"process.stdout", "process.stderr", "process.exit"} < sources
    pinned = {
        msgspec.json.decode(line)["raw"]["source"]
        for path in (ROOT / "expected" / name).rglob("*.jsonl")
        for line in path.read_bytes().splitlines()
    }
    assert pinned <= sources
