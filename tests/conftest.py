"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says how busy a machine is.
settings.register_profile("navloom", deadline=None)
settings.load_profile("navloom")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real scenes, or a skip that says how to get it."""
    where = os.environ.get("NAVLOOM_DATA")
    if not where:
        pytest.skip(
            "NAVLOOM_DATA is not set: see docs/real-data.md for where the real scenes come from"
        )
    folder = Path(where)
    if not folder.is_dir():
        pytest.fail(f"NAVLOOM_DATA={where} is not a folder")
    return folder


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads replies that another test, or the person at this machine, paid for."""
    monkeypatch.setenv("NAVLOOM_NO_CACHE", "1")
