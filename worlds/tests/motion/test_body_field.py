"""Where a body can be: fields and ways of a home."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from navloom.errors import SceneError
from navloom.scenes import load_scene
from navloom.scenes.bodies import get_body
from navloom_worlds.motion.body_field import BodyField, body_field

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def field() -> BodyField:
    return body_field(load_scene("home:4"), get_body("HUMAN"))


def test_ways_are_taut_strings_over_places_where_the_body_stands(field: BodyField) -> None:
    rng = np.random.default_rng(1)
    main = np.flatnonzero(field.part == 0)
    for a, b in rng.choice(main, (8, 2)).tolist():
        start, goal = field.position(a), field.position(b)
        way = field.way(start, [goal])
        assert way is not None
        assert way.points[0] == start
        assert way.points[-1] == goal
        along = sum(math.dist(p, q) for p, q in pairwise(way.points))
        assert way.metres == pytest.approx(along, rel=0.01)
        assert math.dist(start, goal) <= way.metres + 1e-6
        assert field.distances([goal])[a] == pytest.approx(way.metres, rel=0.01, abs=0.01)
        for p, q in pairwise(way.points):
            for share in np.linspace(0, 1, 9):
                between = [u + (v - u) * share for u, v in zip(p, q, strict=True)]
                assert field.stands((between[0], between[1], between[2]))


def test_what_is_no_place_is_none(field: BodyField) -> None:
    assert not field.stands((1e6, 0.0, 0.0))
    assert not field.stands((math.nan, 0.0, 0.0))
    assert field.way((1e6, 0.0, 0.0), [field.position(0)]) is None
    assert np.isinf(field.distances([])).all()


def test_a_graph_without_geometry_is_no_ground() -> None:
    bare = load_scene("home:4").replace(walls=())
    with pytest.raises(SceneError, match="graph without walls"):
        body_field(bare, get_body("HUMAN"))
