"""Behaviours and causes of trajectories made by hand in the demo homes, and of any JSON at all."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navloom.evals.navigation import failure_analysis
from navloom.evals.navigation.failure_analysis import analyse, read_tags
from navloom.evals.navigation.failure_behaviour import BEHAVIOURS, metres_to_goal
from navloom.evals.navigation.failure_cause import (
    CAUSES,
    directions_at,
    mentions_stairs,
    named_items,
    named_rooms,
    split_clauses,
)
from tests.evals.navigation.walks import PATH, SAID, count_failures, episode, result, scene


def told(*walk, said=SAID, path=PATH, home="demo:flat", success=None, **other):
    return analyse(
        result(*walk, **other), episode(said, path, scene=home), scene(home), success=success
    )


def test_the_right_way_to_the_end_is_clean():
    seen = told(*PATH)
    assert seen.success
    assert seen.tags == {
        "success": True,
        "behaviour": ["none"],
        "cause": "none",
        "first_deviation": None,
        "evidence": {},
    }


def test_a_stop_within_three_metres_is_no_deviation():
    seen = told(*PATH[:-2])
    assert seen.success
    assert seen.deviation is None


def test_an_early_stop_on_the_way_and_off_it():
    short = told(*PATH[:4])
    assert short.behaviours == ("early_stop",)
    assert short.evidence["early_stop"]["where"] == "short"
    assert short.evidence["early_stop"]["metres_to_goal"] == pytest.approx(3.39, abs=0.01)
    assert (short.deviation.at, short.deviation.expected, short.deviation.taken) == (
        "2_2", "4_0", None,
    )  # fmt: skip
    assert (short.deviation.step, short.deviation.end) == (3, "stop")
    off = told("1_0", "2_0", "2_6", "2_5", "2_1", "3_0")
    assert off.behaviours == ("early_stop",)
    assert off.evidence["early_stop"]["where"] == "elsewhere"


def test_the_first_deviation_names_its_step_past_questions():
    how = result("1_0", "2_0", "2_6", "2_3")
    how["steps"].insert(1, {"action": {"kind": "ask", "question": "Where?"}, "viewpoint": "2_0"})
    seen = analyse(how, episode(), scene())
    assert seen.deviation.record() == {
        "step": 3, "hop": 2, "at": "2_6", "expected": "2_2", "taken": "2_3", "end": None,
    }  # fmt: skip


def test_missed_stop_is_oracle_success():
    seen = told(*PATH, "4_1", "4_0", "2_2", "2_1")
    assert not seen.success
    assert seen.behaviours == ("missed_stop",)
    proof = seen.evidence["missed_stop"]
    assert (proof["nearest_step"], proof["nearest_metres"]) == (6, 0.0)
    assert seen.deviation.expected is None
    assert (seen.deviation.step, seen.deviation.at, seen.deviation.taken) == (6, "6_0", "4_1")


def test_a_time_out_is_told_in_failures_and_in_successes():
    failed = told("1_0", "2_0", "2_4", "2_5", end="max_steps")
    assert failed.behaviours == ("time_out",)
    assert failed.evidence["time_out"]["step"] == 2
    there = told(*PATH, end="max_steps")
    assert (there.success, there.behaviours) == (True, ("time_out",))
    assert (there.deviation.expected, there.deviation.end) == (None, "max_steps")


def test_a_dead_end():
    assert told("1_0", "2_0", end="dead_end").behaviours == ("dead_end",)


def test_a_loop_by_revisits_needs_three_visits():
    twice = told("1_0", "1_1", "1_2", "1_0")
    assert "loop" not in twice.behaviours
    often = told("1_0", "1_1", "1_2", "1_0", "1_3", "1_4", "1_0")
    assert often.behaviours == ("loop", "early_stop")
    assert often.evidence["loop"]["by"] == ["revisits"]
    assert often.evidence["loop"]["visits"] == {"1_0": 3}
    assert often.evidence["loop"]["steps"] == [2, 5]


def test_a_loop_by_a_cycle_needs_no_third_visit():
    seen = told("1_0", "2_0", "2_3", "2_4", "2_3", "2_4", end="max_steps")
    assert seen.behaviours == ("loop", "time_out")
    assert seen.evidence["loop"]["by"] == ["cycle"]
    assert seen.evidence["loop"]["cycle"] == {"hop": 2, "viewpoints": 2, "times": 2, "step": 2}


def test_a_loop_and_a_detour_within_successes():
    looped = told("1_0", "1_1", "1_0", "1_1", *PATH)
    assert looped.success
    assert looped.behaviours[0] == "loop"
    assert looped.behaviours[1:] == ("detour",)
    assert told("1_0", "1_1", *PATH).behaviours == ("detour",)
    assert told("1_0", "2_0", "2_4", "2_5", "2_2", *PATH[4:]).behaviours == ("none",)
    far = told("1_0", "2_0", "2_4", "2_5", "2_6", "2_2", "4_0", "4_3", "4_1", "6_0")
    assert far.behaviours == ("detour",)
    assert far.evidence["detour"]["excess_metres"] > 3


def test_turns_on_the_spot_are_no_visits():
    how = result("1_0", "2_0")
    how["trajectory"] = [["1_0", 0.1 * k, 0.0] for k in range(6)] + [["2_0", 0.0, 0.0]]
    assert "loop" not in analyse(how, episode(), scene()).behaviours


@pytest.mark.parametrize("kind", ["unparsed", "invalid_option", "refusal"])
def test_a_generation_error_that_ended_the_episode_comes_first(kind):
    how = result("1_0", "2_0", "1_0", "2_0", "1_0", end="unparsed")
    how["steps"].append({"faults": [f"{kind}: option 9 is not offered"] * 3})
    seen = analyse(how, episode(), scene())
    assert seen.behaviours == ("generation_error", "loop")
    assert seen.evidence["generation_error"] == {
        "kind": kind, "ended": True, "counts": {kind: 3}, "steps": [4],
    }  # fmt: skip


def test_a_generation_error_that_it_recovered_from_comes_last():
    how = result(*PATH)
    how["steps"][2]["faults"] = [{"kind": "invalid_option", "text": "9"}]
    seen = analyse(how, episode(), scene())
    assert (seen.success, seen.behaviours) == (True, ("generation_error",))
    assert seen.evidence["generation_error"]["ended"] is False


def test_unreadable_replies_at_the_goal_are_no_success():
    seen = told(*PATH, end="unparsed")
    assert not seen.success
    assert seen.behaviours == ("generation_error", "missed_stop")


def test_cause_region_by_label():
    seen = told(*PATH[:4], "2_1", "3_0")
    assert seen.cause == "region"
    assert seen.evidence["causes"]["region"] == {"named": ["Bedroom"], "by": "label", "within": 1}


def test_cause_region_by_the_words_of_the_options():
    unknown = scene().replace(
        regions=tuple(r.model_copy(update={"label": "Unknown"}) for r in scene().regions)
    )
    how = result(*PATH[:4], "2_1", "3_0")
    for option in how["steps"][3]["options"]:
        option["description"] = "a bedroom" if option["viewpoint"] == "4_0" else "a table"
    seen = analyse(how, episode(), unknown)
    assert seen.cause == "region"
    assert seen.evidence["causes"]["region"]["by"] == "description"


def test_no_region_is_blamed_where_both_ways_lead_to_one():
    unknown = scene().replace(
        regions=tuple(r.model_copy(update={"label": "Unknown"}) for r in scene().regions)
    )
    how = result(*PATH[:4], "2_1", "3_0")
    for option in how["steps"][3]["options"]:
        option["description"] = "a bedroom"
    assert analyse(how, episode(), unknown).cause != "region"


def test_no_region_is_blamed_where_the_right_way_enters_none():
    said = "Go around the living room."
    way = ("2_5", "2_1", "2_2")
    assert told("2_5", "2_1", "3_0", said=said, path=way, success=False).cause == "late_stop"


def test_no_region_is_blamed_where_the_instruction_names_none():
    assert told(*PATH[:4], "2_1", "3_0", said="Walk on and wait.").cause == "direction"


def test_cause_direction():
    how = result("1_0", "2_0", "2_6", "2_3")
    how["trajectory"][2][1] = math.pi / 2
    seen = analyse(how, episode("Go straight. Turn left. Wait there."), scene())
    assert seen.cause == "direction"
    assert seen.evidence["causes"]["direction"] == {
        "said": "left", "chosen": "around", "within": 1,
    }  # fmt: skip
    other = analyse(how, episode("Go straight. Turn right. Wait there."), scene())
    assert "direction" not in other.evidence["causes"]
    assert other.cause == "ambiguous"


def test_without_headings_the_last_hop_says_where_it_looks():
    seen = told("1_0", "2_0", "2_6", "2_3", said="Go straight. Turn left. Wait there.")
    assert seen.cause == "direction"


def test_cause_vertical_by_the_hops():
    path = ("1_0", "2_0", "2_3", "9_5", "9_11")
    seen = told("1_0", "2_0", "2_3", "2_0", "2_9", said="Walk on.", path=path, home="demo:villa")
    assert seen.cause == "vertical"
    assert seen.evidence["causes"]["vertical"] == {"right": "up", "chosen": "level", "within": 1}


def test_cause_vertical_where_the_stairs_are_three_hops_off():
    path = ("1_0", "2_0", "2_3", "9_5", "9_11")
    seen = told("1_0", "1_1", said="Go upstairs.", path=path, home="demo:villa")
    assert seen.evidence["causes"]["vertical"]["within"] == 3
    same = told("1_0", "1_1", said="Walk on.", path=path[:3], home="demo:villa")
    assert "vertical" not in same.evidence["causes"]


def test_cause_premature_stop_after_a_detour():
    path = ("2_0", "2_5", "2_2", "4_0", "4_1", "6_0")
    seen = told("2_0", "2_6", "2_2", said="Go on.", path=path)
    metres = round(metres_to_goal("2_2", episode(path=path), scene()), 2)
    assert metres != round(metres_to_goal("2_0", episode(path=path), scene()), 2)
    assert seen.evidence["causes"]["premature_stop"] == {"metres_to_goal": metres}
    out = told("2_0", "2_6", "2_2", end="max_steps", said="Go on.", path=path)
    assert "premature_stop" not in out.evidence["causes"]


def test_cause_object_by_what_is_near():
    path = ("1_0", "2_0", "2_6", "2_2", "2_1", "3_0", "3_1", "3_3")
    stopped = told(*path[:3], said="Go to the stove.", path=path)
    assert stopped.cause == "premature_stop"
    assert stopped.evidence["causes"]["object"]["named"] == ["stove"]
    assert told(*path[:3], end="max_steps", said="Go to the stove.", path=path).cause == "object"


def test_cause_object_by_the_words_of_the_options():
    how = result(*PATH[:4], "2_1")
    for option in how["steps"][3]["options"]:
        option["description"] = "two pianos" if option["viewpoint"] == "4_0" else "a wall"
    seen = analyse(how, episode("Walk on past the piano."), scene())
    assert seen.cause == "object"


def test_the_very_next_hop_goes_before_the_next_three():
    path = ("2_0", "2_5", "2_2", "4_0")
    later = told("2_0", "1_0", said="Go to the bedroom.", path=path)
    assert later.evidence["causes"]["region"]["within"] == 3


def test_object_navigation_is_held_against_the_shortest_way():
    what = episode("Find a desk.", path=PATH, goals=("6_0", "5_2")).model_copy(update={"path": ()})
    seen = analyse(result("1_0", "2_0"), what, scene())
    assert seen.reference == ("1_0", "1_1", "5_0", "5_2")
    assert (seen.deviation.expected, seen.deviation.taken) == ("1_1", "2_0")


def test_a_hop_along_no_edge_is_named():
    seen = told("1_0", "2_0", "6_0")
    assert seen.evidence["invalid_hop"] == {"step": 1, "from": "2_0", "to": "6_0"}


def test_what_the_caller_says_of_success_holds():
    assert told(*PATH, success=False).behaviours == ("missed_stop",)


_names = st.sampled_from([v.id for v in scene().viewpoints] + ["", "no such place"])
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | _names,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=12,
)
_poses = st.lists(st.tuples(_names, st.floats(), st.floats()) | _json, max_size=25)
_steps = st.lists(
    _json
    | st.fixed_dictionaries(
        {
            "action": _json
            | st.fixed_dictionaries(
                {"kind": st.sampled_from(["move", "stop", "ask"]), "viewpoint": _names | _json}
            ),
            "options": _json
            | st.lists(st.fixed_dictionaries({"viewpoint": _json, "description": _json})),
            "faults": _json | st.lists(st.text() | st.fixed_dictionaries({"kind": _json})),
        }
    ),
    max_size=8,
)


@settings(max_examples=3 * settings.default.max_examples)
@given(
    trajectory=_poses | _json,
    steps=_steps | _json,
    end=st.sampled_from(["stop", "max_steps", "unparsed", "dead_end"]) | _json,
    stopped=_json,
    said=st.text(min_size=1, max_size=200),
    path=st.lists(_names.filter(bool), max_size=6),
    goals=st.lists(_names.filter(bool), min_size=1, max_size=3),
)
def test_it_never_raises_and_its_tags_are_json(trajectory, steps, end, stopped, said, path, goals):
    how = {"trajectory": trajectory, "steps": steps, "end": end, "stopped": stopped}
    what = episode(said).model_copy(update={"path": tuple(path), "goals": tuple(goals)})
    seen = analyse(how, what, scene())
    back = json.loads(json.dumps(seen.tags, allow_nan=False))
    assert read_tags(back) is not None
    assert set(seen.behaviours) <= set(BEHAVIOURS)
    assert seen.cause in CAUSES
    assert analyse({}, what, scene()).deviation is None


def test_tags_that_nobody_wrote_are_not_read():
    good = told(*PATH[:3]).tags
    assert read_tags(good) is not None
    for bad in (
        None,
        {},
        {**good, "behaviour": []},
        {**good, "behaviour": ["loop", "loop"]},
        {**good, "behaviour": ["dances"]},
        {**good, "cause": ["region"]},
    ):
        assert read_tags(bad) is None


def test_words_of_instructions():
    assert named_rooms("Leave the BEDROOM; the bar is on the stairs") == {"Bedroom"}
    assert named_rooms("the dining area by the living room") == {"Dining Room", "Living Room"}
    assert named_items("Stand by the vases, shelves and two chairs") == {"vase", "shelf", "chair"}
    assert mentions_stairs("Go to the second floor")
    assert not mentions_stairs("Walk one step further")
    said = "Go straight, take a hard right, then turn around. It is on your left."
    assert [c.ways for c in split_clauses(said)] == [("straight",), ("right",), ("around",), ()]
    assert directions_at(said, 0.0) == ("straight", "right")
    assert directions_at(said, 1.0) == ("around",)
    assert directions_at("", 0.5) == ()


def test_a_long_text_costs_no_more_than_its_bound():
    assert len(split_clauses("turn left. " * 100_000)) < 400
    assert named_rooms("bedroom " * 100_000) == {"Bedroom"}


def tagged(success, behaviour, cause, **evidence):
    return read_tags(
        {"success": success, "behaviour": behaviour, "cause": cause, "evidence": evidence}
    )


def test_episodes_are_counted_by_what_they_did_and_why():
    tallies = count_failures(
        [
            tagged(False, ["loop", "detour"], "direction", loop={"by": ["revisits", "cycle"]}),
            tagged(None, ["early_stop"], "premature_stop", early_stop={"where": "short"}),
            tagged(False, ["loop"], "direction", loop={"by": ["cycle", "magic", 7]}, detour=3),
            tagged(True, ["none"], "none"),
        ]
    )
    assert tallies.episodes == 4
    assert [(words, tally.episodes) for words, tally in tallies.parts] == [
        ("failed", 3),
        ("succeeded", 1),
    ]
    failed, succeeded = tallies.tables()
    assert failed.header == (
        "behaviour", "premature stop", "direction", "episodes", "share", "in all",
    )  # fmt: skip
    assert failed.rows == (
        ("loop (cycles 2, revisits 1)", "–", "2", "2", "66.7%", "2"),
        ("early stop (on the right way 1)", "1", "–", "1", "33.3%", "1"),
        ("detour", "–", "–", "0", "0.0%", "1"),
        ("all", "1", "2", "3", "100.0%", ""),
    )
    assert succeeded.rows == (("none", "1", "1", "100.0%", "1"), ("all", "1", "1", "100.0%", ""))


@pytest.mark.parametrize(("metres", "success"), [(2.99, True), (3.0, False)])
def test_a_success_ends_strictly_within_three_metres(metres, success, monkeypatch):
    monkeypatch.setattr(failure_analysis, "metres_to_goal", lambda *_: metres)
    assert told(*PATH).success is success
    assert not told(*PATH, end="unparsed").success


def test_a_success_off_the_way_has_a_cause_only_where_it_did_anything_wrong():
    beside = told("1_0", "2_0", "2_4", "2_5", "2_2", *PATH[4:])
    assert beside.deviation is not None
    assert (beside.cause, "causes" in beside.evidence) == ("none", False)
    around = told("1_0", "1_1", *PATH)
    assert around.success
    assert (around.cause == "none", "causes" in around.evidence) == (False, True)
