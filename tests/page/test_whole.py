"""Every cell, cassette and scenario of the corpus opens, and says what the matrix says."""

from pathlib import Path
from urllib.parse import quote

import pytest

from harness.conformance import LAWS
from harness.conformance.levels import level_of
from harness.matrix.build import build
from harness.matrix.model import Matrix
from harness.project import find_project
from tests.page.conftest import Visit

pytestmark = pytest.mark.browser

_GO = """async (address) => {
    const before = document.querySelector('#panel').firstElementChild;
    location.hash = address;
    for (let n = 0; n < 500; n += 1) {
        await new Promise((done) => setTimeout(done, 5));
        const panel = document.querySelector('#panel');
        if (!panel.hidden && panel.firstElementChild !== before) return true;
    }
    return false;
}"""


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    """The matrix of the corpus."""
    return build(find_project(Path(__file__)))


def test_every_cell(visit: Visit, matrix: Matrix) -> None:
    tab = visit()
    for table in matrix.tables:
        for row in table.rows:
            for provider, cell in row.cells.items():
                address = f"#cell={quote(row.id)}/{provider}"
                assert tab.evaluate(_GO, address), address
                panel = tab.locator("#panel")
                shown = panel.inner_text()
                assert shown.startswith(row.id), address
                assert f"{cell.value}\n" in shown
                assert panel.locator(".piece").count() == len(cell.evidence), address
                assert panel.locator(".state").count() == len(cell.states), address
                assert panel.locator(".claim").count() == (cell.claim is not None), address
                # The address is the one that the table links to.
                current = tab.locator("[data-cell][aria-current]")
                assert current.get_attribute("href") == address


def test_a_contradicted_claim_leads_to_what_contradicts_it(visit: Visit, matrix: Matrix) -> None:
    against = [
        (row.id, provider, cell.claim)
        for table in matrix.tables
        for row in table.rows
        for provider, cell in row.cells.items()
        if cell.claim and cell.claim.agreement == "disagrees"
    ]
    tab = visit()
    assert tab.locator(".differs.mark").count() == len(against) > 0
    assert tab.locator(".against tbody tr").count() == len(against)
    row, provider, claim = against[0]
    tab.locator(".against tbody th a").first.click()
    panel = tab.locator("#panel .claim.disagrees")
    panel.wait_for()
    assert f"cell={quote(row)}/{provider}" in tab.url
    assert claim.words in panel.inner_text()
    assert claim.reason in panel.inner_text()
    assert panel.locator("a").count() == len(claim.against) > 0
    panel.locator("a").first.click()
    tab.locator("#view-cassette .row").first.wait_for()
    assert f"cassette={claim.against[0]}&" in tab.url
    tab.locator(".crumbs a", has_text=f"Evidence of {row}").click()
    panel.wait_for()


def test_every_cassette(visit: Visit, matrix: Matrix) -> None:
    tab = visit()
    opened = tab.evaluate("""async () => {
        const found = {};
        const { cassettes } = await harnessPage.store.index();
        for (const { id } of cassettes) {
            await harnessPage.cassette.open({ cassette: id }, false);
            const tape = await harnessPage.store.tape(id);
            const title = document.querySelector("#view-cassette h1").textContent;
            const events = tape.rows.reduce((sum, row) => sum + row.events.length, 0);
            found[id] = [title, tape.rows.length, events];
        }
        return found;
    }""")
    assert opened == {c.id: [c.scenario, c.frames, c.events] for c in matrix.cassettes}


def test_every_scenario(visit: Visit, matrix: Matrix) -> None:
    tab = visit()
    opened = tab.evaluate("""async () => {
        const found = {};
        for (const id of (await harnessPage.store.sides()).keys()) {
            await harnessPage.scenario.open(id);
            const view = document.querySelector("#view-scenario");
            const count = (selector) => view.querySelectorAll(selector).length;
            const lost = count(".step:not([href*='event='])");
            found[id] = [count("thead .tall"), count("tbody tr"), count(".step"), lost];
        }
        return found;
    }""")
    assert opened == {
        view.id: [
            len(view.columns),
            len(view.steps),
            sum(count > 0 for step in view.steps for count in step.counts),
            0,
        ]
        for view in matrix.scenarios
    }


def test_every_native_kind(visit: Visit, matrix: Matrix) -> None:
    tab = visit("#view=native")
    tab.locator("#view-native h1").wait_for()
    assert tab.locator("#view-native tbody tr").count() == sum(map(len, matrix.native.values()))
    links = [
        f"#cassette={seen.first[0]}&frame={seen.first[1]}"
        for kinds in matrix.native.values()
        for kind in kinds
        for _, seen in sorted(kind.agents.items())
    ]
    shown = "nodes => nodes.map((n) => n.getAttribute('href'))"
    assert tab.locator("#view-native tbody a").evaluate_all(shown) == links


def test_every_law(visit: Visit) -> None:
    tab = visit("#view=laws")
    tab.locator("#view-laws h1").wait_for()
    shown = "rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"
    due = [[law.id, law.statement, law.example, level_of(law.id), law.source] for law in LAWS]
    plain = [[text.replace("`", "") for text in line] for line in due]
    assert tab.locator("#view-laws tbody tr").evaluate_all(shown) == plain
    for law in LAWS:
        link = tab.locator("#view-laws tbody a", has_text=law.id).and_(
            tab.locator(f"[href='#law={law.id}']")
        )
        link.click()
        tab.locator(f"#view-laws [aria-current][href='#law={law.id}']").wait_for()
    assert tab.locator("#view-laws [aria-current]").count() == 1
