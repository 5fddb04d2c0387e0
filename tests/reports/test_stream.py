"""The stream: round trip, order, what is truncated, the schema."""

from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cli import main
from harness.conformance.reports.forms import rendered
from harness.conformance.reports.live import Live
from harness.conformance.reports.stream import ReportError, Selection, read_report, report_schema
from tests.reports.making import HOSTILE, case, document

ROOT = Path(__file__).resolve().parents[2]


@settings(deadline=None)
@given(st.text())
def test_any_text_comes_back_as_it_was(text: str) -> None:
    kept = rendered("jsonl", document(case(text)))
    read = read_report(kept.splitlines(keepends=True), "x")
    result = read.report.cassettes[0]
    assert (result.id, result.checks[0].violations[0].got) == (text, text)
    assert kept.count(b"\n") == 4
    assert rendered("jsonl", read) == kept


def test_a_lone_surrogate_is_an_escape() -> None:
    live = document(case("\ud800"))
    assert live.report.cassettes[0].id == "\\ud800"
    assert read_report(rendered("jsonl", live).splitlines(keepends=True), "x") == live


def test_the_committed_schema_is_the_code_s_and_holds_for_each_line() -> None:
    committed = (ROOT / "docs/report.schema.json").read_bytes()
    assert msgspec.json.decode(committed) == msgspec.json.decode(
        msgspec.json.encode(report_schema())
    )
    kept = rendered("jsonl", document(case(HOSTILE), case("k", "known", "pass")))
    lines = [msgspec.json.decode(line) for line in kept.splitlines()]
    assert [line["record"] for line in lines] == [
        "header", "case", "result", "case", "result", "footer",
    ]  # fmt: skip
    for line in lines:
        jsonschema.validate(line, report_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(lines[1] | {"verdict": "fine"}, report_schema())
    assert lines[-1]["statuses"] == {"fail": 1, "known": 1}


def test_each_cut_of_a_report_is_truncated_and_never_a_pass() -> None:
    kept = rendered("jsonl", document(case("c", "pass", "pass"), code=0))
    lines = kept.splitlines(keepends=True)
    assert read_report(lines, "x").exit_code == 0
    for size in range(len(lines[0]), len(kept) - 1):
        read = read_report(kept[:size].splitlines(keepends=True), "x")
        assert (read.footer, read.exit_code) == (None, 4)
        assert "truncated" in read.problem
        assert b'"message": "truncated"' in rendered("badge", read)
        assert b"<error " in rendered("junit", read)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda n: n[:0], "x: it is empty"),
        (lambda n: n[1:], "x:1: no header before it"),
        (lambda n: [n[0], n[0]], "x:2: a second header"),
        (lambda n: [*n, n[1]], "x:5: a record after the footer"),
        (lambda n: [n[0], n[1], n[3]], "x:3: 1 results of the case before are missing"),
        (lambda n: [n[0], n[3]], "x:2: its footer counts 1 cassettes, there are 0"),
        (lambda n: [n[0], n[2]], "x:2: a result of 'c' that is not of the case before"),
        (lambda n: [b"[]\n", *n], "x:1: not a record of a report"),
        (lambda n: [b"junk", *n[:0]], "x:1: not a record of a report"),
        (lambda n: [n[0], b"\xff\n"], "x:2: not a record of a report"),
        (lambda n: [n[0].replace(b'"format":1', b'"format":2')], "report format 2 is not known"),
    ],
)
def test_what_is_no_report_is_named_by_its_line(change: object, problem: str) -> None:
    lines = rendered("jsonl", document(case("c"))).splitlines(keepends=True)
    assert callable(change)
    with pytest.raises(ReportError) as error:
        read_report(change(lines), "x")
    assert problem in str(error.value)


def _edited(old: bytes, new: bytes) -> Any:
    return lambda kept: kept.replace(old, new)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_edited(b'"exit_code":0', b'"exit_code":1'), "exit code 1, its cases have 0"),
        (_edited(b'"exit_code":0', b'"exit_code":256'), "exit code 256, its cases have 0"),
        (_edited(b'"exit_code":0', b'"exit_code":-7'), "exit code -7, its cases have 0"),
        (
            _edited(b'"verdict":"pass"', b'"verdict":"fail"'),
            "x:4: the case before, 'a', is 'fail' and fails no check",
        ),
        (
            _edited(b'"status":"pass"', b'"status":"fail"'),
            "x:4: the case before, 'a', is 'pass' and fails text",
        ),
        (
            lambda kept: _edited(b'"verdict":"pass"', b'"verdict":"fail"')(
                _edited(b'"status":"pass"', b'"status":"fail"')(kept)
            ),
            "its footer counts 2 pass verdicts, there are 2 fail",
        ),
        (_edited(b'"statuses":{"pass":2}', b'"statuses":{}'), "no statuses, there are 2 pass"),
        (_edited(b'"events":16', b'"events":17'), "counts 17 events, there are 16"),
        (_edited(b'"problem":""}\n', b'"problem":"x"}\n'), "a problem, and the exit code 0"),
    ],
)
def test_a_footer_that_is_not_of_its_cases_is_refused(change: Any, problem: str) -> None:
    whole = document(case("a", "pass", "pass"), case("b", "pass", "pass"), code=0)
    kept = rendered("jsonl", whole)
    footer = kept.splitlines()[-1] + b"\n"
    assert read_report(kept.splitlines(keepends=True), "x") == whole
    made = change(kept)
    if problem.startswith("a problem"):
        made = kept.replace(footer, change(footer))
    assert made != kept
    with pytest.raises(ReportError) as error:
        read_report(made.splitlines(keepends=True), "x")
    assert problem in str(error.value)


def test_the_command_ends_with_4_where_the_footer_lies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = rendered("jsonl", document(case("a"), code=1))
    path = tmp_path / "kept.jsonl"
    path.write_bytes(kept)
    assert main(["report", str(path)]) == 1
    path.write_bytes(kept.replace(b'"exit_code":1', b'"exit_code":0'))
    assert main(["report", str(path)]) == 4
    assert "its footer has the exit code 0, its cases have 1" in capsys.readouterr().err


class Claims:
    version = "2.1"
    language = "rust"
    surfaces = frozenset({"opencode", "acp"})


def test_the_header_says_who_was_held_to_what() -> None:
    live = Live([], Selection(("a",), "acp", "chat"))
    live.begin("subject", Claims(), ("schema", "laws"), "--level")
    header = live.document().header
    assert (header.subject, header.version, header.language) == ("subject", "2.1", "rust")
    assert header.surfaces == ("acp", "opencode")
    assert (header.levels, header.held_by) == (("schema", "laws"), "--level")
    assert header.selection == Selection(("a",), "acp", "chat")
