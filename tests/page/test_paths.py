"""The paths that a reader walks, by a real browser."""

import re
from pathlib import Path
from typing import Any

import pytest

from harness.project import find_project
from tests.page.conftest import Visit

pytestmark = pytest.mark.browser

CASSETTE = "codex-app-server/codex-0.163.0/command-approved"


def seen(tab: Any, selector: str) -> list[str]:
    return [x for x in tab.locator(selector).all_inner_texts() if x]


def classes(tab: Any, selector: str) -> list[str]:
    found = [x.get_attribute("class") or "" for x in tab.locator(selector).all()]
    return [word for line in found for word in line.split()]


def test_from_the_table_to_the_frame_that_proves_it(visit: Visit) -> None:
    tab = visit()
    tab.click('[data-cell="permission/codex"]')
    panel = tab.locator("#panel")
    panel.get_by_role("heading", name="permission").wait_for()
    assert tab.evaluate("location.hash") == "#cell=permission/codex"
    assert tab.locator('[data-cell="permission/codex"]').get_attribute("aria-current") == "true"
    panel.locator(f'.piece[href*="cassette={CASSETTE}&"]').click()
    tab.locator(".frame[aria-current]").wait_for()
    assert re.fullmatch(
        rf"#cassette={CASSETTE}&frame=\d+&cell=permission/codex", tab.evaluate("location.hash")
    )
    row = tab.locator(".row:has(.frame[aria-current])")
    assert "request.opened" in row.locator(".event .kind").all_inner_texts()
    # The frame stands as it was sent.
    assert '"method": "item/commandExecution/requestApproval"' in row.locator("pre").inner_text()
    tab.go_back()
    panel.get_by_role("heading", name="permission").wait_for()
    tab.go_back()
    panel.wait_for(state="hidden")
    tab.go_forward()
    panel.wait_for(state="visible")


def test_a_frame_lights_its_events_and_an_event_its_frame_and_kin(visit: Visit) -> None:
    tab = visit(f"#cassette={CASSETTE}&frame=18")
    frame = tab.locator(".row[data-row='18'] .frame")
    event = tab.locator(".row[data-row='18'] .event").first
    frame.hover()
    assert "linked" in classes(tab, ".row[data-row='18'] .event")
    assert tab.locator(".linked").count() == 1 + tab.locator(".row[data-row='18'] .event").count()
    tab.locator(".row[data-row='11'] .frame").hover()
    assert "linked" not in classes(tab, ".row[data-row='18'] .line")
    event.hover()
    assert "linked" in classes(tab, ".row[data-row='18'] .frame")
    item = event.get_attribute("data-item")
    kin = tab.locator(f".event[data-item='{item}']").count()
    assert kin > 1
    assert tab.locator(".event.same").count() == kin - 1
    assert tab.locator(".frame.same").count() >= 1
    # The same by focus, without a pointer.
    tab.locator(".row[data-row='14'] .event").first.focus()
    assert "linked" in classes(tab, ".row[data-row='14'] .frame")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("provider", "claude"),
        ("surface", "codex-exec"),
        ("provenance", "constructed"),
        ("outcome", "failed"),
    ],
)
def test_a_filter_leaves_what_it_says(visit: Visit, name: str, value: str) -> None:
    tab = visit("#view=cassettes")
    rows = tab.locator("#view-cassettes tbody tr")
    left = rows.and_(tab.locator(f"[data-{name}='{value}']")).count()
    assert 0 < left < rows.count()
    tab.select_option(f"[data-filter={name}]", value)
    assert tab.locator("#view-cassettes tbody tr:visible").count() == left
    tab.locator("#count", has_text=f"{left} of {rows.count()} cassettes").wait_for()
    assert tab.evaluate("location.hash") == f"#view=cassettes&{name}={value}"
    tab.reload()
    assert tab.locator("#view-cassettes tbody tr:visible").count() == left
    tab.click("#reset")
    assert tab.locator("#view-cassettes tbody tr:visible").count() == rows.count()
    assert tab.evaluate("location.hash") == "#view=cassettes"


def test_a_filter_acts_on_cells_and_their_evidence(visit: Visit) -> None:
    tab = visit("#cell=text/codex")
    tab.locator("#panel .piece").first.wait_for(state="attached")
    whole = tab.locator("#panel .piece").count()
    assert tab.locator('[data-cell="text/codex"] .n').inner_text() == str(whole)
    tab.select_option("[data-filter=surface]", "codex-exec")
    tab.locator("#panel", has_text="more without the filters").wait_for()
    left = tab.locator("#panel .piece").count()
    assert 0 < left < whole
    tab.locator('[data-cell="text/codex"] .n', has_text=re.compile(f"^{left}$")).wait_for()
    assert "faded" in (tab.locator('[data-cell="text/claude"]').get_attribute("class") or "")
    tab.select_option("[data-filter=provider]", "codex")
    assert tab.locator('[data-cell="text/claude"]').is_hidden()
    assert tab.locator('[data-cell="text/codex"]').is_visible()


def test_search_finds_cells_cassettes_kinds_and_frames(visit: Visit) -> None:
    tab = visit()
    tab.fill("#find", "requestApproval")
    tab.get_by_role("heading", name="Frames and events").wait_for()
    tab.locator("#view-search output", has_text="frames").wait_for()
    assert "#search=requestApproval" in tab.url
    hits = tab.locator("#view-search section:last-child a[href*='command-approved&frame=']")
    assert hits.count() > 0
    address = hits.first.get_attribute("href")
    hits.first.click()
    tab.locator(".line[aria-current]").wait_for()
    assert tab.evaluate("location.hash") == address
    tab.fill("#find", "command-approved")
    tab.locator("#view-search h2", has_text="Cassettes").wait_for()
    assert CASSETTE in seen(tab, "#view-search li a")
    tab.fill("#find", "permission")
    tab.locator("#view-search h2", has_text="Cells").wait_for()
    assert "permission × Codex" in seen(tab, "#view-search li a")
    tab.fill("#find", "createdAt never goes back")
    tab.locator("#view-search h2", has_text="Laws").wait_for()
    tab.locator("#view-search li a", has_text="monotonic").click()
    tab.locator("#view-laws [aria-current]:focus", has_text="monotonic").wait_for()
    tab.fill("#find", "no such word anywhere")
    tab.locator("#view-search output", has_text="0 frames.").wait_for()


@pytest.mark.parametrize(
    ("address", "selector", "text"),
    [
        ("#cell=tool/acp", "#panel h2", "tool"),
        (f"#cassette={CASSETTE}", "#view-cassette h1", "command-approved"),
        (f"#cassette={CASSETTE}&frame=20", ".frame[aria-current] .seq", "20"),
        (f"#cassette={CASSETTE}&frame=18&event=10", ".event[aria-current] .kind", "item.started"),
        ("#view=native&surface=codex-exec", "#view-native .block:visible h2", "codex-exec"),
        ("#view=scenarios", "#view-scenarios h1", "Scenarios"),
        ("#view=canonical", "#view-canonical h1", "Canonical"),
        ("#scenario=no-such", "#view-scenario .notice", "There is no scenario no-such"),
        ("#cassette=no/such/one", "#view-cassette .notice", "There is no cassette no/such/one"),
        ("#cell=no/such", "#panel .notice", "There is no cell no/such"),
        ("#cell=constructor", "#panel .notice", "There is no cell constructor"),
        ("#scenario=__proto__", "#view-scenario .notice", "There is no scenario"),
        ("#view=laws", "#view-laws th", "event-ids"),
        ("#law=items", "#view-laws tr:has([aria-current])", "every item is started once"),
        ("#law=no-such", "#no-law", "There is no law no-such."),
        ("#law=__proto__", "#no-law", "There is no law __proto__."),
        ("#view=nonsense&x=%zz", "#view-tables h2 >> nth=0", "Event kinds"),
    ],
)
def test_an_address_works_on_load(visit: Visit, address: str, selector: str, text: str) -> None:
    tab = visit(address)
    tab.locator(selector, has_text=text).wait_for()


def test_a_scenario_side_by_side(visit: Visit) -> None:
    tab = visit("#view=scenarios")
    tab.locator("#view-scenarios th a", has_text="command-approved").click()
    table = tab.locator(".sides")
    table.wait_for()
    assert tab.evaluate("location.hash") == "#scenario=command-approved"
    cassettes = find_project(Path(__file__)).cassettes
    agents = len(list(cassettes.glob("*/*/command-approved.jsonl")))
    assert table.locator("thead .tall").count() == agents
    row = table.locator("tbody tr", has_text="request.opened command_execution_approval")
    assert row.locator("td").count() == row.count() * agents
    # Each column's steps stand in the order of its recording.
    for column in range(agents):
        links = table.locator(f"tbody td:nth-child({column + 2}) a").all()
        events = [int((a.get_attribute("href") or "").split("event=")[1]) for a in links]
        assert events == sorted(events)
        assert len(events) > 5
    tab.check(".only input")
    assert table.locator("tbody tr:visible").count() < table.locator("tbody tr").count()
    assert table.locator("tbody tr.agreed:visible").count() == 0
    tab.select_option("[data-filter=surface]", "acp")
    left = len(list(cassettes.glob("acp/*/command-approved.jsonl")))
    tab.locator(".sides thead .tall").nth(left).wait_for(state="detached")
    assert tab.locator(".sides thead .tall").count() == left
    link = tab.locator(".sides .step").last
    address = link.get_attribute("href")
    link.click()
    tab.locator(".event[aria-current]").wait_for()
    assert tab.evaluate("location.hash") == address


def test_what_a_recording_lacks_is_named_and_a_mark_leads_to_its_event(visit: Visit) -> None:
    tab = visit("#scenario=command")
    codex = tab.locator(".differs", has_text="codex-0.163.0codex-exec")
    codex.wait_for()
    assert "no text delta" in codex.locator("li").all_inner_texts()
    row = tab.locator(".sides tbody tr", has_text="item.completed command_execution").first
    row.locator("a").first.click()
    line = tab.locator(".event[aria-current]")
    line.wait_for()
    assert line.locator(".kind").inner_text() == "item.completed"
    assert "command_execution" in line.locator(".gist").inner_text()


def test_the_script_has_one_name(visit: Visit) -> None:
    tab = visit()
    # Names that a browser has of itself are those of a page without a script.
    assert tab.evaluate("typeof harnessPage") == "object"
    names = """() => {
        const frame = document.body.appendChild(document.createElement("iframe"));
        const own = new Set(Object.getOwnPropertyNames(frame.contentWindow));
        frame.remove();
        return Object.getOwnPropertyNames(window).filter((n) => !own.has(n));
    }"""
    # An inner frame's window has its index; nothing else is new.
    assert [n for n in tab.evaluate(names) if not n.isdigit()] == []


def test_a_cassette_is_searched_and_narrowed(visit: Visit) -> None:
    tab = visit(f"#cassette={CASSETTE}")
    tab.locator(".row").first.wait_for()
    whole = tab.locator(".row").count()
    tab.check("#quiet")
    assert 0 < tab.locator(".row").count() < whole
    assert tab.locator(".row.quiet").count() == 0
    tab.fill("#within", "REQUESTAPPROVAL")
    assert 0 < tab.locator(".row").count() < whole
    assert all("equest" in text for text in seen(tab, ".row"))
    tab.fill("#within", "no such word")
    tab.locator(".rows", has_text="No frame is left.").wait_for()


def test_no_view_is_wider_than_a_phone(visit: Visit) -> None:
    for address in ("", "#cell=tool/acp", f"#cassette={CASSETTE}&frame=18", "#view=cassettes"):
        tab = visit(address, width=390)
        tab.locator("main section:visible, #panel:visible").first.wait_for()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, address
    tab = visit("#view=native", width=390)
    first = tab.locator(".native tbody tr").first
    first.wait_for()
    assert first.locator("th").bounding_box()["width"] > 100
    assert first.bounding_box()["height"] < 120
    tab = visit("#law=split", width=390)
    law = tab.locator("#law-split")
    law.locator("[aria-current]").wait_for()
    assert law.locator("td").first.bounding_box()["width"] > 300
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab = visit("#view=cassettes", width=390)
    tab.click("#filters-toggle")
    tab.select_option("[data-filter=provider]", "claude")
    assert tab.locator("#filters-toggle").inner_text() == "Filter (1)"
    tab.locator("#view-cassettes tr:visible a").first.click()
    tab.locator(".row .event").first.wait_for()
    # One column: an event stands below its frame, not beside it.
    frame, event = tab.locator(".row:has(.event)").first.locator(".frame, .event").all()[:2]
    assert event.bounding_box()["y"] >= frame.bounding_box()["y"] + frame.bounding_box()["height"]


def test_the_colours_follow_the_system_until_told_otherwise(visit: Visit) -> None:
    light = visit()
    dark = visit(dark=True)
    colour = "getComputedStyle(document.body).backgroundColor"
    assert light.evaluate(colour) != dark.evaluate(colour)
    light.click("#theme")
    assert light.locator("#theme").get_attribute("aria-label") == "Colours: light"
    light.click("#theme")
    assert light.evaluate(colour) == dark.evaluate(colour)
    light.reload()
    assert light.evaluate(colour) == dark.evaluate(colour)


def test_the_first_view_is_there_within_a_second(visit: Visit, corpus: Path) -> None:
    assert corpus.stat().st_size < 3_000_000
    times = []
    for _ in range(3):
        tab = visit()
        tab.locator('[data-cell="text/acp"]').wait_for()
        paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        times.append(tab.evaluate(paint))
    print(f"first contentful paint: {', '.join(f'{t:.0f} ms' for t in times)}")
    assert min(times) < 1000
