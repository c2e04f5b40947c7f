"""What every test may ask for."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says how busy a machine is: no deadline.
# The slow tests, and mutants, take all examples.
settings.register_profile("few", max_examples=25, deadline=None)
settings.register_profile("many", deadline=None)
settings.load_profile("few")


def pytest_collection_finish() -> None:
    """What is imported stays; to look through all of it for garbage is a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


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


@pytest.fixture(scope="session")
def _state_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session", autouse=True)
def _light_apart(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Light worked out by tests is kept for tests alone, also by fixtures of whole modules."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    os.environ.pop("NAVLOOM_CACHE", None)


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, _state_folder: Path) -> None:
    """No test reads what another test, or the person at this machine, paid for or allowed."""
    monkeypatch.setenv("NAVLOOM_NO_CACHE", "1")
    monkeypatch.setenv("XDG_STATE_HOME", str(_state_folder))
