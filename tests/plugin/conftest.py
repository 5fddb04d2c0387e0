"""What the tests of the plugin share."""

import pytest

from tests.plugin.team import project


@pytest.fixture
def team(pytester: pytest.Pytester) -> pytest.Pytester:
    """A team's project: two normalizers, and three cassettes with their expected output."""
    return project(pytester)
