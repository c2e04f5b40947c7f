"""A cache of a small home, written once."""

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
    """The cache; nobody may change it."""
    root = tmp_path_factory.mktemp("panoramas")
    outcome = render_scenes([HOME], root, ASKED)
    assert (outcome.scenes, outcome.kept) == (1, 0)
    return root


@pytest.fixture
def cache(written: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(written, tmp_path / "cache"))
