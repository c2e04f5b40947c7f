"""Two runs side by side as blocks: the numbers of `navloom compare`, and one pair looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.errors import RunError
from navloom.evals.report.blocks import (
    Columns,
    Fact,
    Facts,
    Grid,
    Prose,
    Scatter,
    SceneMap,
    Transcript,
    Variants,
    block_to_json,
)
from navloom.evals.report.comparison_report import comparison_blocks, pair_detail
from navloom.evals.report.run_comparison import pairing_of
from navloom.evals.run_folder import iter_samples
from navloom.evals.run_kinds import kind_of
from tests.evals.navigation.walks import PATH, episode, line, result, run_folder

LOOP = ("1_0", "1_1", "1_2", "1_0", "1_3", "1_4", "1_0")


def made(folder: Path, **walks: tuple[str, ...]) -> Path:
    lines = [line(episode(id=name), result(*walk), name) for name, walk in walks.items()]
    return run_folder(folder, lines)


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    a = made(tmp_path / "a", e0=PATH, e1=LOOP, e2=PATH, e3=PATH[:3], e4=PATH)
    return a, made(tmp_path / "b", e0=PATH, e1=PATH, e2=LOOP, e3=LOOP)


def test_blocks_say_what_compare_says(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = comparison_blocks(*runs)
    json.dumps(block_to_json(blocks), allow_nan=False)
    tables = [block.table for block in blocks if isinstance(block, Grid)]
    assert main(["compare", *map(str, runs)]) == 0
    said = capsys.readouterr().out.replace(f"{runs[0].parent}/", "")
    assert said.strip() == "\n\n".join(t.markdown() for t in tables)
    # A page says runs by name: where they lie is nobody's business.
    assert str(runs[0].parent) not in json.dumps(block_to_json(blocks))
    assert str(runs[0].parent) not in json.dumps(block_to_json(pair_detail(*runs, "e1")))
    first, who = (block.facts for block in blocks if isinstance(block, Facts))
    assert [fact.value for fact in first] == ["4", "1", "0"]
    assert who == (
        Fact(name="both", value="1", to="pair/e0"),
        Fact(name="only A", value="1", to="pair/e2", tone="good"),
        Fact(name="only B", value="1", to="pair/e1", tone="good"),
        Fact(name="neither", value="1", to="pair/e3"),
    )


def test_a_dot_a_pair(runs: tuple[Path, Path]) -> None:
    dots = {b.title: b for b in comparison_blocks(*runs) if isinstance(b, Scatter)}
    assert list(dots) == ["SPL", "NE", "nDTW", "steps"]
    assert [dot.to for dot in dots["SPL"].dots] == [f"pair/e{k}" for k in range(4)]
    lost, found = dots["SPL"].dots[1].x, dots["SPL"].dots[1].y
    # The way that was told is 3 % longer than the shortest.
    assert (lost, round(found, 3)) == (0.0, 0.968)
    assert "Less is better." in dots["NE"].note


def test_the_pairs_of_each_group_are_listed(runs: tuple[Path, Path]) -> None:
    (groups,) = [b for b in comparison_blocks(*runs) if isinstance(b, Variants)]
    assert [name for name, _ in groups.variants] == [
        *("only B (1)", "only A (1)", "all (4)", "both (1)", "neither (1)")
    ]
    grid = groups.variants[0][1][0]
    assert isinstance(grid, Grid)
    assert grid.to == ("pair/e1",)
    assert grid.table.rows[0][:2] == ("e1", "0.0% to 96.8%")


def test_giving_up_early_is_no_merit(tmp_path: Path) -> None:
    names = [f"e{k}" for k in range(8)]
    a = made(tmp_path / "a", **dict.fromkeys(names, PATH))
    b = made(tmp_path / "b", **dict.fromkeys(names, PATH[:2]))
    blocks = comparison_blocks(a, b)
    said = next(block.text for block in blocks if isinstance(block, Prose))
    assert said.startswith("A (a) succeeds more (SR 100.0% against 0.0%), and is better in ")
    assert "B (b) takes fewer steps" in said
    assert said.endswith(", and succeeds less.")
    (pairs,) = [block for block in blocks if isinstance(block, Variants)]
    assert [name for name, _ in pairs.variants][:2] == ["only A (8)", "all (8)"]
    # Of two runs that succeed alike, the one that took less is better.
    slow = made(tmp_path / "c", **dict.fromkeys(names, ("1_0", "1_1", "1_0", *PATH[1:])))
    said = next(x.text for x in comparison_blocks(a, slow) if isinstance(x, Prose))
    assert "A (a) is better in " in said
    assert "steps" in said


def test_a_pair_on_one_map(runs: tuple[Path, Path]) -> None:
    detail = pair_detail(*runs, "e1")
    json.dumps(block_to_json(detail), allow_nan=False)
    assert detail.headline == "only B succeeded"
    (plan,) = [block for block in detail.blocks if isinstance(block, SceneMap)]
    assert [route.style for route in plan.routes] == ["true", "walk", "other"]
    assert [mark.label for mark in plan.marks if mark.kind == "stop"] == ["A ended", "B ended"]
    assert len(plan.frames) == 7
    facts = [f for block in detail.blocks if isinstance(block, Facts) for f in block.facts]
    parts = next(fact for fact in facts if fact.name == "they part")
    assert parts.value.startswith("at step 1: A moves to option ")
    assert parts.to == "pair/e1?step=1"
    (columns,) = [block for block in detail.blocks if isinstance(block, Columns)]
    said = [b for column in columns.columns for b in column if isinstance(b, Transcript)]
    assert [len(each.said) for each in said] == [7, 7]
    scores = detail.blocks[-1]
    assert isinstance(scores, Grid)
    assert ("SR", "0.0%", "100.0%", "+100.0") in scores.table.rows


def test_walks_that_are_the_same_never_part(runs: tuple[Path, Path]) -> None:
    facts = [f for b in pair_detail(*runs, "e0").blocks if isinstance(b, Facts) for f in b.facts]
    assert facts[-1].value == "never: both walks are the same"


def test_what_cannot_be_a_pair_is_said_in_a_line(runs: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(RunError, match="b has no finished sample 'e4'"):
        pair_detail(*runs, "e4")
    other = [line(episode("Elsewhere.", id="e0"), result(*PATH), "e0")]
    with pytest.raises(RunError, match="'e0' is another episode"):
        pair_detail(runs[0], run_folder(tmp_path / "c", other), "e0")


def test_runs_of_two_kinds_are_refused(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks, captions = tmp_path / "tasks", tmp_path / "captions"
    assert main(["synth", "single", "demo:flat", "--n", "1", "--out", str(tasks)]) == 0
    assert main(["caption", "demo:flat", "--limit", "1", "--out", str(captions)]) == 0
    capsys.readouterr()
    for other, said in (
        (tasks, f"one of `navloom {kind_of(tasks).command}`: only runs of one kind"),
        (captions, "`navloom caption`"),
    ):
        with pytest.raises(RunError, match=r"compared") as caught:
            pairing_of(runs[0], other)
        assert said in str(caught.value)
        assert main(["compare", str(runs[0]), str(other)]) == 1
        assert capsys.readouterr().err.count("\n") == 1


def test_a_line_of_another_form_is_said_in_a_line(runs: tuple[Path, Path], tmp_path: Path) -> None:
    told = line(episode(id="e0"), result(*PATH), "e0")
    del told["result"]["episode"]["goals"]
    broken = run_folder(tmp_path / "c", [told])
    for ask in (
        lambda: comparison_blocks(runs[0], broken),
        lambda: pair_detail(runs[0], broken, "e0"),
    ):
        with pytest.raises(RunError, match="the sample 'e0' has no episode and scores") as caught:
            ask()
        assert "\n" not in str(caught.value)


def test_two_runs_of_any_kind_that_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        assert main(["synth", "single", "demo:flat", "--n", "3", "--out", str(folder)]) == 0
    capsys.readouterr()
    assert main(["compare", str(a), str(b)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert "| task | 100.0% | 100.0% | +0.0 | – | 3 | 1 | no difference shown |" in rows
    name = next(iter(iter_samples(a)))["id"]
    detail = pair_detail(a, b, name)
    (beside,) = [block for block in detail.blocks if isinstance(block, Columns)]
    assert len(beside.columns) == 2
    assert beside.columns[0][1:] == beside.columns[1][1:]
    # What both say alike is said once, beneath.
    assert detail.headline == "both succeeded (task)"
    assert any(isinstance(block, Transcript) for block in detail.blocks)
    (pairs,) = [block for block in comparison_blocks(a, b) if isinstance(block, Variants)]
    grid = pairs.variants[0][1][0]
    assert isinstance(grid, Grid)
    assert (grid.table.header[:2], grid.table.rows[0][1]) == (
        ("attempt", "task, A to B"),
        "100.0% to 100.0%",
    )
