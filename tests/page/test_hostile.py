"""Hostile text is text on the page, wherever it comes from; long cassettes stay quick."""

from pathlib import Path
from typing import Any

import pytest

from tests.page.conftest import Visit
from tests.page.hostile import ATTACKS, EXACT, LONG

pytestmark = pytest.mark.browser

HOSTILE = "#cassette=codex-exec/codex-0.163.0/hostile"
UNSEEN = ("\u202e", "\u2066", "\x1b", "\u2028", "\u2029", "\u0000")


def text(tab: Any) -> str:
    shown: str = tab.evaluate("document.body.innerText")
    return shown


def unharmed(tab: Any) -> None:
    assert tab.title() != "taken"
    assert tab.locator("main img, main svg, main script, #panel img, #panel script").count() == 0
    assert not [c for c in UNSEEN if c in text(tab)]


def test_in_frames_events_and_headers(visit: Visit, hostile: Path) -> None:
    tab = visit(HOSTILE, path=hostile)
    tab.locator(".row").first.wait_for()
    for line in tab.locator(".rows .line").all():
        line.click()
    shown = text(tab)
    unharmed(tab)
    assert "<script>document.title = 'taken'</script>" in shown
    assert "<b>agent</b>" in shown
    assert "\\u202eright to left\\u2066 isolated" in shown
    # JSON writes it as an escape already; a line of text has it as a byte.
    assert "\\u001b[31mred" in shown
    assert "line\\u2028separator\\u2029paragraph" in shown
    # As it was sent, not as a double would have it; the event holds it too.
    details = tab.locator("pre.json").all_inner_texts()
    assert sum(f'"n": {EXACT}' in detail for detail in details) == 2 * len(ATTACKS)


@pytest.mark.parametrize("words", ["script", "right to left", "onerror", "[31mred", "separator"])
def test_in_search(visit: Visit, hostile: Path, words: str) -> None:
    tab = visit(f"#search={words}", path=hostile)
    tab.locator("#view-search output", has_text="frames.").wait_for()
    assert tab.locator("#view-search mark").count() >= 2
    unharmed(tab)


def test_in_lists_and_panels(visit: Visit, hostile: Path) -> None:
    for address in ("", "#cell=text/codex", "#view=native", "#view=cassettes", "#view=scenarios"):
        tab = visit(address, path=hostile)
        tab.locator("main section:visible").first.wait_for()
        unharmed(tab)


def test_in_addresses(visit: Visit, hostile: Path) -> None:
    tab = visit(path=hostile)
    for attack in ATTACKS:
        for name in ("cell", "cassette", "search", "view", "provider"):
            tab.evaluate(
                "([n, v]) => { location.hash = `${n}=${encodeURIComponent(v)}` }", [name, attack]
            )
            tab.locator("main section:visible").first.wait_for()
            unharmed(tab)


def test_an_unusable_cassette_is_listed_as_text(visit: Visit, hostile: Path) -> None:
    tab = visit("#view=cassettes", path=hostile)
    listed = tab.locator("#unusable li").all_inner_texts()
    assert len(listed) == 1
    assert listed[0].startswith("codex-exec/codex-0.163.0/<img src=x onerror=alert(1)>: line 1:")
    assert tab.locator("#view-cassettes tbody tr").count() == 2


def test_a_long_cassette_is_made_as_it_is_scrolled(visit: Visit, hostile: Path) -> None:
    last = 3 + 2 * LONG
    tab = visit("#cassette=codex-exec/codex-0.163.0/long", path=hostile)
    tab.locator(".row").first.wait_for()
    assert tab.locator(".row").count() < 1000
    tab.evaluate(
        "t => { location.hash = t }", f"#cassette=codex-exec/codex-0.163.0/long&frame={last}"
    )
    tab.locator(f".frame[data-seq='{last}'][aria-current]").wait_for()
    box = tab.locator(f".frame[data-seq='{last}']").bounding_box()
    assert 0 <= box["y"] <= 900
    assert tab.locator(".row").count() < 1500
    tab.fill("#within", f"word {LONG - 1} ")
    tab.locator("#left", has_text=f"2 of {last:,} frames").wait_for()
