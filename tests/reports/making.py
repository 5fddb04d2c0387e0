"""Documents to make reports of."""

import xml.etree.ElementTree as ET
from typing import Any

from harness.conformance import CassetteResult, CheckResult, Violation
from harness.conformance.reports.live import Live
from harness.conformance.reports.stream import Document, Selection

HOSTILE = (
    "a|b\n::error::pwn\r<b>&amp;</b>]]>`x`\x1b[31m\u202e*_[l](javascript:x) \x00%0A,:\\ ##[group]"
)
SHOWN = (
    "a|b\\n::error::pwn\\r<b>&amp;</b>]]>`x`\\x1b[31m\\u202e*_[l](javascript:x) "
    "\\x00%0A,:\\ ##[group]"
)


def violation(text: str = "x", frame: int = 3) -> Violation:
    return Violation("text", text, frame, text, 4, text, text, text, text, text)


def case(text: str, status: Any = "fail", verdict: Any = "fail", **more: Any) -> CassetteResult:
    found = [violation(text)] if status == "fail" else []
    check = CheckResult("text", "texts are whole", "EVENTS.md", status, found, note=text)
    return CassetteResult(
        text, text, verdict, "acp", text, "chat", checks=[check], frames=9, events=8, **more
    )


def document(*results: CassetteResult, code: int = 1, problem: str = "") -> Document:
    live = Live([], Selection())
    live.begin("subject")
    for result in results:
        live.add(result)
    live.end(code, 1.5, problem)
    return live.document()


def parsed(xml: bytes) -> ET.Element:
    """What we wrote ourselves, read again."""
    return ET.fromstring(xml)  # noqa: S314 - the harness wrote it
