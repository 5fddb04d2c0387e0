"""The page by keys alone."""

from typing import Any

import pytest

from tests.page.conftest import Visit

pytestmark = pytest.mark.browser

_FOCUS = "document.activeElement"


def press(tab: Any, *keys: str) -> None:
    for key in keys:
        tab.keyboard.press(key)


def focused(tab: Any, expression: str) -> Any:
    return tab.evaluate(f"{_FOCUS}.{expression}")


def tab_to(tab: Any, selector: str, most: int = 30) -> None:
    for _ in range(most):
        if tab.evaluate(f"{_FOCUS}.matches({selector!r})"):
            return
        tab.keyboard.press("Tab")
    raise AssertionError(f"{selector} was not reached by {most} tabs")


def test_from_the_top_to_a_frame_and_back(visit: Visit) -> None:
    tab = visit()
    press(tab, "Tab")
    assert focused(tab, "className") == "skip"
    press(tab, "Enter")
    assert focused(tab, "id") == "main"
    tab_to(tab, "[data-cell]")
    assert focused(tab, "dataset.cell") == "text/acp"
    press(tab, "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight")
    assert focused(tab, "dataset.cell") == "tool/codex"
    press(tab, "End")
    assert focused(tab, "dataset.cell") == "tool/claude"
    press(tab, "ArrowRight", "Home", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowUp")
    assert focused(tab, "dataset.cell") == "text/acp"
    press(tab, "ArrowDown", "ArrowDown", "Enter")
    tab.locator("#panel-title:focus").wait_for()
    press(tab, "Escape")
    assert focused(tab, "dataset.cell") == "tool/acp"
    tab.locator("#panel").wait_for(state="hidden")
    press(tab, "Space")
    tab.locator("#panel-title:focus").wait_for()
    tab_to(tab, ".piece")
    press(tab, "Enter")
    tab.locator(".frame[aria-current]:focus").wait_for()
    start = int(focused(tab, "dataset.seq"))
    press(tab, "ArrowDown")
    assert int(focused(tab, "dataset.seq")) == start + 1
    press(tab, "ArrowUp", "ArrowRight")
    assert int(focused(tab, "dataset.of")) == start
    press(tab, "Enter")
    assert focused(tab, "getAttribute('aria-expanded')") == "true"
    assert tab.evaluate("location.hash").count("&event=") == 1
    press(tab, "ArrowLeft", "Home")
    assert focused(tab, "dataset.seq") == "1"
    press(tab, "End")
    assert int(focused(tab, "dataset.seq")) == tab.locator(".row").count()
    press(tab, "Escape")
    tab.locator("#panel").wait_for()
    assert tab.evaluate("location.hash") == "#cell=tool/acp"


def test_one_stop_for_a_table_and_one_for_a_list(visit: Visit) -> None:
    tab = visit("#cassette=codex-exec/codex-0.163.0/text")
    tab.locator(".row").first.wait_for()
    assert tab.locator(".rows .line[tabindex='0']").count() == 1
    for table in tab.locator("table[role=grid]").all():
        stops = table.locator("tbody a[tabindex='0']").count()
        assert stops == min(1, table.locator("tbody a").count())


def test_arrows_go_over_gaps_and_what_filters_hide(visit: Visit) -> None:
    tab = visit("#view=scenarios")
    tab_to(tab, "#view-scenarios tbody a")
    assert focused(tab, "textContent") == "cancel-before-first-token"
    press(tab, "ArrowRight")
    assert "dot" in focused(tab, "className")
    column = focused(tab, "closest('td').cellIndex")
    press(tab, "ArrowDown")
    assert focused(tab, "closest('td').cellIndex") == column
    below = tab.locator("#view-scenarios tbody th").nth(1).inner_text()
    assert focused(tab, "closest('tr').querySelector('th').textContent") == below
    tab.goto(tab.url.split("#")[0] + "#view=cassettes&surface=claude-sdk")
    tab_to(tab, "#view-cassettes tbody a")
    assert "claude-sdk" in focused(tab, "getAttribute('href')")
    press(tab, "ArrowUp")
    assert "claude-sdk" in focused(tab, "getAttribute('href')")


def test_the_focus_is_seen(visit: Visit) -> None:
    tab = visit()
    tab_to(tab, "[data-cell]")
    style = tab.evaluate(f"(s => [s.outlineStyle, s.outlineWidth])(getComputedStyle({_FOCUS}))")
    assert style == ["solid", "2px"]


def test_a_slash_searches_and_escape_comes_back(visit: Visit) -> None:
    tab = visit("#view=native")
    press(tab, "/")
    assert focused(tab, "id") == "find"
    tab.keyboard.type("touch")
    press(tab, "Enter")
    tab.locator("#view-search h1", has_text="touch").wait_for()
    tab.locator("#view-search output", has_text="frames").wait_for()
    tab_to(tab, "#view-search a", most=12)
    press(tab, "Escape")
    tab.locator("#view-native h1").wait_for()
