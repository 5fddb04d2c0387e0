"""No violation by axe: each view, in light and dark, on a desk and on a phone."""

from pathlib import Path
from typing import Any

import pytest

from tests.page.conftest import Visit

pytestmark = pytest.mark.browser

VIEWS = (
    ("", ".matrix"),
    ("#cell=thinking/codex", "#panel .piece"),
    ("#view=cassettes", "#view-cassettes h1"),
    ("#view=scenarios", "#view-scenarios h1"),
    ("#view=native&surface=codex-exec", "#view-native h1"),
    ("#view=canonical", "#view-canonical h1"),
    ("#law=turns", "#view-laws [aria-current]"),
    ("#cassette=codex-app-server/codex-0.163.0/command-approved&frame=18", "pre.json"),
    ("#scenario=command-approved", ".sides .step"),
    ("#search=touch", "#view-search h3"),
)
# Colours do not depend on the width.
SCREENS = {"light": (1440, False), "dark": (1440, True), "phone": (390, False)}


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which the package carries."""
    package = pytest.importorskip("axe_playwright_python", reason="the `browser` extra is missing")
    return (Path(str(package.__file__)).parent / "axe.min.js").read_text("utf-8")


def violations(tab: Any, axe: str) -> list[str]:
    tab.evaluate(axe)
    found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{v['id']}: {n['html'][:120]}" for v in found for n in v["nodes"]]


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize(("address", "there"), VIEWS, ids=[v[0] or "#" for v in VIEWS])
def test_no_violation(visit: Visit, axe: str, address: str, there: str, screen: str) -> None:
    width, dark = SCREENS[screen]
    tab = visit(address, width=width, dark=dark)
    tab.locator(there).first.wait_for()
    assert violations(tab, axe) == []


def test_axe_sees_what_is_wrong(visit: Visit, axe: str) -> None:
    tab = visit()
    tab.evaluate("document.querySelector('#find').removeAttribute('aria-label')")
    tab.evaluate("document.querySelector('#find').removeAttribute('placeholder')")
    assert [v.split(":")[0] for v in violations(tab, axe)] == ["label"]
