"""The fake surface in place of all, and the developer's key in the environment."""

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
