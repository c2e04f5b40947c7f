"""Bodies: the named ones, files of them, their footprints, and which links they pass."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from navloom.errors import SceneError
from navloom.scenes.bodies import (
    DEFAULT_BODY,
    FETCH,
    SPOT,
    VLNVERSE,
    Embodiment,
    benchmark_profile,
    body_names,
    body_text,
    canonical_name,
    footprint_of,
    get_body,
    inner_radius,
    is_lift_or_stairs,
    load_bodies,
    max_rise,
    outer_radius,
    resolve_body,
)
from navloom.scenes.scene import Box, Link, Stairs
from tests.evals import tiny


def test_the_robots_are_as_large_as_their_makers_say() -> None:
    # Fetch's sheet: 0.56 m base, 1.1 m high, 1 m/s; the ADA's door sills are half an inch at most.
    assert (FETCH.width, FETCH.height, FETCH.speed, FETCH.max_step) == (0.56, 1.1, 1.0, 0.013)
    assert (FETCH.shape, FETCH.stairs, FETCH.turning_radius) == ("cylinder", False, 0)
    assert (FETCH.elevator, FETCH.doors) == (True, True)
    # "About Spot": 1100 x 500 x 840 mm, steps of 300 mm, 1.6 m/s.
    assert (SPOT.depth, SPOT.width, SPOT.height) == (1.1, 0.5, 0.84)
    assert (SPOT.max_step, SPOT.speed, SPOT.turning_radius) == (0.3, 1.6, 0)
    assert (SPOT.shape, SPOT.stairs, SPOT.elevator, SPOT.doors) == ("box", True, False, False)
    # VLNVerse A.2.4: 1.50 m high, a radius of 0.30 m.
    assert (VLNVERSE.height, VLNVERSE.width) == (1.5, 0.6)


def test_a_body_that_says_nothing_is_slim_and_passes_everywhere() -> None:
    assert Embodiment(name="ROBOT") == DEFAULT_BODY
    assert (DEFAULT_BODY.height, DEFAULT_BODY.width, DEFAULT_BODY.max_step) == (1.5, 0.4, 0.1)
    assert (DEFAULT_BODY.stairs, DEFAULT_BODY.elevator, DEFAULT_BODY.doors) == (True, True, True)
    assert (DEFAULT_BODY.speed, DEFAULT_BODY.turn_speed) == (1.0, math.pi / 2)
    assert (DEFAULT_BODY.depth, DEFAULT_BODY.turning_radius) == (None, None)


@pytest.mark.parametrize(("metres", "fine"), [(100, True), (100.1, False), (0, False)])
def test_a_size_is_above_nothing_and_a_hundred_metres_at_most(metres: float, fine: bool) -> None:
    if fine:
        assert Embodiment(name="X", height=metres).height == metres
    else:
        with pytest.raises(ValueError, match="height"):
            Embodiment(name="X", height=metres)


def test_bodies_are_known_by_name_in_any_case() -> None:
    assert get_body(" spot ") is SPOT
    assert get_body("robot").name == canonical_name("Robot") == "HUMANOID"
    assert len(body_names()) == 5
    with pytest.raises(SceneError, match=r"no body 'SPOTT'.*There are .*VLNVERSE, FETCH, SPOT"):
        get_body("SPOTT")


def test_a_footprint_is_a_disc_or_a_box() -> None:
    disc = footprint_of(FETCH)
    assert (disc.round, disc.ahead, disc.aside, disc.outer) == (True, 0.28, 0.28, 0.28)
    box = footprint_of(SPOT)
    assert (box.round, box.ahead, box.aside) == (False, 0.55, 0.25)
    assert box.outer == outer_radius(SPOT) == math.hypot(0.55, 0.25)
    square = footprint_of(Embodiment(name="X", shape="box", width=0.6))
    assert (square.ahead, square.aside) == (0.3, 0.3)
    assert (inner_radius(SPOT), inner_radius(FETCH)) == (0.25, 0.28)


@pytest.mark.parametrize(
    ("step", "stairs", "rise"), [(0.1, True, 0.25), (0.3, True, 0.3), (0.1, False, 0.1)]
)
def test_who_goes_up_stairs_takes_their_risers(step: float, stairs: bool, rise: float) -> None:
    assert max_rise(Embodiment(name="X", max_step=step, stairs=stairs)) == rise


def test_a_body_is_told_line_by_line() -> None:
    lines = body_text(SPOT.model_copy(update={"description": " a\n dog "})).splitlines()
    assert lines == [
        "Agent name: SPOT", "Body shape: box", "Height (m): 0.84", "Width (m): 0.5",
        "Depth (m): 1.1", "Highest step it can cross (m): 0.3", "Can go up or down stairs: True",
        "Can operate elevator: False", "Can open the door: False", "Turning radius (m): 0.0",
        "Description: a dog",
    ]  # fmt: skip
    plain = body_text(DEFAULT_BODY)
    assert "Depth (m): -" in plain
    assert "Turning" not in plain
    assert plain.endswith("Description: -")


def test_the_benchmarks_keys_have_a_turning_radius_where_one_was_given() -> None:
    assert benchmark_profile(SPOT)["turning_radius_m"] == 0
    assert "turning_radius_m" not in benchmark_profile(DEFAULT_BODY)
    assert benchmark_profile(SPOT)["agent_name"] == "SPOT"


def write(folder: Path, content: Any, name: str = "mine.json") -> str:
    file = folder / name
    file.write_text(json.dumps(content))
    return str(file)


def test_a_file_has_one_body_or_several(tmp_path: Path) -> None:
    one = write(tmp_path, {"name": "cart", "width": 0.9}, "ONE.JSON")
    assert resolve_body(one).name == resolve_body(f"{one}#cart").name == "CART"
    two = write(tmp_path, [{"name": "a"}, {"agent_name": "b", "body_width_m": None}], "two.json")
    assert [body.name for body in load_bodies(Path(two))] == ["A", "B"]
    assert resolve_body(f"{two}#B").name == "B"
    with pytest.raises(SceneError, match=r"has 2 bodies: expected .*#NAME with one of A, B"):
        resolve_body(two)
    with pytest.raises(SceneError, match="has no body 'C'"):
        resolve_body(f"{two}#C")
    with pytest.raises(SceneError, match="has no body 'C'"):
        resolve_body(f"{one}#C")
    assert resolve_body(None) is DEFAULT_BODY
    assert resolve_body("spot") is SPOT
    many = write(tmp_path, [{"name": f"b{k}"} for k in range(11)], "many.json")
    with pytest.raises(SceneError, match=r"one of B0, .*, B9\.$"):
        resolve_body(many)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([{"name": "a"}, {"name": "A"}], "the body 'A' stands twice"),
        (7, "expected a body or a list of them, found int"),
        ([], "at least 1 item"),
        ([{"name": f"b{k}"} for k in range(201)], "at most 200 items"),
        ([7], "mine.json"),
        ([{"name": "a", "strange": 1}], "strange"),
    ],
)
def test_a_file_that_is_none_of_bodies_is_named(content: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=said):
        load_bodies(Path(write(tmp_path, content)))


def test_two_hundred_bodies_are_read(tmp_path: Path) -> None:
    assert len(load_bodies(Path(write(tmp_path, [{"name": f"b{k}"} for k in range(200)])))) == 200


@pytest.mark.parametrize(
    ("kind", "rides", "treads", "carried"),
    [
        ("elevator", True, False, True),
        ("elevator", False, False, False),
        ("stairs", True, False, True),
        ("stairs", False, False, False),
        # Stairs whose treads are known are walked.
        ("stairs", True, True, False),
        ("door", True, False, False),
    ],
)
def test_a_lift_or_stairs_that_are_a_link_alone_carry_a_body(
    kind: Any, rides: bool, treads: bool, carried: bool
) -> None:
    home = tiny.home()
    body = Embodiment(name="X", stairs=rides, elevator=rides)
    link = Link(a="Hallway_2", b="Bedroom_1", kind=kind)
    flight = Stairs(
        a="Bedroom_1",
        b="Hallway_2",
        line=((0, 0, 0), (5, 3, 0)),
        treads=(Box(center=(1, 1, 0), size=(1, 1, 1)),) if treads else (),
    )
    scene = home.replace(links=(link,), stairs=(flight,))
    assert is_lift_or_stairs(scene, "v1", "v2", body) == carried
    assert is_lift_or_stairs(scene, "v2", "v1", body) == carried
    assert not is_lift_or_stairs(scene, "v2", "v3", body)
    # Of several links one is enough.
    several = scene.replace(links=(Link(a="Bedroom_1", b="Hallway_2", kind="door"), link))
    assert is_lift_or_stairs(several, "v1", "v2", body) == carried
