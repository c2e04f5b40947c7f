"""Fields and graphs of bodies on disk: the same as those made, and never one that leads astray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from navloom.disk_cache import BODIES
from navloom.scenes import load_scene
from navloom.scenes.bodies import DEFAULT_BODY, get_body
from navloom.scenes.scene import Scene
from navloom_worlds.motion import body_field as fields
from navloom_worlds.motion import body_graph as graphs
from navloom_worlds.motion.field_cache import scene_cache_key

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAVLOOM_CACHE", str(tmp_path))


def flat() -> Scene:
    return load_scene("demo:flat").replace()


def never(*_: Any) -> Any:
    raise AssertionError("it was there already")


def test_what_is_read_is_what_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made, graph = fields.body_field(flat(), DEFAULT_BODY), graphs.body_graph(flat(), DEFAULT_BODY)
    monkeypatch.setattr(fields, "_made", never)
    monkeypatch.setattr(graphs, "_made", never)
    read = fields.body_field(flat(), DEFAULT_BODY.model_copy(update={"name": "X", "speed": 2.0}))
    assert graphs.body_graph(flat(), DEFAULT_BODY) == graph
    assert vars(read.grid) == vars(made.grid)
    assert np.array_equal(read.part, made.part)
    for name in ("cell", "x", "z", "height", "beside", "clearance", "part"):
        assert np.array_equal(getattr(read.found, name), getattr(made.found, name))
    for name in ("cell", "height", "clearance"):
        assert np.array_equal(getattr(read.found.floor, name), getattr(made.found.floor, name))
    goal = made.position(0)
    assert np.array_equal(read.distances([goal]), made.distances([goal]))


def test_another_body_another_door_another_home_is_another_entry() -> None:
    scene = flat()
    link = next(k for k, each in enumerate(scene.links) if each.door is not None)
    shut = scene.links[link].model_copy(update={"door": "locked"})
    links = tuple(shut if k == link else each for k, each in enumerate(scene.links))
    keys = {scene_cache_key(each, "x") for each in (scene, scene.replace(links=links), flat())}
    assert len(keys | {scene_cache_key(scene, "y")}) == 3
    fields.body_field(scene, DEFAULT_BODY)
    fields.body_field(scene, get_body("SWEEPER"))
    assert len(list(BODIES.entries())) == 2


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("beside", lambda each: np.full_like(each, len(each))),
        ("beside", lambda each: each[:-1]),
        ("ranked", lambda each: each - 1),
        ("cell", lambda each: each[::-1]),
        ("cell", lambda each: each.astype(np.int64)),
        ("floor_cell", lambda each: each + 2**30),
        ("clearance", lambda each: each * np.nan),
        ("grid", lambda each: each * [1, 1, 1, -1, -1]),
        ("grid", lambda each: each * np.inf),
        ("x", lambda each: each.astype(object)),
    ],
)
def test_a_field_that_leads_astray_is_made_anew(name: str, harm: Any) -> None:
    made = fields.body_field(flat(), DEFAULT_BODY)
    (entry,) = BODIES.entries()
    with np.load(entry.path) as parts:
        held = dict(parts)
    held[name] = harm(held[name])
    np.savez(entry.path, **held)
    again = fields.body_field(flat(), DEFAULT_BODY)
    assert np.array_equal(again.found.beside, made.found.beside)
    assert np.array_equal(again.part, made.part)
    assert vars(again.grid) == vars(made.grid)


@pytest.mark.parametrize(
    "text",
    [
        "[[], []]",
        '[[{"id": "a", "position": [0, 0, 0]}], [{"a": "a", "b": "nowhere"}]]',
        '[[{"id": "a", "position": [0, 0, 1e400]}], []]',
        "{}",
        "[" * 10_000,
    ],
)
def test_a_graph_that_is_none_is_made_anew(text: str) -> None:
    made = graphs.body_graph(flat(), DEFAULT_BODY)
    (path,) = (each.path for each in BODIES.entries() if each.path.suffix == ".json")
    path.write_text(text)
    assert graphs.body_graph(flat(), DEFAULT_BODY) == made
