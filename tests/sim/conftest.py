"""Fixtures of the simulator tests: every load makes a new scene, without cached results."""

import pytest


@pytest.fixture(autouse=True)
def _fresh(fresh_scenes: None) -> None:
    """Give each test scenes that no other test has used."""
