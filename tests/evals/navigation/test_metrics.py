"""The metrics: the golden case, the field's reference table, and small cases worked out by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from navloom.errors import DataError
from navloom.evals.navigation import metrics, path_metrics
from navloom.evals.navigation.graph_distances import MOST_POSITIONS
from navloom.evals.navigation.metrics import (
    EpisodeContacts,
    EpisodeScore,
    NavigationScorer,
    cluster_of,
    mean_metrics,
    score_episodes,
    score_paths,
)
from navloom.evals.navigation.path_metrics import first_dtw_row, next_dtw_row
from navloom.evals.navigation.submission import read_submission
from navloom.evals.tasks.episode import Episode
from navloom.evals.tasks.registry import load_task
from navloom.scenes.scene import Edge, Floor, Point3, Region, Scene, Viewpoint
from navloom.scenes.scene_uri import load_scene


def scene_with(points: dict[str, Point3], edges: Sequence[str], name: str = "made") -> Scene:
    return Scene(
        id=name,
        source="made",
        floors=(Floor(id=1, height=0.0),),
        regions=(Region(id="Room_0", center=(0, 0, 0)),),
        viewpoints=tuple(Viewpoint(id=v, position=p) for v, p in points.items()),
        edges=tuple(Edge(a=a, b=b) for a, b in map(str.split, edges)),
    )


# a - b - c - d in a row, 2 m apart, and z, to which no way leads.
ROW = scene_with(
    {"a": (0, 0, 0), "b": (2, 0, 0), "c": (4, 0, 0), "d": (6, 0, 0), "z": (0, 9, 0)},
    ["a b", "b c", "c d"],
)


def episode(walk: str = "abcd", name: str = "e", **changes: object) -> Episode:
    given = {
        "id": name,
        "task": "made",
        "scene": ROW.uri,
        "start": walk[0],
        "instruction": "walk",
        "goals": (walk[-1],),
        "path": tuple(walk),
    }
    return Episode.model_validate({**given, **changes})


def score(path: str | None, given: Episode | None = None, **more: object) -> EpisodeScore:
    given = given or episode()
    trajectories = {} if path is None else {given.id: list(path)}
    (found,) = score_episodes([given], trajectories, {ROW.uri: ROW}.__getitem__, **more)  # type: ignore[arg-type]
    return found


def golden_scene(folder: Path) -> tuple[Scene, list[str]]:
    """The scan of the golden case; a node's number is its place among the P lines, from 1."""
    rows = [
        line.split()
        for line in (folder / "gZ6f7yhEvPG.house").read_text().splitlines()
        if line.startswith("P ")
    ]
    points = {row[1]: (float(row[5]), float(row[6]), float(row[7])) for row in rows}
    panoramas = json.loads((folder / "gZ6f7yhEvPG_connectivity.json").read_text())
    edges = [
        f"{here['image_id']} {there['image_id']}"
        for here in panoramas
        for there, free in zip(panoramas, here["unobstructed"], strict=True)
        if free
    ]
    return scene_with(points, edges, "golden"), ["", *points]


@pytest.mark.realdata
def test_golden_case(data_dir: Path) -> None:
    # google-research/valan r2r/eval_metric_test.py; the values are in the README of the data.
    scene, node = golden_scene(data_dir / "mp3d" / "golden")
    walked, reference = ([node[k] for k in path] for path in ([1, 3, 7, 5, 2], [1, 4, 6, 2]))
    paths = [walked, walked[:-1], reference]
    found = score_paths(scene, paths, [reference] * 3, [[node[2]]] * 3)
    whole = {name: float(values[0]) for name, values in found.items()}
    assert whole["TL"] == pytest.approx(9.7893029461736418, abs=1e-10)
    assert whole["SPL"] == pytest.approx(0.5455238662, abs=1e-10)
    assert whole["CLS"] == pytest.approx(0.36422316181585335, abs=1e-10)
    assert whole["nDTW"] == whole["SDTW"] == pytest.approx(0.7020390225, abs=1e-10)
    assert (whole["NE"], whole["SR"], whole["OSR"]) == (0, 1, 1)
    assert found["NE"][1] == pytest.approx(2.9398794637, abs=1e-10)
    assert [found[name][2] for name in ("nDTW", "SDTW", "CLS", "SPL_gt")] == [1] * 4


REFERENCE = {
    "prevalent": (9.9863, 4.1361, 0.6015, 0.6488, 0.5601, 0.6702, 0.5316, 0.6534),
    "path": (9.5046, 0, 1, 1, 0.9984, 1, 1, 1),
    "start": (0, 9.4797, 0, 0, 0, 0.2254, 0, 0.1825),
}
"""TL NE SR OSR SPL nDTW SDTW CLS on R2R val_unseen: the table in the README of the data."""


@pytest.mark.realdata
def test_reference_table(data_dir: Path) -> None:
    data = data_dir / "mp3d"
    task = load_task("r2r", data, "val_unseen")
    scorer = NavigationScorer(task.episodes, lambda name: load_scene(task.scenes[name]))
    file = data / "trajectories" / "prevalent_val_unseen.json"
    trajectories = {
        "prevalent": read_submission(file).trajectories,
        "path": {each.id: each.path for each in task.episodes},
        "start": {each.id: (each.start,) for each in task.episodes},
    }
    for name, expected in REFERENCE.items():
        scores = scorer.score(trajectories[name])
        assert not scores.invalid
        names = ("TL", "NE", "SR", "OSR", "SPL", "nDTW", "SDTW", "CLS")
        means = [float(scores.columns[metric].mean()) for metric in names]
        assert [round(mean, 4) for mean in means] == list(expected), name


def test_by_hand() -> None:
    # a b a b: 6 m walked of the 6 m to d, of which b is 4 m away.
    values = score("abab").values
    assert values["TL"] == 6
    assert values["NE"] == 4
    assert values["SR"] == values["OSR"] == values["SPL"] == values["SDTW"] == 0
    # a-a b-b a-b b-b b-c b-d: 0 + 0 + 2 + 0 + 2 + 4.
    assert values["nDTW"] == pytest.approx(math.exp(-8 / 12))
    near = [0, 0, 2, 4]
    coverage = sum(math.exp(-metres / 3) for metres in near) / 4
    expected = coverage * 6
    assert values["CLS"] == pytest.approx(coverage * expected / (expected + 6 - expected))


# a - b - c - d - e - f in a row, 2 m apart: 10 m to f.
LONG = scene_with(
    {v: (2.0 * k, 0, 0) for k, v in enumerate("abcdef")}, ["a b", "b c", "c d", "d e", "e f"]
)


@pytest.mark.parametrize(
    ("walk", "left", "nearer", "soft"),
    [
        # Habitat: max(0, 1 - left / 10) x 10 / max(10, walked).
        ("a", 10, 0, 0),
        ("abc", 6, 4, 0.4),
        ("abcbabc", 6, 4, 0.4 * 10 / 12),
        ("abcdef", 0, 10, 1),
        ("abcdefed", 4, 6, 0.6 * 10 / 14),
    ],
)
def test_how_much_of_the_way_was_covered(
    walk: str, left: float, nearer: float, soft: float
) -> None:
    given = episode("abcdef", scene=LONG.uri)
    (found,) = score_episodes([given], {"e": list(walk)}, lambda _: LONG)
    values = found.values
    assert (values["NE"], values["GP"], values["DTS"]) == (left, nearer, max(0, left - 3))
    assert values["SoftSPL"] == pytest.approx(soft)


def test_to_go_further_away_is_progress_below_nothing_and_no_soft_success() -> None:
    given = episode("cd", scene=LONG.uri)
    (found,) = score_episodes([given], {"e": list("cba")}, lambda _: LONG)
    assert (found.values["GP"], found.values["SoftSPL"]) == (-4, 0)


@pytest.mark.parametrize(
    ("walk", "end", "shares"),
    [
        ("abcdef", "stop", {"SR", "SR_stopped", "SR_end", "OSR"}),
        ("abcdef", "max_steps", {"SR", "SR_end", "OSR"}),
        ("abcdef", "unparsed", {"SR_end", "OSR"}),
        ("abc", "stop", {"early_stop"}),
        ("abc", "max_steps", set()),
        ("abcded", "stop", {"late_stop", "OSR"}),
        ("abcded", "max_steps", {"OSR"}),
    ],
)
def test_what_a_stop_is_worth(walk: str, end: str, shares: set[str]) -> None:
    given = episode("abcdef", scene=LONG.uri)
    (found,) = score_episodes([given], {"e": list(walk)}, lambda _: LONG, ends={"e": end})
    names = ("SR", "SR_stopped", "SR_end", "OSR", "early_stop", "late_stop")
    assert {name for name in names if found.values[name]} == shares


def test_success_is_strictly_below_the_radius() -> None:
    assert score("abc").values["SR"] == 1  # 2 m
    assert score("abc", radius=2.0).values["SR"] == 0
    assert score("abcb", radius=2.0).values["OSR"] == 0
    assert score("abcdcb").values["SR"] == 0
    assert score("abcdcb").values["OSR"] == 1


def test_spl_against_the_shortest_way_and_against_the_reference() -> None:
    # The reference goes to and fro: 10 m, where the shortest way has 6.
    values = score("abcd", episode("ababcd")).values
    assert (values["SPL"], values["SPL_gt"]) == (1, 1)
    values = score("abababcd", episode("ababcd")).values
    assert (values["SPL"], values["SPL_gt"]) == (6 / 14, 10 / 14)


def test_no_way_to_go() -> None:
    here = episode("a")
    assert score("a", here).values == {
        "TL": 0, "NE": 0, "DTS": 0, "GP": 0, "SR": 1, "SR_stopped": 1, "SR_end": 1, "OSR": 1,
        "early_stop": 0, "late_stop": 0, "SPL": 1, "SoftSPL": 1, "SPL_gt": 1, "nDTW": 1, "SDTW": 1,
        "CLS": 1,
    }  # fmt: skip
    assert score("aba", here).values["SPL"] == score("aba", here).values["SoftSPL"] == 0


def test_nearest_of_several_goals() -> None:
    given = episode("ab", goals=("d", "b"))
    assert score("abc", given).values["NE"] == 2
    assert score("a", given).values["NE"] == 2


def test_goal_out_of_reach_is_null_with_a_reason() -> None:
    found = score("ab", episode("ab", goals=("z",)))
    assert found.values["NE"] is None
    why = "no way leads from the last viewpoint to a goal"
    assert found.undefined == dict.fromkeys(("NE", "DTS", "GP"), why)
    assert found.values["SR"] == found.values["SPL"] == found.values["SoftSPL"] == 0
    json.dumps(found.record(), allow_nan=False)


def test_no_reference_path() -> None:
    found = score("abc", episode(path=()))
    assert found.values["SPL"] == 1
    for name in ("SPL_gt", "nDTW", "SDTW", "CLS"):
        assert found.values[name] is None
        assert found.undefined[name] == "there is no reference path"
    gap = score("abc", episode(path=("a", "z")))
    for name in ("SPL_gt", "nDTW", "SDTW", "CLS"):
        assert gap.values[name] is None
        assert gap.undefined[name] == "the reference path has a gap"


def test_visible_target() -> None:
    given = episode("abcd", visible_from=("a",))
    assert score("abc", given).values["SR_visible"] == 0
    assert score("aba", given).values["SR_visible"] == 1
    assert score("abca", given).values["SR_visible"] == 0
    assert "SR_visible" not in score("abc").values


THING = {"visible_from": ("d", "c"), "columns": {"object": 7}}


@pytest.mark.parametrize(
    ("walk", "named", "right", "weighted"),
    [
        ("abcd", "7", 1, 1),
        ("abcd", "8", 0, 0),
        ("abcd", None, 0, 0),
        # The target is seen from c, too; 6 m is the length of the published path.
        ("abc", "7", 1, 1),
        ("ababc", "7", 1, 6 / 8),
        # Named, and not seen from where it stopped.
        ("ab", "7", 0, 0),
        ("abd", "7", 0, 0),
    ],
)
def test_the_right_thing_counts_where_it_is_seen(
    walk: str, named: str | None, right: float, weighted: float
) -> None:
    # 6 m published, or 8 walked: TL of ababc is 8.
    values = score(walk, episode("abcd", **THING), pointed={"e": named}).values
    assert (values["RGS"], values["RGSPL"]) == (right, weighted)


def test_who_was_not_asked_for_a_thing_has_no_score_of_it() -> None:
    assert not {"RGS", "RGSPL"} & score("abcd", episode("abcd", **THING)).values.keys()
    assert not {"RGS", "RGSPL"} & score("abcd", pointed={"e": "7"}).values.keys()


def test_a_thing_named_by_who_chose_no_place_is_none() -> None:
    found = score("abcd", episode("abcd", **THING), ends={"e": "unparsed"}, pointed={"e": "7"})
    assert (found.values["RGS"], found.values["RGSPL"]) == (0, 0)


def test_a_walk_of_no_length_to_a_thing_weighs_in_full() -> None:
    here = episode("a", visible_from=("a",), columns={"object": 7})
    assert score("a", here, pointed={"e": "7"}).values["RGSPL"] == 1


@pytest.mark.realdata
def test_the_right_thing_at_the_end_of_the_published_path_is_a_whole_success(
    data_dir: Path,
) -> None:
    task = load_task("reverie", data_dir / "mp3d", "val_unseen")
    scorer = NavigationScorer(task.episodes, lambda name: load_scene(task.scenes[name]))
    right = {each.id: str(each.columns["object"]) for each in task.episodes}
    paths = {each.id: each.path for each in task.episodes}
    columns = scorer.score(paths, pointed=right).columns
    assert (columns["RGS"].min(), columns["RGSPL"].min()) == (1, 1)
    # And it is among what is offered there.
    for each in task.episodes:
        offered = [thing["id"] for thing in task.things[each.scene][each.path[-1]]]
        assert right[each.id] in offered


def test_contacts() -> None:
    def touched(*metres: float, actions: int = 4) -> dict[str, float | None]:
        values = score("abcd", contacts={"e": EpisodeContacts(metres, actions)}).values
        return {name: values[name] for name in ("collision_rate", "SR_strict", "SR_telhop", "SR")}

    assert touched() == {"collision_rate": 0, "SR_strict": 1, "SR_telhop": 1, "SR": 1}
    assert touched(0.09, 0.02)["SR_strict"] == 1
    assert touched(0.09, 0.1) == {"collision_rate": 0.5, "SR_strict": 0, "SR_telhop": 1, "SR": 1}
    assert touched(0.09, actions=0)["collision_rate"] is None
    assert not {"collision_rate", "SR_strict", "SR_telhop"} & score("abcd").values.keys()


def test_an_end_that_nobody_chose_is_no_success() -> None:
    values = score("abcd", ends={"e": "unparsed"}).values
    assert (values["SR"], values["SPL"], values["SDTW"]) == (0, 0, 0)
    assert (values["OSR"], values["NE"], values["nDTW"]) == (1, 0, 1)


def test_to_end_where_the_target_is_seen_is_a_choice_too() -> None:
    given = episode("abcd", visible_from=("d",))
    assert score("abcd", given).values["SR_visible"] == 1
    assert score("abcd", given, ends={"e": "unparsed"}).values["SR_visible"] == 0


@pytest.mark.parametrize(
    ("path", "reason", "said"),
    [
        (None, "missing", "there is no trajectory for it"),
        ("", "empty", "expected at least the start a"),
        ("bcd", "wrong_start", "it begins at b: expected the start a"),
        ("abd", "no_edge", "hop 2, from b to d, is along no edge"),
        ("abdbz", "no_edge", "hop 2, from b to d"),
        ("ax", "unknown_viewpoint", "[1] 'x' is no viewpoint of made:made"),
        ("ab" * MOST_POSITIONS, "too_long", "20,000 positions: expected at most 10,000"),
    ],
)
def test_what_nobody_can_have_walked(path: str | None, reason: str, said: str) -> None:
    found = score(path)
    assert found.invalid is not None
    assert found.invalid.reason == reason
    assert said in found.invalid.message
    assert found.values == {
        "TL": None, "NE": None, "DTS": None, "GP": None, "SR": 0, "SR_stopped": 0, "SR_end": 0,
        "OSR": 0, "early_stop": 0, "late_stop": 0, "SPL": 0, "SoftSPL": 0, "SPL_gt": 0, "nDTW": 0,
        "SDTW": 0, "CLS": 0,
    }  # fmt: skip
    assert found.record()["invalid"] == {"reason": reason, "message": found.invalid.message}


def test_invalid_ones_leave_the_others_alone() -> None:
    names = ["good", "lost", "gone", "strange", "fine"]
    paths = {"good": "abcd", "lost": "ad", "strange": "aq", "fine": "aab"}
    found = score_episodes(
        [episode(name=name) for name in names], paths, {ROW.uri: ROW}.__getitem__
    )
    reasons = [each.invalid and each.invalid.reason for each in found]
    assert reasons == [None, "no_edge", "missing", "unknown_viewpoint", None]
    assert [each.values["SR"] for each in found] == [1, 0, 0, 0, 0]
    assert found[4].values["TL"] == 2


def test_scenes_are_told_apart() -> None:
    # The same ids twice as far apart; episodes of both, in turns.
    points: dict[str, Point3] = {"a": (0, 0, 0), "b": (4, 0, 0), "c": (8, 0, 0)}
    far = scene_with(points, ["a b", "b c"], "far")
    episodes = [
        episode("abc", name=f"{scene.id}{k}", scene=scene.uri)
        for k in (0, 1)
        for scene in (ROW, far)
    ]
    scenes = {ROW.uri: ROW, far.uri: far}
    found = score_episodes(episodes, {each.id: "abc" for each in episodes}, scenes.__getitem__)
    assert [each.id for each in found] == [each.id for each in episodes]
    assert [each.values["TL"] for each in found] == [4, 8, 4, 8]


def test_an_episode_that_does_not_fit_its_scene() -> None:
    with pytest.raises(
        DataError, match="episode e of made, in made:made: there is no viewpoint 'q'"
    ):
        score("ab", episode(goals=("q",)))


def test_score_paths_says_what_is_wrong() -> None:
    with pytest.raises(DataError, match="path 0: there is no viewpoint 'q'"):
        score_paths(ROW, ["q"], ["a"], ["a"])
    with pytest.raises(DataError, match="path 0: expected at least one viewpoint"):
        score_paths(ROW, [""], ["a"], ["a"])
    with pytest.raises(DataError, match="goals 0: expected at least one"):
        score_paths(ROW, ["a"], ["a"], [[]])
    with pytest.raises(DataError, match="1 paths, 0 references and 1 goals"):
        score_paths(ROW, ["a"], [], ["a"])
    assert all(len(values) == 0 for values in score_paths(ROW, [], [], []).values())
    assert score_episodes([], {}, {}.__getitem__) == []


def test_parts_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = ["a", "ab", "abcdcbabcd", "abcd", "abcba", "ab"] * 5
    given = (ROW, paths, ["abcd"] * len(paths), ["d"] * len(paths))
    whole = score_paths(*given)
    monkeypatch.setattr(path_metrics, "_MOST_CELLS", 30)
    for name, values in score_paths(*given).items():
        assert values.tolist() == whole[name].tolist()


def warp(cost: np.ndarray) -> float:
    row = first_dtw_row(cost[0][:, None])
    for step in cost[1:]:
        next_dtw_row(row, step[:, None])
    return float(row[-1, 0])


def test_warp_by_hand() -> None:
    cost = np.array([[1.0, 9.0, 9.0], [9.0, 1.0, 2.0], [9.0, 9.0, 4.0]])
    assert warp(cost) == 1 + 1 + 4  # both, both
    assert warp(cost[:1]) == 19
    assert warp(cost[:, :1]) == 19
    assert warp(np.array([[0.0, math.inf], [math.inf, math.inf]])) == math.inf


def test_instructions_of_a_path_belong_together() -> None:
    assert cluster_of(episode(columns={"path_id": 7})) == "made:made/7"
    assert cluster_of(episode()) == "e"


def test_success_of_an_episode_is_its_sr() -> None:
    assert score("abcd").success
    assert not score("ab").success


def test_record_has_the_number_of_actions_where_contacts_are_reported() -> None:
    assert score("abcd", contacts={"e": EpisodeContacts((0.2,), 5)}).record()["actions"] == 5
    assert "actions" not in score("abcd").record()


@pytest.mark.parametrize(("end", "collided"), [("collision", 1), ("stop", 0)])
def test_an_episode_collided_where_contact_ended_it(end: str, collided: float) -> None:
    touched = {"e": EpisodeContacts((0.2,), 5)}
    assert score("abcd", contacts=touched, ends={"e": end}).values["collided"] == collided


def test_a_collision_rate_is_of_one_action_too() -> None:
    assert score("a", contacts={"e": EpisodeContacts((0.2,), 1)}).values["collision_rate"] == 1


# The body ends 1 m beside c on the way to d, 1 m from the goal.
STOOD: tuple[Point3, ...] = ((0, 0, 0), (2, 0, 0), (4, 0, 0), (5, 0, 0))


@pytest.mark.parametrize(
    ("end", "success", "stopped"), [("stop", 1, 1), ("max_steps", 1, 0), ("collision", 0, 0)]
)
def test_a_walk_beside_the_viewpoints_is_measured_where_the_body_stood(
    end: str, success: float, stopped: float
) -> None:
    values = score("abcd", ends={"e": end}, points={"e": STOOD}).values
    assert (values["TL"], values["NE"]) == (5, 1)
    assert (values["SR"], values["SR_stopped"]) == (success, stopped)
    assert score("abcd", points={"other": STOOD}).values["TL"] == 6
    assert score("abd", points={"e": STOOD[:3]}).values["TL"] is None


def test_scenes_that_do_not_fit_into_one_table_are_scored_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("first", "second", "third")
    scenes = {
        f"made:{name}": scene_with({"a": (0, 0, 0), "b": (k + 1.0, 0, 0)}, ["a b"], name)
        for k, name in enumerate(names)
    }
    episodes = [episode("ab", name=uri.removeprefix("made:"), scene=uri) for uri in scenes]
    monkeypatch.setattr(metrics, "_MOST_CELLS", 7)  # of one scene 4
    found = score_episodes(episodes, dict.fromkeys(names, "ab"), scenes.__getitem__)
    assert [each.values["TL"] for each in found] == [1, 2, 3]
    for most, tables in ((7, 3), (8, 2), (11, 2), (12, 1)):
        monkeypatch.setattr(metrics, "_MOST_CELLS", most)
        assert len(NavigationScorer(episodes, scenes.__getitem__)._groups) == tables


def test_collision_rate_of_a_run_is_contacts_over_actions() -> None:
    records: list[dict[str, object]] = [
        {"collision_rate": 1.0, "actions": 1, "cluster": "p"},
        {"collision_rate": 0.0, "actions": 3, "cluster": "q"},
    ]
    (row,) = mean_metrics(records)
    assert row.mean == 0.25
    # Old runs do not say how many actions: each weighs one.
    del records[0]["actions"]
    (row,) = mean_metrics(records)
    assert row.mean == 0.25


def test_a_path_without_reference_in_a_scene_of_one_viewpoint() -> None:
    alone = scene_with({"a": (0, 0, 0)}, [], "alone")
    found = score_paths(alone, ["a"], [[]], ["a"])
    assert found["SPL"].tolist() == [1]
    assert all(math.isnan(found[name][0]) for name in ("SPL_gt", "nDTW", "SDTW", "CLS"))


@pytest.mark.parametrize("cells", [1, 7, 16_000])
def test_references_of_other_lengths_change_nothing(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(path_metrics, "_MOST_CELLS", cells)
    given = [("abcb", "abcd", "d"), ("aba", "ab", "b"), ("a", "", "b"), ("dcba", "abcdcb", "ad")]
    together = score_paths(ROW, *zip(*given, strict=True))
    for k, (walk, reference, goals) in enumerate(given):
        alone = score_paths(ROW, [walk], [reference], [goals])
        for name, values in alone.items():
            np.testing.assert_allclose(together[name][k], values[0], err_msg=name)


def test_spl_against_a_reference_counts_successes_alone() -> None:
    values = score("ab", episode("abcd")).values
    assert (values["SR"], values["SPL_gt"]) == (0, 0)
    assert score("abc", episode("abcd")).values["SPL_gt"] == 1
