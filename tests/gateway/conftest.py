"""The fake surface in place of all, and the developer's key in the environment."""

from pathlib import Path

import pytest

from tests.gateway import fakes
from tests.recording.fakes import FakeSurface


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeSurface:
    room = fakes.room()
    monkeypatch.setattr(fakes.module, "surface", lambda _: room)
    monkeypatch.setattr("harness.recording.verify.surface", lambda _: room)
    monkeypatch.setenv(fakes.VARIABLE, fakes.KEY)
    return room


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave them to CI, one after another: a recording works in a folder that has one name."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)
