"""A real browser on the page of the corpus, and on a page of hostile cassettes.

Each test that takes `visit` also says: nothing was asked of anybody, and the console is silent.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.matrix.build import build
from harness.matrix.page import page
from harness.project import Project, find_project
from tests.page.hostile import make

CHROMIUM = next(
    (p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))),
    None,
)
Visit = Callable[..., Any]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH: `apt-get install chromium`")
    playwright = pytest.importorskip("playwright.sync_api", reason="the `browser` extra is missing")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the whole corpus."""
    return _written(find_project(Path(__file__)), tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of cassettes whose text attacks it, with one of 3,000 frames and a broken one."""
    folder = tmp_path_factory.mktemp("hostile")
    return _written(make(folder), folder)


def _written(project: Project, folder: Path) -> Path:
    path = folder / "index.html"
    path.write_bytes(page(build(project), project))
    return path


@pytest.fixture
def visit(chromium: Any, corpus: Path) -> Iterator[Visit]:
    """Open an address of a page: `visit("#view=native", width=390, dark=True, path=...)`."""
    contexts: list[Any] = []
    asked: list[str] = []
    said: list[str] = []

    def dismiss(dialog: Any) -> None:
        said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open_page(
        address: str = "", *, width: int = 1440, dark: bool = False, path: Path = corpus
    ) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        contexts.append(context)
        context.set_default_timeout(20_000)
        tab = context.new_page()
        own = path.as_uri()
        tab.on("request", lambda r: asked.append(r.url) if r.url.split("#")[0] != own else None)
        tab.on("console", lambda m: said.append(f"{m.type}: {m.text}"))
        tab.on("pageerror", lambda e: said.append(f"error: {e}"))
        tab.on("dialog", dismiss)
        tab.goto(own + address)
        return tab

    yield open_page
    for context in contexts:
        context.close()
    # The page's icon is in the page.
    assert [url for url in asked if not url.startswith("data:")] == []
    assert said == []
