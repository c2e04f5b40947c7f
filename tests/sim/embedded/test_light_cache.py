"""Light on disk: read again to the bit, worked out anew where it is broken, bounded."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np
import pytest

from navloom.sim.embedded import light_cache
from navloom.sim.embedded.atlas import Light
from navloom.sim.embedded.facets import Facets, facets_of
from tests.sim.embedded.test_renderer import room


def some(faces: int, value: int = 7) -> Light:
    texels = np.full((12, 3), value, dtype=np.uint16)
    return Light(texels, 4, np.zeros((faces, 6), dtype=np.float32))


@pytest.fixture
def facets() -> Facets:
    return facets_of(room())


def never() -> Light:
    raise AssertionError("it was there already")


def test_light_is_made_once(facets: Facets, tmp_path: Path) -> None:
    made = light_cache.kept(facets, lambda: some(len(facets.area)), tmp_path)
    again = light_cache.kept(facets, never, tmp_path)
    assert np.array_equal(made.texels, again.texels)
    assert (again.wide, again.place.shape) == (4, made.place.shape)


def test_another_mesh_has_another_light(facets: Facets) -> None:
    assert light_cache.light_key(facets) == light_cache.light_key(facets_of(room()))
    assert light_cache.light_key(facets) != light_cache.light_key(facets_of(room(2.61)))


@pytest.mark.parametrize("harm", ["truncated", "noise", "pickle", "another shape"])
def test_a_broken_entry_is_made_anew_and_said_once(
    harm: str,
    facets: Facets,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(light_cache, "_said", set())
    count = len(facets.area)
    light_cache.kept(facets, lambda: some(count), tmp_path)
    (path,) = tmp_path.glob("*.npz")
    for _ in range(2):
        if harm == "truncated":
            path.write_bytes(path.read_bytes()[:200])
        elif harm == "noise":
            path.write_bytes(b"\x00" * 500)
        elif harm == "pickle":
            np.savez(path, texels=np.array([object()]), wide=4, place=np.zeros(3))
        else:
            np.savez(path, texels=np.zeros((12, 3)), wide=4, place=np.zeros((2, 6)))
        with caplog.at_level(logging.WARNING, logger="navloom"):
            light = light_cache.kept(facets, lambda: some(count, 9), tmp_path)
        assert light.texels[0, 0] == 9
    assert np.array_equal(light_cache.kept(facets, never, tmp_path).texels, light.texels)
    assert len([each for each in caplog.messages if "worked out anew" in each]) == 1


def test_a_folder_keeps_to_its_bound(
    facets: Facets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, older = tmp_path / "a.npz", tmp_path / "b.npz"
    for path, when in ((old, 2000), (older, 1000)):
        path.write_bytes(b"x" * 4000)
        os.utime(path, (when, when))
    monkeypatch.setattr(light_cache, "MOST_BYTES", 9_000)
    light_cache.kept(facets, lambda: some(len(facets.area)), tmp_path)
    assert old.exists()
    assert not older.exists()
    assert len(list(light_cache.entries(tmp_path))) == 2


def test_a_folder_that_takes_nothing_is_no_reason_to_stop(facets: Facets, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    light = light_cache.kept(facets, lambda: some(len(facets.area)), tmp_path / "file")
    assert light.wide == 4


def test_light_is_pruned(facets: Facets, tmp_path: Path) -> None:
    light_cache.kept(facets, lambda: some(len(facets.area)), tmp_path)
    assert light_cache.prune_light(tmp_path, 3600) == (0, 0)
    assert light_cache.prune_light(tmp_path)[0] == 1
    assert not list(light_cache.entries(tmp_path))
