"""What each form shows, with values; hostile text is text in each."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cassette.show import printable
from harness.conformance.reports.badge import badge
from harness.conformance.reports.forms import rendered
from harness.conformance.reports.github import inert
from harness.conformance.reports.summary import summary
from tests.reports.making import HOSTILE, SHOWN, case, document, parsed


@settings(deadline=None)
@given(st.text() | st.text(st.characters(categories=["Cs", "Cc", "Cf"])))
def test_junit_parses_again_to_the_same_text(text: str) -> None:
    live = document(case(text, fault="subject", stderr=text))
    shown = printable(live.report.cassettes[0].id)
    root = parsed(rendered("junit", live))
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.text is not None
    assert failure.text.split("\n")[2] == f"  expected  {shown}"
    case_ = root.find("testsuite/testcase")
    assert case_ is not None
    assert case_.get("classname") == printable(live.report.cassettes[0].id.replace(".", "_"))


def test_junit_counts_each_kind() -> None:
    live = document(
        case("acp/a/1"),
        case("acp/a/2", "pass", "pass"),
        case("acp/a/3", "known", "pass"),
        case("acp/a/4", "not-judged", "unusable", problem="cut", hint="again"),
        case("acp/a/5", "pass", "not-claimed"),
    )
    root = parsed(rendered("junit", live))
    assert {k: root.get(k) for k in ("tests", "failures", "errors", "time")} == {
        "tests": "7", "failures": "1", "errors": "1", "time": "1.500",
    }  # fmt: skip
    skipped = [e.get("message") for e in root.iter("skipped")]
    assert skipped == [
        "known failure: acp/a/3",
        "not judged: acp/a/4",
        "acp is not claimed by the normalizer",
    ]
    (error,) = root.iter("error")
    assert (error.get("message"), error.text) == ("cut", "cut; again")
    suites = [(s.get("name"), s.get("tests"), s.get("skipped")) for s in root]
    assert ("acp/acp/a/1", "1", "0") in suites
    (failure,) = root.iter("failure")
    assert failure.text == (
        "texts are whole [EVENTS.md]; acp/a/1\nframe 3 (acp/a/1), event 4 acp/a/1, acp/a/1\n"
        "  expected  acp/a/1\n  got       acp/a/1\n  hint      acp/a/1"
    )


def test_annotations_are_one_command_a_line() -> None:
    text = rendered("github", document(case(HOSTILE))).decode()
    (line,) = text.removesuffix("\n").split("\n")
    found = re.fullmatch(r"::error file=([^,:]*),line=4,title=([^,:]*)::(.*)", line)
    assert found is not None
    title = found[2].replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
    assert title == f"{SHOWN}: text"
    data = found[3].replace("%0A", "\n").replace("%25", "%").split("\n")
    assert data[2] == f"  expected  {SHOWN}"


def test_no_more_annotations_than_github_keeps() -> None:
    lines = rendered("github", document(*[case(f"c{n}") for n in range(12)])).decode().split("\n")
    assert len(lines) == 11
    assert lines[9] == ("::error title=conformance::3 more are in the log and in the other reports")
    ten = rendered("github", document(*[case(f"c{n}") for n in range(10)])).decode()
    assert ten.count("::error ") == 10
    assert "more are" not in ten


def test_text_of_the_log_is_no_workflow_command() -> None:
    assert inert("  ::error::x\na ::b\n##[group]x") == "\\x3a:error::x\na ::b\n#\\x23[group]x"


@settings(deadline=None)
@given(st.text() | st.just(HOSTILE))
def test_no_text_breaks_a_table_of_the_summary(text: str) -> None:
    plain = summary(document(case("x"))).decode().split("\n")
    lines = summary(document(case(text))).decode().split("\n")
    assert len(lines) == len(plain)
    assert [line.count("|") for line in lines] == [line.count("|") for line in plain]
    assert not any(c in "".join(lines) for c in "<>`[]\x1b\u202e")


def test_the_summary_shows_the_difference() -> None:
    text = summary(document(case("x"))).decode()
    assert "## ❌ Conformance: 1 of 1 fail\n" in text
    assert "| acp/x | 0 | 1 | 0 | 0 |\n" in text
    assert "| 3 x | 4 x | x | x | x |\n" in text
    assert "&#124;" in summary(document(case("a|b"))).decode()


def test_the_summary_stays_under_its_limit_and_says_so() -> None:
    live = document(*[case("x" * 300 + str(n)) for n in range(2000)])
    text = summary(live)
    assert 1_000_000 < len(text) <= 1 << 20
    assert re.search(rb"\n[\d,]+ parts more are left out: the summary is full\.\n$", text)
    assert b"left out" not in summary(document(case("x")))
    assert len(summary(live, 0)) < 200


BADGES: list[tuple[Any, str, str]] = [
    (document(case("x", "pass", "pass"), code=0), "1 pass", "brightgreen"),
    (document(case("x"), case("y", "pass", "pass")), "1 of 2 fail", "red"),
    (document(code=3, problem="no cassette"), "nothing run", "lightgrey"),
    (document(case("x", "pass", "not-claimed"), code=3), "nothing run", "lightgrey"),
    (document(code=5, problem="no such module"), "ended with 5", "lightgrey"),
    (document(case("x", "pass", "unusable"), code=4), "1 of 1 unusable", "lightgrey"),
    (document(case("x", "pass", "pass"), problem="it crashed"), "fail", "red"),
]


@pytest.mark.parametrize(("live", "message", "colour"), BADGES)
def test_badges(live: Any, message: str, colour: str) -> None:
    value = msgspec.json.decode(badge(live))
    assert value == {
        "schemaVersion": 1,
        "label": "conformance",
        "message": message,
        "color": colour,
        "isError": colour == "lightgrey",
    }
    svg = parsed(badge(live, svg=True))
    assert svg.get("aria-label") == f"conformance: {message}"
    assert b"href" not in badge(live, svg=True)


def test_a_run_of_nothing_is_an_error_in_each_form() -> None:
    live = document(code=3, problem="no cassette fits")
    assert rendered("github", live) == b"::error title=conformance::no cassette fits\n"
    assert b'errors="1"' in rendered("junit", live)
    assert summary(live).decode().startswith("## ⚠️ Conformance: nothing run\n")
    assert b'"exit_code":3' in rendered("jsonl", live)


@pytest.mark.parametrize("form", ["junit", "github", "summary"])
def test_each_form_says_whose_fault_it_is_and_how_stderr_ends(form: str) -> None:
    stderr = "".join(f"line {n} of it\n" for n in range(100))
    text = rendered(form, document(case("x", fault="subject", stderr=stderr))).decode()
    assert "at fault" in text
    assert ("line 80 of it" in text, "line 79 of it" in text) == (True, False)
    assert "the normalizer" in text
    ours = case("x", "not-judged", "unusable", fault="harness", problem="it failed")
    assert "the harness" in rendered(form, document(ours, code=4)).decode()
