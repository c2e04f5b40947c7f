"""Plans are what is tested here: homes are shared by a worker's tests, as in the agents' tests."""

import pytest


@pytest.fixture(autouse=True)
def _fresh() -> None:
    """In place of the one above, with which each load makes a scene."""
