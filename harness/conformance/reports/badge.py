"""A badge: what shields.io reads from an address (JSON), or the picture itself (SVG)."""

from html import escape
from typing import Final

import msgspec

from harness.conformance.reports.stream import Document
from harness.conformance.reports.words import outcome

LABEL: Final = "conformance"
_COLOURS: Final = {"pass": ("brightgreen", "#2c7a1f"), "fail": ("red", "#b3261e")}
_ERROR: Final = ("lightgrey", "#6b6b6b")


def badge(document: Document, *, svg: bool = False) -> bytes:
    """Return the badge: shields' endpoint JSON, or an SVG that asks nobody."""
    verdict, text = outcome(document)
    name, colour = _COLOURS.get(verdict, _ERROR)
    if svg:
        return _svg(text, colour)
    value = {
        "schemaVersion": 1,
        "label": LABEL,
        "message": text,
        "color": name,
        "isError": verdict == "error",
    }
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def _svg(text: str, colour: str) -> bytes:
    left, right = _width(LABEL), _width(text)
    title = escape(f"{LABEL}: {text}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{title}"><title>{title}</title>'
        f'<rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" '
        f'font-size="11"><text x="{left / 2:g}" y="14">{LABEL}</text>'
        f'<text x="{left + right / 2:g}" y="14">{escape(text)}</text></g></svg>\n'
    ).encode()


def _width(text: str) -> int:
    """Pixels that a text at 11 px takes at most, with its margin."""
    return 7 * len(text) + 10
