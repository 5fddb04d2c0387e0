"""An empty corpus that changes are put into."""

from pathlib import Path

import pytest

from tests.review.roots import Root


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "cassettes").mkdir()
    return Root(tmp_path)
