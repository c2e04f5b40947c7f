"""Scenes are what is tested here: each load makes one."""

import pytest


@pytest.fixture(autouse=True)
def _fresh(fresh_scenes: None) -> None:
    """No test here gets a scene that another has worked on."""
