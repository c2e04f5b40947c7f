"""Light on disk: read again to the bit, worked out anew where it is broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from navloom_worlds.rendering import renderer as light_cache
from navloom_worlds.rendering.facets import Facets, build_facets
from navloom_worlds.rendering.light_baking import LightMap
from worlds.tests.rendering.test_renderer import room


def some(faces: int, value: int = 7) -> LightMap:
    texels = np.full((12, 3), value, dtype=np.uint16)
    return LightMap(texels, 4, np.zeros((faces, 6), dtype=np.float32))


@pytest.fixture
def facets() -> Facets:
    return build_facets(room())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path))
    return tmp_path / "light"


def never() -> LightMap:
    raise AssertionError("it was there already")


def test_light_is_made_once(facets: Facets) -> None:
    made = light_cache.cached_light(facets, lambda: some(len(facets.area)))
    again = light_cache.cached_light(facets, never)
    assert np.array_equal(made.texels, again.texels)
    assert (again.wide, again.place.shape) == (4, made.place.shape)


def test_another_mesh_has_another_light(facets: Facets) -> None:
    assert light_cache.light_cache_key(facets) == light_cache.light_cache_key(build_facets(room()))
    assert light_cache.light_cache_key(facets) != light_cache.light_cache_key(
        build_facets(room(2.61))
    )


@pytest.mark.parametrize("harm", ["truncated", "noise", "pickle", "another shape"])
def test_a_broken_entry_is_made_anew(harm: str, facets: Facets, folder: Path) -> None:
    count = len(facets.area)
    light_cache.cached_light(facets, lambda: some(count))
    (path,) = folder.glob("*.npz")
    if harm == "truncated":
        path.write_bytes(path.read_bytes()[:200])
    elif harm == "noise":
        path.write_bytes(b"\x00" * 500)
    elif harm == "pickle":
        np.savez(path, texels=np.array([object()]), wide=4, place=np.zeros(3))
    else:
        np.savez(path, texels=np.zeros((12, 3)), wide=4, place=np.zeros((2, 6)))
    light = light_cache.cached_light(facets, lambda: some(count, 9))
    assert light.texels[0, 0] == 9
    assert np.array_equal(light_cache.cached_light(facets, never).texels, light.texels)
