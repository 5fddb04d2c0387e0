"""What foreign text and foreign values look like in a report for a terminal."""

from harness.conformance import CassetteResult, CheckResult, Report, Violation, render_terminal
from harness.conformance.law import show

HOSTILE = "\x1b[2J\r\n\u202e\ud800"
SHOWN = "\\x1b[2J\\r\\n\\u202e\\ud800"


def test_no_part_of_a_report_draws_on_the_terminal() -> None:
    violation = Violation(
        "law", HOSTILE, 1, HOSTILE, 1, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE
    )
    check = CheckResult("law", "statement", "source", "fail", [violation], note=HOSTILE)
    result = CassetteResult(
        HOSTILE, HOSTILE, "fail", problem=HOSTILE, hint=HOSTILE, checks=[check], frames=1
    )
    text = render_terminal(Report(HOSTILE, [result]), verbose=True)
    lines = text.split("\n")
    assert all(line.isprintable() for line in lines)
    assert lines[0] == f"fail     {SHOWN}  1 frames, 0 events; fails law"
    assert f"  {SHOWN}; {SHOWN}" in lines
    assert f"    frame 1 ({SHOWN}), event 1 {SHOWN}, {SHOWN}" in lines
    assert f"      expected  {SHOWN}" in lines
    assert f"      got       {SHOWN}" in lines
    assert f"      hint      {SHOWN}" in lines
    assert lines[-1].startswith(f"{SHOWN}: 1 fail; ")


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


def test_a_value_that_cannot_be_shown_is_named() -> None:
    assert show(Unshowable()) == "<Unshowable>"
    assert show("x") == "'x'"
