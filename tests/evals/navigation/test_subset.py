"""Subsets: proportional, balanced, seeded, checked, and what runs failed on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navloom.errors import DataError, RunError, UsageError
from navloom.evals.navigation.subset import (
    SubsetAxis,
    SubsetIndex,
    bin_edges,
    build_subset,
    compare_axes,
    compare_quantiles,
    episode_length,
    failed_subset,
    hash_ids,
    load_subset,
    read_failures,
    save_subset,
    subset_chart,
)
from navloom.evals.quota import equal_shares, proportional_shares
from navloom.evals.report.blocks import Bars
from navloom.evals.run_folder import RunFolder
from navloom.evals.tasks.episode import Episode, TaskData
from navloom.evals.tasks.registry import load_task


def episode(path: int, k: int, scan: str, metres: float, category: str | None = None) -> Episode:
    return Episode(
        id=f"{path}_{k}",
        task="made",
        scene=f"mp3d:{scan}",
        start="a",
        instruction=" ".join(["go"] * (5 + path % 20)),
        goals=("b",),
        category=category,
        columns={"item": str(path), "instruction_index": k, "path_metres": metres},
    )


def made(sizes: dict[str, int], *, categories: list[str] | None = None) -> TaskData:
    rng = np.random.default_rng(7)
    episodes, path = [], 0
    for scan, size in sizes.items():
        for _ in range(size):
            metres = round(float(rng.uniform(5, 20)), 3)
            category = categories[path % len(categories)] if categories else None
            episodes += [episode(path, k, scan, metres, category) for k in range(3)]
            path += 1
    scenes = {f"mp3d:{scan}": f"mp3d:data/{scan}" for scan in sizes}
    return TaskData("made", "val", tuple(episodes), scenes, ("a note",))


DATA = made({"A": 50, "B": 31, "C": 12, "D": 3})


@given(
    st.integers(1, 6).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(0, 60), min_size=columns, max_size=columns), min_size=1, max_size=8
        )
    ),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=settings.default.max_examples // 2)
def test_shares_are_within_one_of_exact_in_every_direction(
    rows: list[list[int]], part: float, seed: int
) -> None:
    sizes = np.array(rows, dtype=np.int64)
    n = int(part * sizes.sum())
    shares = proportional_shares(n, sizes, np.random.default_rng(seed))
    exact = sizes * (n / max(1, sizes.sum()))
    assert shares.sum() == n
    assert ((shares >= 0) & (shares <= sizes)).all()
    for axis in (None, 0, 1):
        off = np.abs(shares - exact) if axis is None else np.abs((shares - exact).sum(axis=axis))
        assert (off < 1 - 1e-6).all()


@pytest.mark.parametrize("seed", range(12))
def test_a_row_or_column_whose_share_is_whole_gets_exactly_that(seed: int) -> None:
    # A half of each cell: of the first row and of both columns that is 1, whatever the dice say.
    sizes = np.array([[1, 1], [1, 0], [0, 1]])
    shares = proportional_shares(2, sizes, np.random.default_rng(seed))
    assert shares[0].sum() == 1
    assert shares.sum(axis=0).tolist() == [1, 1]
    # Where the share of a row is no whole number it may be the one below or above.
    three = proportional_shares(3, sizes * 3, np.random.default_rng(seed))
    assert three.sum() == 3
    assert 1 <= three[0].sum() <= 2


@given(st.lists(st.integers(0, 30), max_size=12), st.integers(0, 200))
def test_balanced_shares_are_equal_as_far_as_they_can_be(sizes: list[int], n: int) -> None:
    shares = equal_shares(n, sizes)
    assert sum(shares) == min(n, sum(sizes))
    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))
    not_emptied = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    assert not not_emptied or max(shares) - min(not_emptied) <= 1


@pytest.mark.parametrize("n", [1, 10, 48, 95, 96])
def test_scans_and_bins_are_in_proportion(n: int) -> None:
    part = build_subset(DATA, n, seed=1).pick(DATA).episodes
    assert len(part) == n
    whole = {e.columns["item"]: e for e in DATA.episodes}
    edges = bin_edges(DATA.episodes, 5)
    for of in (
        lambda e: e.scene,
        lambda e: int(np.searchsorted(edges, episode_length(e), "right")),
    ):
        full, some = Counter(map(of, whole.values())), Counter(map(of, part))
        assert all(abs(some[key] - n * full[key] / len(whole)) < 1 for key in full)


def test_bins_part_at_quantiles_of_paths_and_none_of_them_is_empty() -> None:
    def edges(*metres: float, bins: int) -> list[float]:
        each = [episode(path, k, "A", far, None) for path, far in enumerate(metres) for k in (0, 1)]
        return bin_edges(each, bins)

    assert edges(1, 2, 3, 4, 5, bins=2) == [3]
    assert edges(1, 2, 3, 4, 5, bins=4) == [2, 3, 4]
    assert edges(1, 2, 3, 4, 5, bins=1) == []
    # An edge at the shortest path would leave the bin below it empty.
    assert edges(7, 7, 7, 7, bins=4) == []
    assert edges(7, 7, 7, 9, bins=4) == [7.5]
    assert edges(1, 9, 9, 9, bins=4) == [7, 9]


def test_one_instruction_a_path_and_any_of_the_three() -> None:
    part = build_subset(DATA, 96, seed=1).pick(DATA).episodes
    assert len({e.columns["item"] for e in part}) == 96
    counts = Counter(e.columns["instruction_index"] for e in part)
    assert set(counts) == {0, 1, 2}
    assert min(counts.values()) > 15


def test_the_seed_alone_decides() -> None:
    first = build_subset(DATA, 20, seed=1)
    assert first == build_subset(DATA, 20, seed=1)
    assert first.ids != build_subset(DATA, 20, seed=2).ids
    order = [e.id for e in DATA.episodes]
    assert list(first.ids) == sorted(first.ids, key=order.index)


def test_categories_are_balanced() -> None:
    data = made({"A": 40, "B": 20}, categories=["bed", "bed", "bed", "sofa", "sink"])
    part = build_subset(data, 27, seed=0).pick(data).episodes
    assert Counter(e.category for e in part) == {"bed": 9, "sofa": 9, "sink": 9}
    scans = Counter(e.scene for e in part)
    assert scans["mp3d:A"] == pytest.approx(18, abs=3)


@pytest.mark.parametrize(("n", "bins"), [(0, 5), (97, 5), (5, 0)])
def test_too_many_or_none_is_a_mistake(n: int, bins: int) -> None:
    with pytest.raises(UsageError, match="has 96 paths"):
        build_subset(DATA, n, bins=bins)


def test_an_index_is_read_back_and_picks(tmp_path: Path) -> None:
    subset = build_subset(DATA, 12, seed=4, options={"spec": "demo:"})
    path = save_subset(subset, tmp_path / "new" / "subset.json")
    assert load_subset(path) == subset
    assert "go go" not in path.read_text()
    picked = subset.pick(DATA)
    assert [e.id for e in picked.episodes] == list(subset.ids)
    assert set(picked.scenes) == {e.scene for e in picked.episodes}
    assert picked.notes == ("a note", "A subset of 12 of 288 episodes (stratified).")
    assert subset.of == 288
    assert subset.of_sha256 == hash_ids([e.id for e in DATA.episodes])


def test_an_index_of_other_data_is_refused() -> None:
    subset = build_subset(DATA, 12, options={"spec": "demo:"})
    with pytest.raises(DataError, match=r"of made val.*loaded is r2r val"):
        subset.pick(TaskData("r2r", "val", DATA.episodes, DATA.scenes))
    fewer = TaskData("made", "val", DATA.episodes[:3], DATA.scenes)
    with pytest.raises(DataError, match=r"of the subset's 12 ids are not in made val.*spec demo:"):
        subset.pick(fewer)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ids": []}, "ids"),
        ({"ids": ["1_0", "1_0"]}, "'1_0' stands twice"),
        ({"ids": ["../x"]}, r"ids\[0\]"),
        ({"ids": ["1_0"]}, "changed by hand"),
        ({"version": "navloom.subset/9"}, "version"),
        ({"extra": 1}, "extra"),
        ({"task": ""}, "task"),
    ],
)
def test_a_broken_index_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = tmp_path / "s.json"
    whole = build_subset(DATA, 3).model_dump(mode="json")
    path.write_text(json.dumps({**whole, **change}))
    with pytest.raises(DataError, match=said) as caught:
        load_subset(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff", b"{" * 9000])
def test_what_is_no_index_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match="`navloom subset` wrote"):
        load_subset(path)
    with pytest.raises(DataError, match="no such file"):
        load_subset(tmp_path / "none.json")


def test_the_table_of_the_whole_with_itself_is_zero() -> None:
    axes = {axis.name: axis for axis in compare_axes(DATA.episodes, DATA.episodes)}
    assert set(axes) == {"scene", "path length", "instruction", "words"}
    assert all(axis.distance == 0 for axis in axes.values())
    assert sum(count for _, count, _ in axes["path length"].rows) == len(DATA.episodes)
    for spread in compare_quantiles(DATA.episodes, DATA.episodes):
        assert spread.full == spread.subset


def test_the_table_says_how_far_apart_two_are() -> None:
    part = [e for e in DATA.episodes if e.scene == "mp3d:A"]
    axes = {axis.name: axis for axis in compare_axes(DATA.episodes, part)}
    # A holds 50 of 96 paths: the other 46 / 96 of the whole have no share in the part.
    assert axes["scene"].distance == pytest.approx(46 / 96)
    assert axes["scene"].rows[0] == ("mp3d:A", 150, 150)
    assert axes["scene"].shares[1] == ("mp3d:B", pytest.approx(93 / 288), 0.0)


def run_of(
    path: Path,
    statuses: dict[str, str],
    *,
    errors: tuple[str, ...] = (),
    epochs: dict[str, str] | None = None,
    **request: Any,
) -> Path:
    asked = {"task": "made", "split": "val", **request}
    with RunFolder(path, kind="navigate", request=asked, seed=0) as folder:
        for name, status in statuses.items():
            folder.add_sample({"id": name, "status": status, "result": {"episode": {"id": name}}})
        for name, status in (epochs or {}).items():
            line = {"id": name, "status": status}
            folder.add_sample({**line, "result": {"episode": {"id": name.partition("-")[0]}}})
        for name in errors:
            folder.add_error({"id": name, "status": "error", "message": "boom"})
    return path


def test_hard_negatives_are_what_every_run_failed_on(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a", {"1_0": "failed", "2_0": "failed", "3_0": "ok", "5_0": "failed"})
    b = run_of(tmp_path / "b", {"1_0": "failed", "2_0": "ok", "3_0": "failed"}, errors=("5_0",))
    assert read_failures([a]).ids == ("1_0", "2_0", "5_0")
    both = read_failures([a, b])
    assert both.ids == ("1_0",)
    assert (both.finished, both.left_out) == (3, 1)
    hard = failed_subset(DATA, both.ids, runs=["a", "b"])
    assert (hard.method, hard.runs, hard.ids) == ("failed-by", ("a", "b"), ("1_0",))


def test_an_epoch_that_went_well_is_no_failure(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", {}, epochs={"1_0-e1": "failed", "1_0-e2": "ok",
                                             "2_0-e1": "failed", "2_0-e2": "failed"})  # fmt: skip
    assert read_failures([run]).ids == ("2_0",)


def test_runs_over_other_episodes_are_refused(tmp_path: Path) -> None:
    a = run_of(tmp_path / "a", {"1_0": "failed"})
    for name, other in {
        "split": {"split": "train"}, "task": {"task": "r2r"}, "options": {"options": {"n": 3}},
    }.items():  # fmt: skip
        b = run_of(tmp_path / name, {"1_0": "failed"}, **other)
        with pytest.raises(UsageError, match=f"different episodes: {name}"):
            read_failures([a, b])
    with pytest.raises(UsageError, match="no run was given"):
        read_failures([])
    with pytest.raises(RunError, match="is not a run"):
        read_failures([tmp_path / "none"])
    with RunFolder(tmp_path / "synth", kind="single", request={"model": "m"}, seed=0):
        pass
    with pytest.raises(RunError, match="no run of `navloom eval`"):
        read_failures([tmp_path / "synth"])


def test_ids_that_are_not_there_are_named() -> None:
    with pytest.raises(DataError, match="'99_9' is not one"):
        failed_subset(DATA, ["1_0", "99_9"], runs=["a"])


def test_an_index_has_one_form() -> None:
    assert set(SubsetIndex.model_fields) == {
        "version", "task", "split", "options", "method", "seed", "bins", "of", "of_sha256",
        "sha256", "runs", "ids",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.realdata
def test_a_subset_of_r2r_is_near_the_whole(data_dir: Path) -> None:
    data = load_task("r2r", data_dir / "mp3d")
    part = build_subset(data, 200).pick(data).episodes
    axes = {axis.name: axis for axis in compare_axes(data.episodes, part)}
    # 11 scans and 5 bins within 1 of exact each: at most 11 / 2 / 200 and 5 / 2 / 200.
    assert axes["scene"].distance < 0.0275
    assert axes["path length"].distance < 0.0125


@pytest.mark.parametrize(("path", "hops"), [("", 0), ("a", 0), ("ab", 1), ("abcd", 3)])
def test_a_path_whose_metres_nobody_said_is_as_long_as_its_hops(path: str, hops: float) -> None:
    given = episode(1, 0, "A", 9.5).model_copy(update={"path": tuple(path)})
    assert episode_length(given) == 9.5
    assert episode_length(given.model_copy(update={"columns": {}})) == hops


def test_edges_of_bins_have_four_decimals() -> None:
    assert bin_edges([episode(k, 0, "A", k) for k in (0, 1)], 3) == [0.3333, 0.6667]


def test_one_bin_is_enough() -> None:
    assert len(build_subset(DATA, 5, bins=1).ids) == 5


def test_a_run_without_a_split_is_refused(tmp_path: Path) -> None:
    for name, request in {"a": {"task": "made"}, "b": {"split": "val"}}.items():
        with RunFolder(tmp_path / name, kind="navigate", request=request, seed=0):
            pass
        with pytest.raises(RunError, match="names no task and split"):
            read_failures([tmp_path / name])


def test_where_the_data_was_is_read_from_the_run(tmp_path: Path) -> None:
    request = {"task": "made", "split": "val"}
    where = {"data": "somewhere", "spec": "demo:"}
    with RunFolder(tmp_path / "a", kind="navigate", request=request, seed=0, where=where):
        pass
    found = read_failures([tmp_path / "a"])
    assert (found.data, found.options, found.ids) == ("somewhere", {"spec": "demo:"}, ())
    assert (found.finished, found.left_out) == (0, 0)


def test_shares_and_spreads_by_hand() -> None:
    axis = SubsetAxis("scene", (("a", 3, 0), ("b", 1, 2)))
    assert axis.shares == [("a", 0.75, 0.0), ("b", 0.25, 1.0)]
    assert axis.to_json()["total_variation"] == 0.75
    assert SubsetAxis("scene", (("a", 3, 0), ("b", 1, 0))).distance == 0.5
    assert SubsetAxis("scene", (("a", 2, 1), ("b", 1, 1))).to_json()["total_variation"] == 0.1667
    five = [episode(k, 0, "A", far) for k, far in enumerate((1, 2, 3, 4, 10))]
    spread = {each.name: each for each in compare_quantiles(five, five[:1])}["path length (m)"]
    assert spread.to_json()["full"] == {
        "mean": 4, "min": 1, "q25": 2, "median": 3, "q75": 4, "max": 10,
    }  # fmt: skip
    assert set(spread.subset) == {1}


@pytest.mark.parametrize(
    ("words", "groups"),
    [
        (9, ["< 10", "20 to 30"]),
        (10, ["10 to 20", "20 to 30"]),
        (19, ["10 to 20", "20 to 30"]),
        (30, ["20 to 30", "30 to 40"]),
        (39, ["20 to 30", "30 to 40"]),
        (40, ["20 to 30", "40 and more"]),
    ],
)
def test_words_are_counted_by_tens(words: int, groups: list[str]) -> None:
    near = [
        each.model_copy(update={"instruction": " ".join(["go"] * n)})
        for each, n in zip(DATA.episodes, (words, 25), strict=False)
    ]
    rows = {axis.name: axis for axis in compare_axes(near, near)}["words"].rows
    assert [name for name, *_ in rows] == groups


@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_goes_to_the_larger_remainder(seed: int) -> None:
    # Exact shares are 2.1 and 0.9, or 2.8 and 1.2.
    dice = np.random.default_rng(seed)
    assert proportional_shares(3, np.array([[7, 3]]), dice).tolist() == [[2, 1]]
    assert proportional_shares(4, np.array([[7, 3]]), dice).tolist() == [[3, 1]]
    assert proportional_shares(3, np.array([[7], [3]]), dice).tolist() == [[2], [1]]
    assert proportional_shares(0, np.zeros((1, 2), dtype=np.int64), dice).tolist() == [[0, 0]]


def test_equal_remainders_are_drawn() -> None:
    found = {
        tuple(
            proportional_shares(1, np.array([[1, 1]]), np.random.default_rng(seed)).ravel().tolist()
        )
        for seed in range(20)
    }
    assert found == {(1, 0), (0, 1)}


@pytest.mark.parametrize(
    ("n", "sizes", "shares"),
    [(10, [2, 9, 9], [2, 4, 4]), (11, [2, 9, 9], [2, 5, 4]), (2, [3, 3, 3], [1, 1, 0]),
     (0, [3], [0]), (9, [3], [3]), (3, [], []), (5, [1, 0, 9], [1, 0, 4])],
)  # fmt: skip
def test_balanced_shares_by_hand(n: int, sizes: list[int], shares: list[int]) -> None:
    assert equal_shares(n, sizes) == shares


@pytest.mark.parametrize(("scans", "shown"), [(2, 2), (40, 40), (41, 40)])
def test_a_chart_shows_forty_values_of_an_axis(scans: int, shown: int) -> None:
    axis = SubsetAxis("scene", tuple((f"s{k}", 1, 1) for k in range(scans)))
    _, bars = subset_chart([axis], DATA.episodes, DATA.episodes[:1])
    assert isinstance(bars, Bars)
    assert len(bars.bars) == 2 * shown  # of the whole and of the subset
