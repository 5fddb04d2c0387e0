"""JUnit XML, as Jenkins, GitLab and their like read it.

A suite for each surface and agent, a case for each cassette and check. A violation is a failure;
a cassette or a run that could not be judged is an error; what was not judged, not claimed or is
a known failure is skipped, with its reason. What XML cannot hold, and what would draw on a
reader's screen, stands as an escape.
"""

# Only written here: nothing foreign is parsed.
import xml.etree.ElementTree as ET

from harness.cassette.show import printable
from harness.conformance.report import CassetteResult, CheckResult
from harness.conformance.reports import words
from harness.conformance.reports.stream import Document


def junit(document: Document) -> bytes:
    """Return the report as JUnit XML, UTF-8."""
    root = ET.Element("testsuites", name=printable(document.header.subject))
    suites: dict[tuple[str, str], ET.Element] = {}
    for cassette in document.report.cassettes:
        key = (cassette.surface, cassette.agent)
        suite = suites.get(key)
        if suite is None:
            name = "/".join(part for part in key if part) or "cassettes"
            suite = suites[key] = _suite(root, printable(name), document)
        _cassette(suite, cassette)
    if document.problem:
        case = _case(_suite(root, "harness", document), "harness", "the run")
        _say(case, "error", document.problem, "run", document.problem)
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for suite in root:
        counts = {
            "tests": len(suite),
            "failures": len(suite.findall("testcase/failure")),
            "errors": len(suite.findall("testcase/error")),
            "skipped": len(suite.findall("testcase/skipped")),
        }
        for name, count in counts.items():
            suite.set(name, str(count))
            totals[name] += count
    for name, count in totals.items():
        if name != "skipped":
            root.set(name, str(count))
    root.set("time", f"{document.footer.seconds if document.footer else 0:.3f}")
    ET.indent(root)
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _suite(root: ET.Element, name: str, document: Document) -> ET.Element:
    when = printable(document.header.when.removesuffix("Z"))
    return ET.SubElement(root, "testsuite", name=name, timestamp=when, time="0")


def _case(suite: ET.Element, group: str, name: str) -> ET.Element:
    return ET.SubElement(
        suite, "testcase", classname=printable(group), name=printable(name), time="0"
    )


def _cassette(suite: ET.Element, cassette: CassetteResult) -> None:
    # Readers cut a class name at its dots into packages.
    group = cassette.id.replace(".", "_")
    for check in cassette.checks:
        _check(_case(suite, group, check.id), check, cassette)
    if cassette.verdict == "unusable":
        case = _case(suite, group, "cassette")
        text = "\n".join([words.problem(cassette), *words.blame(cassette)])
        _say(case, "error", cassette.problem, "unusable", text)
    elif cassette.verdict == "not-claimed":
        case = _case(suite, group, "surface")
        _say(case, "skipped", f"{cassette.surface} is not claimed by the normalizer")
    elif not cassette.checks:
        case = _case(suite, group, "cassette")
        if cassette.verdict == "fail":
            _say(case, "failure", cassette.problem, "fail", words.problem(cassette))


def _check(case: ET.Element, check: CheckResult, cassette: CassetteResult) -> None:
    if check.status == "fail":
        lines = [words.reason(check)]
        for violation in check.violations:
            lines += words.told(violation)
        if check.more:
            lines.append(f"… and {check.more:,} more of this law")
        lines += words.blame(cassette)
        first = f"{words.place(check.violations[0])}: " if check.violations else ""
        _say(case, "failure", f"{first}{check.statement}", check.id, "\n".join(lines))
    elif check.status != "pass":
        kind = "known failure" if check.status == "known" else "not judged"
        _say(case, "skipped", f"{kind}: {check.note}" if check.note else kind)


def _say(case: ET.Element, tag: str, message: str, type_: str = "", text: str = "") -> None:
    said = ET.SubElement(case, tag, message=printable(message))
    if type_:
        said.set("type", printable(type_))
    said.text = text or None
