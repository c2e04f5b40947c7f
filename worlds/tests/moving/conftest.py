"""Fixtures of the tests of moving agents, which share homes within a worker."""

import pytest


@pytest.fixture(autouse=True)
def _fresh() -> None:
    """Override the fixture of worlds/tests, which makes every load a new scene."""
