"""R4R: which paths are joined, to what, and what walks along and across them score."""

from __future__ import annotations

from pathlib import Path

import pytest

from navloom.errors import DataError
from navloom.evals.navigation.metrics import NavigationScorer, cluster_of
from navloom.evals.tasks import r2r, r4r
from navloom.evals.tasks.matterport import ScanCache
from navloom.evals.tasks.registry import load_task
from navloom.scenes.scene_uri import load_scene
from tests.evals.tasks.folder import add_scan, r2r_record, write

# n0 - n1 - ... - n19, 1 m apart.
PLACES = {f"n{i}": (float(i), 0.0) for i in range(20)}
CHAIN = [(f"n{i}", f"n{i + 1}") for i in range(19)]


def way(first: int, last: int) -> list[str]:
    step = 1 if last >= first else -1
    return [f"n{i}" for i in range(first, last + step, step)]


def made(data: Path, *ways: list[str], scan: str = "scanB") -> Path:
    add_scan(data, scan, PLACES, CHAIN)
    records = [
        r2r_record(70 + k, path, scan, instructions=[f"{k}a.", f"{k}b. "], heading=0.1 * k)
        for k, path in enumerate(ways)
    ]
    write(data / "r2r" / "R2R_val_unseen.json", records)
    return data


def test_what_is_joined(tmp_path: Path) -> None:
    # From 4 to 7 there are 3 m, which is near enough; from 11 to 15, 4 m, which is not.
    made(tmp_path, way(0, 4), way(7, 11), way(15, 19))
    task = load_task("r4r", tmp_path)
    both = [(e.columns["first_path_id"], e.columns["second_path_id"]) for e in task.episodes]
    assert list(dict.fromkeys(both)) == [(70, 71)]
    first = task.episodes[0]
    assert first.path == tuple(way(0, 11))
    assert (first.start, first.goals, first.heading) == ("n0", ("n11",), 0.0)
    assert first.columns["path_metres"] == 11


def test_a_path_that_ends_where_another_starts_stands_there_once(tmp_path: Path) -> None:
    made(tmp_path, way(0, 4), way(4, 0))
    paths = {e.columns["path_id"]: e.path for e in load_task("r4r", tmp_path).episodes}
    assert paths == {0: (*way(0, 4), *way(3, 0)), 1: (*way(4, 0), *way(1, 4))}


def test_a_path_that_ends_near_its_own_start_is_joined_to_itself(tmp_path: Path) -> None:
    made(tmp_path, way(0, 2))
    (path,) = {e.path for e in load_task("r4r", tmp_path).episodes}
    assert path == (*way(0, 2), *way(1, 0), *way(1, 2))


def test_every_instruction_goes_before_every_other(tmp_path: Path) -> None:
    made(tmp_path, way(0, 4), way(6, 10))
    task = load_task("r4r", tmp_path)
    # As published: nothing between them, whatever the first ends with.
    assert [(e.id, e.instruction) for e in task.episodes] == [
        ("0_0", "0a.1a."), ("0_1", "0a.1b."), ("0_2", "0b. 1a."), ("0_3", "0b. 1b."),
    ]  # fmt: skip
    assert {cluster_of(e) for e in task.episodes} == {"mp3d:scanB/70"}


def test_no_two_paths_that_can_be_joined_are_an_error(tmp_path: Path) -> None:
    made(tmp_path, way(0, 5), way(9, 13))
    with pytest.raises(DataError, match=r"no two of its 2 paths can be joined"):
        load_task("r4r", tmp_path)


def test_a_scan_that_is_missing_is_named(tmp_path: Path) -> None:
    made(tmp_path, way(0, 4))
    records = [r2r_record(70 + k, way(0, 3), scan) for k, scan in enumerate(("scanB", "scanC"))]
    records.append(r2r_record(73, way(3, 9), "scanB"))
    write(tmp_path / "r2r" / "R2R_val_unseen.json", records)
    task = load_task("r4r", tmp_path)
    assert {e.scene for e in task.episodes} == {"mp3d:scanB"}
    assert any("whose paths are not joined: scanC" in note for note in task.notes)


def test_who_cuts_across_arrives_and_has_not_stayed_on_the_path(tmp_path: Path) -> None:
    made(tmp_path, way(0, 6), way(6, 3))
    task = load_task("r4r", tmp_path)
    (episode,) = (e for e in task.episodes if e.path == (*way(0, 6), *way(5, 3)) and e.id == "0_0")
    scorer = NavigationScorer([episode], lambda name: load_scene(task.scenes[name]))
    faithful, direct = (
        next(scorer.score({episode.id: walk}).each()).values for walk in (episode.path, way(0, 3))
    )
    for name in ("SR", "CLS", "nDTW", "SDTW", "SPL_gt"):
        assert faithful[name] == 1
    assert faithful["SPL"] == 3 / 9
    assert (direct["SR"], direct["SPL"]) == (1, 1)
    assert max(direct[name] or 0 for name in ("CLS", "nDTW", "SDTW")) < 0.75


@pytest.mark.slow
@pytest.mark.realdata
def test_the_real_counts(data_dir: Path) -> None:
    """The script's own figures: 5,018 paths, 45,162 instructions, 68,419 pairs; see the docs."""
    _, records = r2r.read_items(data_dir / "mp3d", "val_unseen")
    joined = [*r4r.join_paths(records, ScanCache(data_dir / "mp3d"))]
    assert len(joined) == 5026
    assert sum(len(path.instructions) for path in joined) == 45_234
    assert [path.path_id for path in joined] == list(range(5026))
