"""Datasets in the real formats: R2R, REVERIE, object navigation, and what is wrong with files."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import DataError, NavloomError, UsageError
from navloom.evals.tasks import registry
from navloom.evals.tasks.objectnav import phrase_category
from navloom.evals.tasks.registry import TASKS, load_task, options_of
from navloom.evals.tasks.targets import CATEGORIES, category_of, clean_name
from tests.evals.tasks.folder import BOXES, add_scan, folder, r2r_record, reverie_record, write


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return folder(tmp_path)


def test_r2r_episodes_are_one_an_instruction(data: Path) -> None:
    task = load_task("r2r", data)
    assert [e.id for e in task.episodes] == ["1_0", "1_1", "1_2", "2_0", "2_1", "2_2"]
    first = task.episodes[0]
    assert first.instruction == "Walk 1 the 0 way."
    assert (first.start, first.goals, first.path) == ("v0", ("v3",), ("v0", "v1", "v2", "v3"))
    assert first.heading == 1.5
    # The record's own distance, 99, is not believed.
    assert first.columns == {
        "item": "1", "path_id": 1, "instruction_index": 0, "path_metres": 12.0,
    }  # fmt: skip
    assert task.scenes == {"mp3d:scanA": f"mp3d:{data}/scanA"}
    assert (task.split, task.notes) == ("val_unseen", ())


@pytest.mark.parametrize("task", ["r2r", "reverie", "objectnav"])
def test_rooms_that_nobody_knows_are_said_in_one_line(data: Path, task: str) -> None:
    before = load_task(task, data)
    (data / "regions" / "house_region_to_panorama.json").unlink()
    found = load_task(task, data)
    assert found.episodes == before.episodes
    (said,) = set(found.notes) - set(before.notes)
    assert said.startswith("Scans whose rooms are unknown")
    assert said.endswith("(1): scanA.")


def test_files_may_lie_in_the_folder_itself(data: Path) -> None:
    (data / "r2r" / "R2R_val_unseen.json").rename(data / "R2R_val_unseen.json")
    assert len(load_task("r2r", data).episodes) == 6


def test_what_the_scan_does_not_bear_out_is_left_out_by_name_and_count(data: Path) -> None:
    write(data / "r2r" / "R2R_val_unseen.json", [
        r2r_record(1, ["v0", "v1"]),
        r2r_record(2, ["v0", "nowhere"]),
        r2r_record(3, ["v0", "v7"]),
        r2r_record(4, ["v0", "v2"]),
        r2r_record(5, ["v0", "v1"], scan="scanZ"),
        r2r_record(6, ["v1", "v2"], instructions=["Go.", "  \n", "\u200b\x00"]),
        r2r_record(1, ["v0", "v1"], instructions=["Again."]),
    ])  # fmt: skip
    task = load_task("r2r", data)
    assert [e.id for e in task.episodes] == ["1_0", "1_1", "1_2", "4_0", "4_1", "4_2", "6_0"]
    notes = "\n".join(task.notes)
    assert "3 episodes are left out: a viewpoint that is not in the scan's graph: path 2" in notes
    assert "nowhere" in notes
    assert "3 episodes are left out: no way from the start to the goal: path 3" in notes
    assert "Paths with a step along no edge (1): path 4 (scanA v0-v2)." in notes
    assert "scanZ_connectivity.json" in notes
    assert "2 episodes are left out: an empty instruction: 6_1, 6_2." in notes
    assert "an id that stands twice: 1_0" in notes


def test_no_episode_left_is_an_error_that_says_why(data: Path) -> None:
    write(data / "r2r" / "R2R_val_unseen.json", [r2r_record(5, ["v0"], scan="scanZ")])
    with pytest.raises(DataError, match=r"expected at least one episode.*scanZ"):
        load_task("r2r", data)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"path": []}, r"R2R_val_unseen.json: \[1\].path"),
        ({"heading": "north"}, r"\[1\].heading"),
        ({"heading": 90}, r"\[1\].heading"),
        ({"scan": "../etc"}, r"\[1\].scan"),
        ({"path": ["v0", "../x"]}, r"\[1\].path\[1\]"),
        ({"path_id": -1}, r"\[1\].path_id"),
        ({"instructions": ["a" * 20_001]}, r"\[1\].instructions\[0\]"),
        ({"instructions": "Go."}, r"\[1\].instructions"),
    ],
)
def test_a_broken_record_is_named_by_index_and_field(
    data: Path, change: dict[str, object], said: str
) -> None:
    records = [r2r_record(1, ["v0", "v1"]), {**r2r_record(2, ["v0", "v1"]), **change}]
    write(data / "r2r" / "R2R_val_unseen.json", records)
    with pytest.raises(DataError, match=said):
        load_task("r2r", data)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"[1, 2", b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_no_dataset_is_refused_in_one_line(data: Path, content: bytes) -> None:
    (data / "r2r" / "R2R_val_unseen.json").write_bytes(content)
    with pytest.raises(DataError) as caught:
        load_task("r2r", data)
    assert "R2R_val_unseen.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_clear_error(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    where = tmp_path_factory.getbasetemp() / "any"
    (where / "r2r").mkdir(parents=True, exist_ok=True)
    (where / "r2r" / "R2R_val_unseen.json").write_bytes(raw)
    with pytest.raises(NavloomError):
        load_task("r2r", where)


def test_a_missing_file_says_where_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"R2R_train.json.*peteanderson80/Matterport3DSimulator"):
        load_task("r2r", tmp_path, "train")
    with pytest.raises(DataError, match=r"REVERIE_val_unseen.json.*YuankaiQi/REVERIE"):
        load_task("objectnav", tmp_path)


def test_names_that_are_not_there_are_told_of(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="Did you mean 'reverie'"):
        load_task("revery", data)
    with pytest.raises(UsageError, match="Did you mean 'val_unseen'"):
        load_task("r2r", data, "val-unseen")
    with pytest.raises(UsageError, match="not published"):
        load_task("r2r", data, "test")
    with pytest.raises(UsageError, match="Did you mean 'goals'"):
        load_task("reverie", data, goal="path")
    with pytest.raises(UsageError, match="Did you mean 'visible'"):
        load_task("reverie", data, goals="visable")
    with pytest.raises(DataError, match="no such folder"):
        load_task("r2r", data / "none")
    monkeypatch.delenv("NAVLOOM_DATA", raising=False)
    with pytest.raises(UsageError, match="--data DIR"):
        load_task("r2r")
    monkeypatch.setenv("NAVLOOM_DATA", str(data))
    with pytest.raises(DataError, match="mp3d: there is no such folder"):
        load_task("r2r")


def test_every_task_says_what_it_has() -> None:
    assert set(TASKS) == {"r2r", "r4r", "reverie", "objectnav", "scene", "dialogue"}
    assert options_of("scene") == ("spec", "kind", "n", "seed")
    for name in TASKS:
        assert registry.import_module(TASKS[name].module).SOURCE


def test_reverie_keeps_the_path_end_and_who_sees_the_target_apart(data: Path) -> None:
    task = load_task("reverie", data)
    assert [e.id for e in task.episodes] == ["1_7_0", "1_7_1", "2_5_0", "2_5_1"]
    seen = task.episodes[0]
    assert seen.goals == ("v3",)
    # v0 lists it unseen, no way leads to v7, and "gone" is no viewpoint.
    assert seen.visible_from == ("v3", "v4")
    assert seen.columns["object_name"] == "coffee table"
    assert task.episodes[2].visible_from == ()
    assert "Records whose target no viewpoint sees (1): 2_5 (scanA)." in task.notes
    wide = load_task("reverie", data, goals="visible")
    assert wide.episodes[0].goals == ("v3", "v4")
    assert wide.episodes[2].goals == ("v1",)


def test_reverie_v1_and_boxes_one_file_a_viewpoint_read_alike(data: Path) -> None:
    later = load_task("reverie", data).episodes
    whole = data / "reverie" / "BBox" / "scanA.json"
    whole.unlink()
    for viewpoint, objects in BOXES.items():
        write(whole.with_name(f"scanA_{viewpoint}.json"), {viewpoint: objects})
    records = json.loads((data / "reverie" / "REVERIE_val_unseen.json").read_text())
    first = [{**r, "distance": 1.0, "ix": 3, "instructions_l": ["x"]} for r in records]
    write(data / "reverie" / "REVERIE_val_unseen.json", first)
    assert load_task("reverie", data).episodes == later


def test_reverie_says_what_is_seen_from_each_viewpoint(data: Path) -> None:
    # Views 7 and 8 of twelve a round: 225 degrees.
    table = {"id": "7", "name": "coffee table", "heading": pytest.approx(math.radians(225))}
    things = load_task("reverie", data).things["mp3d:scanA"]
    assert [each["id"] for each in things["v4"]] == ["7", "8"]
    assert things["v3"] == [table]
    assert [each["name"] for each in things["v0"]] == ["chair"]
    assert load_task("reverie", data, grounding=False).things == {}
    assert load_task("dialogue", data).things == {}


def test_reverie_without_boxes_says_so(data: Path) -> None:
    (data / "reverie" / "BBox" / "scanA.json").unlink()
    task = load_task("reverie", data)
    assert all(not e.visible_from for e in task.episodes)
    assert any("no BBox file" in note for note in task.notes)


def test_broken_boxes_are_named(data: Path) -> None:
    write(data / "reverie" / "BBox" / "scanA.json", {"v0": {"7": {"name": "x"}}})
    with pytest.raises(DataError, match=r"scanA.json: v0.7.visible_pos"):
        load_task("reverie", data)


def test_dialogue_is_reverie_by_another_name(data: Path) -> None:
    asked, told = load_task("dialogue", data), load_task("reverie", data)
    assert [e.model_copy(update={"task": "reverie"}) for e in asked.episodes] == list(told.episodes)
    assert {e.task for e in asked.episodes} == {"dialogue"}


def test_objectnav_goals_are_all_who_see_the_category(data: Path) -> None:
    task = load_task("objectnav", data, n=100)
    assert {e.category for e in task.episodes} == {"table", "chair"}
    for episode in task.episodes:
        wanted = {"table": {"v3", "v4", "v7"}, "chair": {"v0"}}[str(episode.category)]
        assert set(episode.goals) == wanted
        assert episode.derived
        assert episode.columns["path_metres"] >= 5
        assert episode.path[0] == episode.start
        assert episode.path[-1] in wanted
        assert episode.columns["path_metres"] == pytest.approx(4 * (len(episode.path) - 1))
    assert any("not the published" in note for note in task.notes)
    assert "1 seen objects of 1 names fall under no category." in task.notes


def test_objectnav_is_balanced_seeded_and_never_repeats_a_start(data: Path) -> None:
    add_scan(data, "scanB")
    write(data / "reverie" / "BBox" / "scanB.json", BOXES)
    records = [reverie_record(1, 7, ["v0", "v1"]), reverie_record(2, 7, ["v0", "v1"], "scanB")]
    write(data / "reverie" / "REVERIE_val_unseen.json", records)
    task = load_task("objectnav", data, n=6, seed=3)
    assert Counter(e.category for e in task.episodes) == {"table": 3, "chair": 3}
    # As even over the two scans as three are.
    for category in ("table", "chair"):
        scans = Counter(e.scene for e in task.episodes if e.category == category)
        assert sorted(scans.values()) == [1, 2]
    assert task == load_task("objectnav", data, n=6, seed=3)
    others = [load_task("objectnav", data, n=6, seed=seed).episodes for seed in range(5)]
    assert any(each != task.episodes for each in others)
    everything = load_task("objectnav", data, n=1000).episodes
    assert len({(e.scene, e.category, e.start) for e in everything}) == len(everything)


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("table#/w#books", "table"), ("sofa#chair", "chair"), ("l#shape#sofa", "sofa"),
        ("pillows", "cushion"), ("toilet#seat", None), ("toilet", "toilet"), ("toilet#brush", None),
        ("paper towel", None), ("handrail#/otherroom", None), ("pictures", "picture"),
        ("tv#stand", None), ("weights", "gym_equipment"), ("", None), ("x" * 9999, None),
    ],
)  # fmt: skip
def test_categories_by_name(name: str, category: str | None) -> None:
    assert category_of(name) == category


@given(st.text())
def test_any_name_has_a_category_or_none(name: str) -> None:
    assert category_of(name) in {*CATEGORIES, None}
    assert clean_name(name).isascii()


def test_a_category_is_said_without_help() -> None:
    assert all(phrase_category(category).endswith(".") for category in CATEGORIES)
    assert phrase_category("chest_of_drawers") == "Find a chest of drawers."


@pytest.mark.slow
@pytest.mark.realdata
def test_the_real_counts(data_dir: Path) -> None:
    """Counts and the mean path of R2R are those of the data's own page (TL 9.5046 over 783)."""
    task = load_task("r2r", data_dir / "mp3d")
    assert (len(task.episodes), len(task.scenes), task.notes) == (2349, 11, ())
    paths = {e.columns["path_id"]: e.columns["path_metres"] for e in task.episodes}
    assert len(paths) == 783
    assert statistics.fmean(paths.values()) == pytest.approx(9.5046, abs=5e-5)
    task = load_task("reverie", data_dir / "mp3d")
    assert (len(task.episodes), len(task.scenes), task.notes) == (3433, 10, ())
    assert len({e.columns["item"] for e in task.episodes}) == 1292
    # Every published path ends where the target is seen.
    assert all(e.goals[0] in e.visible_from for e in task.episodes)


@pytest.mark.slow
@pytest.mark.realdata
def test_the_real_object_navigation(data_dir: Path) -> None:
    task = load_task("objectnav", data_dir / "mp3d", n=210)
    counts = Counter(e.category for e in task.episodes)
    assert set(counts) == set(CATEGORIES)
    assert set(counts.values()) == {10}
