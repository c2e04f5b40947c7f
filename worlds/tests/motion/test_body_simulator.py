"""Bodies in a made room: what they touch, what it comes to, how they block each other."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from navloom.errors import SimulatorError
from navloom.scenes.bodies import DEFAULT_BODY, VLNVERSE, Embodiment, get_body
from navloom.scenes.scene import Edge, Scene, Viewpoint
from navloom.scenes.scene_uri import load_scene
from navloom.sim import (
    Forward,
    Hop,
    Look,
    Observation,
    Pose,
    Stop,
    Turn,
    Velocity,
    Waypoint,
    get_simulator,
)
from navloom.sim.conformance import make_test_scene
from navloom.sim.protocol import PhysicsRules, displacing_contacts
from navloom_worlds.rendering import EmbeddedSimulator
from navloom_worlds.rendering.sensors import Sensor, resolve_rig

EAST, WEST = math.pi / 2, 3 * math.pi / 2
WIDE = Embodiment(name="WIDE", width=1.0)
ROOM = make_test_scene()
"""One room for all tests, for what is worked out of it is kept with it."""
CART = Embodiment(name="CART", shape="box", width=0.5, depth=0.8, turning_radius=0.5)


def with_viewpoints(**floors: tuple[float, float, float]) -> Scene:
    """The made scene with more viewpoints, each on the way between its neighbour and beyond."""
    scene = make_test_scene()
    more = tuple(
        Viewpoint(id=name, position=(x, y + 1.5, z), region="Hall_1", eye_height=1.5)
        for name, (x, y, z) in floors.items()
    )
    edges = tuple(Edge(a="hub", b=name) for name in floors)
    return scene.replace(viewpoints=(*scene.viewpoints, *more), edges=(*scene.edges, *edges))


def made(physics: Any = "off", scene: Scene | None = None, threshold: float = 0.1) -> Any:
    scene = ROOM if scene is None else scene
    return EmbeddedSimulator(scene, None, (), "flat", PhysicsRules(physics, threshold))


def put(
    simulator: Any, viewpoint: str, heading: float = 0.0, body: Embodiment = DEFAULT_BODY
) -> Observation:
    pose = Pose((0, 0, 0), heading, 0.0, viewpoint)
    seen: Observation = simulator.reset({"robot": (pose, body)})["robot"]
    return seen


def act(simulator: Any, action: Any) -> Observation:
    seen: Observation = simulator.step({"robot": action})["robot"]
    return seen


def at(x: float, z: float) -> Any:
    return pytest.approx((x, 0.0, z), abs=2e-3)


def test_back_and_forth_over_the_same_floor() -> None:
    simulator = made()
    put(simulator, "hub", EAST)
    there = act(simulator, Forward(1.0))
    assert there.pose.position == at(1.0, 0.0)
    assert (there.pose.viewpoint, there.candidates) == (None, ())
    back = act(simulator, Forward(-1.0))
    assert back.pose.position == at(0.0, 0.0)
    assert back.pose.viewpoint == "hub"
    assert back.pose.heading == pytest.approx(EAST)
    assert not there.contacts + back.contacts


def test_a_contact_says_what_how_far_and_where() -> None:
    simulator = made()
    put(simulator, "west", WEST)
    (contact,) = act(simulator, Forward(2.0)).contacts
    assert contact.what == "wall"
    # 1.5 m to the wall, 0.2 of the body, and half of the wall's thickness.
    assert contact.displacement == pytest.approx(2.0 - 1.3, abs=0.11)
    assert contact.point[0] == pytest.approx(-3.0, abs=0.11)
    put(simulator, "north", EAST)
    simulator.place("robot", Pose((0.0, 0.0, -1.8), EAST))
    (contact,) = act(simulator, Forward(1.0)).contacts
    assert contact.what == "lamp"
    assert contact.displacement == pytest.approx(1.0 - (0.6 - 0.15 - 0.2), abs=5e-3)
    assert contact.point == pytest.approx((0.45, 0.0, -1.8), abs=1e-2)


def test_velocity_drives_exact_arcs() -> None:
    simulator = made()
    put(simulator, "hub", 0.0)
    seen = act(simulator, Velocity(0.5, math.pi / 4, 2.0))
    radius = 0.5 / (math.pi / 4)
    assert seen.pose.position == at(radius, -radius)
    assert seen.pose.heading == pytest.approx(EAST)


def test_a_body_with_a_turning_radius_turns_on_its_arc() -> None:
    simulator = made()
    put(simulator, "hub", 0.0, CART)
    simulator.place("robot", Pose((1.5, 0.0, 1.5), 0.0))
    seen = act(simulator, Turn(math.pi / 2))
    assert seen.pose.position == at(2.0, 1.0)
    assert seen.pose.heading == pytest.approx(EAST)
    with pytest.raises(SimulatorError, match=r"turns at most 0 rad/s on its arc of 0.5 m at 0 m/s"):
        act(simulator, Velocity(0.0, 0.5, 1.0))


@pytest.mark.slow
def test_a_waypoint_is_driven_to_round_what_is_in_the_way() -> None:
    simulator = made()
    put(simulator, "hub", EAST, WIDE)
    simulator.place("robot", Pose((-1.2, 0.0, -1.8), EAST))
    seen = act(simulator, Waypoint((2.0, 0.0, -1.8)))
    assert seen.pose.position == at(2.0, -1.8)
    assert not seen.contacts
    with pytest.raises(SimulatorError, match=r"the nearest free place is \(") as refused:
        act(simulator, Waypoint((0.6, 0.0, -1.8)))
    assert "\n" not in str(refused.value)
    assert simulator.step({})["robot"] == seen


@pytest.mark.parametrize("physics", ["slide", "strict", "telhop"])
def test_a_free_hop_ends_as_it_does_without_physics(physics: str) -> None:
    free, driven = made(), made(physics)
    for simulator in (free, driven):
        put(simulator, "hub")
    for viewpoint in ("east", "hub", "south", "hub", "west"):
        plain, seen = act(free, Hop(viewpoint)), act(driven, Hop(viewpoint))
        assert seen.pose.position == plain.pose.position
        assert seen.pose.heading == pytest.approx(plain.pose.heading, abs=1e-9)
        assert seen.candidates == plain.candidates
        assert not seen.contacts


BEHIND = (0.75, 0.0, -2.25)
"""The lamp stands on the straight way from the hub to here."""


@pytest.mark.slow
def test_what_each_physics_makes_of_a_lamp_in_the_way() -> None:
    scene = with_viewpoints(behind=BEHIND)
    ends = {}
    for physics in ("off", "slide", "strict", "telhop"):
        simulator = made(physics, scene)
        put(simulator, "hub")
        ends[physics] = act(simulator, Hop("behind"))
        if physics == "strict":
            for action in (Hop("hub"), Forward(), Turn(), Look(), Waypoint((0.0, 0.0, 0.0))):
                seen = act(simulator, action)
                assert (seen.pose, seen.collision) == (ends[physics].pose, True)
                assert not seen.contacts
            assert simulator.place("robot", Pose((0, 0, 0), viewpoint="hub")).collision is False
            assert act(simulator, Hop("east")).pose.viewpoint == "east"
    for physics in ("off", "telhop"):
        assert ends[physics].pose.position == scene.viewpoint_by_id["behind"].ground
        assert not ends[physics].contacts
    slid, ended = ends["slide"], ends["strict"]
    assert slid.pose.viewpoint == "behind"
    assert slid.pose.position == at(BEHIND[0], BEHIND[2])
    assert [contact.what for contact in slid.contacts] == ["lamp"]
    assert not slid.collision
    assert ended.collision
    assert ended.pose.viewpoint is None
    (contact,) = ended.contacts
    assert contact.what == "lamp"
    assert 0.1 <= contact.displacement < 0.13


@pytest.mark.slow
def test_a_small_displacement_ends_nothing() -> None:
    scene = with_viewpoints(behind=BEHIND)
    simulator = made("strict", scene, threshold=5.0)
    put(simulator, "hub")
    seen = act(simulator, Hop("behind"))
    assert seen.pose.viewpoint == "behind"
    assert seen.contacts
    assert not seen.collision


@pytest.mark.slow
def test_who_does_not_fit_on_a_viewpoint_stands_beside_it_by_its_name() -> None:
    scene = with_viewpoints(lamp=(0.6, 0.0, -1.8))
    for physics in ("slide", "telhop"):
        simulator = made(physics, scene)
        put(simulator, "hub")
        seen = act(simulator, Hop("lamp"))
        assert seen.pose.viewpoint == "lamp"
        off = math.dist(seen.pose.position, (0.6, 0.0, -1.8))
        assert 0.3 < off < 0.5
        assert [way.viewpoint for way in seen.candidates] == ["hub"]
        assert [c.what for c in seen.contacts] == ["lamp"]
        if physics == "telhop":
            assert seen.contacts[0].displacement == pytest.approx(off, abs=1e-3)
        assert act(simulator, Hop("hub")).pose.position == at(0.0, 0.0)
    with pytest.raises(SimulatorError, match=r"LARGE, 9.00 m wide, fits nowhere within 1 m of"):
        put(made("slide"), "west", body=Embodiment(name="LARGE", width=9.0))


def test_where_there_is_no_way_one_is_back_where_one_came_from() -> None:
    # The wall at x = -3 ends at z = 4: the way round it is too long for nobody, but for this:
    scene = with_viewpoints(island=(20.5, 0.0, 0.0))
    simulator = made("slide", scene)
    put(simulator, "east")
    with pytest.raises(SimulatorError, match="No edge leads"):
        act(simulator, Hop("island"))
    upper = made("slide")
    before = put(upper, "east", body=get_body("WHEELCHAIR"))
    after = act(upper, Hop("upper"))
    assert after.pose == before.pose
    assert after.pose.viewpoint == "east"


def test_agents_stand_in_each_others_way() -> None:
    simulator = made("slide")
    west = Pose((0, 0, 0), EAST, viewpoint="west")
    seen = simulator.reset({"one": (west, VLNVERSE), "two": (west, DEFAULT_BODY)})
    assert seen["one"].pose.position == at(-1.5, 0.0)
    apart = math.dist(seen["one"].pose.position, seen["two"].pose.position)
    assert 0.5 - 2e-3 <= apart < 0.6
    assert seen["two"].pose.viewpoint == "west"
    seen = simulator.reset(
        {"one": (west, VLNVERSE), "two": (Pose((0, 0, 0), WEST, viewpoint="hub"), DEFAULT_BODY)}
    )
    # In the mapping's order: one takes the room that two then lacks.
    seen = simulator.step({"one": Forward(0.9), "two": Forward(0.9)})
    assert not seen["one"].contacts
    assert seen["one"].pose.position == at(-0.6, 0.0)
    (contact,) = seen["two"].contacts
    assert contact.what == "one"
    assert seen["two"].pose.position == pytest.approx((-0.1, 0.0, 0.0), abs=0.01)
    assert contact.displacement == pytest.approx(0.8, abs=0.01)
    assert contact.point[0] == pytest.approx(-0.3, abs=0.01)


def test_one_viewpoint_holds_two_that_hopped_there_and_both_can_leave() -> None:
    simulator = made("off")
    hub = Pose((0, 0, 0), EAST, viewpoint="hub")
    simulator.reset({"one": (hub, VLNVERSE), "two": (hub, VLNVERSE)})
    seen = simulator.step({"one": Forward(0.4)})
    assert not seen["one"].contacts
    assert seen["one"].pose.position == at(0.4, 0.0)
    assert seen["two"].pose.position == at(0.0, 0.0)


@pytest.mark.slow
def test_a_drive_goes_on_elsewhere_to_the_bit() -> None:
    scene = with_viewpoints(behind=BEHIND)
    one = made("slide", scene)
    start = {
        "one": (Pose((0, 0, 0), 0.3, viewpoint="hub"), DEFAULT_BODY),
        "two": (Pose((0, 0, 0), 3.0, viewpoint="east"), CART),
    }
    one.reset(start)
    actions: list[dict[str, Any]] = [
        {"one": Velocity(0.7, 0.5, 1.3), "two": Turn(0.7)},
        {"two": Forward(-0.6), "one": Forward(1.2)},
        {"one": Look(0.2), "two": Velocity(0.4, -0.3, 2.0)},
        {"one": Waypoint((1.5, 0.0, 1.5)), "two": Stop()},
        {"one": Forward(2.0), "two": Forward()},
    ]
    for k, action in enumerate(actions):
        other = made("slide", scene)
        assert dict(other.restore(json.loads(json.dumps(one.state())))) == one.step({}) or k == 0
        expected = one.step(action)
        assert other.step(action) == expected
        for later in actions[k + 1 :]:
            other.step(later)
    again = made("slide", scene)
    again.reset(start)
    for action in actions:
        last = again.step(action)
    assert last == expected


STILL = Embodiment(name="STATUE", speed=0.0, turn_speed=0.0)


@pytest.mark.parametrize(
    ("body", "action", "said"),
    [
        (DEFAULT_BODY, Velocity(math.nan, 0.0, 1.0), "A Velocity of forward nan"),
        (DEFAULT_BODY, Velocity(0.1, 0.0, math.inf), "A Velocity of seconds inf"),
        (DEFAULT_BODY, Velocity(0.1, 0.0, -1.0), "for -1 seconds: expected 0 to 100"),
        (DEFAULT_BODY, Velocity(9.0, 0.0, 1.0), "ROBOT drives at most 1 m/s: found 9"),
        (DEFAULT_BODY, Velocity(0.0, 9.0, 1.0), "ROBOT turns at most 1.571 rad/s: found 9"),
        (DEFAULT_BODY, Forward(math.nan), "Forward of nan m"),
        (DEFAULT_BODY, Forward(1e9), "expected -100 to 100"),
        (DEFAULT_BODY, Turn(math.inf), "Turn of inf radians"),
        (DEFAULT_BODY, Look(math.nan), "Look of nan"),
        (DEFAULT_BODY, Waypoint((0.0, math.nan, 0.0)), "expected three finite numbers"),
        (DEFAULT_BODY, Waypoint((90.0, 0.0, 0.0)), "No way leads robot"),
        (STILL, Forward(), "STATUE, 0.40 m wide, does not drive"),
        (STILL, Velocity(0.0, 0.1, 1.0), "STATUE, 0.40 m wide, does not turn"),
        (STILL, Waypoint((1.0, 0.0, 0.0)), "does not drive"),
    ],
)
def test_what_is_no_action_of_this_body(body: Embodiment, action: Any, said: str) -> None:
    simulator = made("slide")
    before = put(simulator, "hub", 0.3, body)
    with pytest.raises(SimulatorError, match=said) as refused:
        simulator.step({"robot": action})
    assert "\n" not in str(refused.value)
    assert simulator.step({})["robot"] == before


def test_a_start_in_a_thing_is_offered_the_nearest_free_place() -> None:
    simulator = made()
    with pytest.raises(SimulatorError, match=r"the nearest free place is \(.*\), 0\.\d+ m off"):
        simulator.reset({"robot": (Pose((0.6, 0.0, -1.8)), DEFAULT_BODY)})
    with pytest.raises(SimulatorError, match="nor anywhere within 1 m"):
        simulator.reset({"robot": (Pose((60.0, 0.0, -1.8)), DEFAULT_BODY)})


@pytest.mark.parametrize(
    ("backend", "options", "said"),
    [
        ("embedded", {"physics": "slyde"}, "no physics 'slyde'.*Did you mean 'slide'"),
        ("embedded", {"collision_threshold": -1}, "threshold of -1: expected metres, 0 or more"),
        ("embedded", {"collision_threshold": math.nan}, "threshold of nan"),
        ("graph", {"physics": "slide"}, "the graph simulator has nothing to touch"),
        ("panorama", {"physics": "strict"}, "the panorama simulator has nothing to touch"),
        ("auto", {"physics": "strict", "collision_threshold": "x"}, "threshold of 'x'"),
    ],
)
def test_options_that_are_none(backend: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(SimulatorError, match=said):
        get_simulator(backend, make_test_scene(), **options)


def test_who_can_open_doors_pushes_them_and_they_are_drawn_open_around_it() -> None:
    flat = load_scene("demo:flat")
    number = next(k for k, link in enumerate(flat.links) if link.door == "closed")
    link = flat.links[number]
    (x, _, z), end = link.point or (0.0, 0.0, 0.0), flat.region_by_id[link.a].center
    along = (1.0, 0.0) if abs(end[0] - x) > abs(end[2] - z) else (0.0, 1.0)
    sign = math.copysign(1.0, (end[0] - x) * along[0] + (end[2] - z) * along[1])
    heading = math.atan2(-sign * along[0], sign * along[1])
    rig = resolve_rig([Sensor("depth", width=9, height=9, fov=math.radians(20))])
    simulator = EmbeddedSimulator(flat, None, rig, "flat", PhysicsRules("slide", 0.1))

    def before(metres: float, body: Embodiment) -> float:
        """How far it sees at the door from so far before it."""
        place = (x + sign * metres * along[0], end[1], z + sign * metres * along[1])
        seen = simulator.reset({"robot": (Pose(place, heading), body)})["robot"]
        return float(seen.images["depth"][0].image[4, 4])

    for body, passes in (
        (DEFAULT_BODY, True),
        (DEFAULT_BODY.model_copy(update={"doors": False}), False),
    ):
        assert before(0.6, body) < 0.7
        seen = act(simulator, Forward(1.2))
        (contact,) = seen.contacts
        assert contact.what == f"door {link.a} <-> {link.b}"
        assert (contact.displacement == 0, displacing_contacts(seen.contacts) == []) == (
            passes,
            passes,
        )
    # The leaf is open around who stands in it, and shut again behind it.
    assert before(0.1, DEFAULT_BODY) > 0.7
    assert before(0.6, DEFAULT_BODY) < 0.7
