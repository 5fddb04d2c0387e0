"""What a report says: counts, places, cuts, JSON."""

from pathlib import Path
from typing import Any

import msgspec

from harness.cassette import Frame
from harness.conformance import CassetteResult, Report, check, render_terminal, report_json
from harness.conformance.laws.frames import BACK
from harness.subject import InProcess
from tests.conformance import toy
from tests.conformance.broken.frames import Drops, Parses
from tests.conformance.broken.lifecycle import LosesADelta
from tests.conformance.broken.schema import Raises


def run(tmp_path: Path, make: Any, frames: Any = toy.CHAT) -> Report:
    toy.write(tmp_path / "cassettes", frames)
    return check(
        cassettes=tmp_path / "cassettes",
        expected=None,
        subject=InProcess(make, "toy"),
        rules=toy.rules,
    )


def talk(notes: int) -> list[dict[str, Any]]:
    note = {"kind": "note", "text": "odd"}
    return [*toy.CHAT[:2], *[note] * notes, {"kind": "done"}]


def test_a_violation_names_its_place_and_what_to_do(tmp_path: Path) -> None:
    text = render_terminal(run(tmp_path, LosesADelta))
    assert "fail     toy/toy-1.0/chat  17 frames, 19 events; fails text" in text
    assert "    frame 6 (said), event 6 item.completed, payload.data.text" in text
    assert (
        "      expected  the joined assistant_text deltas: 7 characters, 'Hello, ' around 7" in text
    )
    assert "      got       14 characters, 'Hello, wörld 🌍' there" in text
    assert "      hint      give every delta once" in text
    assert text.endswith(" s")
    assert "toy: 1 fail; 1 cassettes, 19 events" in text


def test_a_subject_that_raises_is_no_traceback(tmp_path: Path) -> None:
    report = run(tmp_path, Raises)
    assert report.exit_code == 1
    (result,) = report.cassettes
    (violation,) = result.check("subject").violations
    assert (violation.frame, violation.kind) == (11, "note")
    assert violation.got == "KeyError: 'something odd'"
    assert (result.frames, result.events) == (10, 10)
    assert result.check("turns").status == "not-judged"
    assert result.check("turns").note == "the normalizer stopped at frame 11"
    assert "Traceback" not in render_terminal(report)


def test_many_violations_are_counted_and_five_are_shown(tmp_path: Path) -> None:
    report = run(tmp_path, Drops, talk(30))
    dropped = report.cassettes[0].check("accounted")
    assert [v.frame for v in dropped.violations] == [3, 4, 5, 6, 7]
    assert dropped.more == 25
    assert "… and 25 more of this law" in render_terminal(report)


def test_an_unaccounted_frame_is_named_once_it_is_out_of_reach(tmp_path: Path) -> None:
    report = run(tmp_path, Drops, talk(BACK * 2))
    dropped = report.cassettes[0].check("accounted")
    assert len(dropped.violations) + dropped.more == BACK * 2


class PointsBack(toy.Normalizer):
    """Gives each note's warning with the next frame, pointing back at the note."""

    def __init__(self, header: Any) -> None:
        super().__init__(header)
        self.held: list[Any] = []

    def feed(self, frame: Frame) -> Any:
        held, self.held = self.held, []
        events = list(super().feed(frame))
        if frame.data["kind"] == "note":
            self.held, events = events, []
        return [*held, *events]


def test_an_event_may_point_back(tmp_path: Path) -> None:
    report = run(tmp_path, PointsBack, talk(1))
    assert report.exit_code == 0, render_terminal(report)


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    frames = [*toy.CHAT[:2], {"kind": "say", "itemId": "i", "text": "x" * 9000}, {"kind": "done"}]
    report = run(tmp_path, Parses, frames)
    (violation,) = report.cassettes[0].check("raw").violations
    assert violation.got.startswith('"xxx')
    assert violation.got.endswith("… (9,002 characters)")


def test_json_says_all_of_it(tmp_path: Path) -> None:
    value = msgspec.json.decode(report_json(run(tmp_path, LosesADelta)))
    assert value["exit_code"] == 1
    assert value["subject"] == "toy"
    assert value["summary"] == {"pass": 0, "fail": 1, "unusable": 0, "not-claimed": 0, "known": 0}
    (cassette,) = value["cassettes"]
    assert (cassette["id"], cassette["surface"]) == ("toy/toy-1.0/chat", "toy")
    failed = [c for c in cassette["checks"] if c["status"] == "fail"]
    assert [c["id"] for c in failed] == ["text"]
    assert failed[0]["violations"][0]["path"] == "payload.data.text"


def test_verbose_lists_every_check_and_colour_is_asked_for(tmp_path: Path) -> None:
    report = run(tmp_path, toy.Normalizer)
    text = render_terminal(report, verbose=True)
    assert text.count("\n    pass       ") == len(report.cassettes[0].checks)
    assert "\x1b" not in text
    assert "\x1b[32mpass" in render_terminal(report, colour=True)


def test_the_exit_code_is_that_of_the_gravest_verdict() -> None:
    def code(*verdicts: Any) -> int:
        return Report("x", [CassetteResult("a", "p", v) for v in verdicts]).exit_code

    assert code() == 3
    assert code("pass", "pass") == 0
    assert code("pass", "unusable") == 4
    assert code("unusable", "fail", "pass") == 1
    assert "nothing was checked" in render_terminal(Report("x", []))
