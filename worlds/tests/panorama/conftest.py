"""Fixtures of the panorama tests: the cache of a small home, rendered once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from navloom.sim.panorama.manifest import RenderRequest
from navloom_worlds.rendering.panorama_export import render_scenes

HOME = "demo:flat"
ASKED = RenderRequest(size=48, depth=True, ids=True, light="flat")


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the shared cache; tests must not change it."""
    root = tmp_path_factory.mktemp("panoramas")
    outcome = render_scenes([HOME], root, ASKED)
    assert (outcome.scenes, outcome.kept) == (1, 0)
    return root


@pytest.fixture
def cache(written: Path, tmp_path: Path) -> Path:
    """Return a copy of the cache for tests that damage it."""
    return Path(shutil.copytree(written, tmp_path / "cache"))
