"""What pytest needs for the whole project: the expected files, as syrupy's snapshots."""

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.expected_file import ExpectedFile


@pytest.fixture
def expected(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """The expected file of a cassette: `assert lines == expected(name=cassette_id)`."""
    return snapshot.use_extension(ExpectedFile)
