"""Fixtures of the tests of worlds: every load makes a new scene."""

import pytest


@pytest.fixture(autouse=True)
def _fresh(fresh_scenes: None) -> None:
    """Give each test scenes that no other test has used."""
