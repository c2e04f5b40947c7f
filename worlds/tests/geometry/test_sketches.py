"""Rows of strokes: what their numbers, their words and their groups mean."""

from __future__ import annotations

import numpy as np
import pytest

from navloom.scenes.scene import Item
from navloom_worlds.furniture.builder_tools import PALETTE
from navloom_worlds.furniture.stroke_sketches import (
    SketchPen,
    at,
    block,
    cut,
    draw_parts,
    fixture,
    flip,
    mirror,
    one_of,
    rod,
    row,
    sketch,
    spin,
    turned,
    wheel,
    when,
)
from navloom_worlds.geometry.solids import Part, Surface, parts_bounds


def _item(
    number: int = 1, size: tuple[float, float, float] = (0.4, 1.0, 0.2), **more: object
) -> Item:
    fields = {"id": str(number), "name": "thing", "kind": "object", "position": (0, 0, 0)}
    return Item.model_validate({**fields, "size": size, **more})


def _pen(*states: str, metric: bool = True) -> SketchPen:
    return SketchPen(_item(states=states), Surface((0.4, 0.2, 0.1)), (0.4, 1.0, 0.2), metric=metric)


def _volume(parts: list[Part]) -> float:
    """Signed: above 0 where faces look out."""
    corners = [part.vertices[part.faces] for part in parts]
    a, b, c = np.concatenate(corners).astype(float).transpose(1, 0, 2)
    return float((a * np.cross(b, c)).sum() / 6)


def test_a_sketch_is_stretched_to_its_size_and_turned_where_it_is_long() -> None:
    build = sketch("red", block("-1,0,-3 1,5,3"), long=True)
    for size in ((0.1, 0.2, 0.6), (0.6, 0.2, 0.1)):
        low, high = parts_bounds(build(_item(size=size)))
        assert np.allclose(high - low, size, atol=1e-6)
        assert low[1] == pytest.approx(0, abs=1e-7)


def test_a_fixture_counts_shares_of_its_size_and_metres() -> None:
    low, high = parts_bounds(draw_parts(_pen(), block("-1+.03,0+.1,-.5 1-.03,.5-.05+.01,1")))
    assert np.allclose(low, (-0.17, 0.1, -0.05))
    assert np.allclose(high, (0.17, 0.46, 0.1))
    low, high = parts_bounds(draw_parts(_pen(), wheel("0,.5,0", ".5", 0.02)))
    assert np.allclose(high - low, (0.1, 0.1, 0.02), atol=1e-6)
    low, high = parts_bounds(
        fixture(rod("-1,0,0 1,0,0", 0.02), along="x")(_item(size=(0.2, 1, 0.4)))
    )
    assert high[2] - low[2] == pytest.approx(0.4)


def test_words_name_looks() -> None:
    pen = _pen("on")
    assert pen.tone("steel") == PALETTE["steel"]
    assert pen.tone("own*.5").rgb == pytest.approx((0.2, 0.1, 0.05))
    assert pen.tone("own!").rgb[0] > pen.own.rgb[0]
    assert pen.tone("own~.5").rgb == pytest.approx((0.7, 0.6, 0.55))
    assert pen.tone("own+knit").texture == "knit"
    assert pen.tone("on?led:grey") == PALETTE["led"]
    assert pen.tone("off?led:grey") == PALETTE["grey"]
    assert pen.tone("red|blue") in (PALETTE["red"], PALETTE["blue"])
    assert pen.tone("@ff0080").rgb == pytest.approx((1, 0, 128 / 255))
    assert pen.tone("#dial").texture is pen.tone("#dial").texture
    with pytest.raises(KeyError, match="no such"):
        pen.tone("no such")


def test_what_is_mirrored_still_looks_outward() -> None:
    wedge = cut("0,0 1,0 1,.5", "0", "1")
    one, other = (draw_parts(_pen(), strokes) for strokes in (wedge, flip(wedge)))
    assert _volume(one) == pytest.approx(_volume(other))
    assert parts_bounds(other)[0][0] == pytest.approx(-parts_bounds(one)[1][0])
    assert len(draw_parts(_pen(), mirror(wedge))) == 2


def test_groups_repeat_move_and_choose() -> None:
    pen = _pen("open")
    cube = block("-.1,0,-.1 .1,.1,.1")
    assert len(draw_parts(pen, spin(5, cube))) == 5
    low, high = parts_bounds(draw_parts(pen, row(3, "0,.2,0", at("0,.1,0", cube))))
    assert (low[1], high[1]) == (pytest.approx(0.1), pytest.approx(0.6))
    assert draw_parts(pen, when("open|on", cube))
    assert not draw_parts(pen, when("shut", cube))


def test_one_of_several_is_the_same_each_time_and_differs_among_items() -> None:
    build = sketch("red", one_of(block("0,0,0 1,1,1"), turned("0,0 1,0 1,1")))
    counts = [len(build(_item(k))[0].faces) for k in range(30)]
    assert counts == [len(build(_item(k))[0].faces) for k in range(30)]
    assert len(set(counts)) == 2
