"""The studies: what they count, by hand, and whole on the homes that ship."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navloom.errors import NavloomError, UnfinishedError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navcraft.studies import (
    ARMS,
    stats_by_role,
    study_ablation,
    study_profiles,
    study_relays,
    total_variation,
)
from navloom.evals.progress import Summary
from navloom.evals.report.report_files import read_report
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.session import Session
from navloom.evals.study import StudyRuns
from navloom.models.usage import UsageLimits


def row(scene: str, thing: str, age: int | None = None, status: str = "ok") -> dict[str, Any]:
    profile = None if age is None else {"Age": age, "Occupation": "Student"}
    task = {"Target object": thing, "Task instruction": f"Take the {thing} away."}
    return {"scene": scene, "status": status, "profile": profile, "result": {"phase_1": task}}


def test_failed_tasks_are_nobodys() -> None:
    assert stats_by_role([row("a", "toy", 9, status="failed"), row("a", "toy")]) == []


def test_roles_that_want_different_things_are_apart() -> None:
    child, teen = stats_by_role([row("a", "toy", 9), row("a", "toy", 9), row("a", "book", 15)])
    assert (child.name, child.tasks, child.favourites) == ("9, Student", 2, (("toy", 2),))
    assert child.apart == teen.apart == 1.0


counts = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1)


@given(counts, counts)
def test_total_variation_is_a_distance(a: dict[str, int], b: dict[str, int]) -> None:
    assert total_variation(a, a) == 0
    assert total_variation(a, b) == pytest.approx(total_variation(b, a))
    assert 0 <= total_variation(a, b) <= 1 + 1e-12
    if not set(a) & set(b):
        assert total_variation(a, b) == pytest.approx(1)


@pytest.mark.slow
def test_study_of_profiles_makes_two_runs_and_two_tables(tmp_path: Path) -> None:
    request = SynthRequest(kind="single", spec="demo:", n=1)
    diversity, by_role = study_profiles(request, 2, tmp_path)
    assert [cells[:2] for cells in diversity.rows] == [
        ("no profile", "40"),
        ("five profiles", "40"),
    ]
    assert len(by_role.rows) == 5
    kept = read_report(tmp_path).blocks
    assert [each.table.title for each in kept] == ["Diversity", "Roles"]  # type: ignore[union-attr]
    assert kept[0].to == ("run/none/scores", "run/profiles/scores")  # type: ignore[union-attr]
    assert {row["scene"] for row in read_samples(tmp_path / "none")} == {"demo:flat", "demo:house"}


@pytest.mark.slow
def test_study_of_relays_holds_models_against_the_optimum(tmp_path: Path) -> None:
    request = SynthRequest(kind="collab", spec="demo:", n=6)
    (table,) = study_relays(request, ["builtin/heuristic", "builtin/random"], tmp_path)
    found = {cells[0]: [float(cell.rstrip("%")) for cell in cells[2:]] for cells in table.rows}
    for model in ("builtin/heuristic", "builtin/random"):
        ours, best = found[f"{model}: gain, 1 − g"], found[f"{model}: gain, 1 − g, of the optimum"]
        assert all(a <= b + 1e-9 for a, b in zip(ours, best, strict=True))
        assert found[f"{model}: regret of alpha"][0] >= 0
    kept = read_report(tmp_path)
    assert kept.title == table.title
    titles = [
        each.title or getattr(getattr(each, "table", None), "title", "") for each in kept.blocks
    ]
    assert (kept.blocks[0].table, titles[2]) == (replace(table, record={}), "Gain and regret")  # type: ignore[union-attr]
    assert {"Table 4", "Tasks to look at"} <= set(titles)


def test_a_study_stops_at_a_limit_and_goes_on(tmp_path: Path) -> None:
    request = SynthRequest(kind="collab", spec="demo:flat", n=4)
    with pytest.raises(UnfinishedError, match="token-limit") as stopped:
        study_relays(request, ["builtin/random"], tmp_path, Session(token_limit=20_000))
    assert stopped.value.exit_code == 2
    before = len(read_samples(tmp_path / "builtin-random"))
    study_relays(request, ["builtin/random"], tmp_path)
    assert before < len(read_samples(tmp_path / "builtin-random")) == 4


@pytest.mark.slow
def test_a_study_is_whole_whatever_part_a_session_names(tmp_path: Path) -> None:
    request = SynthRequest(kind="collab", spec="demo:flat", n=3)
    study_relays(request, ["builtin/heuristic"], tmp_path, Session(limit=1))
    assert len(read_samples(tmp_path / "builtin-heuristic")) == 3


def test_an_arm_of_the_ablation_changes_what_it_says_and_nothing_else(tmp_path: Path) -> None:
    request = SynthRequest(kind="collab", spec="demo:flat", n=1)
    # Rules choose from names that are listed, and read whole scenes and answers like any model.
    arms = [arm for arm in ARMS if not {"constrain", "hold_names"} & ARMS[arm].keys()]
    table = study_ablation(request, tmp_path, n=1, n_full=2, arms=arms)
    assert [row[:2] for row in table.rows] == [(arm, "2" if arm == "full" else "1") for arm in arms]
    asked = {arm: read_run(tmp_path / arm.replace(" ", "-"))["request"] for arm in arms}
    for arm in arms[1:]:
        changed = {
            key: value
            for key, value in asked[arm].items()
            if value != asked["full"][key] and key not in ("n", "prompts")
        }
        assert changed == ARMS[arm]
    fields = {each.name for each in dataclasses.fields(SynthRequest)}
    assert all(set(changes) <= fields for changes in ARMS.values())


def used(cost: float, tokens: int = 10, **more: Any) -> Summary:
    usage = {"calls": 1, "input_tokens": tokens, "output_tokens": 0}
    return replace(Summary(1, 1, 0, 0, 0, False, usage, cost, None, 0.0, 2.0), **more)


def test_the_runs_of_a_study_share_its_limits(tmp_path: Path) -> None:
    most = UsageLimits(cost_limit=0.5, token_limit=25, time_limit=9)
    study = StudyRuns(
        ["builtin/heuristic"], Session(cost_limit=0.5, token_limit=25, time_limit=9, limit=3)
    )
    assert (study.sitting().limits, study.sitting().limit) == (most, None)
    assert study.sitting(part=True).limit == 3
    study.ended(used(0.2), tmp_path)
    assert study.sitting().limits == UsageLimits(cost_limit=0.3, token_limit=15, time_limit=7)
    study.ended(used(0.3), tmp_path)
    with pytest.raises(UnfinishedError, match=r"--cost-limit 0\.5 is reached by the runs before"):
        study.sitting()
    with pytest.raises(UnfinishedError, match=r"--token-limit 25 is reached with 4 samples left"):
        study.ended(used(0.0, limit="--token-limit 5 is reached", left=4), tmp_path)


def test_what_is_wrong_with_a_model_is_said_before_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    request = SynthRequest(kind="collab", spec="demo:flat", n=1)
    for models, said in (
        (["builtin/heuristic", "openai/x"], "set OPENAI_API_KEY"),
        (["builtin/heuristic", "builtin/heuristic"], "builtin/heuristic is given twice"),
    ):
        with pytest.raises(NavloomError, match=said):
            study_relays(request, models, tmp_path / "s")
    assert not (tmp_path / "s").exists()
