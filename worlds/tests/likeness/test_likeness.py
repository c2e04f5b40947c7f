"""Figures of a home by hand, distances against scipy's, and bounds that the data set."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ks_2samp

from navloom.scenes.scene import Box, Floor, Item, Link, Region, Scene
from navloom.scenes.scene_uri import iter_scenes, load_scene
from navloom_worlds.likeness.home_comparison import (
    CLOSE,
    FigureComparison,
    HomeFigures,
    _on_boxes,
    box_area,
    compare_homes,
    home_figures,
    log_odds,
    type_shares,
)


def ring() -> Scene:
    """Three rooms in a ring and a fourth on its own behind a narrow door."""
    regions = tuple(
        Region(
            id=f"{label.split('/')[0].capitalize()}_{i}",
            label=label,
            center=(3.0 * i, 0, 0),
            box=Box(center=(3.0 * i, 1, 0), size=(2, 2, 3)),
        )
        for i, label in enumerate(("kitchen/living room", "hallway", "bedroom", "closet"))
    )
    names = [region.id for region in regions]
    pairs = [(0, 1, 1.0), (1, 2, 0.72), (0, 2, 1.0), (2, 3, 0.45)]
    things = [("oven", "asset", 0), ("cup", "object", 0), ("wall", "structure", 0),
              ("bed", "asset", 2)]  # fmt: skip
    return Scene(
        id="ring",
        source="made",
        floors=(Floor(id=1, height=0.0),),
        regions=regions,
        links=tuple(
            Link(a=names[a], b=names[b], kind="door", width=width) for a, b, width in pairs
        ),
        items=tuple(
            Item(id=str(i), name=name, kind=kind, region=names[room], position=(3.0 * room, 1, 0))  # type: ignore[arg-type]
            for i, (name, kind, room) in enumerate(things)
        ),
    )


def test_a_home_is_counted_by_hand() -> None:
    found = home_figures(ring())
    assert found.spreads["rooms"] == (4,)
    assert found.spreads["cycles"] == (1,)
    assert found.spreads["areas"] == (6.0,) * 4
    assert sorted(found.spreads["degrees"]) == [1, 2, 2, 3]
    # Each pair from both sides: four links, and two pairs that are two hops apart.
    assert sorted(found.spreads["hops"]) == [1] * 8 + [2] * 4
    assert found.spreads["room_things"] == (2, 0, 1, 0)
    assert found.spreads["things"] == (3,)
    assert found.spreads["portable"] == (1 / 3,)
    assert found.types["Kitchen"] == found.types["Living Room"] == 0.5
    assert found.holding == {
        ("oven", "Kitchen"): 0.5,
        ("oven", "Living Room"): 0.5,
        ("cup", "Kitchen"): 0.5,
        ("cup", "Living Room"): 0.5,
        ("bed", "Bedroom"): 1,
    }
    assert found.door_widths == (1.0, 0.72, 1.0, 0.45)
    # The humanoid, 0.9 m wide, has the ring's three rooms by two doors; the sweeper has all four.
    assert found.bodies["HUMANOID"] == 6 / 12
    assert found.bodies["SWEEPER"] == 1.0


def test_an_outline_has_the_area_of_the_box_around_it() -> None:
    corner = Region(id="A_1", center=(0, 0, 0), polygon=((0, 0), (4, 0), (4, 1), (1, 1), (1, 3)))
    assert box_area(corner) == 12.0
    assert box_area(Region(id="A_1", center=(0, 0, 0))) is None


@pytest.mark.slow
def test_relays_are_drawn_by_the_seed_and_can_be_left_out() -> None:
    flat = load_scene("demo:house")
    assert home_figures(flat, seed=1) == home_figures(flat, seed=1)
    assert (
        home_figures(flat, seed=1).spreads["alpha"] != home_figures(flat, seed=2).spreads["alpha"]
    )
    assert home_figures(flat, tasks=0).spreads["alpha"] == ()


def of_rooms(counts: list[int], **more: dict) -> list[HomeFigures]:
    blank = home_figures(ring(), tasks=0)
    return [
        HomeFigures(f"made:{i}", {**blank.spreads, "rooms": (n,)}, **more)
        for i, n in enumerate(counts)
    ]


def line(lines: list[FigureComparison], figure: str) -> FigureComparison:
    (found,) = (each for each in lines if each.figure.startswith(figure))
    return found


def test_distances_are_scipys_and_far_sets_do_not_hold() -> None:
    draw = np.random.default_rng(3)
    a, b = draw.integers(4, 20, 60).tolist(), draw.integers(8, 30, 35).tolist()
    found = line(compare_homes(of_rooms(a), of_rooms(b)), "rooms a home")
    assert found.value == pytest.approx(ks_2samp(a, b).statistic)
    assert found.most is not None
    assert found.most > CLOSE  # halves of 35 homes differ by more
    assert line(compare_homes(of_rooms(b), of_rooms(b)), "rooms a home").holds is True
    assert line(compare_homes(of_rooms([99] * 20), of_rooms(b)), "rooms a home").holds is False


def test_a_set_too_small_to_be_split_has_the_fixed_bound() -> None:
    found = line(compare_homes(of_rooms([5, 6, 7]), of_rooms([5, 6])), "rooms a home")
    assert found.most == CLOSE


def test_types_and_odds_by_hand() -> None:
    homes = of_rooms([1] * 10, types={"Kitchen": 1, "Bedroom": 3}, holding={("oven", "Kitchen"): 1})
    assert type_shares(homes) == {"Kitchen": 0.25, "Bedroom": 0.75}
    # Of 10 kitchens all have an oven, of 30 bedrooms none.
    expected = math.log((10.5 / 0.5) / (0.5 / 30.5))
    assert log_odds(homes) == {
        ("oven", "Kitchen"): pytest.approx(expected),
        ("oven", "Bedroom"): pytest.approx(-expected),
    }
    other = of_rooms([1] * 10, types={"Kitchen": 2, "Bedroom": 2})
    mix = line(compare_homes(other, homes), "mix of room types")
    assert mix.value == pytest.approx(0.25)
    assert mix.holds is False


def test_metres_are_walked_on_the_boxes_also_where_more_is_known(tmp_path: Path) -> None:
    """A home written as boxes, links and things has the same relays as the home itself."""
    flat = load_scene("demo:villa")
    number = {room.id: int(room.number) for room in flat.regions}
    written = {
        "scene": "boxed",
        "rooms": [
            {"id": number[r.id], "label": r.label, "centroid": r.box.center, "dims": r.box.size}
            for r in flat.regions
            if r.box
        ],
        "connections": [(number[link.a], number[link.b]) for link in flat.links],
        "objects": [],
    }
    (tmp_path / "boxed.json").write_text(json.dumps(written))
    boxed = load_scene(f"hm3d:{tmp_path}/boxed")
    assert _on_boxes(flat).viewpoints == boxed.viewpoints
    assert set(_on_boxes(flat).edges) == set(boxed.edges)
    assert set(flat.edges) != set(boxed.edges)
    bare = flat.replace(regions=tuple(r.model_copy(update={"box": None, "polygon": None})
                                      for r in flat.regions))  # fmt: skip
    assert _on_boxes(bare) is bare


@pytest.mark.slow
@pytest.mark.realdata
def test_bounds_of_the_real_homes(data_dir: Path) -> None:
    """The 95th percentiles of 15/20 splits that were measured apart from this code."""
    real = [home_figures(scene) for scene in iter_scenes(f"hm3d:{data_dir}/hm3d")]
    lines = compare_homes(real, real)
    measured = {"rooms a home": 0.40, "things a home": 0.43, "cycles": 0.37, "hops": 0.22,
                "things a room": 0.18}  # fmt: skip
    for figure, most in measured.items():
        assert line(lines, figure).most == pytest.approx(most, abs=0.02), figure
    assert line(lines, "doors of a room").most == CLOSE
