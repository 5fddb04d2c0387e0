"""A job summary in markdown: a table of surfaces, then each failure, in at most 1 MiB."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from harness.cassette.show import printable
from harness.conformance.report import CassetteResult
from harness.conformance.reports import words
from harness.conformance.reports.stream import Document

LIMIT: Final = 1 << 20
"""Bytes that GitHub takes of one step's summary; it drops a longer one whole."""
_NOTE: Final = 200
"""Bytes kept for the note that something is left out."""

_MARKUP: Final = re.compile(r"[^\w\s,/.\-…]|_|(?<=www)\.", re.ASCII | re.IGNORECASE)
_MARKS: Final = {"pass": "✅", "fail": "❌", "error": "⚠️"}
_VERDICTS: Final = ("pass", "fail", "unusable", "not-claimed")


def summary(document: Document, limit: int = LIMIT) -> bytes:
    """Return the report as markdown of at most `limit` bytes; a note says what is left out."""
    parts: list[bytes] = []
    size = 0
    blocks = [b.encode() for b in _blocks(document)]
    for number, block in enumerate(blocks):
        if size + len(block) > limit - _NOTE:
            left = len(blocks) - number
            parts.append(f"\n{left:,} parts more are left out: the summary is full.\n".encode())
            break
        parts.append(block)
        size += len(block)
    return b"".join(parts)


def _text(text: str) -> str:
    """Return text that markdown shows as it is: every mark of its own is a character reference."""
    return _MARKUP.sub(lambda m: f"&#{ord(m[0])};" if m[0].isascii() else m[0], printable(text))


def _blocks(document: Document) -> Iterator[str]:
    verdict, said = words.outcome(document)
    header = document.header
    yield f"## {_MARKS[verdict]} Conformance: {_text(said)}\n\n"
    who = " ".join(part for part in (header.subject, header.version, header.language) if part)
    facts = [f"normalizer: {who}", f"harness {header.harness}"]
    if header.levels:
        facts.append(f"held to {', '.join(header.levels)}")
    if document.footer is not None:
        facts.append(f"{document.footer.events:,} events")
        facts.append(f"exit code {document.footer.exit_code}")
    yield f"{_text('; '.join(facts))}\n\n"
    if document.problem:
        yield f"**{_text(document.problem)}**\n\n"
    if document.report.cassettes:
        yield _surfaces(document)
    for cassette in document.report.cassettes:
        yield from _cassette(cassette)


def _surfaces(document: Document) -> str:
    counts: dict[str, Counter[str]] = {}
    for cassette in document.report.cassettes:
        name = "/".join(part for part in (cassette.surface, cassette.agent) if part)
        counts.setdefault(name or "not known", Counter())[cassette.verdict] += 1
    rows = ["| surface | " + " | ".join(_VERDICTS) + " |", "| --- |" + " ---: |" * len(_VERDICTS)]
    for name, by in counts.items():
        rows.append(f"| {_text(name)} | " + " | ".join(str(by[v]) for v in _VERDICTS) + " |")
    return "\n".join(rows) + "\n\n"


def _cassette(cassette: CassetteResult) -> Iterator[str]:
    known = [c for c in cassette.checks if c.status == "known"]
    if cassette.verdict in {"pass", "not-claimed"} and not known:
        return
    yield f"### {_text(cassette.id)}: {cassette.verdict}\n\n"
    if cassette.problem:
        yield f"{_text(words.problem(cassette))}\n\n"
    for line in words.blame(cassette):
        yield f"{_text(line)}<br>\n"
    for check in known:
        yield f"known failure: {_text(check.id)}, {_text(check.note)}\n\n"
    for check in cassette.checks:
        if check.status != "fail":
            continue
        rows = [
            f"\n{_text(check.id)}: {_text(words.reason(check))}\n",
            "| frame | event | field | expected | got |",
            "| --- | --- | --- | --- | --- |",
        ]
        for v in check.violations:
            frame = f"{v.frame} {v.kind}".rstrip() if v.frame else ""
            event = f"{v.event} {v.type}".rstrip() if v.event else ""
            cells = (frame, event, v.path, v.expected, v.got)
            rows.append("| " + " | ".join(_text(cell) for cell in cells) + " |")
        if check.more:
            rows.append(f"\nand {check.more:,} more")
        yield "\n".join(rows) + "\n\n"
