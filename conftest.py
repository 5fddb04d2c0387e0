"""What pytest needs for the whole project: the expected files, as syrupy's snapshots."""

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.expected_file import ExpectedFile


@pytest.fixture
def expected(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Return what compares canonical lines with the expected file of the cassette `name`."""
    return snapshot.use_extension(ExpectedFile)
