"""What went wrong, at its bounds: 3 m, 45 and 135 degrees, a storey, the longest cycle, by hand."""

import math

import pytest

from navloom.evals.navigation.failure_behaviour import (
    Deviation,
    RolloutEvidence,
    find_behaviours,
    first_deviation,
    metres_along,
    metres_to_goal,
    reference_path,
)
from navloom.evals.navigation.failure_cause import (
    PathFork,
    build_fork,
    directions_at,
    find_causes,
    named_items,
    named_rooms,
    path_slope,
)
from navloom.scenes.scene import Edge, Floor, Item, Region, Scene, Viewpoint
from navloom.tools.navigation.step_records import NavStep, Trajectory
from tests.evals.navigation.walks import episode, scene


def walk(*viewpoints, end="stop", faults=()):
    said = [[kind for at, kind in faults if at == number] for number in range(len(viewpoints))]
    steps = tuple(NavStep(faults=each) for each in said)
    return Trajectory(tuple((name, None) for name in viewpoints), steps, end == "stop", end)


def behaved(how, *to_goal, success=False, excess=0.0, deviation=None):
    return find_behaviours(RolloutEvidence(how, to_goal, deviation, success, excess))


@pytest.mark.parametrize(("excess", "told"), [(3.0, "none"), (3.01, "detour"), (math.inf, "none")])
def test_a_detour_is_more_than_three_metres_too_long(excess, told):
    assert list(behaved(walk("a"), 0.0, success=True, excess=excess)) == [told]
    assert list(behaved(walk("a", end="max_steps"), 9.0, excess=99.0)) == ["time_out"]


def test_within_three_metres_is_strictly_within():
    assert list(behaved(walk("a", "b"), 9.0, 3.0)) == ["early_stop"]
    assert list(behaved(walk("a", "b"), 2.99, 9.0)) == ["missed_stop"]
    assert list(behaved(walk("a", "b", end="dead_end"), 9.0, 3.0)) == ["dead_end"]


def test_metres_at_the_end_are_those_of_the_last_place_and_none_where_nobody_can_tell():
    at_last = behaved(walk("a", "b", end="max_steps"), math.inf, 7.126)["time_out"]
    assert at_last == {"step": 1, "metres_to_goal": 7.13}
    lost = behaved(walk("a", "b", end="max_steps"), 7.0, math.inf)["time_out"]
    assert lost == {"step": 1, "metres_to_goal": None}
    nowhere = behaved(walk(end="max_steps"))["time_out"]
    assert nowhere == {"step": 0, "metres_to_goal": None}


def test_a_missed_stop_names_every_step_within_reach_and_the_nearest():
    found = behaved(walk(*"abcde"), 9.0, 2.5, 1.25, 2.0, 4.0)["missed_stop"]
    assert found == {
        "steps": [1, 2, 3], "nearest_step": 2, "nearest_metres": 1.25, "metres_to_goal": 4.0,
    }  # fmt: skip
    many = behaved(walk(*(f"v{k}" for k in range(50))), *[1.0] * 49, 9.0)["missed_stop"]
    assert many["steps"] == list(range(40))


@pytest.mark.parametrize(("period", "is_one"), [(2, True), (12, True), (13, False)])
def test_a_cycle_has_two_to_twelve_viewpoints(period, is_one):
    ring = [f"v{k}" for k in range(period)]
    found = behaved(walk("door", *ring, *ring, end="max_steps"), 9.0)
    assert ("loop" in found) is is_one
    if is_one:
        cycle = {"hop": 1, "viewpoints": period, "times": 2, "step": 1}
        assert found["loop"] == {
            "by": ["cycle"],
            "visits": {},
            "revisits": period,
            "steps": list(range(period, 2 * period)),
            "cycle": cycle,
        }
    assert "loop" not in behaved(walk("door", *ring, *ring[:-1], end="max_steps"), 9.0)


def test_a_cycle_counts_its_rounds_and_begins_where_it_begins():
    found = behaved(walk(*"xyababababz", end="max_steps"), 9.0)["loop"]
    assert found["cycle"] == {"hop": 2, "viewpoints": 2, "times": 4, "step": 2}
    assert (found["by"], found["visits"]) == (["revisits", "cycle"], {"a": 4, "b": 4})
    odd = behaved(walk(*"ababa", end="max_steps"), 9.0)["loop"]["cycle"]
    assert (odd["hop"], odd["times"]) == (0, 2)


def test_generation_errors_are_counted_by_kind_and_the_last_one_names_it():
    faults = [(3, "refusal"), (1, "unparsed"), (3, "unparsed")]
    found = behaved(walk(*"abcd", end="max_steps", faults=faults), 9.0)["generation_error"]
    assert found == {
        "kind": "unparsed",
        "ended": False,
        "counts": {"refusal": 1, "unparsed": 2},
        "steps": [1, 3],
    }
    unsaid = behaved(walk(*"ab", end="unparsed"), 9.0)["generation_error"]
    assert unsaid == {"kind": "unparsed", "ended": True, "counts": {}, "steps": []}


def test_an_early_stop_is_short_only_where_it_still_was_on_the_way():
    on = Deviation(1, 1, "b", "c", None, "stop")
    off = Deviation(0, 0, "a", "x", "b")
    short = behaved(walk("a", "b"), 9.0, 8.0, deviation=on)["early_stop"]
    assert short == {"step": 1, "metres_to_goal": 8.0, "where": "short"}
    assert behaved(walk("a", "b"), 9.0, 8.0, deviation=off)["early_stop"]["where"] == "elsewhere"
    assert behaved(walk("a", "b"), 9.0, 8.0)["early_stop"]["where"] == "elsewhere"


def test_a_stop_before_the_end_is_a_deviation_from_three_metres_on():
    how, way = walk("a", "b"), ("a", "b", "c")
    assert first_deviation(how, way, (9.0, 2.99)) is None
    assert first_deviation(how, way, (9.0, 3.0)) == Deviation(1, 1, "b", "c", None, "stop")
    assert first_deviation(how, way[:2], (9.0, 9.0)) is None
    assert first_deviation(how, ("b", "c"), (9.0, 9.0)) is None
    assert first_deviation(how, (), (9.0, 9.0)) is None


def test_a_result_is_read_hop_by_hop():
    moves = [
        {"action": {"kind": "ask"}},
        {"action": {"kind": "move", "viewpoint": "b"}, "faults": ["Refusal - no", {"kind": "?"}]},
        {"action": {"kind": "move", "viewpoint": "b"}},
        {"action": {"kind": "move", "viewpoint": "c"}, "faults": ["invalid option 9", 3]},
        "no step",
    ]
    poses = [["a", 7.0], ["b", True], ["b", 1], "c", ["c", math.inf], [], 3]
    how = Trajectory.read({"trajectory": poses, "steps": moves, "stopped": True, "end": 3})
    assert how.viewpoints == ("a", "b", "c")
    assert how.headings == (7.0 % (2 * math.pi), 1.0, None)
    assert how.hop_steps == (1, 3)
    assert [(fault.step, fault.kind) for fault in how.faults] == [
        (1, "refusal"), (1, "other"), (3, "invalid_option"),
    ]  # fmt: skip
    assert (how.stopped, how.end, how.last_step, how.step_at(2)) == (True, "", 3, 3)
    # Steps that do not tell of these hops are not believed: a hop then has its own number.
    assert Trajectory.read({"trajectory": ["a", "b", "c"], "steps": moves[:2]}).hop_steps == (0, 1)
    assert Trajectory.read({"trajectory": ["a"], "steps": []}).hop_steps == ()
    assert Trajectory.read({}).last_step == 0


def test_without_its_own_path_an_episode_is_held_against_the_way_to_its_nearest_goal():
    what = episode(goals=("6_0", "5_2", "no such place"))
    assert reference_path(walk("1_0"), what, scene()) == what.path
    assert reference_path(walk("1_1"), what, scene()) == ("1_1", "5_0", "5_2")
    assert reference_path(walk("no such place"), what, scene()) == ()
    spots = {v.id: v.position for v in scene().viewpoints}
    near = math.dist(spots["5_0"], spots["5_2"])
    assert metres_to_goal("5_0", what, scene()) == pytest.approx(near)
    assert metres_to_goal("no such place", what, scene()) == math.inf
    there = ("5_0", "no such place", "5_2")
    assert metres_along(there, scene()) == pytest.approx(near)


def stand(name, x, z, *, y=0.0, region=None, eyes=0.0):
    return Viewpoint(id=name, position=(x, y + eyes, z), region=region, eye_height=eyes)


ROOMS = (
    Region(id="Hall_1", label="hallway", center=(0, 0, 0)),
    Region(id="Kitchen_2", label="kitchen", center=(0, 0, -9)),
    Region(id="Bedroom_3", label="bedroom", center=(9, 0, 0)),
    Region(id="Attic_4", label="attic", center=(0, 3, 0), floor=2),
)
AT = stand("at", 0, 0, region="Hall_1")


def place(*viewpoints, items=()):
    return Scene(
        id="crossing",
        floors=(Floor(id=1, height=0), Floor(id=2, height=3)),
        regions=ROOMS,
        viewpoints=(AT, *viewpoints),
        items=items,
        edges=tuple(Edge(a="at", b=v.id) for v in viewpoints),
    )


def because(right, chosen, said, *, scene_=None, **other):
    given = {
        "at": AT, "right": right, "chosen": chosen, "heading": 0.0, "progress": 0.0, "end": None,
        "goal": None, "options": {},
    }  # fmt: skip
    return find_causes(PathFork(**{**given, **other}), said, scene_ or place(*right, *chosen))


def towards(degrees, name="there"):
    """A place 5 m off; 0 degrees is ahead (-z), 90 to the right (+x)."""
    turn = math.radians(degrees)
    return stand(name, 5 * math.sin(turn), -5 * math.cos(turn), region="Hall_1")


@pytest.mark.parametrize(
    ("degrees", "way"),
    [
        (0, "straight"), (44.5, "straight"), (-44.5, "straight"), (45.5, "right"), (90, "right"),
        (134.5, "right"), (-45.5, "left"), (-90, "left"), (-134.5, "left"), (135.5, "around"),
        (-135.5, "around"), (180, "around"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("heading", [0, 75, 200])
def test_which_way_a_hop_leads_is_told_by_45_and_135_degrees(degrees, way, heading):
    words = {"straight": "Go straight.", "around": "Turn around."}
    other = towards(heading + degrees + (180 if way != "around" else 90), "other")
    found = because(
        (towards(heading + degrees),),
        (other,),
        words.get(way, f"Turn {way}."),
        heading=math.radians(heading),
    )
    assert found["direction"]["said"] == way
    assert found["direction"]["chosen"] != way


def test_without_a_heading_no_direction_is_blamed():
    ways = ((towards(90),), (towards(-90, "other"),))
    assert "direction" in because(*ways, "Turn right.")
    assert because(*ways, "Turn right.", heading=None) == {"unknown": {}}
    assert because(*ways, "Turn right.", at=None) == {"unknown": {}}
    assert because(*ways, "Turn left.") == {"mismatch": {"said": "left", "right": "right"}}


@pytest.mark.parametrize(
    ("rise", "slope"), [(0.29, None), (0.31, "up"), (-0.29, None), (-0.31, "down")]
)
def test_a_way_goes_up_or_down_from_thirty_centimetres_on(rise, slope):
    higher = stand("there", 0, -5, y=rise, region="Hall_1", eyes=1.5)
    found = because((higher,), (towards(0, "other"),), "Walk on.")
    expected = {"vertical": {"right": slope, "chosen": "level", "within": 1}}
    assert found == (expected if slope else {"unknown": {}})


def thing(x, *, region="Hall_1", name="piano"):
    return Item(id=f"{name}-1", name=name, kind="asset", region=region, position=(x, 0.5, -5))


@pytest.mark.parametrize(("item", "blamed"), [
    (thing(2.99), True), (thing(3.0), False), (thing(1.0, region="Attic_4"), False),
    (thing(1.0, region=None), True), (thing(1.0, name="stove"), False),
])  # fmt: skip
def test_a_thing_is_at_a_place_within_three_metres_on_its_floor(item, blamed):
    right, chosen = towards(0), stand("other", -9, 0, region="Hall_1")
    home = place(right, chosen, items=(item,))
    found = because((right,), (chosen,), "Walk to the piano.", scene_=home)
    assert found == ({"object": {"named": ["piano"], "within": 1}} if blamed else {"unknown": {}})
    # What is at the way that was chosen as well tells nothing apart.
    both = {"other": "past the piano"}
    found = because((right,), (chosen,), "To the piano.", scene_=home, options=both)
    # What is at the way that was chosen alone led astray.
    astray = {"early_turn": {"named": ["piano"], "within": 1}}
    assert found == ({"unknown": {}} if blamed else astray)


def test_where_the_question_was_to_stop_the_things_at_the_goal_count():
    goal, chosen = towards(0, "goal"), stand("other", -9, 0, region="Hall_1")
    home = place(goal, chosen, items=(thing(0.0),))
    said = "Stop at the piano."
    for right, taken in (((), (chosen,)), ((chosen,), ())):
        found = because(right, taken, said, scene_=home, goal=goal)
        assert found["object"]["named"] == ["piano"]
    far = stand("far", -9, 1, region="Hall_1")
    home = place(goal, chosen, far, items=(thing(0.0),))
    assert because((far,), (chosen,), said, scene_=home, goal=goal) == {"unknown": {}}
    assert because((), (chosen,), said, scene_=home) == {"unknown": {}}


def test_a_region_is_blamed_where_only_the_right_way_enters_a_named_one():
    kitchen, bedroom = (stand("k", 0, -5, region="Kitchen_2"), stand("b", 5, 0, region="Bedroom_3"))
    said = "Walk into the kitchen."
    found = because((kitchen,), (bedroom,), said)
    assert found == {"region": {"named": ["Kitchen"], "by": "label", "within": 1}}
    other = stand("k2", 1, -5, region="Kitchen_2")
    assert because((kitchen,), (other,), said) == {"unknown": {}}
    assert because((kitchen,), (bedroom,), "Walk into the bedroom.") == {"unknown": {}}
    assert because((kitchen,), (bedroom,), said, at=None) == {"unknown": {}}
    # Two hops off, and four: the rules look at one hop, then at three.
    on = [stand(f"h{k}", 0, -k, region="Hall_1") for k in (1, 2, 3)]
    assert because((*on[:2], kitchen), (bedroom,), said)["region"]["within"] == 3
    assert because((*on, kitchen), (bedroom,), said) == {"unknown": {}}
    # Who stays in a room whose type is known enters none, though the words name that very room.
    assert "region" not in because((on[0],), (bedroom,), "Walk down the hallway.")


def test_a_fork_knows_how_much_of_the_way_was_done_and_where_it_looked():
    way = ("1_0", "2_0", "2_6", "2_2")
    how = walk("1_0", "2_0", "2_3")
    fork = build_fork(how, Deviation(1, 1, "2_0", "2_6", "2_3"), way, episode(path=way), scene())
    done, whole = metres_along(way[:2], scene()), metres_along(way, scene())
    assert fork.progress == pytest.approx(done / whole)
    assert 0 < fork.progress < 1
    assert [v.id for v in fork.right] == ["2_6", "2_2"]
    assert [v.id for v in fork.chosen] == ["2_3"]
    assert (fork.at.id, fork.end.id, fork.goal.id) == ("2_0", "2_3", "2_2")
    a, b = (scene().viewpoint_by_id[name].position for name in ("1_0", "2_0"))
    assert fork.heading == pytest.approx(math.atan2(b[0] - a[0], -(b[2] - a[2])))
    still = build_fork(
        walk("1_0"), Deviation(1, 0, "1_0", "2_0", None), way, episode(heading=2.5), scene()
    )
    assert (still.heading, still.options, still.chosen) == (2.5, {}, ())


@pytest.mark.parametrize(
    ("progress", "ways"),
    [
        (0.0, ("left", "right")),
        (0.24, ("left", "right")),
        (0.26, ("left", "right", "straight")),
        (0.5, ("right", "straight", "around")),
        (0.76, ("straight", "around")),
        (1.0, ("straight", "around")),
    ],
)
def test_the_clause_at_a_point_and_its_neighbours_say_where_to_go(progress, ways):
    said = "Turn left. Turn right. Go straight. Turn around."
    assert directions_at(said, progress) == ways


def test_a_slope_is_of_the_floors_whatever_their_height():
    def at(y, eyes=0.0):
        return stand("v", 0, 0, y=y, eyes=eyes)

    assert path_slope(at(5.0), [at(5.0)]) == "level"
    assert path_slope(at(5.0), [at(9.0), at(5.2)]) == "level"
    assert (path_slope(at(5.0), [at(5.5)]), path_slope(at(5.0), [at(4.5)])) == ("up", "down")
    assert path_slope(at(5.0), [at(5.0, eyes=1.5)]) == "level"
    assert path_slope(at(5.0), []) == path_slope(None, [at(5.0)]) == "level"


def test_names_of_rooms_follow_one_another_and_4000_characters_are_read():
    assert named_rooms("living room study") == {"Living Room", "Study / Office"}
    assert named_rooms("x" * 3_994 + " study") == {"Study / Office"}
    assert named_rooms("x" * 3_995 + " study") == frozenset()


def test_a_plural_of_one_letter_is_no_word():
    assert named_items("the as and the is") == frozenset()
    assert named_items("shelves, couches, pianos") == {"shelf", "couch", "piano"}


def test_what_is_known_of_a_fork_at_the_start_and_of_a_way_of_no_length():
    home = place(stand("a", 0, 0), stand("b", 0, -2), stand("c", 2, 0))
    task = episode(path=("a", "b"), heading=0.5)
    how = Trajectory((("a", None), ("c", None)), (NavStep(viewpoint="a"),), True, "stop")
    found = build_fork(how, Deviation(0, 0, "a", "b", "c"), ("a", "b"), task, home)
    assert (found.progress, found.heading) == (0.0, 0.5)
    alone = build_fork(how, Deviation(0, 0, "a", None, "c"), ("a",), task, home)
    assert (alone.progress, alone.right) == (1.0, ())
